// The one way to change a delivery's status: a cause is taken through the state machine
// (domain/delivery_machine.h), and the row, its timeline and its outbound event follow in the caller's
// transaction (spec 3.1, 3.7, 10.1).
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"
#include "domain/credits.h"
#include "domain/delivery_machine.h"
#include "domain/order.h"
#include "domain/timeline.h"
#include "storage/stores/delivery_store.h"
#include "storage/stores/event_store.h"
#include "storage/stores/item_store.h"
#include "storage/stores/order_store.h"
#include "storage/stores/timeline_store.h"

namespace presetbridge::services {

class DeliverySet;

struct Change {
  domain::Cause cause;
  domain::ResolutionCode code = domain::ResolutionCode::none;  // where the transition sets one
  std::string reason = {};                                     // of an invalidation
  // Further reasons of a review, beside that of the cause. Where there are any, a cause that would queue the
  // delivery brings it to review instead, and no event says that it was queued (spec 10.1).
  domain::ReviewReasons reasons = {};
  std::string message = {};  // empty: change_words.h has the words
  domain::Actor actor = domain::Actor::system();
  bool keep_pending = false;  // the pending action is obeyed later: a share has to be settled first
};

// A report of an order that delivers nothing, or less than it sold (spec 10.1). The order and its state
// outlive the report.
struct UnmappedOrder {
  EventId event;
  std::reference_wrapper<const storage::OrderRow> order;
  std::reference_wrapper<const domain::OrderState> state;
  bool dry_run = false;
};

// The fields of a timeline entry beside its words.
struct EntryDetails {
  domain::TimelineType type = domain::TimelineType::action;
  ItemId item = {};
  std::optional<Millis> duration = std::nullopt;  // of the call of the platform that the entry is about
  std::string data = {};                          // timeline_data(), or empty
};

// Returns the data of a timeline entry: a JSON object of these names and texts.
std::string timeline_data(std::initializer_list<std::pair<std::string_view, std::string_view>> members);

// Deliveries to be made in one transaction, with one statement a table however many there are.
struct NewDeliveries {
  std::vector<storage::DeliveryRow> rows;
  std::vector<Change> changes;             // the change that makes each of the rows
  std::vector<storage::ItemRow> items;     // of all rows, in the order of the rows
  std::vector<std::string> order_numbers;  // of each row's order, as people see it; empty: it has none
  std::vector<UnmappedOrder> unmapped;     // reports to make, also of orders without a delivery
};

// The writes that follow from changes made in memory, beside the rows themselves.
struct ChangeRecord {
  struct DeliveryEvent {
    EventId id;
    domain::EventType type;
    storage::DeliveryRow row;  // as it was when the event happened
  };
  // An account's credits fell to its threshold.
  struct CreditsLow {
    AccountId account;
    domain::Balance balance;
    std::int64_t threshold = 0;
  };
  std::vector<storage::TimelineRow> timeline;
  std::vector<DeliveryEvent> events;
  std::vector<UnmappedOrder> unmapped;
  std::vector<CreditsLow> credits_low;
  std::vector<storage::DeliveryNews> ends;  // for the log and the metrics (storage/news.h)
};

// Returns a delivery's items as they will be once the caller's changes are written; nothing: the caller has
// not read them.
using LoadedItems = std::function<std::optional<std::vector<const storage::ItemRow*>>(DeliveryId)>;

// Makes and changes deliveries. A transaction that waited for another one's locks has the earlier time of the
// two; hence all that is written about a delivery has the row's `updated_at` as its earliest time, so that
// the later of two changes never has the earlier time.
//
// Has no state but the sources of ids and of event UUIDs. Thread-safe.
class DeliveryChanges {
 public:
  static constexpr std::int64_t usual_credits_low_at = 10;
  using BuyerUrl = std::function<std::string(const storage::DeliveryRow&)>;
  // `credits_low_at`: the threshold of accounts that have set none. `buyer_url`: makes the buyer's link that
  // events carry, called on any thread; empty: events carry none.
  DeliveryChanges(IdSource& ids, Random& random, std::int64_t credits_low_at = usual_credits_low_at,
                  BuyerUrl buyer_url = {})
      : ids_(ids), random_(random), credits_low_at_(credits_low_at), buyer_url_(std::move(buyer_url)) {}

  // Inserts new deliveries with their items, timelines and events. Sets each row's times, its status and the
  // fields that belong to that by the cause of its change. Throws INVALID_TRANSITION for a cause that makes
  // no delivery.
  void create(DeliverySet& set, NewDeliveries& created);
  // Changes the row in memory, and adds to the record; the caller, which is DeliverySet, writes both.
  // INVALID_TRANSITION leaves the row as it was.
  Expected<void> apply(Timestamp now, storage::DeliveryRow& row, const Change& change, ChangeRecord& record);
  // Adds an entry to the record that changes no status.
  void add_timeline_entry(Timestamp now, const storage::DeliveryRow& row, domain::Actor actor,
                          std::string message, ChangeRecord& record, EntryDetails details = {});
  // Writes the record. Events show items as they are in the transaction: those that `loaded` has not are
  // read.
  void write(DeliverySet& set, ChangeRecord record, const LoadedItems& loaded = {});
  // Writes an event order.unmapped if a line of `state` has no mapping, and was not so in `before`: it was
  // mapped, was not there, or was another product. So each state of the order is reported once.
  void report_unmapped(DeliverySet& set, const storage::OrderRow& order,
                       std::span<const domain::OrderLine> before, const domain::OrderState& state,
                       bool dry_run);

  IdSource& ids() { return ids_; }
  std::int64_t credits_low_at() const { return credits_low_at_; }

 private:
  void change_status(storage::DeliveryRow& row, const domain::Transition& transition, const Change& change,
                     Timestamp now);
  void add_event(storage::DeliveryRow& row, domain::EventType type, ChangeRecord& record);
  storage::TimelineRow timeline_row(const storage::DeliveryRow& row, Timestamp now, domain::TimelineKind kind,
                                    const domain::Actor& actor, std::string message, EntryDetails details);
  storage::EventRow unmapped_event(const UnmappedOrder& report, Timestamp now);

  IdSource& ids_;
  Random& random_;
  const std::int64_t credits_low_at_;
  const BuyerUrl buyer_url_;
};

// Returns the stable id of an order's events (spec 2.13), which is the same in every answer, retry and
// outbound event.
std::string order_event_id(IntegrationId integration, std::string_view order_key);

}  // namespace presetbridge::services
