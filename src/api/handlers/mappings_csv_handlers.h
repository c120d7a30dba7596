// /api/integrations/{integration}/mappings.csv: the mappings of a store as a table (spec 9.2).
#pragma once

#include "api/router.h"
#include "services/stores/integrations.h"

namespace presetbridge::api {

struct MappingsCsvDeps {
  services::Integrations& integrations;
};
void add_mappings_csv_routes(Router& router, const MappingsCsvDeps& deps);

}  // namespace presetbridge::api
