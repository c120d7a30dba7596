#include "net/request_reader.h"

#include <gtest/gtest.h>

#include <string>

namespace presetbridge::net {
namespace {

// Feeds the reader one byte more at each call, as a slow connection does.
RequestReader::Progress read_slowly(RequestReader& reader, std::string_view bytes) {
  std::string waiting;
  RequestReader::Progress progress;
  for (const char byte : bytes) {
    waiting += byte;
    progress = reader.read(waiting);
    waiting.erase(0, progress.consumed);
    if (progress.refusal) break;
  }
  return progress;
}

TEST(RequestReader, AChunkedBodyMayEndByteByByte) {
  for (const std::string_view body :
       {"0\r\n\r\n", "2\r\nab\r\n0\r\n\r\n", "2;x\r\nab\r\n00;y\r\nTrailer: 1\r\n\r\n"}) {
    RequestReader reader({.header_bytes = 512, .header_fields = 8, .body_bytes = 64});
    const auto progress = read_slowly(
        reader, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(body));
    EXPECT_FALSE(progress.refusal) << body;
    EXPECT_TRUE(reader.complete()) << body;
    EXPECT_EQ(reader.request().body, body.starts_with('2') ? "ab" : "") << body;
  }
}

}  // namespace
}  // namespace presetbridge::net
