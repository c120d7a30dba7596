#include "payments/stripe_reading.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <utility>

namespace presetbridge::payments {
namespace {

namespace json = boost::json;

constexpr std::int64_t kMost = (std::int64_t{1} << 53) - 1;
constexpr std::size_t kDeepest = 32;
constexpr std::size_t kLongestMessage = 500;

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

std::optional<json::object> read_object(std::string_view body) {
  json::parse_options options;
  options.max_depth = kDeepest;
  boost::system::error_code error;
  json::value value = json::parse(body, error, {}, options);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.get_object());
}

// The members of one object; `good` turns false at the first that is not as it must be.
class Members {
 public:
  explicit Members(const json::object& object) : object_(object) {}

  // Absent or null: empty.
  std::string optional_text(std::string_view name, std::size_t longest = kLongestStripeId) {
    const auto* value = object_.if_contains(name);
    if (!value || value->is_null()) return {};
    if (!value->is_string() || value->get_string().size() > longest || has_control(value->get_string()))
      return refuse();
    return std::string(value->get_string());
  }
  std::string text(std::string_view name) {
    auto found = optional_text(name);
    if (found.empty()) return refuse();
    return found;
  }
  // The id of an object of the API that may be given by its id alone. Absent or null: empty.
  std::string optional_id(std::string_view name) {
    const auto* value = object_.if_contains(name);
    return value && value->is_object() ? Members(value->get_object()).text("id") : optional_text(name);
  }
  std::int64_t amount(std::string_view name) {
    const auto* value = object_.if_contains(name);
    if (!value || !value->is_int64() || value->get_int64() < 0 || value->get_int64() > kMost) {
      good_ = false;
      return 0;
    }
    return value->get_int64();
  }
  bool flag(std::string_view name) {
    const auto* value = object_.if_contains(name);
    if (!value || !value->is_bool()) good_ = false;
    return good_ && value->get_bool();
  }
  const json::object& optional_object(std::string_view name) {
    static const json::object none;
    const auto* value = object_.if_contains(name);
    return value && value->is_object() ? value->get_object() : none;
  }
  const json::object& object(std::string_view name) {
    const auto* value = object_.if_contains(name);
    if (!value || !value->is_object()) good_ = false;
    return optional_object(name);
  }
  void is(std::string_view name, std::string_view expected) { require(text(name) == expected); }
  void require(bool condition) { good_ = good_ && condition; }
  bool good() const { return good_; }

  template <class T>
  std::optional<T> result(T value) const {
    if (!good_) return std::nullopt;
    return value;
  }

 private:
  std::string refuse() {
    good_ = false;
    return {};
  }
  const json::object& object_;
  bool good_ = true;
};

// The elements of a list, each through `read`; whether there is more behind them.
template <class T, class Read>
std::optional<std::pair<std::vector<T>, bool>> read_list(std::string_view body, Read read) {
  const auto object = read_object(body);
  if (!object) return std::nullopt;
  Members members(*object);
  members.is("object", "list");
  const bool more = members.flag("has_more");
  const auto* data = object->if_contains("data");
  if (!members.good() || !data || !data->is_array()) return std::nullopt;
  std::vector<T> all;
  for (const auto& element : data->get_array()) {
    std::optional<T> one;
    if (element.is_object()) one = read(element.get_object());
    if (!one) return std::nullopt;
    all.push_back(std::move(*one));
  }
  return std::pair{std::move(all), more};
}

std::optional<domain::PaymentFacts::Page> page_of(std::string_view status) {
  using Page = domain::PaymentFacts::Page;
  if (status == "open") return Page::open;
  if (status == "complete") return Page::complete;
  if (status == "expired") return Page::expired;
  return std::nullopt;
}

std::optional<StripeDispute> dispute_of(const json::object& object) {
  // The states of a dispute that take no money: inquiries, and disputes that were won.
  static constexpr std::array<std::string_view, 5> kTakesNothing{
      "warning_needs_response", "warning_under_review", "warning_closed", "won", "prevented"};
  Members members(object);
  members.is("object", "dispute");
  const auto status = members.text("status");
  StripeDispute dispute{.amount = members.amount("amount"), .currency = members.text("currency")};
  if (std::ranges::find(kTakesNothing, status) != kTakesNothing.end()) dispute.amount = 0;
  return members.result(std::move(dispute));
}

std::optional<StripeRefund> refund_of(const json::object& object) {
  using Status = Refund::Status;
  Members members(object);
  members.is("object", "refund");
  StripeRefund made{.refund = {.id = members.text("id"), .amount = members.amount("amount")},
                    .key = Members(members.optional_object("metadata")).optional_text("key")};
  const auto status = members.text("status");
  members.require(status == "succeeded" || status == "pending" || status == "requires_action" ||
                  status == "failed" || status == "canceled");
  made.refund.status = status == "succeeded"                        ? Status::succeeded
                       : status == "failed" || status == "canceled" ? Status::failed
                                                                    : Status::pending;
  return members.result(std::move(made));
}

std::optional<Notice> notice_of(const json::object& event) {
  Members members(event);
  members.is("object", "event");
  Notice notice{.id = members.text("id"), .type = members.text("type"), .live = members.flag("livemode")};
  Members about(Members(members.object("data")).object("object"));
  const auto kind = about.optional_text("object");
  if (kind == "checkout.session") {
    notice.session = about.text("id");
    notice.payment = about.optional_id("payment_intent");
    notice.purchase = about.optional_text("client_reference_id");
  } else if (kind == "charge" || kind == "refund" || kind == "dispute") {
    notice.payment = about.optional_id("payment_intent");
  } else if (kind == "payment_intent") {
    notice.payment = about.text("id");
  }
  members.require(about.good());
  return members.result(std::move(notice));
}

}  // namespace

std::optional<StripeSession> read_stripe_session(std::string_view body) {
  const auto object = read_object(body);
  if (!object) return std::nullopt;
  Members members(*object);
  members.is("object", "checkout.session");
  members.is("mode", "payment");
  StripeSession session{.id = members.text("id"), .url = members.optional_text("url", kLongestStripeUrl)};
  const auto page = page_of(members.text("status"));
  const auto payment = members.text("payment_status");
  members.require(page.has_value());
  members.require(payment == "paid" || payment == "unpaid" || payment == "no_payment_required");
  session.page = page.value_or(session.page);
  session.paid = payment != "unpaid";
  session.amount = members.amount("amount_total");
  session.currency = members.text("currency");
  session.live = members.flag("livemode");
  session.reference = members.optional_text("client_reference_id");
  session.account = Members(members.optional_object("metadata")).optional_text("account");
  session.payment = members.optional_id("payment_intent");
  return members.result(std::move(session));
}

std::optional<StripePayment> read_stripe_payment(std::string_view body) {
  const auto object = read_object(body);
  if (!object) return std::nullopt;
  Members members(*object);
  members.is("object", "payment_intent");
  StripePayment payment{.id = members.text("id"), .charge = members.optional_id("latest_charge")};
  const auto status = members.text("status");
  payment.failed = status == "requires_payment_method" || status == "canceled";
  return members.result(std::move(payment));
}

std::optional<StripeCharge> read_stripe_charge(std::string_view body) {
  const auto object = read_object(body);
  if (!object) return std::nullopt;
  Members members(*object);
  members.is("object", "charge");
  StripeCharge charge{.id = members.text("id"),
                      .refunded = members.amount("amount_refunded"),
                      .currency = members.text("currency"),
                      .disputed = members.flag("disputed"),
                      .receipt_url = members.optional_text("receipt_url", kLongestStripeUrl)};
  return members.result(std::move(charge));
}

std::optional<std::vector<StripeDispute>> read_stripe_disputes(std::string_view body) {
  auto list = read_list<StripeDispute>(body, dispute_of);
  // More disputes of one payment than a page holds there are not.
  if (!list || list->second) return std::nullopt;
  return std::move(list->first);
}

std::optional<StripeRefund> read_stripe_refund(std::string_view body) {
  const auto object = read_object(body);
  if (!object) return std::nullopt;
  return refund_of(*object);
}

std::optional<std::vector<StripeRefund>> read_stripe_refunds(std::string_view body) {
  auto list = read_list<StripeRefund>(body, refund_of);
  // As of disputes.
  if (!list || list->second) return std::nullopt;
  return std::move(list->first);
}

std::optional<Notice> read_stripe_event(std::string_view body) {
  const auto object = read_object(body);
  if (!object) return std::nullopt;
  return notice_of(*object);
}

std::optional<NoticePage> read_stripe_events(std::string_view body) {
  auto list = read_list<Notice>(body, notice_of);
  if (!list) return std::nullopt;
  NoticePage page{.notices = std::move(list->first), .more = list->second};
  if (page.more && page.notices.empty()) return std::nullopt;
  if (!page.notices.empty()) page.last = page.notices.back().id;
  return page;
}

std::string read_stripe_error(std::string_view body) {
  const auto object = read_object(body);
  if (!object) return {};
  const auto* error = object->if_contains("error");
  if (!error || !error->is_object()) return {};
  auto message = Members(error->get_object()).optional_text("message", std::string_view::npos);
  if (message.size() > kLongestMessage) message.resize(kLongestMessage);
  return message;
}

}  // namespace presetbridge::payments
