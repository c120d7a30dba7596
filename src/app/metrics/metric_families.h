// The families of metrics that the service has (spec 12.3; docs/operations.md says more of each).
#pragma once

#include <string_view>

#include "app/metrics/metrics_registry.h"

namespace presetbridge::app {

// The metric's text for HELP; empty for a name that is not of the service.
std::string_view help_of(std::string_view metric);

// Makes every family seen from the first scrape on: with a sample for each of the labels that are known
// before anything has happened. Otherwise an event that has not happened looks like one that is not counted.
void show_families(MetricsRegistry& metrics);

}  // namespace presetbridge::app
