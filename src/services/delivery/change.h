// The one place where a delivery's status changes: a cause is taken through the state machine
// (domain/delivery_machine.h), and in the caller's transaction the row, its timeline and its outbound event
// follow. spec 3.1, 3.7, 10.1.
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
  // Of a review, beside that of the cause. What a cause would queue goes to review instead where there are
  // any, and nobody hears that it was queued (spec 10.1).
  domain::ReviewReasons reasons = {};
  std::string message = {};  // empty: the usual words for it
  domain::Actor actor = domain::Actor::system();
  bool keep_pending = false;  // the pending action is not obeyed yet: a share has to be settled first
};

// An order that delivers nothing, or less than it sold (spec 10.1). What it refers to outlives what holds it.
struct UnmappedOrder {
  EventId event;
  std::reference_wrapper<const storage::OrderRow> order;
  std::reference_wrapper<const domain::OrderState> state;
  bool dry_run = false;
};

// What a timeline's entry says besides its words.
struct Told {
  std::string type = "action";  // services/delivery/view.h
  ItemId item = {};
  std::optional<Millis> duration = std::nullopt;  // of the call of the platform that it tells of
  std::string data = {};                          // a JSON object, or empty
};

// For Told::data: the texts as an object's members.
std::string told_of(std::initializer_list<std::pair<std::string_view, std::string_view>> members);

// Deliveries to be made in one transaction, a statement a table however many there are.
struct NewDeliveries {
  std::vector<storage::DeliveryRow> rows;
  std::vector<Change> changes;             // what makes each of the rows
  std::vector<storage::ItemRow> items;     // of all of them
  std::vector<std::string> order_numbers;  // of each of the rows' orders, for people; empty: none
  std::vector<UnmappedOrder> unmapped;     // orders, with a delivery or without, to tell of
};

// What changes made in memory are still to write beside the rows themselves.
struct ChangeRecord {
  struct Telling {
    EventId event;
    domain::EventType type;
    storage::DeliveryRow row;  // as it was then
  };
  // An account's credits fell to what it wants to hear of.
  struct CreditsLow {
    AccountId account;
    domain::Balance balance;
    std::int64_t threshold = 0;
  };
  std::vector<storage::TimelineRow> timeline;
  std::vector<Telling> tellings;
  std::vector<UnmappedOrder> unmapped;
  std::vector<CreditsLow> credits_low;
  std::vector<storage::DeliveryNews> ends;  // for the log and the metrics (storage/news.h)
};

// A delivery's items as they are once the caller's changes are written, where the caller has them; else
// nothing.
using ItemsAtHand = std::function<std::optional<std::vector<const storage::ItemRow*>>(DeliveryId)>;

// A transaction that waited for another one's locks has the older time: what is written of a delivery has a
// time that is not before its row's, `updated_at`, so that of two changes the later one never tells the
// earlier time.
//
// Stateless but for where ids and event UUIDs come from. Thread-safe.
class DeliveryChanges {
 public:
  static constexpr std::int64_t usual_credits_low_at = 10;
  using BuyerUrl = std::function<std::string(const storage::DeliveryRow&)>;
  // `credits_low_at`: of accounts that have set nothing else. `buyer_url`: the link that events tell of, on
  // any thread; nothing: none.
  DeliveryChanges(IdSource& ids, Random& random, std::int64_t credits_low_at = usual_credits_low_at,
                  BuyerUrl buyer_url = {})
      : ids_(ids), random_(random), credits_low_at_(credits_low_at), buyer_url_(std::move(buyer_url)) {}

  // Inserts new deliveries with their items; each row's status and what belongs to it is set by its change's
  // cause.
  void create(DeliverySet& set, NewDeliveries& created);
  // In memory: the caller, which is DeliverySet, writes the row, and the record once it is done.
  // INVALID_TRANSITION leaves the row untouched.
  Expected<void> apply(Timestamp now, storage::DeliveryRow& row, const Change& change, ChangeRecord& record);
  void note(Timestamp now, const storage::DeliveryRow& row, domain::Actor actor, std::string message,
            ChangeRecord& record, Told told = {});
  // Events tell of items as they are in the transaction: those that are not at hand are read.
  void write(DeliverySet& set, ChangeRecord record, const ItemsAtHand& at_hand = {});
  // Tells of the order, as it is now, where a line has no mapping that had one, or was not there, or was
  // another product, in `before`: once for each state of the order.
  void tell_unmapped(DeliverySet& set, const storage::OrderRow& order,
                     std::span<const domain::OrderLine> before, const domain::OrderState& state,
                     bool dry_run);

  IdSource& ids() { return ids_; }
  std::int64_t credits_low_at() const { return credits_low_at_; }

 private:
  void move(storage::DeliveryRow& row, const domain::Transition& transition, const Change& change,
            Timestamp now);
  void tell(storage::DeliveryRow& row, domain::EventType type, ChangeRecord& record);
  storage::TimelineRow entry(const storage::DeliveryRow& row, Timestamp now, std::string kind,
                             const domain::Actor& actor, std::string message, Told told);
  storage::EventRow event_of(const UnmappedOrder& telling, Timestamp now);

  IdSource& ids_;
  Random& random_;
  const std::int64_t credits_low_at_;
  const BuyerUrl buyer_url_;
};

// The stable id of an order's event (spec 2.13): the same in every answer, retry and outbound event.
std::string order_event_id(IntegrationId integration, std::string_view order_key);

}  // namespace presetbridge::services
