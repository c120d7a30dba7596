// How bytes are passed in crypto/: views in, vectors or arrays out. Text is its bytes, with no conversion.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace presetbridge::crypto {

using Bytes = std::vector<std::byte>;

// A view of bytes that also takes text, so that callers write sha256(body) whatever `body` is.
class ByteView : public std::span<const std::byte> {
 public:
  ByteView() = default;
  ByteView(std::span<const std::byte> bytes) : span(bytes) {}
  ByteView(const Bytes& bytes) : span(bytes) {}
  template <std::size_t N>
  ByteView(const std::array<std::byte, N>& bytes) : span(bytes) {}
  ByteView(std::string_view text) : span(std::as_bytes(std::span(text.data(), text.size()))) {}
  ByteView(const std::string& text) : ByteView(std::string_view(text)) {}
  ByteView(const char* text) : ByteView(std::string_view(text)) {}
};

inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace presetbridge::crypto
