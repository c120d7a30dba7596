// The reference of the API at /docs (spec 8.3).
#include "api/handlers/pages_handlers.h"

#include "api/api_testing.h"

namespace presetbridge::api {
namespace {

using testing::ApiTest;

TEST_F(ApiTest, TheReferenceIsKnownByItsTag) {
  for (const char* path : {"/docs", "/docs/style.css"}) {
    const auto plain = send("GET", path);
    EXPECT_EQ(plain.header("Content-Encoding"), "") << path;
    EXPECT_EQ(plain.header("Vary"), "Accept-Encoding") << path;
    const auto tag = plain.header("ETag");
    ASSERT_FALSE(tag.empty()) << path;
    const auto again = send("GET", path, {{"If-None-Match", tag}});
    EXPECT_EQ(again.status, 304) << path;
    EXPECT_EQ(again.text, "") << path;
    EXPECT_EQ(again.header("Cache-Control"), "public, max-age=300") << path;
    EXPECT_EQ(send("GET", path, {{"If-None-Match", "\"another\""}}).status, 200) << path;
  }
}

TEST_F(ApiTest, TheReferenceIsSentCompressedToWhoTakesThat) {
  for (const char* path : {"/docs", "/docs/style.css"}) {
    const auto plain = send("GET", path);
    const auto packed = send("GET", path, {{"Accept-Encoding", "br, gzip"}});
    EXPECT_EQ(packed.header("Content-Encoding"), "gzip") << path;
    EXPECT_TRUE(packed.text.starts_with("\x1f\x8b")) << path;
    EXPECT_LT(packed.text.size(), plain.text.size() / 2) << path;
    EXPECT_NE(packed.header("ETag"), plain.header("ETag")) << path;
  }
}

TEST_F(ApiTest, TheReferenceNeedsNothingFromElsewhere) {
  for (const char* path : {"/docs", "/docs/style.css"}) {
    const auto page = send("GET", path);
    EXPECT_EQ(page.status, 200) << path;
    EXPECT_EQ(
        page.header("Content-Security-Policy"),
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    EXPECT_EQ(page.header("X-Content-Type-Options"), "nosniff");
    EXPECT_FALSE(page.text.contains("<script")) << path;
    EXPECT_FALSE(page.text.contains("style=")) << path;
  }
  EXPECT_TRUE(send("GET", "/docs").text.contains(R"(<section class="operation" id="receiveOrder">)"));
}

TEST_F(ApiTest, TheReferenceOfASandboxSaysSo) {
  EXPECT_TRUE(send("GET", "/docs").text.contains(R"(<p class="notice">Sandbox)"));
  Router other;
  add_pages_routes(other, {.sandbox = false});
  api_ = std::make_unique<Api>(other, *authentication_, failures_, world_.clock(), world_.log, metrics_);
  EXPECT_FALSE(send("GET", "/docs").text.contains("class=\"notice\""));
  api_.reset();  // before its router
}

}  // namespace
}  // namespace presetbridge::api
