// Which URLs and addresses a call may reach under an AddressPolicy (spec 10.5). The address of the actual
// connection decides; the check of the URL refuses earlier, and with a reason for people.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "net/http_client.h"
#include "net/ip_address.h"

namespace presetbridge::net {

struct OutgoingUrl {
  bool https = true;
  std::string host;  // lower case, as libcurl reads it; IPv6 without brackets
  std::uint16_t port = 443;
  std::optional<IpAddress>
      literal;  // the host, if it is an address in any spelling (also 0x7f.1, 2130706433)
};

// Whether a call of an https URL (`https`), else of an http URL, may connect to `address`.
bool address_allowed(AddressPolicy policy, bool https, const IpAddress& address);

// `invalid`: the URL is not an absolute http(s) URL of at most 2,048 printable ASCII characters, or has
// user info, a scheme that the policy refuses, or a host that is neither an address nor consists of
// letters, digits, '.', '-' and '_' (a percent-encoded host does not). `denied`: the policy refuses the
// host, which is an address or a name outside the public DNS. Resolves no name.
std::expected<OutgoingUrl, HttpFailure> check_url(std::string_view url, AddressPolicy policy);

}  // namespace presetbridge::net
