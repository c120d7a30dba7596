#include "services/intake/payload.h"

#include <zstd.h>

#include <memory>

namespace presetbridge::services {
namespace {

// Faster than the disk it saves; higher levels gain little on bodies of this size.
constexpr int kLevel = 1;

}  // namespace

std::vector<std::byte> compress_payload(std::string_view body) {
  // A context is costly to make, and each thread of the server compresses one body at a time.
  thread_local const std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                                     ZSTD_freeCCtx);
  std::vector<std::byte> out(ZSTD_compressBound(body.size()));
  const std::size_t n =
      ZSTD_compressCCtx(context.get(), out.data(), out.size(), body.data(), body.size(), kLevel);
  out.resize(ZSTD_isError(n) ? 0 : n);
  return out;
}

Expected<std::string> decompress_payload(std::span<const std::byte> stored, std::size_t max_bytes) {
  const auto size = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > max_bytes) {
    return fail("INTERNAL_ERROR", "A stored payload is not readable.");
  }
  std::string body(size, '\0');
  const std::size_t n = ZSTD_decompress(body.data(), body.size(), stored.data(), stored.size());
  if (ZSTD_isError(n) || n != size) return fail("INTERNAL_ERROR", "A stored payload is not readable.");
  return body;
}

}  // namespace presetbridge::services
