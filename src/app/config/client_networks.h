// The limits that the settings give clients and their networks (spec 8.6).
#pragma once

#include <vector>

#include "app/config/config.h"
#include "net/http_server.h"
#include "net/ip_address.h"
#include "net/network_budget.h"

namespace presetbridge::app {

// All of a configuration that has been checked.

std::vector<net::IpNetwork> trusted_proxies(const Config& config);
net::NetworkBudget::Limits failed_request_limits(const Config& config);
net::NetworkBudget::Limits failed_sign_in_limits(const Config& config);
// A network has an eighth of the connections, eight at least. Loopback and the named proxies speak for
// others.
// How many may read events at one time: at most half of the connections, those of accounts and of buyers
// together; of them a network has an eighth, eight at least, and an account no more than that.
struct ReaderShares {
  int of_accounts = 0;
  int of_buyers = 0;
  int of_account = 0;
  int of_delivery = 0;
  int of_network = 0;  // of accounts' readers, and as many of buyers'
};
ReaderShares reader_shares(const Config& config);
net::HttpServerOptions server_options(const Config& config, const ListenAddress& listen);

}  // namespace presetbridge::app
