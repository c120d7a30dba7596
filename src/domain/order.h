// The stored truth of one order, and how events change it (spec 2.6, 2.11). merge() depends on the
// events, not on the order of their arrival: events with different times end in the same state in any order.
//
// - The whole-order part (payment, test) is that of the newest order event by the store's own time.
// - Lines and number are those of the newest event that gave them, as some stores leave fields out. An event that
// is too large to be read leaves the lines of before, and says only that.
// - On equal times deliver beats awaiting_payment, and stop beats both.
// - Without a time on either side the later arrival wins, but a stop without a time is never undone by an
// event: it cannot be
//   shown to be older. (The merchant can reopen the delivery.)
// - The trash (and a deletion) overrides the payment. Without a time it counts as of its
// arrival; a later full event that does not say so lifts it, and so does a restoration, unless both have the
// store's time and the trash is the newer.
// - Username and e-mail are those of the newest event that had one: a missing one is filled in even by an
// older event.
// - Refunds add up by their id. Stops, refunds and risk about an unknown order make a tombstone, which the
// order then meets.
// - A line keeps what the mappings made of it (OrderLine::mapped) while it is the same product.
// - A generic repeat changes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "domain/delivery.h"
#include "domain/order_event.h"

namespace presetbridge::domain {

// Refunds and lines of refunds, together (spec 2.14). Those beyond the limit are not stored, and only flag
// the order: it is never read as refunded.
inline constexpr std::size_t kMaxRefundLines = 2000;
// A line's id that is longer is stored as a digest of it, in lines and refunds alike: each item remembers the ids
// of its lines.
inline constexpr std::size_t kMaxLineIdBytes = 32;
// Sources of risk assessments whose last one is stored. A high risk of further ones stays.
inline constexpr std::size_t kMostRiskSources = 8;
inline constexpr std::string_view kFurtherSources = "*";

struct RiskAssessment {
  // As the store names who assessed. Empty: it does not, or an earlier program stored the assessment; any newer one
  // replaces it.
  std::string source;
  bool high = false;
  bool approved = false;  // the merchant approved the order with this risk
  std::optional<Timestamp> at;
  bool operator==(const RiskAssessment&) const = default;
};

struct OrderState {
  bool seen = false;  // false: a tombstone; nothing but stops, refunds or risk is known
  std::string order_number;
  std::string email;
  std::string raw_username;
  std::string username;  // normalised; empty: missing
  std::vector<OrderLine>
      lines;  // line_id never empty and unique: "#1", "#2" by position where the store gave none
  // The newest event that says anything of the lines has more than are read. `lines` are those of before: they
  // must not be served, or shown as the order's.
  bool too_large = false;
  bool lines_known = false;  // an order event gave `lines`
  bool test = false;
  bool high_risk = false;  // by one of `risks`
  bool erased = false;     // personal fields are blank and stay so (spec 9.6)
  // The merchant approved the order as it is, unpaid, of high risk or too large to be read: that is not asked
  // again, until the store has reported that the order is over, and then reports it anew.
  bool approved_unpaid = false;
  bool approved_risk = false;  // of all of `risks` that are high
  bool approved_size = false;
  bool approved_stop = false;     // ... or refunded or cancelled, apart from the trash
  bool sample = false;            // the platform's own: a dry run in every store
  bool too_many_refunds = false;  // more than kMaxRefundLines
  // The lines were mapped once: later events have only those mapped that are new or another product
  // (spec 2.6).
  bool lines_mapped = false;
  Payment reported = Payment::deliver;   // of the newest order event; use payment()
  std::optional<Payment> untimed_stop;   // a stop without a time
  std::optional<Timestamp> trashed_at;   // in the trash, or deleted, since
  bool trash_timed = false;              // ... as the store says, not as of the arrival
  std::vector<Refund> refunds;           // by id, ascending
  std::optional<Timestamp> updated_at;   // of the newest order event
  std::optional<Timestamp> reported_at;  // the time of the event that gave the payment
  std::optional<Timestamp> username_at;  // of the event that the username is from
  std::optional<Timestamp> email_at;
  std::optional<Timestamp> number_at;
  std::optional<Timestamp> lines_at;
  std::optional<Timestamp> size_at;        // of the event that said whether it is too large
  std::vector<RiskAssessment> risks = {};  // the last of each source, by source
  // Shown to people; nothing is decided by it. Nothing: there is none, or nobody counted, as for refund lines.
  std::optional<OrderExcess> excess = {};
  bool operator==(const OrderState&) const = default;

  Payment payment() const { return trashed_at ? Payment::cancelled : beneath_trash(); }
  // The payment that holds once the order is not in the trash.
  Payment beneath_trash() const { return untimed_stop.value_or(reported); }
  bool stopped() const { return payment() == Payment::refunded || payment() == Payment::cancelled; }
  // Whether the order is over in a way that takes back what was shared, where the store wants that: the trash
  // never does (spec 2.11), nor does an end after which the merchant approved the order.
  bool stop_revokes() const {
    const Payment beneath = beneath_trash();
    return (beneath == Payment::refunded || beneath == Payment::cancelled) && !approved_stop;
  }
  // The flag of spec 3.7.
  bool refunded() const {
    return beneath_trash() == Payment::refunded || !refunds.empty() || too_many_refunds;
  }
  bool cancelled() const { return payment() == Payment::cancelled; }
  // The obstacles to a delivery that the merchant has not approved: it waits for a payment, is of high
  // risk, or has more lines or refunds than are read.
  ReviewReasons unapproved() const;
  // The merchant wants it delivered as it is.
  void approve();
  // "order_cancelled" or "order_refunded" if stopped, else empty.
  std::string_view stop_reason() const;
  // Blanks the personal fields for good.
  void erase();
};

// The quantities of an order's lines that are left to deliver: their quantity less what refunds took of it,
// and not more than `current_quantity`; never below 0. Costs as much as all refunds once, then as much as a
// look-up. The order outlives it.
class PaidQuantities {
 public:
  explicit PaidQuantities(const OrderState& order);
  std::int64_t of(const OrderLine& line) const;

 private:
  std::unordered_map<std::string_view, std::int64_t> refunded_;  // by line id
};

// Whether refunds and edits took all lines. False where nobody knows: the lines or the refunds are not known, or
// are more than are read.
bool pays_for_nothing(const OrderState& order);

struct OrderChange {
  bool created = false;     // nothing was stored before
  bool first_seen = false;  // the order itself arrived (created, or met its tombstone)
  bool lines = false;       // lines, quantities or refunds: the items have to be worked out again
  bool refunds = false;     // a refund, or lines of one, that were not known
  bool grew = false;        // it became too large to be read
  bool payment = false;     // payment() is another, or `revokes`
  bool revokes = false;     // it was refunded or cancelled, not only trashed: that takes back what was shared
  bool username = false;
  bool risk = false;
  bool details = false;  // e-mail, number, flags, times: nothing that a delivery acts on
  bool any() const { return created || first_seen || lines || payment || username || risk || details; }
  // Whether the event was more than a repeat of what was known (spec 2.6).
  bool news() const { return created || first_seen || lines || payment || username || risk; }
  bool operator==(const OrderChange&) const = default;
};

struct MergeResult {
  OrderState state;
  OrderChange change;
};

// `stored`: nothing if the order is unknown. `event` is of kind order, refund, stop or risk; others change
// nothing.
MergeResult merge(const std::optional<OrderState>& stored, const OrderEvent& event);

// The state as one text column: JSON, versioned. decode: INTERNAL_ERROR for what encode did not make.
std::string encode(const OrderState& state);
Expected<OrderState> decode_order_state(std::string_view text);

}  // namespace presetbridge::domain
