// Retry, approve or invalidate many deliveries (spec 9.4): those that are named, or all that a filter finds.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "services/bulk/bulk_jobs.h"
#include "services/delivery/actions.h"
#include "storage/stores/delivery_search.h"
#include "storage/stores/item_store.h"

namespace presetbridge::services {

inline constexpr std::size_t kMostBulkIds = 1'000;  // deliveries that one request names

struct DeliveriesChosen {
  std::vector<DeliveryId> ids;  // else what the filter finds; its account, page and order count for nothing
  std::optional<storage::DeliveryFilter> filter;
  // Deliveries that were made later are not meant; nothing, or later than now: now.
  std::optional<Timestamp> as_of;
};

// The extent of a job, at the time of the request.
struct BulkDeliveriesPlan {
  std::int64_t total = 0;
  bool total_is_exact = true;
  std::int64_t eligible = 0;
  // The others by why: INVALID_TRANSITION, NOT_FOUND, the resolution code that would stop it again at once,
  // or the reason of its review, which was not named.
  std::map<std::string, std::int64_t> excluded;
  // The cost of the eligible ones by their current mapping. Only for a dry run.
  storage::CreditsOwed cost;
  storage::BulkJobRow job;  // its id is none: it was only asked how many
};

class BulkDeliveries {
 public:
  // All outlive this.
  BulkDeliveries(storage::AsyncDatabase& async_db, DeliveryActions& deliveries, BulkJobs& jobs)
      : async_db_(async_db),
        jobs_(jobs),
        retry_(deliveries, domain::MerchantAction::retry),
        approve_(deliveries, domain::MerchantAction::approve),
        invalidate_(deliveries, domain::MerchantAction::invalidate) {}

  // `asked.action`: retry, approve or invalidate. An approval takes deliveries of which nothing graver shows
  // than that they are held or were reopened; others where the filter names their reasons. With `dry_run`
  // nothing is asked for. Each that is eligible when its turn comes is done; of those that a filter found,
  // one that is in another state by then than the filter says is left as it is, and reported as refused.
  // Errors: as BulkJobs::add().
  Task<Expected<BulkDeliveriesPlan>> ask(Executor& executor, identity::Principal by, DeliveriesChosen chosen,
                                         DeliveryActions::BulkAction asked, bool dry_run);
  // For the BulkWorker.
  std::array<BulkAction*, 3> actions() { return {&retry_, &approve_, &invalidate_}; }

 private:
  class Action final : public BulkAction {
   public:
    Action(DeliveryActions& deliveries, domain::MerchantAction action)
        : deliveries_(deliveries), action_(action) {}
    std::string_view name() const override;
    Found find(storage::Tx& tx, const storage::BulkJobRow& job, int limit) const override;
    Task<Expected<Do>> prepare(Executor& executor, const storage::BulkJobRow& job, std::int64_t id) override;
    std::string id_text(std::int64_t id) const override { return to_string(DeliveryId{id}); }

   private:
    DeliveryActions& deliveries_;
    const domain::MerchantAction action_;
  };
  const Action& action_of(domain::MerchantAction action) const;

  storage::AsyncDatabase& async_db_;
  BulkJobs& jobs_;
  Action retry_;
  Action approve_;
  Action invalidate_;
};

}  // namespace presetbridge::services
