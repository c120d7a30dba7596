#include "services/intake/payload.h"

#include <zstd.h>

#include <memory>
#include <string>

namespace presetbridge::services {
namespace {

// Faster than the disk it saves; higher levels gain little on bodies of this size.
constexpr int kLevel = 1;

}  // namespace

Expected<std::vector<std::byte>> compress_payload(std::string_view body) {
  const auto failed = [](const char* why) {
    return fail("INTERNAL_ERROR", std::string("A payload could not be compressed: ") + why + ".");
  };
  // A context is costly to make, and each thread of the server compresses one body at a time.
  thread_local std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(nullptr, ZSTD_freeCCtx);
  if (!context) context.reset(ZSTD_createCCtx());
  if (!context) return failed("no memory");
  const std::size_t bound = ZSTD_compressBound(body.size());
  if (ZSTD_isError(bound)) return failed(ZSTD_getErrorName(bound));
  std::vector<std::byte> out(bound);
  const std::size_t n =
      ZSTD_compressCCtx(context.get(), out.data(), out.size(), body.data(), body.size(), kLevel);
  if (ZSTD_isError(n)) return failed(ZSTD_getErrorName(n));
  out.resize(n);
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
