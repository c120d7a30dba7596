#include "crypto/sealed_record.h"

#include <sodium.h>

#include <algorithm>
#include <stdexcept>

#include "crypto/aes_gcm.h"
#include "crypto/digest.h"
#include "crypto/random.h"
#include "crypto/record_frame.h"

namespace presetbridge::crypto {
namespace {

// The frame's body: the sealed data key, the nonce, the ciphertext with its tag.
constexpr std::size_t kSealedKeySize = aes_gcm::kKeySize + crypto_box_SEALBYTES;
constexpr std::size_t kLeastBody = kSealedKeySize + sizeof(aes_gcm::Nonce) + aes_gcm::kTagSize;
static_assert(kLeastBody + kRecordFrameOverhead == 125);
static_assert(sizeof(VaultPublicKey::Raw) == crypto_box_PUBLICKEYBYTES);

unsigned char* writable(std::span<std::byte> bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}
const unsigned char* readable(ByteView bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

Bytes authenticated_place(const VaultKeyId& key, const RecordPlace& place) {
  return authenticated_data("presetbridge vault record 1", key, place.account.value, place.version, {});
}

std::optional<RecordFrame> parse(ByteView record) {
  auto frame = parse_record_frame(record);
  if (frame && frame->body.size() < kLeastBody) return std::nullopt;
  return frame;
}

std::unexpected<Error> unknown_key() {
  return fail("UNKNOWN_VAULT_KEY", "The record is sealed to a vault key that is not held here.");
}

VaultPublicKey::Raw public_half(const SecretBytes& private_key) {
  if (private_key.size() != crypto_box_SECRETKEYBYTES)
    throw std::invalid_argument("a vault key has 32 bytes");
  VaultPublicKey::Raw key;
  crypto_scalarmult_base(writable(key), readable(private_key.reveal()));
  return key;
}

}  // namespace

VaultPublicKey::VaultPublicKey(const Raw& raw_key) : raw_(raw_key) {
  // crypto_box_seal() would refuse a weak point only later; multiplying it by any scalar reveals it now.
  Raw scalar{std::byte{1}}, product;
  if (crypto_scalarmult(writable(product), readable(ByteView(scalar)), readable(ByteView(raw_))) != 0) {
    throw std::invalid_argument("not a usable X25519 public key");
  }
  std::ranges::copy(ByteView(sha256(raw_)).first(id_.size()), id_.begin());
}

Bytes VaultPublicKey::seal(Random& random, const RecordPlace& place, std::string_view plaintext) const {
  initialise();  // crypto_box_seal() draws an ephemeral key by itself
  SecretBytes data_key(aes_gcm::kKeySize);
  random.fill(data_key.writable());
  aes_gcm::Nonce nonce;
  random.fill(nonce);

  Bytes body(kSealedKeySize);
  if (crypto_box_seal(writable(body), readable(data_key.reveal()), data_key.size(),
                      readable(ByteView(raw_))) != 0) {
    throw std::runtime_error("the data key could not be sealed");
  }
  body.insert(body.end(), nonce.begin(), nonce.end());
  const auto ciphertext =
      aes_gcm::encrypt(data_key.reveal(), nonce, authenticated_place(id_, place), plaintext);
  body.insert(body.end(), ciphertext.begin(), ciphertext.end());
  return make_record_frame(id_, body);
}

VaultPrivateKey VaultPrivateKey::generate(Random& random) {
  SecretBytes key(crypto_box_SECRETKEYBYTES);
  random.fill(key.writable());
  return VaultPrivateKey(std::move(key));
}

VaultPrivateKey::VaultPrivateKey(SecretBytes raw_key)
    : raw_(std::move(raw_key)), public_key_(public_half(raw_)) {}

Expected<SecretString> VaultPrivateKey::open(const RecordPlace& place, ByteView record) const {
  const auto frame = parse(record);
  if (!frame) return record_corrupt();
  if (frame->key_id != public_key_.id()) return unknown_key();

  const ByteView sealed_key = frame->body.first(kSealedKeySize);
  SecretBytes data_key(aes_gcm::kKeySize);
  if (crypto_box_seal_open(writable(data_key.writable()), readable(sealed_key), sealed_key.size(),
                           readable(ByteView(public_key_.raw())), readable(raw_.reveal())) != 0) {
    return record_corrupt();
  }
  aes_gcm::Nonce nonce;
  std::ranges::copy(frame->body.subspan(kSealedKeySize, nonce.size()), nonce.begin());
  auto plaintext = aes_gcm::decrypt(data_key.reveal(), nonce, authenticated_place(public_key_.id(), place),
                                    frame->body.subspan(kSealedKeySize + nonce.size()));
  if (!plaintext) return record_corrupt();
  return SecretString(std::move(*plaintext));
}

VaultKeyring::VaultKeyring(std::vector<VaultPrivateKey> keys) : keys_(std::move(keys)) {
  if (keys_.empty()) throw std::invalid_argument("a vault keyring holds at least one key");
}

Expected<SecretString> VaultKeyring::open(const RecordPlace& place, ByteView record) const {
  const auto id = sealed_record_key_id(record);
  if (!id) return std::unexpected(id.error());
  const auto key = std::ranges::find(keys_, *id, [](const auto& k) { return k.public_key().id(); });
  if (key == keys_.end()) return unknown_key();
  return key->open(place, record);
}

Expected<Bytes> VaultKeyring::reseal(Random& random, const RecordPlace& place, ByteView record,
                                     const VaultPublicKey& to) const {
  const auto plaintext = open(place, record);
  if (!plaintext) return std::unexpected(plaintext.error());
  return to.seal(random, place, plaintext->reveal());
}

Expected<VaultKeyId> sealed_record_key_id(ByteView record) {
  const auto frame = parse(record);
  if (!frame) return record_corrupt();
  return frame->key_id;
}

}  // namespace presetbridge::crypto
