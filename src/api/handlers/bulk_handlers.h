// /api/bulk: jobs on many orders or deliveries; POST /api/deliveries/bulk starts one (spec 9.3, 9.4).
#pragma once

#include <boost/json.hpp>

#include "api/router.h"
#include "services/bulk/bulk_deliveries.h"
#include "services/bulk/bulk_jobs.h"

namespace presetbridge::api {

boost::json::object bulk_json(const storage::BulkJobRow& job);

struct BulkDeps {
  services::BulkJobs& jobs;
  services::BulkDeliveries& deliveries;
};
void add_bulk_routes(Router& router, BulkDeps deps);

}  // namespace presetbridge::api
