#include "shop.h"

namespace presetbridge::simulation {
namespace {

using domain::OrderEvent;
using domain::Payment;

domain::OrderLine line(int number, std::uint32_t sku) {
  return {.line_id = "L" + std::to_string(number), .sku = "sku-" + std::to_string(sku % kSkus + 1)};
}

OrderEvent too_large(OrderEvent event) {
  event.too_large = true;
  event.lines.clear();
  return event;
}

}  // namespace

std::optional<OrderEvent> Shop::happens(const Command& c, Timestamp now) {
  const auto found = orders_.find(c.order);
  if (c.act == Act::place) {
    if (found != orders_.end()) return std::nullopt;
    Order order;
    auto& state = order.state;
    state.provider = domain::Provider::provider_a;
    state.order_id = std::to_string(c.order + 1);
    state.username = state.raw_username = c.n / 100 == 8 ? "" : kNames[c.n % std::size(kNames)];
    state.lines.push_back(line(++order.lines_made, c.m));
    if (c.n / 10 % 2) state.lines.push_back(line(++order.lines_made, c.m / kSkus));
    state.test = c.n / 100 == 6;
    if (c.n / 100 == 9) state.payment = Payment::awaiting_payment;
    state.updated_at = now;
    const auto placed = c.n / 100 == 7 ? too_large(state) : state;
    order.events.push_back(placed);
    orders_.emplace(c.order, order);
    return placed;
  }
  if (c.act == Act::order_by_key) {
    // An order that the merchant's program makes has no shop that tells of it later. Its program may place it
    // again, with other lines even.
    if (found != orders_.end() && !found->second.direct) return std::nullopt;
    Order order{.direct = true};
    auto& state = order.state;
    state.provider = domain::Provider::generic;
    state.order_id = std::to_string(c.order + 1);
    state.username = state.raw_username = kNames[c.n % std::size(kNames)];
    state.lines.push_back(line(1, c.m));
    if (c.n / 10 % 2) state.lines.push_back(line(2, c.m / kSkus));
    orders_.try_emplace(c.order, order);
    return state;
  }
  if (found == orders_.end() || found->second.direct) return std::nullopt;
  auto& order = found->second;
  auto& state = order.state;
  if (c.act == Act::repeat) return order.events[c.n % order.events.size()];

  OrderEvent event;
  event.order_id = state.order_id;
  event.provider = state.provider;
  const bool has_lines = !state.lines.empty();
  const auto chosen = has_lines ? c.n % state.lines.size() : 0;
  const bool trashed = state.trashed;
  switch (c.act) {
    case Act::add_line:
      state.lines.push_back(line(++order.lines_made, c.m));
      break;
    case Act::change_line:
      if (!has_lines) return std::nullopt;
      state.lines[chosen].sku = line(0, c.m).sku;
      break;
    case Act::set_quantity:
      if (!has_lines) return std::nullopt;
      state.lines[chosen].quantity = c.m % 4;
      break;
    case Act::remove_line:
      if (state.lines.size() < 2) return std::nullopt;
      state.lines.erase(state.lines.begin() + static_cast<std::ptrdiff_t>(chosen));
      break;
    case Act::pay:
      state.payment = Payment::deliver;
      break;
    case Act::unpay:
      state.payment = Payment::awaiting_payment;
      break;
    case Act::cancel:
      state.payment = Payment::cancelled;
      break;
    case Act::refund_whole:
      state.payment = Payment::refunded;
      break;
    case Act::trash:
      if (trashed) return std::nullopt;
      break;
    case Act::restore:
      if (!trashed) return std::nullopt;
      break;
    case Act::rename:
      state.username = state.raw_username = kNames[c.n % std::size(kNames)];
      break;
    case Act::touch:
      state.email = "buyer" + std::to_string(c.n) + "@example.com";
      break;
    case Act::grow:
      break;
    case Act::refund_line:
      if (!has_lines) return std::nullopt;
      event.kind = OrderEvent::Kind::refund;
      event.refunds = {{"r" + std::to_string(++order.refunds_made), {{state.lines[chosen].line_id, 1}}}};
      break;
    case Act::refund_unnamed:
      event.kind = OrderEvent::Kind::refund;
      event.refunds = {{"r" + std::to_string(++order.refunds_made), {}}};
      break;
    case Act::risk:
      event.kind = OrderEvent::Kind::risk;
      event.high_risk = true;
      break;
    default:
      return std::nullopt;
  }
  if (event.kind == OrderEvent::Kind::order) {
    state.updated_at = now;
    // What happens to an order in the trash takes it out again.
    state.trashed = c.act == Act::trash;
    state.restored = c.act == Act::restore;
    event = c.act == Act::grow ? too_large(state) : state;
    if (event.trashed || event.restored) event.provider = domain::Provider::provider_b;
    if (event.trashed) event.payment = Payment::cancelled;
  }
  order.events.push_back(event);
  return event;
}

}  // namespace presetbridge::simulation
