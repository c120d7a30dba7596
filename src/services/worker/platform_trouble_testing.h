// Short words for the tests of platform trouble, which last days.
#pragma once

#include <string>

#include "services/testing.h"
#include "storage/stores/timeline_store.h"

namespace presetbridge::services::testing {

// Few polls, for tests that last days.
inline WorkerOptions slow() {
  return {.jobs_per_minute = 0, .poll = std::chrono::minutes{30}, .maintenance = std::chrono::minutes{5}};
}

inline void fail_calls(World& world, const std::string& failing, FakeCloud::Fate fate) {
  world.cloud.before = [failing, fate](auto& call, auto&) {
    return call == failing ? fate : FakeCloud::Fate::answer;
  };
}

inline DeliveryId accept(World& world, const std::string& order, const std::string& username,
                         const std::string& sku) {
  return world.accept(world.order(order, username, {sku})).delivery.value();
}

inline bool failed_unavailable(World& world, DeliveryId id) {
  return world.status(id) == "failed cloud_unavailable";
}

inline std::size_t entries(World& world, DeliveryId id) {
  return world.write([&](storage::Tx& tx) { return find_timeline(tx, id, 10'000).size(); });
}

}  // namespace presetbridge::services::testing
