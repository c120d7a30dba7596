#include "crypto/secret.h"

#include <sodium.h>

#include <cstring>
#include <new>

#include "crypto/random.h"

namespace presetbridge::crypto {

SecretBytes::SecretBytes(std::size_t size) : size_(size) {
  if (size == 0) return;
  initialise();  // sodium_malloc's guard canary is drawn there
  data_ = static_cast<std::byte*>(sodium_malloc(size));
  if (data_ == nullptr) throw std::bad_alloc();
  sodium_memzero(data_, size);
}

SecretBytes SecretBytes::copy_of(ByteView bytes) {
  SecretBytes copy(bytes.size());
  if (copy.data_ != nullptr) std::memcpy(copy.data_, bytes.data(), bytes.size());
  return copy;
}

SecretBytes::SecretBytes(SecretBytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

SecretBytes& SecretBytes::operator=(SecretBytes&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

SecretBytes::~SecretBytes() {
  sodium_free(data_);
}

void wipe(std::span<std::byte> bytes) {
  sodium_memzero(bytes.data(), bytes.size());
}

void wipe(std::string& text) {
  // Bytes of an earlier, longer value behind the end are wiped too.
  text.resize(text.capacity());
  sodium_memzero(text.data(), text.size());
  text.clear();
}

void wipe(Bytes& bytes) {
  bytes.resize(bytes.capacity());
  sodium_memzero(bytes.data(), bytes.size());
  bytes.clear();
}

}  // namespace presetbridge::crypto
