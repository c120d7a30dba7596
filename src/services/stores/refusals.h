// Refused events of a store, and what mends them (spec 9.1, 13.4).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/store_activity_store.h"

namespace presetbridge::services {

// Refused events with one code, of the hours of a StoreActivity.
struct Refusals {
  std::string code;  // of the error, as INVALID_SIGNATURE
  std::int64_t events = 0;
  Timestamp since;  // when the first hour began
  Timestamp last_at;
  // Refusals until then are mended: the store's newest event was accepted at that time or, of a wrong signature, its
  // secret was changed. Nothing: neither happened in these hours.
  std::optional<Timestamp> mended_until;

  bool open() const { return !mended_until || last_at > *mended_until; }
};
// Sorted by code.
std::vector<Refusals> refusals_of(const storage::IntegrationRow& store,
                                  const storage::StoreActivity& activity);
// When the newest event of these hours was accepted.
std::optional<Timestamp> last_accepted_at(const storage::StoreActivity& activity);

}  // namespace presetbridge::services
