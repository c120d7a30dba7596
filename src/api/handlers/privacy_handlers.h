// /api/privacy-requests: what stores' platforms asked for on behalf of buyers (spec 2.11, 9.6).
#pragma once

#include "api/router.h"
#include "services/stores/privacy_inbox.h"

namespace presetbridge::api {

struct PrivacyDeps {
  services::PrivacyInbox& inbox;
};
void add_privacy_routes(Router& router, PrivacyDeps deps);

}  // namespace presetbridge::api
