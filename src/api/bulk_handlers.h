// /api/bulk: how far an action on many has come (spec 9.3, 9.4).
#pragma once

#include "api/router.h"
#include "services/bulk_jobs.h"

namespace presetbridge::api {

struct BulkDeps {
  services::BulkJobs& jobs;
};
void add_bulk_routes(Router& router, BulkDeps deps);

json::object bulk_json(const storage::BulkJobRow& job);

}  // namespace presetbridge::api
