// The files that an order would deliver with the current mappings, or with unsaved ones (spec 9.2). Nothing
// is written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "services/stores/integrations.h"

namespace presetbridge::services {

struct PreviewRequest {
  std::optional<std::string> order_id;                 // the store's id of an order that is stored
  std::vector<domain::OrderLine> lines;                // without `order_id`: of an order made up
  std::optional<std::vector<WantedMapping>> mappings;  // nothing: those that are saved
};

struct PreviewLine {
  domain::OrderLine line;  // `mapped`: what came of it
  std::int64_t paid_quantity = 0;
  std::optional<domain::MatchType> matched_by;
  std::vector<std::string> file_ids;
};
struct MappingPreview {
  domain::OrderOutcome outcome = domain::OrderOutcome::stopped;  // of the order, if it were new
  bool too_large = false;
  std::vector<PreviewLine> lines;
  std::vector<domain::OwedFile> files;
  std::int64_t credits = 0;  // for the files that are paid for, and that its delivery has not shared yet
  // Stored orders of which a line without a mapping would have one that delivers.
  std::int64_t reprocessable_orders = 0;
  std::int64_t reprocessable_credits = 0;  // that their delivery costs at most
  bool reprocessable_exact = true;  // else of the newest orders alone (services/stores/unmapped_orders.h)
};

// Thread-safe. Another account's integration, one outside the key's scope, an archived one, and an order that
// the store has not sent, are NOT_FOUND.
class MappingPreviews {
 public:
  MappingPreviews(storage::AsyncDatabase& async_db, MappingLimits limits)
      : async_db_(async_db), limits_(limits) {}
  const MappingLimits& limits() const { return limits_; }
  // VALIDATION_FAILED as Integrations::replace_mappings().
  Task<Expected<MappingPreview>> preview(Executor& executor, identity::Principal by, IntegrationId id,
                                         PreviewRequest request);

 private:
  storage::AsyncDatabase& async_db_;
  const MappingLimits limits_;
};

// How a save changes the mappings: those of one match type and value belong together, so that another file
// for a SKU is one that changed.
struct MappingDiff {
  std::int64_t added = 0;
  std::int64_t changed = 0;
  std::int64_t removed = 0;
};
MappingDiff diff_mappings(const std::vector<storage::MappingRow>& before,
                          const std::vector<storage::MappingRow>& after);

}  // namespace presetbridge::services
