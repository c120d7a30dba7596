#include "services/operation/census.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <string_view>
#include <utility>

#include "base/recurring.h"
#include "domain/trouble.h"
#include "services/operation/node_number.h"
#include "storage/commit/timed_read.h"
#include "storage/stores/census_store.h"

namespace presetbridge::services {
namespace {

using storage::Backlog;
using storage::Tx;

// A node that has not renewed its number twice is not there.
constexpr Millis kSeen = 2 * kNodeNumberRenewal + Millis{10'000};

struct Counted {
  Timestamp at;
  std::map<std::string, Backlog> stages;
  std::vector<std::string> pauses;
  std::int64_t refused_logins = 0;
  std::vector<std::string> nodes;  // roles of each
};

Counted count(Tx& tx) {
  Counted counted{.at = tx.now(),
                  .stages = storage::count_deliveries(tx),
                  .pauses = storage::account_pauses(tx),
                  .refused_logins = storage::count_refused_logins(tx),
                  .nodes = storage::roles_of_nodes(tx, tx.now() - kSeen)};
  counted.stages["webhook"] = storage::count_pending_dispatches(tx);
  return counted;
}

void show_stages(const Counted& counted, Metrics& metrics) {
  for (const auto& [stage, backlog] : counted.stages) {
    const auto age = backlog.oldest ? std::max(counted.at - *backlog.oldest, Millis{0}) : Millis{0};
    metrics.set("presetbridge_backlog", static_cast<double>(backlog.count), {{"stage", stage}});
    metrics.set("presetbridge_backlog_oldest_age_seconds", static_cast<double>(age.count()) / 1'000,
                {{"stage", stage}});
  }
}

void show_pauses(const Counted& counted, Metrics& metrics) {
  std::map<std::string_view, std::int64_t> accounts{
      {"rate_limited", 0}, {"outage", 0}, {"login_refused", counted.refused_logins}};
  for (const auto& text : counted.pauses) {
    const auto trouble = domain::decode_account_trouble(text);
    if (!trouble) continue;
    if (const auto name = domain::trouble_name(*trouble); !name.empty()) ++accounts[name];
  }
  for (const auto& [reason, number] : accounts)
    metrics.set("presetbridge_cloud_accounts_paused", static_cast<double>(number), {{"reason", reason}});
}

void show_nodes(const std::vector<std::string>& nodes, Metrics& metrics) {
  std::map<std::string, int, std::less<>> of_role{{"api", 0}, {"worker", 0}, {"dispatcher", 0}};
  for (const auto& roles : nodes) {
    for (const auto role : std::views::split(roles, ',')) {
      const auto known = of_role.find(std::string_view(role.begin(), role.end()));
      if (known != of_role.end()) ++known->second;
    }
  }
  for (const auto& [role, number] : of_role) metrics.set("presetbridge_nodes_seen", number, {{"role", role}});
}

}  // namespace

void Census::start() {
  if (!options_.only_node.empty()) {
    for (const auto& role : options_.only_node) metrics_.set("presetbridge_nodes_seen", 1, {{"role", role}});
  }
  tasks_.start_loop(loop(), "count for the metrics");
}

void Census::stop(Callback stopped) {
  tasks_.stop(std::move(stopped));
}

Task<void> Census::loop() {
  Recurring pace(options_.every);
  while (!tasks_.stopping()) {
    if (pace.take(clock_.now())) {
      const auto counted =
          co_await timed_read(async_db_, scheduler_, clock_, [](Tx& tx) { return count(tx); });
      pace.done(counted.took);
      if (counted.found) {
        show_stages(*counted.found, metrics_);
        show_pauses(*counted.found, metrics_);
        if (options_.only_node.empty()) show_nodes(counted.found->nodes, metrics_);
        metrics_.set("presetbridge_backlog_counted_timestamp_seconds",
                     static_cast<double>(to_unix_ms(counted.found->at)) / 1'000);
      } else if (!storage::is_logged(counted.found.error())) {
        log_.warn("the gauges of the metrics could not be counted",
                  {{"error", counted.found.error().message}});
      }
    }
    if (!tasks_.stopping()) co_await tasks_.wait(std::max(pace.left(clock_.now()), Millis{1}));
  }
}

}  // namespace presetbridge::services
