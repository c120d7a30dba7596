#include "crypto/password_hash.h"

#include <sodium.h>

#include "crypto/random.h"

namespace presetbridge::crypto {
namespace {

// libsodium takes no null pointer, which an empty view may have.
const char* data_of(std::string_view text) {
  return text.empty() ? "" : text.data();
}

}  // namespace

Expected<std::string> PasswordHasher::hash(std::string_view password) const {
  if (password.size() > kMaxPasswordBytes) {
    return fail("PASSWORD_TOO_LONG", "A password has at most 1024 bytes.");
  }
  initialise();
  std::string stored(crypto_pwhash_STRBYTES, '\0');
  if (crypto_pwhash_str(stored.data(), data_of(password), password.size(), cost_.operations,
                        cost_.memory_bytes) != 0) {
    return fail("OUT_OF_MEMORY", "There is not enough memory to hash a password.");
  }
  stored.resize(stored.find('\0'));
  return stored;
}

bool PasswordHasher::verify(std::string_view stored, std::string_view password) const {
  if (password.size() > kMaxPasswordBytes || stored.size() >= crypto_pwhash_STRBYTES) return false;
  initialise();
  // libsodium reads up to a terminating zero.
  return crypto_pwhash_str_verify(std::string(stored).c_str(), data_of(password), password.size()) == 0;
}

bool PasswordHasher::needs_rehash(std::string_view stored) const {
  if (stored.size() >= crypto_pwhash_STRBYTES) return true;
  return crypto_pwhash_str_needs_rehash(std::string(stored).c_str(), cost_.operations, cost_.memory_bytes) !=
         0;
}

}  // namespace presetbridge::crypto
