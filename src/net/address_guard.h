// Which URLs and addresses a call may reach under an AddressPolicy (spec 10.5). The address
// of the actual connection decides; the check of the URL serves to refuse early and with a reason for a
// person.
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

// May a connection for such a URL be made to `address`?
bool address_allowed(AddressPolicy policy, bool https, const IpAddress& address);

// `invalid`: not an absolute http(s) URL of at most 2,048 printable ASCII characters, with user info, with a
// host that is neither an address nor of letters, digits, '.', '-' and '_' (also when it is percent-encoded),
// or of a scheme that the policy refuses. `denied`: the host is an address that the policy refuses. Resolves
// no name.
std::expected<OutgoingUrl, HttpFailure> check_url(std::string_view url, AddressPolicy policy);

}  // namespace presetbridge::net
