#include "domain/order.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

#include "crypto/digest.h"
#include "crypto/encoding.h"

namespace presetbridge::domain {
namespace {

bool stops(Payment p) {
  return p == Payment::refunded || p == Payment::cancelled;
}

// Which of two payments of the same second holds: an order is paid after it was pending, and a stop beats
// both.
int strength(Payment p) {
  switch (p) {
    case Payment::awaiting_payment:
      return 0;
    case Payment::deliver:
      return 1;
    case Payment::refunded:
      return 2;
    case Payment::cancelled:
      return 3;
  }
  return 0;
}

using Time = std::optional<Timestamp>;

// Whether a value of the time `event` replaces a stored one of the time `held`; without a time on either side
// the later arrival does.
bool replaces(const Time& held, const Time& event) {
  return !held || !event || *event >= *held;
}

Time later(const Time& held, const Time& event) {
  return event ? event : held;
}

void merge_payment(OrderState& s, Payment payment, const Time& at) {
  const bool known = s.seen || s.reported_at;
  if (!at) {
    if (stops(payment)) {
      if (!s.untimed_stop || strength(payment) > strength(*s.untimed_stop)) s.untimed_stop = payment;
      return;
    }
    if (!known || !stops(s.reported)) s.reported = payment;
    return;
  }
  const bool tie = s.reported_at == at;
  if (!known || (tie ? strength(payment) >= strength(s.reported) : replaces(s.reported_at, at))) {
    s.reported = payment;
    s.reported_at = at;
  }
}

// Whether a part of the order that an event of the time `event` gives replaces what is `known` of it. `held`
// is the time of what is known, and becomes that of what holds.
bool takes(bool known, Time& held, const Time& event) {
  if (known && !replaces(held, event)) return false;
  held = known ? later(held, event) : event;
  return true;
}

// An order in the trash stays what it was beneath: it may be restored.
void merge_trash(OrderState& s, const OrderEvent& e) {
  const Timestamp at = e.updated_at.value_or(e.received_at);
  if (e.trashed) {
    // An event that is known to be newer has lifted it already.
    if (e.updated_at && s.updated_at && *e.updated_at < *s.updated_at) return;
    if (s.trashed_at && *s.trashed_at > at) return;
    // On a tie the store's time, so that it does not matter which came first.
    s.trash_timed = e.updated_at.has_value() || (s.trash_timed && s.trashed_at == at);
    s.trashed_at = at;
    return;
  }
  if (!s.trashed_at) return;
  const bool late = e.updated_at && s.trash_timed && *e.updated_at < *s.trashed_at;
  if (e.restored ? late : at <= *s.trashed_at) return;
  s.trashed_at.reset();
  s.trash_timed = false;
}

// The newest time of a named assessment; nothing: there is none, or none says when.
Time newest_named(const OrderState& s) {
  Time newest;
  for (const auto& risk : s.risks) {
    if (!risk.source.empty() && risk.at && (!newest || *risk.at > *newest)) newest = risk.at;
  }
  return newest;
}

RiskAssessment& risk_of(OrderState& s, std::string_view source) {
  const auto known = std::ranges::lower_bound(s.risks, source, {}, &RiskAssessment::source);
  if (known != s.risks.end() && known->source == source) return *known;
  const bool further = s.risks.size() >= kMostRiskSources && !source.empty() && source != kFurtherSources;
  return further ? risk_of(s, kFurtherSources) : *s.risks.insert(known, {.source = std::string(source)});
}

void sum_up_risks(OrderState& s) {
  const auto open = [](const RiskAssessment& risk) { return risk.high && !risk.approved; };
  s.high_risk = std::ranges::any_of(s.risks, &RiskAssessment::high);
  s.approved_risk = s.high_risk && std::ranges::none_of(s.risks, open);
}

// The clearance of one source leaves what another one found.
void merge_risk(OrderState& s, const std::string& source, bool high, const Time& at) {
  const auto newest = newest_named(s);
  if (source.empty() && newest && at && *at < *newest) return;
  if (!source.empty()) {
    std::erase_if(s.risks, [&](const RiskAssessment& risk) {
      return risk.source.empty() && (!risk.at || !at || *risk.at < *at);
    });
  }
  auto& risk = risk_of(s, source);
  if (risk.source == kFurtherSources || (risk.at && risk.at == at)) {
    risk.approved = risk.approved && (risk.high || !high);
    risk.high = risk.high || high;
    risk.at = later(risk.at, at);
  } else if (replaces(risk.at, at)) {
    risk.approved = risk.approved && risk.high && high;
    risk.high = high;
    risk.at = later(risk.at, at);
  }
  sum_up_risks(s);
}

void merge_customer(OrderState& s, const OrderEvent& e) {
  if (s.erased) return;
  if (!e.email.empty() && (s.email.empty() || replaces(s.email_at, e.updated_at))) {
    s.email_at = s.email.empty() ? e.updated_at : later(s.email_at, e.updated_at);
    s.email = e.email;
  }
  // A raw name that nothing could be made of is kept to be shown, until there is one that is of use.
  if (e.username.empty() && (e.raw_username.empty() || !s.username.empty())) return;
  const bool first = s.raw_username.empty() || (s.username.empty() && !e.username.empty());
  if (first || replaces(s.username_at, e.updated_at)) {
    s.username_at = first ? e.updated_at : later(s.username_at, e.updated_at);
    s.username = e.username;
    s.raw_username = e.raw_username.empty() ? e.username : e.raw_username;
  }
}

// A long id is replaced by its digest, in lines and in refunds.
std::string stored_line_id(const std::string& id) {
  if (id.size() <= kMaxLineIdBytes) return id;
  return "~" + crypto::hex_encode(crypto::sha256(id)).substr(0, kMaxLineIdBytes - 1);
}

std::vector<OrderLine> with_line_ids(std::vector<OrderLine> lines) {
  std::set<std::string> taken;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    OrderLine& line = lines[i];
    line.line_id = stored_line_id(line.line_id);
    if (line.line_id.empty() || taken.contains(line.line_id)) line.line_id = "#" + std::to_string(i + 1);
    while (!taken.insert(line.line_id).second) line.line_id += "'";
    line.quantity = std::clamp<std::int64_t>(line.quantity, 0, kMaxQuantity);
    if (line.current_quantity)
      line.current_quantity = std::clamp<std::int64_t>(*line.current_quantity, 0, kMaxQuantity);
  }
  return lines;
}

// Quantities by line, added up within one refund.
std::map<std::string, std::int64_t> by_line(const std::vector<RefundLine>& lines) {
  std::map<std::string, std::int64_t> sums;
  for (const RefundLine& line : lines) {
    if (line.line_id.empty()) continue;
    std::int64_t& sum = sums[stored_line_id(line.line_id)];
    sum = std::min(sum + std::clamp<std::int64_t>(line.quantity, 0, kMaxQuantity), kMaxQuantity);
  }
  return sums;
}

// How many of the refund lines that an order may have these are.
std::size_t weight(const Refund& refund) {
  return std::max<std::size_t>(refund.lines.size(), 1);
}

void add_refund(OrderState& s, const Refund& refund, std::size_t& stored_weight) {
  const auto at = std::ranges::lower_bound(s.refunds, refund.id, {}, &Refund::id);
  const bool known = at != s.refunds.end() && at->id == refund.id;
  auto sums = by_line(refund.lines);
  if (known) {
    for (const auto& [line, quantity] : by_line(at->lines)) sums[line] = std::max(sums[line], quantity);
  }
  Refund merged{.id = refund.id, .lines = {}};
  for (const auto& [line, quantity] : sums) merged.lines.push_back({line, quantity});
  const std::size_t total = stored_weight - (known ? weight(*at) : 0) + weight(merged);
  if (total > kMaxRefundLines) {
    s.too_many_refunds = true;
    return;
  }
  stored_weight = total;
  if (known) {
    *at = std::move(merged);
  } else {
    s.refunds.insert(at, std::move(merged));
  }
}

void add_refunds(OrderState& s, const OrderEvent& event) {
  s.too_many_refunds = s.too_many_refunds || event.too_many_refund_lines;
  std::size_t stored_weight = 0;
  for (const Refund& refund : s.refunds) stored_weight += weight(refund);
  for (const Refund& refund : event.refunds) add_refund(s, refund, stored_weight);
}

bool same_product(const OrderLine& a, const OrderLine& b) {
  return std::tie(a.variant_id, a.sku, a.product_id, a.title) ==
         std::tie(b.variant_id, b.sku, b.product_id, b.title);
}

// Lines keep the result of their mapping.
void keep_mapped(const std::vector<OrderLine>& before, std::vector<OrderLine>& after) {
  std::unordered_map<std::string_view, const OrderLine*> known;
  for (const OrderLine& line : before) known.emplace(line.line_id, &line);
  for (OrderLine& line : after) {
    const auto found = known.find(line.line_id);
    if (found != known.end() && same_product(*found->second, line)) line.mapped = found->second->mapped;
  }
}

void merge_lines(OrderState& s, const OrderEvent& e) {
  const bool size_known = s.lines_known || s.too_large;
  if ((e.lines_given || e.too_large) && takes(size_known, s.size_at, e.updated_at)) {
    s.too_large = e.too_large;
    // That of files is counted when the lines are mapped.
    const bool of_lines = s.excess && s.excess->lines > 0;
    if (e.too_large || of_lines) s.excess = e.excess;
  }
  if (!e.lines_given || e.too_large || !takes(s.lines_known, s.lines_at, e.updated_at)) return;
  auto lines = with_line_ids(e.lines);
  keep_mapped(s.lines, lines);
  s.lines = std::move(lines);
  s.lines_known = true;
}

void merge_order(OrderState& s, const OrderEvent& e) {
  merge_trash(s, e);
  if (!e.trashed) merge_payment(s, e.payment, e.updated_at);
  merge_customer(s, e);
  if (e.high_risk) merge_risk(s, e.risk_source, true, e.updated_at);
  merge_lines(s, e);
  if (!e.order_number.empty() && takes(!s.order_number.empty(), s.number_at, e.updated_at))
    s.order_number = e.order_number;
  if (!s.seen || replaces(s.updated_at, e.updated_at)) {
    s.test = e.test;
    s.sample = e.sample;
    s.updated_at = later(s.updated_at, e.updated_at);
  }
  s.seen = true;
}

OrderChange changes(const OrderState& before, const OrderState& after, bool created) {
  const bool revokes = before.beneath_trash() != after.beneath_trash() && after.stop_revokes();
  const bool refunds = before.refunds != after.refunds || before.too_many_refunds != after.too_many_refunds;
  OrderChange change{
      .created = created,
      .first_seen = !before.seen && after.seen,
      .lines = before.lines != after.lines || refunds || before.too_large != after.too_large,
      .refunds = refunds,
      .grew = !before.too_large && after.too_large,
      .payment = before.payment() != after.payment() || revokes,
      .revokes = revokes,
      .username = before.username != after.username,
      .risk = before.high_risk != after.high_risk ||
              (before.approved_risk && after.high_risk && !after.approved_risk),
  };
  change.details = !change.any() && before != after;
  return change;
}

}  // namespace

std::string_view OrderState::stop_reason() const {
  if (payment() == Payment::cancelled) return "order_cancelled";
  if (payment() == Payment::refunded) return "order_refunded";
  return {};
}

void OrderState::approve() {
  approved_unpaid = payment() == Payment::awaiting_payment;
  for (auto& risk : risks) risk.approved = risk.high;
  approved_risk = high_risk;
  approved_size = too_large || too_many_refunds;
  approved_stop = stops(beneath_trash());
}

ReviewReasons OrderState::unapproved() const {
  ReviewReasons reasons;
  if (high_risk && !approved_risk) reasons.add(ReviewReason::high_risk);
  if (payment() == Payment::awaiting_payment && !approved_unpaid)
    reasons.add(ReviewReason::payment_withdrawn);
  if ((too_large || too_many_refunds) && !approved_size) reasons.add(ReviewReason::too_large);
  return reasons;
}

void OrderState::erase() {
  erased = true;
  email.clear();
  raw_username.clear();
  username.clear();
}

PaidQuantities::PaidQuantities(const OrderState& order) {
  for (const Refund& refund : order.refunds) {
    for (const RefundLine& line : refund.lines)
      refunded_[line.line_id] += std::clamp<std::int64_t>(line.quantity, 0, kMaxQuantity);
  }
}

std::int64_t PaidQuantities::of(const OrderLine& line) const {
  const auto refunded = refunded_.find(line.line_id);
  std::int64_t left = std::clamp<std::int64_t>(line.quantity, 0, kMaxQuantity) -
                      (refunded == refunded_.end() ? 0 : refunded->second);
  if (line.current_quantity) left = std::min(left, *line.current_quantity);
  return std::max<std::int64_t>(left, 0);
}

bool pays_for_nothing(const OrderState& order) {
  if (!order.lines_known || order.too_large || order.too_many_refunds) return false;
  const PaidQuantities paid(order);
  return std::ranges::none_of(order.lines, [&](const OrderLine& line) { return paid.of(line) > 0; });
}

MergeResult merge(const std::optional<OrderState>& stored, const OrderEvent& event) {
  const OrderState before = stored.value_or(OrderState{});
  OrderState after = before;
  switch (event.kind) {
    case OrderEvent::Kind::order:
      if (event.provider == Provider::generic && before.seen) return {before, {}};
      merge_order(after, event);
      break;
    case OrderEvent::Kind::refund:
      break;
    case OrderEvent::Kind::stop:
      if (event.trashed) {
        merge_trash(after, event);
      } else {
        merge_payment(after, stops(event.payment) ? event.payment : Payment::cancelled, event.updated_at);
      }
      break;
    case OrderEvent::Kind::risk:
      merge_risk(after, event.risk_source, event.high_risk, event.updated_at);
      break;
    case OrderEvent::Kind::customer_redact:
    case OrderEvent::Kind::shop_redact:
    case OrderEvent::Kind::data_request:
    case OrderEvent::Kind::ignored_topic:
      return {before, {}};
  }
  add_refunds(after, event);
  after.approved_unpaid = after.approved_unpaid && after.payment() == Payment::awaiting_payment;
  after.approved_stop = after.approved_stop && after.beneath_trash() == before.beneath_trash();
  const bool grew =
      (after.too_large && !before.too_large) || (after.too_many_refunds && !before.too_many_refunds);
  after.approved_size = after.approved_size && (after.too_large || after.too_many_refunds) && !grew;
  return {after, changes(before, after, !stored)};
}

}  // namespace presetbridge::domain
