// Deliveries as people see them (spec 3.7): in a list, and alone with all that belongs to it.
#pragma once

#include <array>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "domain/journey.h"
#include "domain/order_event.h"
#include "domain/order_summary.h"
#include "storage/page.h"
#include "storage/stores/delivery_store.h"
#include "storage/stores/event_store.h"
#include "storage/stores/item_store.h"
#include "storage/stores/timeline_store.h"

namespace presetbridge::services {

// A delivery in a list.
struct DeliverySummary {
  storage::DeliveryRow row;
  std::string order_number;  // the store's, for people; empty: it has none
  domain::OrderMarks marks;  // the order's
  std::string integration_name;
  storage::ItemSummary items_summary;
  std::optional<std::int64_t> queue_position;  // among the due work of its cloud account, from 1
  std::optional<Timestamp> estimated_at;
  std::optional<Timestamp> requested_at;  // when the friend request was sent that it waits for
};

// An entry of the timeline.
struct ShownEntry {
  storage::TimelineEntry entry;
  domain::TimelineType type;  // the entry's; if it has none that is known here, the nearest
  std::string actor_name;     // empty: the service itself, the buyer, or somebody who is not stored any more
};

struct ResolutionFacts {
  std::int64_t affected = 1;        // deliveries of the account that failed for this code, up to 1,000
  std::int64_t credits_needed = 0;  // for the files that this one owes
};

enum class UsernameSource { none, store, merchant, buyer };

struct DeliveryView : DeliverySummary {
  std::vector<storage::ItemRow> items;
  std::set<ItemId> staying;          // of `items`, as of storage::find_staying_items()
  std::vector<ShownEntry> timeline;  // the newest ones
  std::optional<std::int64_t> timeline_next;
  std::array<domain::StepState, 5> steps{};
  std::array<std::optional<Timestamp>, 5> step_times;  // nothing: not done, or the time is not known
  std::vector<domain::MerchantAction> allowed;
  ResolutionFacts resolution;
  std::optional<Timestamp> resumable_until;  // until then it resumes by itself once its cause has passed
  bool partly_unmapped = false;              // lines of the order have no mapping
  std::optional<domain::OrderExcess> size;  // of one that is too large; nothing: it is not, or nobody counted
  UsernameSource username_source = UsernameSource::none;
  std::optional<Timestamp> first_request_at;
  std::optional<Timestamp> gives_up_at;    // nothing: it does not wait for the customer
  std::optional<Timestamp> next_sweep_at;  // nothing likewise
  std::vector<storage::EventOfDelivery> events;
  std::string store_order_url;  // where the merchant sees the order at the store; empty: not known
  bool pending = false;         // an action is stored, and is done by the job in progress
};

// A DeliveryView has at most this many timeline entries and events, the newest ones.
inline constexpr int kTimelineEntries = 200;
inline constexpr int kEventsShown = 100;

// `jobs_per_minute`: the limit of a cloud account (spec 3.4); 0: none.
std::vector<DeliverySummary> summaries_of(storage::Tx& tx, std::vector<storage::DeliveryRow> rows,
                                          int jobs_per_minute);
DeliveryView view_of(storage::Tx& tx, storage::DeliveryRow row, int jobs_per_minute);

// The outlook of a delivery that is queued or worked on, or whose customer has accepted.
struct Outlook {
  // It waits for the customer, who is known to have accepted: the job that shares the files has not begun.
  bool accepted = false;
  bool in_outage = false;  // of its cloud account (spec 3.5): nobody knows when it goes on
  // It begins at that moment, or later behind 1,000 others. Nothing: within a minute and nothing has failed, or that
  // is not known.
  std::optional<Timestamp> late_start = {};
};
Outlook outlook_of(storage::Tx& tx, const storage::DeliveryRow& row, int jobs_per_minute);

// Returns a page of the timeline, the newest first. It has the stored entries, and entries made from other
// rows: the arrival of the order, its matching with files, and the outbound events.
storage::Page<ShownEntry> timeline_of(storage::Tx& tx, const storage::DeliveryRow& row,
                                      const storage::PageRequest& page);

}  // namespace presetbridge::services
