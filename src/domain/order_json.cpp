// OrderState as JSON text: what holds its default is left out.
#include <array>
#include <boost/json.hpp>
#include <exception>

#include "domain/order.h"

namespace presetbridge::domain {
namespace {

namespace json = boost::json;

constexpr std::int64_t kVersion = 1;
constexpr std::array<std::string_view, 4> kPaymentNames = {"deliver", "awaiting_payment", "refunded",
                                                           "cancelled"};

std::string_view name_of(Payment p) {
  return kPaymentNames[static_cast<std::size_t>(p)];
}

struct BadState : std::exception {};

using Mapped = OrderLine::Mapped;
constexpr std::array<std::string_view, 5> kMappedNames = {"", "owes", "ignored", "nothing", "earlier"};

std::string_view name_of(Mapped m) {
  return kMappedNames[static_cast<std::size_t>(m)];
}

Mapped mapped_of(std::string_view name) {
  for (std::size_t i = 0; i < kMappedNames.size(); ++i) {
    if (kMappedNames[i] == name) return static_cast<Mapped>(i);
  }
  throw BadState();
}

Payment payment_of(std::string_view name) {
  for (std::size_t i = 0; i < kPaymentNames.size(); ++i) {
    if (kPaymentNames[i] == name) return static_cast<Payment>(i);
  }
  throw BadState();
}

void put(json::object& o, std::string_view key, const std::string& value) {
  if (!value.empty()) o.emplace(key, value);
}
void put(json::object& o, std::string_view key, bool value) {
  if (value) o.emplace(key, true);
}
void put(json::object& o, std::string_view key, const std::optional<Timestamp>& value) {
  if (value) o.emplace(key, to_unix_ms(*value));
}

std::string text(const json::object& o, std::string_view key) {
  const json::value* v = o.if_contains(key);
  return v ? std::string(v->as_string()) : std::string();
}
bool flag(const json::object& o, std::string_view key) {
  const json::value* v = o.if_contains(key);
  return v && v->as_bool();
}
std::optional<std::int64_t> number(const json::object& o, std::string_view key) {
  const json::value* v = o.if_contains(key);
  return v ? std::optional(v->as_int64()) : std::nullopt;
}
std::optional<Timestamp> time(const json::object& o, std::string_view key) {
  const auto ms = number(o, key);
  return ms ? std::optional(from_unix_ms(*ms)) : std::nullopt;
}

// The time of a part of the order is left out where it is that of the newest event, as it is in what earlier
// programs stored; null: it has none.
void put_part(json::object& o, std::string_view key, const std::optional<Timestamp>& value,
              const std::optional<Timestamp>& updated_at) {
  if (value != updated_at) o.emplace(key, value ? json::value(to_unix_ms(*value)) : json::value(nullptr));
}
std::optional<Timestamp> part(const json::object& o, std::string_view key) {
  const json::value* v = o.if_contains(key);
  if (v == nullptr) return time(o, "updatedAt");
  return v->is_null() ? std::nullopt : time(o, key);
}

json::object to_json(const OrderLine& line) {
  json::object o;
  o.emplace("id", line.line_id);
  put(o, "sku", line.sku);
  put(o, "product", line.product_id);
  put(o, "variant", line.variant_id);
  put(o, "title", line.title);
  put(o, "file", line.file_id);
  if (line.quantity != 1) o.emplace("quantity", line.quantity);
  if (line.current_quantity) o.emplace("current", *line.current_quantity);
  if (line.mapped != Mapped::not_yet) o.emplace("mapped", name_of(line.mapped));
  return o;
}

OrderLine line_of(const json::object& o) {
  return {.line_id = std::string(o.at("id").as_string()),
          .sku = text(o, "sku"),
          .product_id = text(o, "product"),
          .variant_id = text(o, "variant"),
          .title = text(o, "title"),
          .quantity = number(o, "quantity").value_or(1),
          .current_quantity = number(o, "current"),
          .mapped = mapped_of(text(o, "mapped")),
          .file_id = text(o, "file")};
}

json::object to_json(const Refund& refund) {
  json::object lines;
  for (const RefundLine& line : refund.lines) lines.emplace(line.line_id, line.quantity);
  return {{"id", refund.id}, {"lines", std::move(lines)}};
}

Refund refund_of(const json::object& o) {
  Refund refund{.id = std::string(o.at("id").as_string()), .lines = {}};
  for (const auto& [line, quantity] : o.at("lines").as_object()) {
    refund.lines.push_back({std::string(line), quantity.as_int64()});
  }
  return refund;
}

json::object to_json(const RiskAssessment& risk) {
  json::object o;
  put(o, "source", risk.source);
  put(o, "high", risk.high);
  put(o, "approved", risk.approved);
  put(o, "at", risk.at);
  return o;
}

RiskAssessment risk_of(const json::object& o) {
  return {.source = text(o, "source"),
          .high = flag(o, "high"),
          .approved = flag(o, "approved"),
          .at = time(o, "at")};
}

json::object to_json(const OrderExcess& excess) {
  json::object o;
  if (excess.lines > 0) o.emplace("lines", excess.lines);
  if (excess.files > 0) o.emplace("files", excess.files);
  o.emplace("limit", excess.limit);
  return o;
}

OrderExcess excess_of(const json::object& o) {
  return {.lines = number(o, "lines").value_or(0),
          .files = number(o, "files").value_or(0),
          .limit = o.at("limit").as_int64()};
}

OrderState state_of(const json::object& o) {
  if (o.at("v").as_int64() != kVersion) throw BadState();
  OrderState s{.seen = flag(o, "seen"),
               .order_number = text(o, "number"),
               .email = text(o, "email"),
               .raw_username = text(o, "rawUsername"),
               .username = text(o, "username"),
               .lines = {},
               .too_large = flag(o, "tooLarge"),
               .lines_known = flag(o, "seen") && !flag(o, "linesUnknown"),
               .test = flag(o, "test"),
               .high_risk = flag(o, "highRisk"),
               .erased = flag(o, "erased"),
               .approved_unpaid = flag(o, "approvedUnpaid"),
               .approved_risk = flag(o, "approvedRisk"),
               .approved_size = flag(o, "approvedRefunds"),
               .approved_stop = flag(o, "approvedStop"),
               .sample = flag(o, "sample"),
               .too_many_refunds = flag(o, "tooManyRefunds"),
               .lines_mapped = flag(o, "linesMapped"),
               .reported = payment_of(o.at("told").as_string()),
               .untimed_stop = std::nullopt,
               .trashed_at = time(o, "trashedAt"),
               .trash_timed = flag(o, "trashTimed"),
               .refunds = {},
               .updated_at = time(o, "updatedAt"),
               .reported_at = time(o, "toldAt"),
               .username_at = time(o, "usernameAt"),
               .email_at = time(o, "emailAt"),
               .number_at = part(o, "numberAt"),
               .lines_at = part(o, "linesAt"),
               .size_at = part(o, "sizeAt")};
  if (const json::value* risks = o.if_contains("risks")) {
    for (const json::value& risk : risks->as_array()) s.risks.push_back(risk_of(risk.as_object()));
  } else if (s.high_risk || o.contains("riskAt")) {
    // An earlier program stored the newest assessment alone.
    s.risks.push_back(
        {.source = "", .high = s.high_risk, .approved = s.approved_risk, .at = time(o, "riskAt")});
  }
  const json::value* const excess = o.if_contains("excess");
  if (excess != nullptr && excess->is_object()) s.excess = excess_of(excess->as_object());
  if (const json::value* stop = o.if_contains("stop")) s.untimed_stop = payment_of(stop->as_string());
  if (const json::value* lines = o.if_contains("lines")) {
    for (const json::value& line : lines->as_array()) s.lines.push_back(line_of(line.as_object()));
  }
  if (const json::value* refunds = o.if_contains("refunds")) {
    for (const json::value& refund : refunds->as_array()) s.refunds.push_back(refund_of(refund.as_object()));
  }
  return s;
}

}  // namespace

std::string encode(const OrderState& s) {
  json::object o;
  o.emplace("v", kVersion);
  o.emplace("told", name_of(s.reported));
  if (s.untimed_stop) o.emplace("stop", name_of(*s.untimed_stop));
  put(o, "seen", s.seen);
  put(o, "number", s.order_number);
  put(o, "email", s.email);
  put(o, "rawUsername", s.raw_username);
  put(o, "username", s.username);
  put(o, "tooLarge", s.too_large);
  put(o, "linesUnknown", s.seen && !s.lines_known);
  put(o, "test", s.test);
  put(o, "highRisk", s.high_risk);
  put(o, "erased", s.erased);
  put(o, "approvedUnpaid", s.approved_unpaid);
  put(o, "approvedRisk", s.approved_risk);
  put(o, "approvedRefunds", s.approved_size);
  put(o, "approvedStop", s.approved_stop);
  put(o, "sample", s.sample);
  put(o, "tooManyRefunds", s.too_many_refunds);
  put(o, "linesMapped", s.lines_mapped);
  put(o, "trashedAt", s.trashed_at);
  put(o, "trashTimed", s.trash_timed);
  put(o, "updatedAt", s.updated_at);
  put(o, "toldAt", s.reported_at);
  put(o, "usernameAt", s.username_at);
  put(o, "emailAt", s.email_at);
  put_part(o, "numberAt", s.number_at, s.updated_at);
  put_part(o, "linesAt", s.lines_at, s.updated_at);
  put_part(o, "sizeAt", s.size_at, s.updated_at);
  if (!s.risks.empty()) {
    json::array risks;
    std::optional<Timestamp> newest;
    for (const RiskAssessment& risk : s.risks) {
      risks.push_back(to_json(risk));
      newest = std::max(newest, risk.at);
    }
    o.emplace("risks", std::move(risks));
    put(o, "riskAt", newest);  // for earlier programs, which read no more
  }
  if (s.excess) o.emplace("excess", to_json(*s.excess));
  if (!s.lines.empty()) {
    json::array lines;
    for (const OrderLine& line : s.lines) lines.push_back(to_json(line));
    o.emplace("lines", std::move(lines));
  }
  if (!s.refunds.empty()) {
    json::array refunds;
    for (const Refund& refund : s.refunds) refunds.push_back(to_json(refund));
    o.emplace("refunds", std::move(refunds));
  }
  return json::serialize(o);
}

Expected<OrderState> decode_order_state(std::string_view text) {
  // Boost.JSON's accessors throw on another type than asked for: here that means a row that encode did not
  // write.
  try {
    return state_of(json::parse(json::string_view(text.data(), text.size())).as_object());
  } catch (const std::exception&) {
    return fail("INTERNAL_ERROR", "The stored state of an order is not readable.");
  }
}

}  // namespace presetbridge::domain
