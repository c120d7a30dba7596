#include "api/web_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"

namespace presetbridge::api {
namespace {

// Nothing but what this service itself serves, no script or style inside a page, no frame round it.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Calls `see` with each element of all fields `name`, which are lists separated by commas.
template <class See>
void each_element(const net::Headers& headers, std::string_view name, See see) {
  for (auto rest : headers.all(name)) {
    while (!rest.empty()) {
      const auto end = std::min(rest.find(','), rest.size());
      see(trimmed(rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
}

// Whether `element`, "br;q=0.5", names `value` with a weight above zero (RFC 9110, 12.4.2).
bool wants(std::string_view element, std::string_view value) {
  const auto end = std::min(element.find(';'), element.size());
  if (!net::same_field_name(trimmed(element.substr(0, end)), value)) return false;
  const auto parameter = trimmed(element.substr(std::min(end + 1, element.size())));
  if (!equal_ignoring_case(parameter.substr(0, 2), "q=")) return true;
  return parameter.find_first_of("123456789") != std::string_view::npos;
}

bool accepts(const net::HttpRequest& request, std::string_view field, std::string_view value) {
  bool found = false;
  each_element(request.headers, field, [&](auto element) { found = found || wants(element, value); });
  return found;
}

bool is_page(const WebFile& file) {
  return file.content_type.starts_with("text/html");
}

}  // namespace

WebFiles::WebFiles(std::span<const WebFile> files, bool behind_tls) : behind_tls_(behind_tls) {
  for (const auto& file : files) files_.emplace(file.path, &file);
}

const WebFile* WebFiles::find(const net::HttpRequest& request) const {
  if (request.method != "GET" && request.method != "HEAD") return nullptr;
  if (const auto found = files_.find(request.path); found != files_.end()) return found->second;
  const std::string_view path = request.path;
  if (path.starts_with("/api/") || path.starts_with("/assets/") || !accepts(request, "Accept", "text/html"))
    return nullptr;
  const auto dashboard = files_.find("/");
  return dashboard == files_.end() ? nullptr : dashboard->second;
}

net::HttpResponse file_response(const WebFile& file, const net::HttpRequest& request) {
  std::string_view body = file.plain;
  std::string_view encoding;
  if (!file.brotli.empty() && accepts(request, "Accept-Encoding", "br")) {
    body = file.brotli;
    encoding = "br";
  } else if (!file.gzip.empty() && accepts(request, "Accept-Encoding", "gzip")) {
    body = file.gzip;
    encoding = "gzip";
  }
  const auto tag =
      encoding.empty() ? fmt::format("\"{}\"", file.hash) : fmt::format("\"{}-{}\"", file.hash, encoding);

  net::HttpResponse response;
  response.content_type = file.content_type;
  response.headers.add("ETag", tag);
  bool unchanged = false;
  each_element(request.headers, "If-None-Match", [&](auto element) {
    if (element.starts_with("W/")) element.remove_prefix(2);
    unchanged = unchanged || element == tag || element == "*";
  });
  if (unchanged) {
    response.status = 304;
    return response;
  }
  if (!encoding.empty()) response.headers.add("Content-Encoding", std::string(encoding));
  response.body = body;
  return response;
}

std::optional<net::HttpResponse> WebFiles::answer(const net::HttpRequest& request) const {
  const auto* file = find(request);
  if (file == nullptr) return std::nullopt;
  auto response = file_response(*file, request);
  auto& headers = response.headers;
  headers.add("Vary", is_page(*file) ? "Accept, Accept-Encoding" : "Accept-Encoding");
  headers.add("Cache-Control",
              file->path.starts_with("/assets/") ? "public, max-age=31536000, immutable" : "no-cache");
  headers.add("X-Content-Type-Options", "nosniff");
  if (is_page(*file)) {
    headers.add("Content-Security-Policy", std::string(kPolicy));
    headers.add("Cross-Origin-Opener-Policy", "same-origin");
    headers.add("Referrer-Policy", "no-referrer");
  }
  if (behind_tls_) headers.add("Strict-Transport-Security", "max-age=31536000");
  return response;
}

}  // namespace presetbridge::api
