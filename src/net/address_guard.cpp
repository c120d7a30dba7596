#include "net/address_guard.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "base/ascii.h"

namespace presetbridge::net {

namespace {

constexpr std::size_t kLongestUrl = 2'048;

std::unexpected<HttpFailure> refuse(HttpFailure::Kind kind, std::string message) {
  return std::unexpected(HttpFailure{kind, std::move(message)});
}

bool in_dns_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

// Whether `host` can be a name of the public DNS: labels separated by dots, the last of which is no number
// and is not reserved for private networks (RFC 6761, RFC 6762, and ICANN's `internal`).
// Each call resolves the name and checks its addresses.
bool is_public_name(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  const auto dot = host.rfind('.');
  if (dot == std::string_view::npos || host.starts_with('.') || host.contains("..")) return false;
  const auto top = host.substr(dot + 1);
  return !top.empty() && top != "localhost" && top != "local" && top != "internal" &&
         !std::ranges::all_of(top, [](char c) { return c >= '0' && c <= '9'; });
}

std::string part(CURLU* url, CURLUPart which, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, which, &text, flags) != CURLUE_OK) return {};
  std::string out(text);
  curl_free(text);
  return out;
}

}  // namespace

bool address_allowed(AddressPolicy policy, bool https, const IpAddress& address) {
  switch (policy) {
    case AddressPolicy::public_https:
      return https && address.is_public();
    case AddressPolicy::sandbox_receivers:
      return address.is_loopback() || (https && address.is_public());
    case AddressPolicy::configured:
      return true;
  }
  return false;
}

std::expected<OutgoingUrl, HttpFailure> check_url(std::string_view text, AddressPolicy policy) {
  using enum HttpFailure::Kind;
  if (text.empty() || text.size() > kLongestUrl) return refuse(invalid, "the URL is empty or too long");
  if (!std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; })) {
    return refuse(invalid,
                  "the URL holds other characters than printable ASCII: percent-encode those of its path, "
                  "and write its host in the xn-- form");
  }
  // libcurl's parser also accepts one slash for two, and decodes hosts: in "http:/%31" it finds the host
  // "1", which other parts of libcurl read as an address.
  const auto slashes = text.find("://");
  const auto authority =
      slashes == std::string_view::npos
          ? std::string_view()
          : text.substr(slashes + 3, text.find_first_of("/?#\\", slashes + 3) - slashes - 3);
  if (authority.empty() || (authority.contains('%') && !authority.contains('[')))
    return refuse(invalid, "not a URL of the form https://host/path with a plain host");
  // libcurl parses the URL of the call, too, so check and call read the same host.
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl_url(), &curl_url_cleanup);
  const CURLUcode code =
      url ? curl_url_set(url.get(), CURLUPART_URL, std::string(text).c_str(), CURLU_DISALLOW_USER)
          : CURLUE_OUT_OF_MEMORY;
  if (code == CURLUE_BAD_PORT_NUMBER)
    return refuse(invalid, "the URL's port is not a number from 1 to 65535");
  if (code != CURLUE_OK)
    return refuse(invalid, "not a URL of the form https://host:port/path, without user info");
  OutgoingUrl out;
  const std::string scheme = part(url.get(), CURLUPART_SCHEME);
  if (scheme != "https" && scheme != "http")
    return refuse(invalid, "the URL's scheme is neither https nor http");
  out.https = scheme == "https";
  if (!out.https && policy == AddressPolicy::public_https)
    return refuse(invalid, "the URL's scheme is not https");

  const std::string port = part(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  std::from_chars(port.data(), port.data() + port.size(), out.port);
  if (out.port == 0) return refuse(invalid, "the URL's port is not a number from 1 to 65535");

  out.host = lowered(part(url.get(), CURLUPART_HOST));
  if (out.host.starts_with('[') && out.host.ends_with(']')) {
    out.host = out.host.substr(1, out.host.size() - 2);
  } else if (!std::ranges::all_of(out.host, in_dns_name)) {
    // libcurl decodes %C3%A4 and would call the host by a name that was not checked.
    return refuse(invalid, "the URL's host holds characters that no DNS name has; write it in its xn-- form");
  }
  if (out.host.empty() || out.host.size() > 253)
    return refuse(invalid, "the URL's host is empty or too long");
  if (!part(url.get(), CURLUPART_ZONEID).empty()) return refuse(invalid, "the URL's host has a zone");

  out.literal = IpAddress::parse(out.host);
  if (out.literal && !address_allowed(policy, out.https, *out.literal)) {
    return refuse(denied, "the URL's host is an address that may not be called");
  }
  if (!out.literal && policy == AddressPolicy::public_https && !is_public_name(out.host))
    return refuse(denied, "the URL's host is neither an address nor a name of the public internet");
  return out;
}

}  // namespace presetbridge::net
