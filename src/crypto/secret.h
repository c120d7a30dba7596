// Memory for secrets: guarded and locked pages of libsodium, wiped when destroyed. Each value costs four
// pages, some system calls (30 µs) and up to three of a process's 65,530 mappings: for keys and logins, not
// for every request, nor for a cache of thousands. Moves only, and converts to nothing: a secret is read by
// name, through reveal(), so that no log, stream or formatter takes one by accident.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "crypto/bytes.h"

namespace presetbridge::crypto {

class SecretBytes {
 public:
  SecretBytes() = default;
  explicit SecretBytes(std::size_t size);  // zeros; throws std::bad_alloc
  static SecretBytes copy_of(ByteView bytes);

  SecretBytes(SecretBytes&& other) noexcept;
  SecretBytes& operator=(SecretBytes&& other) noexcept;
  ~SecretBytes();

  ByteView reveal() const { return std::span<const std::byte>(data_, size_); }
  std::span<std::byte> writable() { return {data_, size_}; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// A text in memory like that of SecretBytes.
class SecretString {
 public:
  SecretString() = default;
  explicit SecretString(std::string_view text) : bytes_(SecretBytes::copy_of(text)) {}
  explicit SecretString(SecretBytes bytes) : bytes_(std::move(bytes)) {}

  std::string_view reveal() const { return text_of(bytes_.reveal()); }
  std::size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }

 private:
  SecretBytes bytes_;
};

// Overwrites in a way that the compiler keeps, and empties. For the ordinary strings through which a secret
// had to pass.
void wipe(std::string& text);
void wipe(Bytes& bytes);
void wipe(std::span<std::byte> bytes);

}  // namespace presetbridge::crypto
