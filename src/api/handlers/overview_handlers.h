// GET /api/overview, /api/search (spec 13.1).
#pragma once

#include "api/router.h"
#include "services/figures/overview.h"
#include "services/figures/search.h"

namespace presetbridge::api {

struct OverviewDeps {
  services::Overviews& overviews;
  services::Search& search;
};
void add_overview_routes(Router& router, OverviewDeps deps);

}  // namespace presetbridge::api
