#include "api/handlers/pages_handlers.h"

#include <memory>
#include <utility>

#include "api/compressed_text.h"
#include "api/html_page.h"
#include "api/reference_pages.h"

namespace presetbridge::api {
namespace {

// The mark in the reference that the running service replaces by a notice, or removes.
constexpr std::string_view kNoticeMark = "<!-- notice -->";
constexpr std::string_view kSandboxNotice =
    R"(<p class="notice">Sandbox: started with --sandbox, for trying out and for tests.</p>)";

std::string reference(bool sandbox) {
  std::string text(reference_page);
  if (const auto mark = text.find(kNoticeMark); mark != std::string::npos)
    text.replace(mark, kNoticeMark.size(), sandbox ? kSandboxNotice : std::string_view());
  return text;
}

Task<Reply> page(std::shared_ptr<const CompressedText> text, Call call) {
  auto response = text->answer(call.request);
  add_page_headers(response, "public, max-age=300");
  co_return response;
}

}  // namespace

void add_pages_routes(Router& router, PagesDeps deps) {
  const auto add = [&](std::string_view path, std::string_view type, std::string text) {
    router.add("GET", std::string(path), Access::open(),
               with(std::make_shared<const CompressedText>(type, std::move(text)), page));
  };
  add("/docs", "text/html; charset=utf-8", reference(deps.sandbox));
  add("/docs/style.css", "text/css; charset=utf-8", std::string(reference_style));
}

}  // namespace presetbridge::api
