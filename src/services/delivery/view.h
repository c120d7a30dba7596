// What people see of deliveries (spec 3.7): in lists, and one with all that belongs to it.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "domain/journey.h"
#include "storage/page.h"
#include "storage/stores/delivery_store.h"
#include "storage/stores/event_store.h"
#include "storage/stores/item_store.h"
#include "storage/stores/timeline_store.h"

namespace presetbridge::services {

// As a list shows it.
struct DeliverySummary {
  storage::DeliveryRow row;
  std::string order_number;  // the store's, for people; empty: it has none
  std::string integration_name;
  storage::ItemSummary items_summary;
  std::optional<std::int64_t> queue_position;  // among the due work of its cloud account, from 1
  std::optional<Timestamp> estimated_at;
};

// Of the timeline: order_received, matched, queued, looked_up, request_sent, waiting, accepted, item_shared,
// item_revoked, item_revoke_failed, put_off, completed, failed, in_review, invalidated, action (somebody did
// it, as `actor` says), note (what a program of before wrote), event_told, summary (of many attempts).
struct ShownEntry {
  storage::TimelineEntry entry;
  std::string actor_name;  // empty: the service itself, the buyer, or somebody who is not known any more
};

struct ResolutionFacts {
  std::int64_t affected = 1;        // deliveries of the account that failed for the same, up to 1,000
  std::int64_t credits_needed = 0;  // by what this one owes
};

enum class UsernameSource { none, store, merchant, buyer };

struct DeliveryView : DeliverySummary {
  std::vector<storage::ItemRow> items;
  std::vector<ShownEntry> timeline;  // the newest ones
  std::optional<std::int64_t> timeline_next;
  std::array<domain::StepState, 5> steps{};
  std::array<std::optional<Timestamp>, 5> step_times;  // nothing: not done, or not known when
  std::vector<domain::MerchantAction> allowed;
  ResolutionFacts resolution;
  std::optional<Timestamp> resumable_until;  // until then it goes on by itself once its cause has passed
  bool partly_unmapped = false;              // lines of the order have no mapping
  UsernameSource username_source = UsernameSource::none;
  std::optional<Timestamp> first_request_at;
  std::optional<Timestamp> gives_up_at;   // while it waits for the customer
  std::optional<Timestamp> next_look_at;  // likewise: the next sweep
  std::vector<storage::EventStanding> events;
  std::string store_order_url;  // where the merchant sees the order at the store; empty: not known
  bool pending = false;         // the action was stored, and is done by the job in progress
};

inline constexpr int kTimelineEntries = 200;  // of the view
inline constexpr int kEventsShown = 100;      // the newest

// `jobs_per_minute`: of a cloud account (spec 3.4); 0: no limit.
std::vector<DeliverySummary> summaries_of(storage::Tx& tx, std::vector<storage::DeliveryRow> rows,
                                          int jobs_per_minute);
DeliveryView view_of(storage::Tx& tx, storage::DeliveryRow row, int jobs_per_minute);

// A page of the timeline, newest first: entries as they were written, with what follows from other rows: the
// arrival of the order, and what its store was told.
storage::Page<ShownEntry> timeline_of(storage::Tx& tx, const storage::DeliveryRow& row,
                                      const storage::PageRequest& page);

}  // namespace presetbridge::services
