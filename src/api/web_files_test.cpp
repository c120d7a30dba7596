#include "api/web_files.h"

#include <gtest/gtest.h>

#include <array>

namespace presetbridge::api {
namespace {

constexpr std::array kFiles{
    WebFile{"/", "text/html; charset=utf-8", "aa", "the page", "g", "b"},
    WebFile{"/assets/main-1.js", "text/javascript; charset=utf-8", "bb", "the script", "gz", ""},
    WebFile{"/p", "text/html; charset=utf-8", "cc", "the buyer's page", "", ""}};

net::HttpRequest get(std::string path, std::vector<std::pair<std::string, std::string>> fields = {}) {
  net::HttpRequest request;
  request.method = "GET";
  request.path = std::move(path);
  for (auto& [name, value] : fields) request.headers.add(std::move(name), std::move(value));
  return request;
}
std::string field(const net::HttpResponse& response, std::string_view name) {
  return std::string(response.headers.get(name).value_or(""));
}

class WebFilesTest : public ::testing::Test {
 protected:
  WebFiles files_{kFiles, false};
};

TEST_F(WebFilesTest, AFileIsServedInTheSmallestEncodingThatIsTaken) {
  struct Case {
    std::string accepted, body, encoding;
  };
  for (const auto& [accepted, body, encoding] :
       {Case{"", "the page", ""}, Case{"gzip, deflate, br", "b", "br"}, Case{"GZIP", "g", "gzip"},
        Case{"gzip;q=0.5,br;q=0", "g", "gzip"}, Case{"br ; q=0.000 , gzip;q=0.0", "the page", ""},
        Case{"identity", "the page", ""}, Case{"brotli", "the page", ""}}) {
    const auto response = files_.answer(get("/", {{"Accept-Encoding", accepted}}));
    ASSERT_TRUE(response) << accepted;
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->body, body) << accepted;
    EXPECT_EQ(field(*response, "Content-Encoding"), encoding) << accepted;
    EXPECT_NE(field(*response, "Vary").find("Accept-Encoding"), std::string::npos);
  }
  // A file that does not become smaller is sent as it is.
  EXPECT_EQ(files_.answer(get("/assets/main-1.js", {{"Accept-Encoding", "br"}}))->body, "the script");
}

TEST_F(WebFilesTest, NamedByContentIsKeptAndPagesAreAskedForEachTime) {
  EXPECT_EQ(field(*files_.answer(get("/assets/main-1.js")), "Cache-Control"),
            "public, max-age=31536000, immutable");
  EXPECT_EQ(field(*files_.answer(get("/")), "Cache-Control"), "no-cache");
  EXPECT_EQ(field(*files_.answer(get("/p")), "Cache-Control"), "no-cache");
}

TEST_F(WebFilesTest, WhoHasItIsAnsweredThatItIsUnchanged) {
  const auto tag = field(*files_.answer(get("/", {{"Accept-Encoding", "br"}})), "ETag");
  for (const auto& sent : {tag, "W/" + tag, "\"x\", " + tag, std::string("*")}) {
    const auto response = files_.answer(get("/", {{"Accept-Encoding", "br"}, {"If-None-Match", sent}}));
    EXPECT_EQ(response->status, 304) << sent;
    EXPECT_EQ(response->body, "");
    EXPECT_EQ(field(*response, "ETag"), tag);
  }
  // The same file in another encoding is another thing.
  EXPECT_EQ(files_.answer(get("/", {{"If-None-Match", tag}}))->status, 200);
}

TEST_F(WebFilesTest, APageThatABrowserAsksForIsTheDashboards) {
  const auto page = [&](std::string path, std::string accept) {
    return files_.answer(get(std::move(path), {{"Accept", std::move(accept)}}));
  };
  for (const auto* path : {"/deliveries", "/deliveries/del_1", "/no-such-page"}) {
    const auto response = page(path, "text/html,application/xhtml+xml,*/*;q=0.8");
    ASSERT_TRUE(response) << path;
    EXPECT_EQ(response->body, "the page");
  }
  EXPECT_EQ(page("/p", "text/html")->body, "the buyer's page");
  EXPECT_FALSE(page("/deliveries", "*/*"));
  EXPECT_FALSE(page("/deliveries", "application/json"));
  EXPECT_FALSE(page("/deliveries", "text/html;q=0"));
  for (const auto* path : {"/api/nothing", "/assets/gone-2.js"})
    EXPECT_FALSE(page(path, "text/html")) << path;
  auto post = get("/", {});
  post.method = "POST";
  EXPECT_FALSE(files_.answer(post));
}

TEST_F(WebFilesTest, PagesAllowNothingOfOthers) {
  const auto response = *files_.answer(get("/"));
  const auto policy = field(response, "Content-Security-Policy");
  for (const auto* part :
       {"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"})
    EXPECT_NE(policy.find(part), std::string::npos) << part;
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  EXPECT_EQ(field(response, "X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(field(response, "Cross-Origin-Opener-Policy"), "same-origin");
  EXPECT_EQ(field(response, "Strict-Transport-Security"), "");
  const WebFiles behind_tls{kFiles, true};
  EXPECT_EQ(field(*behind_tls.answer(get("/")), "Strict-Transport-Security"), "max-age=31536000");
}

TEST_F(WebFilesTest, WithoutADashboardThereIsNone) {
  const WebFiles none{{}, false};
  EXPECT_FALSE(none.answer(get("/", {{"Accept", "text/html"}})));
}

}  // namespace
}  // namespace presetbridge::api
