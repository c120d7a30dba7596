#include "api/pages_handlers.h"

#include <fmt/format.h>

#include <utility>

#include "api/reference_pages.h"

namespace presetbridge::api {
namespace {

// Where the reference has room for what only the running service knows.
constexpr std::string_view kNoticeMark = "<!-- notice -->";
constexpr std::string_view kSandboxNotice =
    R"(<p class="notice">Sandbox: started with --sandbox, for trying out and for tests.</p>)";

constexpr std::string_view kFrontPage = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Preset Delivery Bridge</title>
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
{notice}
<main class="front">
<h1>Preset Delivery Bridge</h1>
<p>This service connects online stores to the cloud platform of an amp-modeling device. Orders come in by webhook, presets
and captures are shared with the buyer once both are friends there, and the store hears by webhook what became of each
delivery.</p>
<ul>
<li><a href="/docs">Reference of the API</a></li>
<li><a href="/api/openapi.json">The API as an OpenAPI document</a>, for generators of clients</li>
<li><a href="/readyz">Whether the service can do its work</a></li>
</ul>
<p>Version {version}.</p>
</main>
</body>
</html>
)";

net::HttpResponse page(std::string content_type, std::string body) {
  net::HttpResponse response;
  response.content_type = std::move(content_type);
  response.body = std::move(body);
  response.headers.add("Content-Security-Policy",
                       "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; "
                       "frame-ancestors 'none'");
  response.headers.add("X-Content-Type-Options", "nosniff");
  response.headers.add("Referrer-Policy", "no-referrer");
  response.headers.add("Cache-Control", "public, max-age=300");
  return response;
}

std::string_view notice(const PagesDeps& deps) {
  return deps.sandbox ? kSandboxNotice : std::string_view();
}

Task<Reply> front(PagesDeps deps, Call) {
  co_return page("text/html; charset=utf-8", fmt::format(kFrontPage, fmt::arg("notice", notice(deps)),
                                                         fmt::arg("version", deps.version)));
}

Task<Reply> reference(PagesDeps deps, Call) {
  std::string text(reference_page);
  if (const auto mark = text.find(kNoticeMark); mark != std::string::npos)
    text.replace(mark, kNoticeMark.size(), notice(deps));
  co_return page("text/html; charset=utf-8", std::move(text));
}

Task<Reply> style(PagesDeps, Call) {
  co_return page("text/css; charset=utf-8", std::string(reference_style));
}

}  // namespace

void add_pages_routes(Router& router, PagesDeps deps) {
  router.add("GET", "/", Access::open(), with(deps, front));
  router.add("GET", "/docs", Access::open(), with(deps, reference));
  router.add("GET", "/docs/style.css", Access::open(), with(deps, style));
}

}  // namespace presetbridge::api
