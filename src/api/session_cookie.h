// The cookie that holds a browser's refresh token (spec 7.2), and which pages may have one made or used. It
// is HttpOnly and SameSite=Strict; behind https it is Secure and named with __Host-, so that no other host
// and no script can read or plant it. On this machine plain http will do, which browsers trust there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"
#include "net/http.h"

namespace presetbridge::api {

// The way by which an accepted page has come.
enum class Door { https, loopback };

// A cookie by that name; its value is of visible ASCII without ';'.
struct Cookie {
  std::string_view name;  // without the prefix
  std::string value;
  Millis lives{0};     // 0: it goes at once
  bool strict = true;  // else SameSite=Lax: it comes along when another site links here
};
std::string set_cookie(Door door, const Cookie& cookie);
// Nothing: there is none, or more than one.
std::optional<std::string> read_cookie(const net::HttpRequest& request, Door door, std::string_view name);

class SessionCookie {
 public:
  // The service's public address; http:// or https://.
  explicit SessionCookie(std::string base_url);

  // The way of a navigation, by its address alone, since no page vouches for it. INSECURE_ADDRESS: plain
  // http, and not of this machine.
  Expected<Door> door() const;
  // For what a page sends: it must be one of this service, as Origin and Sec-Fetch-Site say. The address, or
  // where that is on this machine any name of it. CROSS_SITE_REQUEST, INSECURE_ADDRESS.
  Expected<Door> judge(const net::HttpRequest& request) const;

  static std::optional<std::string> token(const net::HttpRequest& request, Door door);
  static std::string set(Door door, const std::string& token, Millis lives);
  static std::string clear(Door door);

 private:
  const std::string origin_;  // of the address, as browsers write it
};

}  // namespace presetbridge::api
