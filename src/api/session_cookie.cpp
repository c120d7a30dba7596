#include "api/session_cookie.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "net/ip_address.h"

namespace presetbridge::api {
namespace {

constexpr std::string_view kHttp = "http://";
constexpr std::string_view kHttps = "https://";
constexpr std::string_view kHostPrefix = "__Host-";
constexpr std::string_view kName = "pdb_session";

// Scheme, host and port of a URL, without the port that the scheme has anyway.
std::string origin_of(std::string_view url) {
  const auto after_scheme = url.find("://");
  const auto host_at = after_scheme == std::string_view::npos ? url.size() : after_scheme + 3;
  auto origin = lowered(url.substr(0, std::min(url.find('/', host_at), url.size())));
  const std::string_view usual = origin.starts_with(kHttps) ? ":443" : ":80";
  if (origin.ends_with(usual)) origin.resize(origin.size() - usual.size());
  return origin;
}

// The host of an origin, without its port.
std::string_view host_of(std::string_view origin) {
  origin.remove_prefix(origin.find("://") + 3);
  const auto after = origin.starts_with('[') ? origin.find(']') : 0;
  return origin.substr(0, origin.find(':', std::min(after, origin.size())));
}

bool is_this_machine(std::string_view origin) {
  auto host = host_of(origin);
  if (host == "localhost") return true;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const auto address = net::IpAddress::parse(host);
  return address && address->is_loopback();
}

std::unexpected<Error> insecure() {
  return fail(
      "INSECURE_ADDRESS",
      "A browser can sign in over https only, or over plain http on the machine that the service runs "
      "on. Open it at its https address.");
}

std::unexpected<Error> cross_site() {
  return fail("CROSS_SITE_REQUEST",
              "Sessions of browsers are for pages of this service: the request comes from another origin, or "
              "does not say from which.");
}

}  // namespace

std::string set_cookie(Door door, const Cookie& cookie) {
  const bool secure = door == Door::https;
  return fmt::format("{}{}={}; Path=/; Max-Age={}; HttpOnly; SameSite={}{}", secure ? kHostPrefix : "",
                     cookie.name, cookie.value, cookie.lives.count() / 1000, cookie.strict ? "Strict" : "Lax",
                     secure ? "; Secure" : "");
}

std::optional<std::string> read_cookie(const net::HttpRequest& request, Door door, std::string_view name) {
  const auto wanted = fmt::format("{}{}=", door == Door::https ? kHostPrefix : "", name);
  std::optional<std::string> found;
  for (auto field : request.headers.all("Cookie")) {
    while (!field.empty()) {
      auto pair = field.substr(0, field.find(';'));
      field.remove_prefix(std::min(pair.size() + 1, field.size()));
      while (pair.starts_with(' ')) pair.remove_prefix(1);
      if (!pair.starts_with(wanted)) continue;
      if (found) return std::nullopt;
      found = std::string(pair.substr(wanted.size()));
    }
  }
  return found;
}

SessionCookie::SessionCookie(std::string base_url) : origin_(origin_of(base_url)) {}

Expected<Door> SessionCookie::door() const {
  if (origin_.starts_with(kHttps)) return Door::https;
  if (is_this_machine(origin_)) return Door::loopback;
  return insecure();
}

Expected<Door> SessionCookie::judge(const net::HttpRequest& request) const {
  const auto site = request.headers.get("Sec-Fetch-Site");
  if (request.headers.count("Sec-Fetch-Site") > 1 || (site && *site != "same-origin")) return cross_site();
  if (request.headers.count("Origin") != 1) return cross_site();
  const auto origin = *request.headers.get("Origin");
  if (origin == origin_) return door();
  // Who runs it on their own machine may call that by any of its names.
  const auto host = request.headers.get("Host");
  const bool own = host && request.headers.count("Host") == 1 && origin.starts_with(kHttp) &&
                   equal_ignoring_case(origin.substr(kHttp.size()), *host);
  if (!own) return cross_site();
  if (origin_.starts_with(kHttps) || !is_this_machine(origin)) return insecure();
  return Door::loopback;
}

std::optional<std::string> SessionCookie::token(const net::HttpRequest& request, Door door) {
  return read_cookie(request, door, kName);
}

std::string SessionCookie::set(Door door, const std::string& token, Millis lives) {
  return set_cookie(door, {.name = kName, .value = token, .lives = lives});
}

std::string SessionCookie::clear(Door door) {
  return set_cookie(door, {.name = kName, .value = "", .lives = Millis{0}});
}

}  // namespace presetbridge::api
