#include "domain/order_summary.h"

#include <fmt/format.h>

#include <iterator>

#include "base/ascii.h"
#include "base/utf8.h"
#include "domain/names.h"
#include "domain/username.h"

namespace presetbridge::domain {
namespace {

constexpr std::size_t kMaxKeyBytes = 64;

std::string of_lines(std::int64_t some, std::int64_t all) {
  return all == 1 ? std::string("The order's one line")
                  : fmt::format("{} of the order's {} lines", some, all);
}

std::string why_stopped(const OrderMarks& marks) {
  if (marks.has(OrderMark::unseen))
    return "Only a cancellation, a refund or a risk notice has come, and not the order itself.";
  if (marks.has(OrderMark::cancelled)) return "The store cancelled the order.";
  return "The order is refunded.";
}

bool refunded_in_part(const OrderState& order) {
  if (!order.lines_known || order.payment() != Payment::deliver || order.refunds.empty() || order.too_large ||
      order.too_many_refunds)
    return false;
  return !pays_for_nothing(order);
}

}  // namespace

OrderSummary summarise(const OrderState& order) {
  OrderSummary summary{.number = order.order_number,
                       .username = order.username,
                       .email = order.email,
                       .lines = order.too_large ? 0 : std::ssize(order.lines)};
  summary.marks.set(OrderMark::test, order.test || order.sample);
  summary.marks.set(OrderMark::refunded, order.refunded());
  summary.marks.set(OrderMark::cancelled, order.cancelled());
  summary.marks.set(OrderMark::erased, order.erased);
  summary.marks.set(OrderMark::unseen, !order.seen);
  summary.marks.set(OrderMark::too_large, order.too_large);
  summary.marks.set(OrderMark::refunded_in_part, refunded_in_part(order));
  return summary;
}

std::string order_number_key(std::string_view number) {
  number = trim_unicode(number);
  if (number.starts_with('#')) number.remove_prefix(1);
  return lowered(cut_utf8(number, kMaxKeyBytes));
}

std::optional<OrderOutcome> parse_order_outcome(std::string_view name) {
  return parse_name<OrderOutcome>(kOrderOutcomeNames, name);
}

OrderOutcome read_order_outcome(std::string_view stored) {
  return parse_order_outcome(stored).value_or(OrderOutcome::stopped);
}

std::string outcome_in_words(OrderOutcome outcome, std::int64_t unmapped, const OrderSummary& order) {
  if (outcome != OrderOutcome::delivery && order.marks.has(OrderMark::erased))
    return "The buyer's personal data was removed: nothing is delivered.";
  switch (outcome) {
    case OrderOutcome::delivery:
      if (order.marks.has(OrderMark::too_large))
        return "The order has more lines than the service reads: deliver it by hand.";
      if (unmapped == 0) return "The files that the order's lines are mapped to are delivered.";
      return fmt::format("{} {} no mapping and {} not delivered.", of_lines(unmapped, order.lines),
                         unmapped == 1 ? "has" : "have", unmapped == 1 ? "is" : "are");
    case OrderOutcome::no_mapped_items:
      if (unmapped == 0) return "The mappings say to ignore every line of the order.";
      return fmt::format("{} {} no mapping, so nothing is delivered.", of_lines(unmapped, order.lines),
                         unmapped == 1 ? "has" : "have");
    case OrderOutcome::awaiting_payment:
      return "The store says that the order is not paid.";
    case OrderOutcome::inactive:
      return "The store was inactive when the order came.";
    case OrderOutcome::stopped:
      break;
  }
  return why_stopped(order.marks);
}

}  // namespace presetbridge::domain
