#include "net/response_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace presetbridge::net {

namespace {

std::string_view reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 402:
      return "Payment Required";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 425:
      return "Too Early";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "";  // the phrase may be empty
  }
}

bool sendable(std::string_view value) {
  return std::ranges::all_of(value, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

bool owned_by_server(std::string_view name) {
  constexpr std::array<std::string_view, 6> owned{
      "content-length", "transfer-encoding", "connection", "keep-alive", "date", "x-request-id"};
  return std::ranges::any_of(owned, [&](auto n) { return same_field_name(n, name); });
}

}  // namespace

bool status_has_body(int status) {
  return status >= 200 && status != 204 && status != 304;
}

std::optional<std::string> header_text(const HttpResponse& response, const ResponseFraming& framing) {
  std::string out;
  out.reserve(256);
  auto to = std::back_inserter(out);
  fmt::format_to(to, "HTTP/1.1 {} {}\r\nDate: {}\r\nX-Request-Id: {}\r\n", response.status,
                 reason(response.status), framing.date, framing.request_id);
  if (status_has_body(response.status)) {
    if (!response.content_type.empty()) {
      if (!sendable(response.content_type)) return std::nullopt;
      fmt::format_to(to, "Content-Type: {}\r\n", response.content_type);
    }
    if (!response.stream) {
      fmt::format_to(to, "Content-Length: {}\r\n", response.body.size());
    } else if (!framing.http10) {
      out += "Transfer-Encoding: chunked\r\n";
    }
  }
  if (!framing.keep_alive) {
    out += "Connection: close\r\n";
  } else if (framing.http10) {
    out += "Connection: keep-alive\r\n";
  }
  for (const auto& [name, value] : response.headers) {
    if (!is_token(name) || !sendable(value)) return std::nullopt;
    if (!owned_by_server(name)) fmt::format_to(to, "{}: {}\r\n", name, value);
  }
  out += "\r\n";
  return out;
}

HttpResponse error_response(int status, std::string_view code, std::string_view message) {
  HttpResponse response;
  response.status = status;
  response.body = fmt::format(R"({{"error":{{"code":"{}","message":"{}"}}}})", code, message);
  return response;
}

}  // namespace presetbridge::net
