#include "crypto/service_cipher.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "crypto/aes_gcm.h"
#include "crypto/record_frame.h"

namespace presetbridge::crypto {
namespace {

// The frame's body is the nonce, then the ciphertext with its tag.
constexpr std::size_t kMinBodySize = sizeof(aes_gcm::Nonce) + aes_gcm::kTagSize;
static_assert(kMinBodySize + kRecordFrameOverhead == 45);

Bytes authenticated_place(const ServiceKeyId& key, const ValuePlace& place) {
  return authenticated_data("presetbridge service value 1", key, place.row, 0, place.column);
}

std::optional<RecordFrame> parse(ByteView value) {
  auto frame = parse_record_frame(value);
  if (frame && frame->body.size() < kMinBodySize) return std::nullopt;
  return frame;
}

}  // namespace

struct ServiceCipher::Ring {
  Ring(std::vector<ServiceKey> all, const std::optional<ServiceKeyId>& named) : keys(std::move(all)) {
    if (keys.empty()) throw std::invalid_argument("a service cipher needs a key");
    for (const auto& key : keys) {
      if (key.key.size() != aes_gcm::kKeySize) throw std::invalid_argument("a service key has 32 bytes");
      if (find(key.id) != &key) throw std::invalid_argument("two service keys have one id");
    }
    sealing = named ? find(*named) : &keys.front();
    if (sealing == nullptr) throw std::invalid_argument("the key that encrypts is not among them");
  }
  const ServiceKey* find(const ServiceKeyId& id) const {
    const auto key = std::ranges::find(keys, id, &ServiceKey::id);
    return key == keys.end() ? nullptr : &*key;
  }
  const std::vector<ServiceKey> keys;
  const ServiceKey* sealing = nullptr;
};

ServiceCipher::ServiceCipher(std::vector<ServiceKey> keys, Random& random)
    : ring_(std::make_shared<const Ring>(std::move(keys), std::nullopt)), random_(random) {}

void ServiceCipher::hold(std::vector<ServiceKey> keys, const ServiceKeyId& sealing) {
  auto fresh = std::make_shared<const Ring>(std::move(keys), sealing);
  const std::scoped_lock lock(mutex_);
  ring_.swap(fresh);
}

std::shared_ptr<const ServiceCipher::Ring> ServiceCipher::ring() const {
  const std::scoped_lock lock(mutex_);
  return ring_;
}

Bytes ServiceCipher::encrypt(const ValuePlace& place, std::string_view plaintext) const {
  const auto held = ring();
  const auto& key = *held->sealing;
  aes_gcm::Nonce nonce;
  random_.fill(nonce);
  Bytes body(nonce.begin(), nonce.end());
  const auto ciphertext =
      aes_gcm::encrypt(key.key.reveal(), nonce, authenticated_place(key.id, place), plaintext);
  body.insert(body.end(), ciphertext.begin(), ciphertext.end());
  return make_record_frame(key.id, body);
}

Expected<SecretString> ServiceCipher::decrypt(const ValuePlace& place, ByteView value) const {
  const auto frame = parse(value);
  if (!frame) return record_corrupt();
  const auto held = ring();
  const auto* key = held->find(frame->key_id);
  if (key == nullptr) {
    return fail("UNKNOWN_SERVICE_KEY", "The value is encrypted under a service key that is not held here.");
  }
  aes_gcm::Nonce nonce;
  std::ranges::copy(frame->body.first(nonce.size()), nonce.begin());
  auto plaintext = aes_gcm::decrypt(key->key.reveal(), nonce, authenticated_place(key->id, place),
                                    frame->body.subspan(nonce.size()));
  if (!plaintext) return record_corrupt();
  return SecretString(std::move(*plaintext));
}

Sha256 ServiceCipher::derived(std::string_view purpose) const {
  return hmac_sha256(ring()->sealing->key.reveal(), purpose);
}

ServiceKeyId ServiceCipher::sealing() const {
  return ring()->sealing->id;
}

Expected<ServiceKeyId> service_value_key_id(ByteView value) {
  const auto frame = parse(value);
  if (!frame) return record_corrupt();
  return frame->key_id;
}

Expected<std::size_t> service_value_text_size(ByteView value) {
  const auto frame = parse(value);
  if (!frame) return record_corrupt();
  return frame->body.size() - kMinBodySize;
}

ServiceKey generate_service_key(Random& random) {
  ServiceKey key{{}, SecretBytes(aes_gcm::kKeySize)};
  random.fill(key.id);
  random.fill(key.key.writable());
  return key;
}

}  // namespace presetbridge::crypto
