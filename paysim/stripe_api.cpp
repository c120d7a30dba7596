#include "stripe_api.h"

#include <algorithm>
#include <boost/json.hpp>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "crypto/encoding.h"
#include "expand.h"
#include "objects.h"
#include "session_request.h"

namespace presetbridge::paysim {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostExpansions = 20;
constexpr std::size_t kLongestKey = 255;

StripeError unauthorized(const std::string& message) {
  return {401, "invalid_request_error", "", message};
}

// The key of `Authorization: Bearer KEY`, or of Basic with the key as the user's name.
std::string key_of(const net::HttpRequest& request) {
  const std::string_view header = request.headers.get("Authorization").value_or("");
  constexpr std::string_view bearer = "Bearer ";
  constexpr std::string_view basic = "Basic ";
  if (header.starts_with(bearer)) return std::string(header.substr(bearer.size()));
  if (!header.starts_with(basic)) return {};
  const auto decoded = crypto::base64_decode(header.substr(basic.size()));
  if (!decoded) return {};
  const std::string_view login = crypto::text_of(*decoded);
  return std::string(login.substr(0, login.find(':')));
}

void authenticate(const StripeApi& api, const net::HttpRequest& request) {
  const std::string key = key_of(request);
  if (key.empty())
    throw unauthorized("You did not provide an API key: send Authorization: Bearer sk_test_...");
  if (key.starts_with("sk_live_") || key.starts_with("rk_live_")) {
    throw unauthorized(
        "This is paysim, a simulator. It takes no live key: a live key belongs to Stripe alone. Use one that "
        "begins with sk_test_.");
  }
  const bool test = key.starts_with("sk_test_") || key.starts_with("rk_test_");
  const bool known = api.secret_key.empty() ? test && key.size() > std::string_view("sk_test_").size()
                                            : key == api.secret_key;
  if (!known || key.size() > kLongestKey) throw unauthorized("Invalid API key provided.");
}

std::optional<Timestamp> seconds_at(FormFields& in, std::string_view name) {
  const auto seconds = in.number(name, 0, 10'000'000'000);
  if (!seconds) return std::nullopt;
  return from_unix_ms(*seconds * 1'000);
}

// created=, or created[gt], [gte], [lt] and [lte]: whole seconds, as objects show them.
struct TimeRange {
  explicit TimeRange(FormFields& in) {
    constexpr Millis second{1'000};
    if (!in.has_members("created")) {
      if (const auto at = seconds_at(in, "created")) {
        from = *at;
        before = *at + second;
      }
      return;
    }
    auto range = *in.object("created");
    if (const auto at = seconds_at(range, "gte")) from = *at;
    if (const auto at = seconds_at(range, "gt")) from = std::max(from, *at + second);
    if (const auto at = seconds_at(range, "lt")) before = *at;
    if (const auto at = seconds_at(range, "lte")) before = std::min(before, *at + second);
    range.done();
  }
  bool has(Timestamp created) const { return created >= from && created < before; }
  Timestamp from = Timestamp::min();
  Timestamp before = Timestamp::max();
};

// What a list holds is the record, or a pointer to it.
template <class Element>
decltype(auto) record_in(const Element* element) {
  if constexpr (requires { element->id; }) {
    return *element;
  } else {
    return **element;
  }
}

// The newest first. `wanted` reads the filters of its own before in.done().
template <class Records, class Wanted, class Show>
json::object list_of(FormFields& in, const Records& records, const net::HttpRequest& request, Wanted wanted,
                     Show show) {
  const TimeRange created(in);
  const auto limit = static_cast<std::size_t>(in.number("limit", 1, 100).value_or(10));
  const auto after = in.text("starting_after", 100);
  in.done();
  json::array data;
  bool begun = !after;
  bool more = false;
  for (auto at = records.rbegin(); at != records.rend(); ++at) {
    const auto& record = record_in(&*at);
    if (!begun) {
      begun = record.id == *after;
      continue;
    }
    if (!created.has(record.created) || !wanted(record)) continue;
    if (data.size() == limit) {
      more = true;
      break;
    }
    data.push_back(show(record));
  }
  if (!begun)
    throw invalid("Nothing in the list has the id of starting_after.", "starting_after", "resource_missing");
  return list_object(std::move(data), more, request.path);
}

// An absent filter takes everything.
bool fits(const std::optional<std::string>& wanted, std::string_view value) {
  return !wanted || *wanted == value;
}

template <class Record>
Record& known(Record* record, const char* what, const std::string& id, std::string param = "id") {
  if (!record) throw missing(what, id, std::move(param));
  return *record;
}

class Answering {
 public:
  // `executing` becomes true once the request itself is found good: what is refused then stays refused.
  Answering(const StripeApi& api, const net::HttpRequest& request, FormFields& in, Timestamp now,
            bool& executing)
      : api_(api), world_(api.world), request_(request), in_(in), now_(now), executing_(executing) {}

  json::object answer(const StripeCall& call) {
    const std::string& id = call.id;
    switch (call.endpoint) {
      case Endpoint::create_session: {
        auto asked = read_session_request(in_, now_);
        execute();
        return show(world_.create_session(std::move(asked), request_.body.size(), now_));
      }
      case Endpoint::retrieve_session:
        return one(session(id));
      case Endpoint::list_sessions:
        return list_sessions();
      case Endpoint::expire_session: {
        execute();
        auto& expired = session(id);
        world_.expire(expired, now_);
        return show(expired);
      }
      case Endpoint::list_line_items:
        in_.number("limit", 1, 100);
        in_.done();
        return line_items_object(session(id));
      case Endpoint::retrieve_payment_intent:
        return one(known(world_.intent(id), "payment_intent", id, "intent"));
      case Endpoint::retrieve_charge:
        return one(known(world_.charge(id), "charge", id));
      case Endpoint::list_charges:
        return list_charges();
      case Endpoint::create_refund:
        return create_refund();
      case Endpoint::retrieve_refund:
        return one(known(world_.refund(id), "refund", id));
      case Endpoint::list_refunds:
        return list_by_charge(world_.refunds());
      case Endpoint::retrieve_dispute:
        return one(known(world_.dispute(id), "dispute", id));
      case Endpoint::list_disputes:
        return list_by_charge(world_.disputes());
      case Endpoint::retrieve_event:
        return retrieve_event(id);
      case Endpoint::list_events:
        return list_events();
    }
    return {};
  }

 private:
  void execute() {
    in_.done();
    executing_ = true;
  }
  json::object show(const Session& session) const { return session_object(session, world_.page_url()); }
  static json::object show(const Intent& intent) { return intent_object(intent); }
  json::object show(const Charge& charge) const { return charge_object(charge, world_.page_url()); }
  static json::object show(const Refund& refund) { return refund_object(refund); }
  static json::object show(const Dispute& dispute) { return dispute_object(dispute); }
  json::object show(const Event& event) const {
    json::object body = json::parse(event.body).as_object();
    body["pending_webhooks"] = api_.pending(event) ? 1 : 0;
    return body;
  }

  template <class Record>
  json::object one(const Record& record) {
    in_.done();
    return show(record);
  }
  Session& session(const std::string& id) {
    return known(world_.session(id), "checkout.session", id, "session");
  }

  template <class Records, class Wanted>
  json::object list(const Records& records, Wanted wanted) {
    return list_of(in_, records, request_, wanted, [this](const auto& record) { return this->show(record); });
  }

  json::object list_sessions() {
    const auto intent = in_.text("payment_intent");
    const auto status = in_.one_of("status", {"open", "complete", "expired"});
    return list(world_.sessions(), [&](const Session& session) {
      return fits(intent, session.intent) && fits(status, to_string(session.status));
    });
  }
  json::object list_charges() {
    const auto intent = in_.text("payment_intent");
    return list(world_.charges(), [&](const Charge& charge) { return fits(intent, charge.intent->id); });
  }
  // Refunds and disputes.
  template <class Records>
  json::object list_by_charge(const Records& records) {
    const auto intent = in_.text("payment_intent");
    const auto charge = in_.text("charge");
    return list(records, [&](const auto& record) {
      return fits(intent, record.charge->intent->id) && fits(charge, record.charge->id);
    });
  }

  json::object create_refund() {
    const auto intent_id = in_.text("payment_intent");
    const auto charge_id = in_.text("charge");
    const auto amount = in_.number("amount", 1, std::numeric_limits<std::int64_t>::max());
    auto reason = in_.one_of("reason", kRefundReasons);
    auto metadata = in_.metadata("metadata");
    if (charge_id.has_value() == intent_id.has_value()) {
      throw invalid(
          "One of the following params should be provided for this request: payment_intent or charge.");
    }
    execute();
    Charge* charge = nullptr;
    if (charge_id) {
      charge = &known(world_.charge(*charge_id), "charge", *charge_id, "charge");
    } else {
      const auto& intent = known(world_.intent(*intent_id), "payment_intent", *intent_id, "payment_intent");
      if (!charge_of(*intent.session)) {
        throw invalid("This PaymentIntent does not have a successful charge to refund: " + intent.id,
                      "payment_intent");
      }
      charge = intent.session->attempts.back();
    }
    return show(world_.refund(*charge, amount, std::move(reason), std::move(metadata), false, now_));
  }

  json::object retrieve_event(const std::string& id) {
    in_.done();
    const auto& events = world_.events();
    const auto found = std::ranges::find(events, id, [](const auto& event) { return event->id; });
    if (found == events.end()) throw missing("event", id);
    return show(**found);
  }
  json::object list_events() {
    const auto type = in_.text("type", 100);
    const auto types = in_.texts("types", 20);
    return list_of(
        in_, world_.events(), request_,
        [&](const Event& event) {
          return fits(type, event.type) &&
                 (types.empty() || std::ranges::find(types, event.type) != types.end());
        },
        [this](const Event& event) { return show(event); });
  }

  const StripeApi& api_;
  World& world_;
  const net::HttpRequest& request_;
  FormFields& in_;
  const Timestamp now_;
  bool& executing_;
};

net::HttpResponse carry_out(const StripeApi& api, const StripeCall& call, const net::HttpRequest& request,
                            Timestamp now, bool& executing) {
  const Parameter form = parse_form(request.method == "GET" ? request.query : request.body);
  FormFields in(form);
  const auto expansions = in.texts("expand", kMostExpansions);
  json::object body = Answering(api, request, in, now, executing).answer(call);
  expand(api.world, body, expansions);
  net::HttpResponse response;
  response.body = json::serialize(body);
  return response;
}

crypto::Sha256 fingerprint(const net::HttpRequest& request) {
  return crypto::sha256(request.method + " " + request.path + "\n" + request.body);
}

net::HttpResponse carry_out_once(const StripeApi& api, const StripeCall& call,
                                 const net::HttpRequest& request, Timestamp now) {
  const std::string key = idempotency_key_of(request);
  bool executing = false;
  if (key.empty()) return carry_out(api, call, request, now, executing);
  if (key.size() > kLongestKey) throw invalid("An idempotency key has at most 255 characters.");
  const auto print = fingerprint(request);
  if (const auto* known = api.keys.find(key, now)) {
    if (known->request != print) {
      throw StripeError(400, "idempotency_error", "",
                        "Keys for idempotent requests can only be used with the same parameters they were "
                        "first used with.");
    }
    net::HttpResponse response;
    response.status = known->status;
    response.body = known->body;
    response.headers.add("Idempotent-Replayed", "true");
    return response;
  }
  net::HttpResponse response;
  try {
    response = carry_out(api, call, request, now, executing);
  } catch (const StripeError& error) {
    if (!executing) throw;
    response = error_answer(error);
  }
  api.keys.keep(key, {print, response.status, response.body, now});
  return response;
}

bool is_version(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '.';
  });
}

}  // namespace

net::HttpResponse error_answer(const StripeError& error) {
  json::object body{{"type", error.type}, {"message", error.what()}};
  if (!error.code.empty()) body["code"] = error.code;
  if (!error.param.empty()) body["param"] = error.param;
  net::HttpResponse response;
  response.status = error.status;
  response.body = json::serialize(json::object{{"error", std::move(body)}});
  return response;
}

std::string idempotency_key_of(const net::HttpRequest& request) {
  if (request.method != "POST") return {};
  return std::string(request.headers.get("Idempotency-Key").value_or(""));
}

net::HttpResponse answer(const StripeApi& api, const StripeCall& call, const net::HttpRequest& request,
                         Timestamp now) {
  const auto version = request.headers.get("Stripe-Version").value_or(api.world.api_version());
  net::HttpResponse response;
  try {
    authenticate(api, request);
    if (!is_version(version)) throw invalid("Invalid Stripe API version.");
    response = carry_out_once(api, call, request, now);
  } catch (const StripeError& error) {
    response = error_answer(error);
  }
  if (is_version(version)) response.headers.add("Stripe-Version", std::string(version));
  return response;
}

}  // namespace presetbridge::paysim
