#include "crypto/service_cipher.h"

#include <algorithm>
#include <stdexcept>

#include "crypto/aes_gcm.h"
#include "crypto/record_frame.h"

namespace presetbridge::crypto {
namespace {

// The frame's body: the nonce, the ciphertext with its tag.
constexpr std::size_t least_body = sizeof(aes_gcm::Nonce) + aes_gcm::tag_size;
static_assert(least_body + record_frame_overhead == 45);

Bytes bound_to(const ServiceKeyId& key, const ValuePlace& place) {
  return authenticated_data("presetbridge service value 1", key, place.row, 0, place.column);
}

std::optional<RecordFrame> parse(ByteView value) {
  auto frame = parse_record_frame(value);
  if (frame && frame->body.size() < least_body) return std::nullopt;
  return frame;
}

}  // namespace

ServiceCipher::ServiceCipher(std::vector<ServiceKey> keys, Random& random)
    : keys_(std::move(keys)), random_(random) {
  if (keys_.empty()) throw std::invalid_argument("a service cipher needs a key");
  for (const auto& key : keys_) {
    if (key.key.size() != aes_gcm::key_size) throw std::invalid_argument("a service key has 32 bytes");
    if (find(key.id) != &key) throw std::invalid_argument("two service keys have one id");
  }
}

const ServiceKey* ServiceCipher::find(const ServiceKeyId& id) const {
  const auto key = std::ranges::find(keys_, id, &ServiceKey::id);
  return key == keys_.end() ? nullptr : &*key;
}

Bytes ServiceCipher::encrypt(const ValuePlace& place, std::string_view plaintext) const {
  const auto& key = keys_.front();
  aes_gcm::Nonce nonce;
  random_.fill(nonce);
  Bytes body(nonce.begin(), nonce.end());
  const auto ciphertext = aes_gcm::encrypt(key.key.reveal(), nonce, bound_to(key.id, place), plaintext);
  body.insert(body.end(), ciphertext.begin(), ciphertext.end());
  return make_record_frame(key.id, body);
}

Expected<SecretString> ServiceCipher::decrypt(const ValuePlace& place, ByteView value) const {
  const auto frame = parse(value);
  if (!frame) return record_corrupt();
  const auto* key = find(frame->key_id);
  if (key == nullptr) {
    return fail("UNKNOWN_SERVICE_KEY", "The value is encrypted under a service key that is not held here.");
  }
  aes_gcm::Nonce nonce;
  std::ranges::copy(frame->body.first(nonce.size()), nonce.begin());
  auto plaintext =
      aes_gcm::decrypt(key->key.reveal(), nonce, bound_to(key->id, place), frame->body.subspan(nonce.size()));
  if (!plaintext) return record_corrupt();
  return SecretString(std::move(*plaintext));
}

Expected<bool> ServiceCipher::needs_rotation(ByteView value) const {
  const auto frame = parse(value);
  if (!frame) return record_corrupt();
  return frame->key_id != keys_.front().id;
}

ServiceKey generate_service_key(Random& random) {
  ServiceKey key{{}, SecretBytes(aes_gcm::key_size)};
  random.fill(key.id);
  random.fill(key.key.writable());
  return key;
}

}  // namespace presetbridge::crypto
