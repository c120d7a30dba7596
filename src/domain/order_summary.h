// The fields of an order that lists and searches show without reading the whole of it (spec 9.3).
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "domain/order.h"

namespace presetbridge::domain {

// Their places in `orders.marks` never change.
enum class OrderMark : std::uint8_t {
  test,
  refunded,   // some of it, or all
  cancelled,  // in the trash, too
  erased,     // personal fields were blanked
  unseen,     // the order itself has not come: only a stop, a refund or a risk has come
  too_large,  // more lines than are read
  // Something is refunded, and the store reports it as paid still. Not set: not so, or not known, as where an older
  // program wrote the row.
  refunded_in_part,
};
inline constexpr std::size_t kOrderMarks = 7;

class OrderMarks {
 public:
  OrderMarks() = default;
  explicit OrderMarks(std::int64_t stored) : bits_(static_cast<unsigned long long>(stored)) {}
  void set(OrderMark mark, bool to) { bits_.set(static_cast<std::size_t>(mark), to); }
  bool has(OrderMark mark) const { return bits_.test(static_cast<std::size_t>(mark)); }
  std::int64_t stored() const { return static_cast<std::int64_t>(bits_.to_ullong()); }
  bool operator==(const OrderMarks&) const = default;

 private:
  std::bitset<kOrderMarks> bits_;
};

struct OrderSummary {
  std::string number;    // what people see; empty: the store gave none
  std::string username;  // normalised; empty: missing
  std::string email;
  std::int64_t lines = 0;
  OrderMarks marks = {};
  bool operator==(const OrderSummary&) const = default;
};
OrderSummary summarise(const OrderState& order);

// A number as it is stored to be looked for, and as somebody types its beginning: without white space at the
// ends and the sign in front ("#1001"), ASCII letters small, 64 bytes at most.
std::string order_number_key(std::string_view number);

// The result of an order for its delivery. The names are those of the database and the API.
enum class OrderOutcome {
  delivery,         // it has a delivery
  no_mapped_items,  // no line is mapped to a file
  awaiting_payment,
  stopped,  // cancelled, refunded, erased, or the order itself has not come
  inactive  // the store was inactive when the order came
};
inline constexpr std::array<std::string_view, 5> kOrderOutcomeNames = {
    "delivery", "no_mapped_items", "awaiting_payment", "stopped", "inactive"};
constexpr std::string_view to_string(OrderOutcome outcome) {
  return kOrderOutcomeNames[static_cast<std::size_t>(outcome)];
}
// Nothing for a name that is not in the table.
std::optional<OrderOutcome> parse_order_outcome(std::string_view name);
// Reads a stored name. One that this program does not know, as a later program may have written it, reads as
// `stopped`: the order has no delivery.
OrderOutcome read_order_outcome(std::string_view stored);

// Why the order came to `outcome`, in a sentence for people. `unmapped`: lines without a mapping.
std::string outcome_in_words(OrderOutcome outcome, std::int64_t unmapped, const OrderSummary& order);

}  // namespace presetbridge::domain
