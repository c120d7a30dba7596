// Where a request comes from: the peer of its connection, or whom a reverse proxy says that it speaks for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "net/http.h"
#include "net/ip_address.h"

namespace presetbridge::net {

// The last entry of X-Forwarded-For that is not itself a proxy of ours; each proxy adds at the end the peer
// it saw, so what stands before that entry is anybody's invention. Without a trusted proxy before us the
// field is not looked at. An entry that is no address ends the search: the proxy that wrote it is the answer.
// Nothing: `request` does not say its peer.
std::optional<IpAddress> client_address(const HttpRequest& request, const std::vector<IpNetwork>& proxies);

// Whom a request counts for where strangers share something out.
struct Caller {
  // The IPv4 address, or the /64 of an IPv6 one, which is what one host is given. Empty: nobody known.
  std::string network;
  // It may speak for others: a loopback address (a proxy that is not named), a named proxy that does not say
  // for whom, or nobody known. A fault of one of its clients is no reason to refuse another.
  bool for_others = true;
};
Caller caller_of(const HttpRequest& request, const std::vector<IpNetwork>& proxies);

// The network of one client: the address itself, or the /64 of an IPv6 one.
IpAddress client_network(const IpAddress& address);

}  // namespace presetbridge::net
