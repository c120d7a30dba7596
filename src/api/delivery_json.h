// Deliveries as answers show them (api/openapi.yaml: Delivery, DeliverySummary, TimelineEntry).
#pragma once

#include <string>

#include <boost/json.hpp>

#include "services/delivery/view.h"
#include "storage/stores/timeline_store.h"

namespace presetbridge::api {

boost::json::object summary_json(const services::DeliverySummary& summary);
// `buyer_url`: of its buyer's link.
boost::json::object view_json(const services::DeliveryView& view, const std::string& buyer_url);
boost::json::object entry_json(const services::ShownEntry& shown);

// A line for each field, the first naming them; fields are quoted, and none begins what a spreadsheet reads
// as a formula.
std::string csv_head();
std::string csv_line(const services::DeliverySummary& summary);

}  // namespace presetbridge::api
