// Events of one order for the tests of its state, and random histories of them.
#pragma once

#include <rapidcheck.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/order.h"

namespace presetbridge::domain::testing {

inline constexpr Timestamp kStart = from_unix_ms(1'790'000'000'000);

// Whether the order by itself asks for its files to be shared: seen, paid, not of high risk, not erased.
inline bool deliverable(const OrderState& state) {
  return state.seen && state.payment() == Payment::deliver && !state.high_risk && !state.erased;
}

inline OrderEvent order(std::optional<Timestamp> at, Payment payment = Payment::deliver) {
  OrderEvent e;
  e.provider = Provider::provider_a;
  e.order_id = "1001";
  e.order_number = "17";
  e.email = "ann@example.com";
  e.username = e.raw_username = "ann";
  e.lines = {{.line_id = "11",
              .sku = "A",
              .product_id = {},
              .variant_id = {},
              .title = {},
              .quantity = 2,
              .current_quantity = {}}};
  e.payment = payment;
  e.updated_at = at;
  return e;
}

inline OrderEvent refund(std::string id, std::vector<RefundLine> lines) {
  OrderEvent e;
  e.kind = OrderEvent::Kind::refund;
  e.provider = Provider::provider_a;
  e.order_id = "1001";
  e.refunds = {{.id = std::move(id), .lines = std::move(lines)}};
  return e;
}

inline OrderEvent deleted(std::optional<Timestamp> at = std::nullopt) {
  OrderEvent e;
  e.kind = OrderEvent::Kind::stop;
  e.provider = Provider::provider_b;
  e.order_id = "1001";
  e.payment = Payment::cancelled;
  e.updated_at = at;
  return e;
}

inline OrderState after(const std::vector<OrderEvent>& events) {
  std::optional<OrderState> state;
  for (const OrderEvent& e : events) state = merge(state, e).state;
  return state.value_or(OrderState{});
}

inline std::int64_t paid(const OrderState& state) {
  return PaidQuantities(state).of(state.lines[0]);
}

// Events of one order, each with its own time, of every kind that merges.
inline rc::Gen<std::vector<OrderEvent>> some_history() {
  using Kind = OrderEvent::Kind;
  const auto word = rc::gen::element<std::string>("", "ann", "bob", "cleo");
  return rc::gen::mapcat(rc::gen::inRange(1, 8), [word](int size) {
    return rc::gen::exec([word, size] {
      std::vector<OrderEvent> events;
      for (int i = 0; i < size; ++i) {
        OrderEvent e = order(kStart + std::chrono::seconds(i));
        e.kind =
            *rc::gen::element(Kind::order, Kind::order, Kind::order, Kind::refund, Kind::stop, Kind::risk);
        if (*rc::gen::inRange(0, 2) == 0 && e.kind == Kind::stop) e.updated_at = std::nullopt;
        e.payment = *rc::gen::element(Payment::deliver, Payment::awaiting_payment, Payment::refunded,
                                      Payment::cancelled);
        if (e.kind == Kind::stop) e.payment = *rc::gen::element(Payment::refunded, Payment::cancelled);
        e.username = *word;
        e.raw_username = e.username.empty() ? *word : e.username;
        e.email = *word;
        e.order_number = *word;
        e.high_risk = *rc::gen::arbitrary<bool>();
        e.test = *rc::gen::arbitrary<bool>();
        e.sample = *rc::gen::arbitrary<bool>();
        if (e.kind == Kind::order && *rc::gen::inRange(0, 4) == 0) {
          e.trashed = true;
          e.payment = Payment::cancelled;
        }
        e.lines[0].quantity = *rc::gen::inRange(0, 5);
        e.too_large = *rc::gen::inRange(0, 4) == 0;
        e.lines_given = *rc::gen::inRange(0, 4) > 0;
        if (e.too_large || !e.lines_given) e.lines.clear();
        if (e.kind == Kind::refund) e.updated_at = std::nullopt;
        if (*rc::gen::arbitrary<bool>()) {
          e.refunds = {{.id = *rc::gen::element<std::string>("r1", "r2", "r3"),
                        .lines = {{"11", *rc::gen::inRange(-1, 3)}}}};
        }
        events.push_back(std::move(e));
      }
      return events;
    });
  });
}

}  // namespace presetbridge::domain::testing
