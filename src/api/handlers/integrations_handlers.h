// /api/integrations: stores and their item mappings (spec 9.1, 9.2).
#pragma once

#include <string>

#include "api/router.h"
#include "services/presets/presets.h"
#include "services/stores/integrations.h"

namespace presetbridge::api {

struct IntegrationsDeps {
  services::Integrations& integrations;
  services::Presets& presets;
  std::string base_url;  // of this service, without a slash at the end: webhook addresses begin with it
};
void add_integrations_routes(Router& router, const IntegrationsDeps& deps);

}  // namespace presetbridge::api
