// Fields of a small binary message, one after the other: little-endian integers, and byte strings after their
// 32-bit length.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "crypto/bytes.h"

namespace presetbridge::cloud {

class FieldWriter {
 public:
  FieldWriter& u8(std::uint8_t value) {
    out_.push_back(static_cast<std::byte>(value));
    return *this;
  }
  FieldWriter& u64(std::uint64_t value) { return integer(value, 8); }
  FieldWriter& i64(std::int64_t value) { return integer(static_cast<std::uint64_t>(value), 8); }
  FieldWriter& bytes(crypto::ByteView value) {
    integer(value.size(), 4);
    out_.insert(out_.end(), value.begin(), value.end());
    return *this;
  }
  crypto::Bytes take() { return std::move(out_); }

 private:
  FieldWriter& integer(std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) out_.push_back(static_cast<std::byte>(value >> (8 * i) & 0xff));
    return *this;
  }
  crypto::Bytes out_;
};

// Past the end everything reads as zero or empty, and done() is false.
class FieldReader {
 public:
  explicit FieldReader(crypto::ByteView in) : in_(in) {}

  std::uint8_t u8() { return static_cast<std::uint8_t>(integer(1)); }
  std::uint64_t u64() { return integer(8); }
  std::int64_t i64() { return static_cast<std::int64_t>(integer(8)); }
  crypto::ByteView bytes() { return take(static_cast<std::size_t>(integer(4))); }
  std::string_view text() { return crypto::text_of(bytes()); }
  // Whether every field that was read was there, and no byte is left.
  bool done() const { return good_ && in_.empty(); }

 private:
  std::uint64_t integer(int width) {
    const auto raw = take(static_cast<std::size_t>(width));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < raw.size(); ++i) value |= std::to_integer<std::uint64_t>(raw[i]) << (8 * i);
    return value;
  }
  crypto::ByteView take(std::size_t size) {
    if (!good_ || size > in_.size()) {
      good_ = false;
      return {};
    }
    const crypto::ByteView result = in_.first(size);
    in_ = in_.subspan(size);
    return result;
  }
  std::span<const std::byte> in_;
  bool good_ = true;
};

}  // namespace presetbridge::cloud
