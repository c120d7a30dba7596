// /api/people, /api/invitations, POST /api/account/leave, POST /api/account/delete; and what somebody does
// who has an invitation's link: POST /api/auth/invitation, POST /api/auth/invitation/accept (spec 7.1, 7.2).
#pragma once

#include <string>
#include <vector>

#include "api/router.h"
#include "net/ip_address.h"
#include "net/network_budget.h"
#include "services/accounts/people.h"
#include "services/erasure/account_deletion.h"

namespace presetbridge::api {

struct PeopleDeps {
  services::People& people;
  std::vector<net::IpNetwork> proxies;  // whose X-Forwarded-For is believed
  net::NetworkBudget& requests;         // that failed, as their invitation or token is not valid
  services::AccountDeletion& deletion;
  std::string base_url;  // of the links
};
void add_people_routes(Router& router, PeopleDeps deps);

}  // namespace presetbridge::api
