// An event of one order, in the terms of no particular store: the output of providers/, the
// input of the merge (domain/order.h). spec 2.6-2.11.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace presetbridge::domain {

inline constexpr std::int64_t kMaxQuantity = 1'000'000;  // of a line or a refund; more counts as this

// A kind of store (spec 2.1). Their names are what is stored and what the API shows.
enum class Provider { provider_a, provider_b, generic };
inline constexpr std::array<std::string_view, 3> kProviderNames{"provider_a", "provider_b", "generic"};

constexpr std::string_view to_string(Provider provider) {
  return kProviderNames[static_cast<std::size_t>(provider)];
}
// Nothing for a name that no provider has.
constexpr std::optional<Provider> parse_provider(std::string_view name) {
  const auto found = std::ranges::find(kProviderNames, name);
  if (found == kProviderNames.end()) return std::nullopt;
  return static_cast<Provider>(found - kProviderNames.begin());
}

// One line of an order. Identifiers are the store's, kept as exact text (spec 2.7); empty means absent.
struct OrderLine {
  std::string line_id;
  std::string sku;
  std::string product_id;
  std::string variant_id;
  std::string title;
  std::int64_t quantity = 1;  // as ordered; a store line without a usable number counts as 1
  // The quantity left after removals and refunds, if the store itself sends it (`current_quantity`).
  std::optional<std::int64_t> current_quantity;
  // The result of the mapping; stores never send it (domain/order.h).
  enum class Mapped {
    not_yet,
    owes,     // a file
    ignored,  // its mappings only ignore
    nothing,  // no mapping
    earlier   // by a program of before, which did not note what came of it
  };
  Mapped mapped = Mapped::not_yet;
  // In a direct delivery the line is this file itself, and no mapping is asked (spec 3.8).
  std::string file_id = {};
  bool operator==(const OrderLine&) const = default;
};

struct RefundLine {
  std::string line_id;
  std::int64_t quantity = 0;
  bool operator==(const RefundLine&) const = default;
};

// Refunds add up by their id: a refund that is sent twice counts once (spec 2.6).
struct Refund {
  std::string id;
  std::vector<RefundLine> lines;  // empty: names no lines, only flags the order
  bool operator==(const Refund&) const = default;
};

// The meaning of the order's state for a delivery (spec 2.11).
enum class Payment {
  deliver,           // paid, or the store does not say
  awaiting_payment,  // known, not paid (any more)
  refunded,          // stop: refunded or voided in whole
  cancelled,         // stop: cancelled, failed, trashed, deleted
};

// How much more an order has than is served (spec 2.14): one of the two counts, and its limit.
struct OrderExcess {
  std::int64_t lines = 0;
  std::int64_t files = 0;
  std::int64_t limit = 0;
  bool operator==(const OrderExcess&) const = default;
};

struct OrderEvent {
  enum class Kind {
    order,            // the whole order as it now stands
    refund,           // only `order_id` and `refunds` (provider_a refunds/create)
    stop,             // only `order_id` and `payment` (provider_b order.deleted)
    risk,             // only `order_id`; `high_risk` says which way, `risk_source` who
    customer_redact,  // privacy topics: `order_ids`, `email` (spec 9.6)
    shop_redact,
    data_request,
    ignored_topic,  // a topic this service does not serve: 202, nothing stored
  };

  Kind kind = Kind::order;
  Provider provider = Provider::generic;
  std::string order_id;      // never empty for order, refund, stop, risk
  std::string order_number;  // what people see (spec 9.1); empty if absent
  std::string email;
  std::string raw_username;  // as the store sent it; empty if none was found
  std::string username;      // normalised (domain/username.h); empty if none
  std::vector<OrderLine> lines;
  // More lines than the limit: `lines` holds none of them. Or more values than are read: `lines` may lack some
  // (spec 2.9, 2.14).
  bool too_large = false;
  std::optional<OrderExcess> excess = {};  // of lines; nothing where values were not read
  // Else the event does not say which lines the order has, and `lines` is empty.
  bool lines_given = true;
  Payment payment = Payment::deliver;
  std::vector<Refund> refunds;
  bool high_risk = false;
  std::string risk_source;  // who assessed the risk, as the store says; empty: it does not
  bool test = false;        // marked as a test order by the store
  // The platform's own "send test" sample: a dry run whatever its fields say (spec 2.11).
  bool sample = false;
  // The payment is `cancelled` because the order is in the trash or deleted: it stops what is unshared, takes
  // nothing back, and is lifted by `restored` or a later full event that does not say so.
  bool trashed = false;
  bool restored = false;
  // More refund lines than the limit: `refunds` holds none of them; never read as refunded (spec 2.14).
  bool too_many_refund_lines = false;
  std::optional<Timestamp> updated_at;  // the store's own time of this state
  Timestamp received_at{};              // set by who accepts it
  std::vector<std::string> order_ids;   // customer_redact, data_request: the orders that it names
};

}  // namespace presetbridge::domain
