#include "crypto/aes_gcm.h"

#include <openssl/evp.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <stdexcept>

namespace presetbridge::crypto::aes_gcm {
namespace {

using Context = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

const unsigned char* readable(ByteView bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* writable(std::span<std::byte> bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}

void require(bool ok) {
  if (!ok) throw std::runtime_error("AES-256-GCM failed");
}

// OpenSSL counts in int.
int int_size(ByteView bytes) {
  require(bytes.size() <= INT_MAX);
  return static_cast<int>(bytes.size());
}

}  // namespace

Bytes encrypt(ByteView key, const Nonce& nonce, ByteView authenticated, ByteView plaintext) {
  require(key.size() == kKeySize);
  const Context context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  require(context != nullptr);
  require(EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, readable(key),
                             readable(ByteView(nonce))) == 1);
  int written = 0;
  require(EVP_EncryptUpdate(context.get(), nullptr, &written, readable(authenticated),
                            int_size(authenticated)) == 1);
  Bytes out(plaintext.size() + kTagSize);
  if (!plaintext.empty()) {
    require(EVP_EncryptUpdate(context.get(), writable(out), &written, readable(plaintext),
                              int_size(plaintext)) == 1);
  }
  const auto tag = std::span(out).subspan(plaintext.size());
  require(EVP_EncryptFinal_ex(context.get(), writable(tag), &written) == 1);
  require(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTagSize, tag.data()) == 1);
  return out;
}

std::optional<SecretBytes> decrypt(ByteView key, const Nonce& nonce, ByteView authenticated,
                                   ByteView ciphertext) {
  require(key.size() == kKeySize);
  if (ciphertext.size() < kTagSize) return std::nullopt;
  const auto body = ciphertext.first(ciphertext.size() - kTagSize);
  std::array<std::byte, kTagSize> tag;
  std::ranges::copy(ciphertext.last(kTagSize), tag.begin());

  const Context context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  require(context != nullptr);
  require(EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, readable(key),
                             readable(ByteView(nonce))) == 1);
  require(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTagSize, tag.data()) == 1);
  int written = 0;
  require(EVP_DecryptUpdate(context.get(), nullptr, &written, readable(authenticated),
                            int_size(authenticated)) == 1);
  SecretBytes plaintext(body.size());
  if (!body.empty()) {
    require(EVP_DecryptUpdate(context.get(), writable(plaintext.writable()), &written, readable(body),
                              int_size(body)) == 1);
  }
  unsigned char none[1];
  if (EVP_DecryptFinal_ex(context.get(), none, &written) != 1) return std::nullopt;
  return plaintext;
}

}  // namespace presetbridge::crypto::aes_gcm
