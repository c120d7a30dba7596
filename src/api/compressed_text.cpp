#include "api/compressed_text.h"

#define ZLIB_CONST  // next_in is not written to
#include <zlib.h>

#include <stdexcept>
#include <utility>

#include "crypto/digest.h"
#include "crypto/encoding.h"

namespace presetbridge::api {
namespace {

constexpr int kWindowOfGzip = 15 + 16;
constexpr int kMemory = 8;
constexpr std::size_t kHashDigits = 24;

std::string gzip(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kWindowOfGzip, kMemory, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    throw std::runtime_error("zlib does not start");
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<const Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int ended = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (ended != Z_STREAM_END) throw std::runtime_error("zlib compresses no more than a part");
  return packed;
}

}  // namespace

CompressedText::CompressedText(std::string_view content_type, std::string plain)
    : content_type_(content_type),
      plain_(std::move(plain)),
      gzip_(gzip(plain_)),
      hash_(crypto::hex_encode(crypto::sha256(plain_)).substr(0, kHashDigits)) {}

net::HttpResponse CompressedText::answer(const net::HttpRequest& request) const {
  const WebFile file{
      .path = {}, .content_type = content_type_, .hash = hash_, .plain = plain_, .gzip = gzip_, .brotli = {}};
  auto response = file_response(file, request);
  response.headers.add("Vary", "Accept-Encoding");
  return response;
}

}  // namespace presetbridge::api
