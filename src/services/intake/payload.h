// Raw payloads as they are kept (spec 9.6): a store's 10 KB of JSON shrinks to a fifth.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace presetbridge::services {

// INTERNAL_ERROR where zstd does not do it (no memory): an order that could not be kept as it came is not
// accepted.
Expected<std::vector<std::byte>> compress_payload(std::string_view body);
// INTERNAL_ERROR for what compress_payload did not make, or what would grow past `max_bytes`.
Expected<std::string> decompress_payload(std::span<const std::byte> stored, std::size_t max_bytes);

}  // namespace presetbridge::services
