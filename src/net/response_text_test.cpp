#include "net/response_text.h"

#include <gtest/gtest.h>

namespace presetbridge::net {
namespace {

constexpr ResponseFraming kPlain{.request_id = "abc", .date = "Sat, 21 Nov 2026 10:06:23 GMT"};

TEST(ResponseText, WritesStatusFramingAndFields) {
  HttpResponse response;
  response.status = 202;
  response.body = "{}";
  response.headers.add("Retry-After", "5");
  EXPECT_EQ(header_text(response, kPlain),
            "HTTP/1.1 202 Accepted\r\nDate: Sat, 21 Nov 2026 10:06:23 GMT\r\nX-Request-Id: "
            "abc\r\nContent-Type: application/json\r\n"
            "Content-Length: 2\r\nRetry-After: 5\r\n\r\n");
}

TEST(ResponseText, AnAnswerWithoutBodyHasNoLength) {
  for (int status : {204, 304}) {
    HttpResponse response;
    response.status = status;
    const auto text = header_text(response, kPlain);
    EXPECT_FALSE(text->contains("Content-Length")) << status;
    EXPECT_FALSE(text->contains("Content-Type")) << status;
  }
}

TEST(ResponseText, SaysWhetherTheConnectionStays) {
  HttpResponse response;
  EXPECT_FALSE(header_text(response, kPlain)->contains("Connection"));
  EXPECT_TRUE(header_text(response, {.keep_alive = false})->contains("Connection: close\r\n"));
  EXPECT_TRUE(
      header_text(response, {.keep_alive = true, .http10 = true})->contains("Connection: keep-alive\r\n"));
}

TEST(ResponseText, FieldsThatAreTheServersAreLeftOut) {
  HttpResponse response;
  response.headers.add("content-length", "99");
  response.headers.add("Transfer-Encoding", "chunked");
  response.headers.add("X-Request-ID", "other");
  const auto text = header_text(response, kPlain);
  EXPECT_FALSE(text->contains("99"));
  EXPECT_FALSE(text->contains("chunked"));
  EXPECT_FALSE(text->contains("other"));
}

TEST(ResponseText, AFieldThatWouldSplitTheAnswerIsNotSent) {
  for (const char* value : {"a\r\nSet-Cookie: b", "a\nb", "a\rb"}) {
    HttpResponse response;
    response.headers.add("Location", value);
    EXPECT_FALSE(header_text(response, kPlain).has_value());
  }
  HttpResponse nul;
  nul.headers.add("Location", std::string("a\0b", 3));
  EXPECT_FALSE(header_text(nul, kPlain).has_value());
  for (const char* name : {"", "a b", "a:b", "a\r\nb"}) {
    HttpResponse response;
    response.headers.add(name, "x");
    EXPECT_FALSE(header_text(response, kPlain).has_value());
  }
  HttpResponse type;
  type.content_type = "text/html\r\nX: y";
  EXPECT_FALSE(header_text(type, kPlain).has_value());
}

TEST(ResponseText, ErrorsHaveTheShapeOfTheApi) {
  EXPECT_EQ(error_response(400, "BAD_REQUEST", "No.").body,
            R"({"error":{"code":"BAD_REQUEST","message":"No."}})");
}

}  // namespace
}  // namespace presetbridge::net
