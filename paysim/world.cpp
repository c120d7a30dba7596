#include "world.h"

#include <algorithm>
#include <boost/json.hpp>

#include "crypto/encoding.h"
#include "objects.h"
#include "stripe_error.h"

namespace presetbridge::paysim {
namespace {

namespace json = boost::json;

constexpr std::size_t kIdLength = 24;
constexpr std::size_t kSessionIdLength = 58;
// Of one session and one charge.
constexpr std::size_t kMostAttempts = 100;
constexpr std::size_t kMostRefunds = 100;
constexpr std::size_t kMostDisputes = 20;

std::string text_of(SessionStatus status) {
  return std::string(to_string(status));
}

}  // namespace

std::string World::new_id(std::string_view prefix) {
  return std::string(prefix) + crypto::random_base62(random_, kIdLength);
}

Session& World::create_session(NewSession asked, std::size_t bytes, Timestamp now) {
  if (sessions_.size() >= limits_.sessions || session_bytes_ + bytes > limits_.session_bytes) {
    throw StripeError(503, "api_error", "",
                      "The simulator is full: restart it, or reset it with POST /sim/reset.");
  }
  session_bytes_ += bytes;
  Session session;
  session.id = "cs_test_" + crypto::random_base62(random_, kSessionIdLength);
  for (auto& item : asked.items) {
    item.id = new_id("li_");
    item.price_id = new_id("price_");
    item.product_id = new_id("prod_");
    session.amount += item.unit_amount * item.quantity;
  }
  session.asked = std::move(asked);
  session.created = now;
  Session& added = sessions_.add(std::move(session));
  open_.emplace(added.asked.expires_at, &added);
  return added;
}

Charge& World::attempt(Session& session, Method method, Timestamp now) {
  if (session.attempts.size() >= kMostAttempts) throw invalid("The session has seen too many attempts.");
  Intent* intent = intents_.find(session.intent);
  if (!intent) {
    intent = &intents_.add({new_id("pi_"), &session, now});
    session.intent = intent->id;
  }
  Charge& charge = charges_.add({.id = new_id("ch_"),
                                 .intent = intent,
                                 .created = now,
                                 .amount = session.amount,
                                 .method = method,
                                 .refunds = {},
                                 .disputes = {}});
  session.attempts.push_back(&charge);
  return charge;
}

void World::take(Charge& charge) {
  charge.status = ChargeStatus::succeeded;
  charge.intent->session->paid = true;
  book_of(charge).taken += charge.amount;
}

void World::pay(Session& session, Method method, bool late, Timestamp now) {
  settle(now);
  const bool expired = session.status == SessionStatus::expired;
  if (session.status != SessionStatus::open && !(late && expired)) {
    throw invalid("The session is " + text_of(session.status) + ": nobody can pay it.");
  }
  const auto& types = session.asked.payment_method_types;
  const std::string_view wanted = method == Method::card ? "card" : "sepa_debit";
  if (!types.empty() && std::ranges::find(types, wanted) == types.end()) {
    throw invalid("The session does not take " + std::string(wanted) + ".");
  }
  Charge& charge = attempt(session, method, now);
  session.status = SessionStatus::complete;
  if (method == Method::card) take(charge);
  publish("checkout.session.completed", session, now);
}

void World::decline(Session& session, Timestamp now) {
  settle(now);
  if (session.status != SessionStatus::open) {
    throw invalid("The session is " + text_of(session.status) + ": nobody can pay it.");
  }
  attempt(session, Method::card, now).status = ChargeStatus::failed;
}

void World::settle_payment(Session& session, bool succeeds, Timestamp now) {
  if (session.attempts.empty() || session.attempts.back()->status != ChargeStatus::pending) {
    throw invalid("No payment of the session is under way.");
  }
  Charge& charge = *session.attempts.back();
  if (succeeds) {
    take(charge);
    publish("checkout.session.async_payment_succeeded", session, now);
  } else {
    charge.status = ChargeStatus::failed;
    publish("checkout.session.async_payment_failed", session, now);
  }
}

void World::expire(Session& session, Timestamp now) {
  settle(now);
  if (session.status != SessionStatus::open) {
    throw invalid("Only Checkout Sessions with a status in [\"open\"] can be expired. This one is " +
                  text_of(session.status) + ".");
  }
  session.status = SessionStatus::expired;
  publish("checkout.session.expired", session, now);
}

Refund& World::refund(Charge& charge, std::optional<std::int64_t> amount, std::optional<std::string> reason,
                      Metadata metadata, bool pending, Timestamp now) {
  if (charge.status != ChargeStatus::succeeded) throw invalid("The charge did not succeed: " + charge.id);
  const std::int64_t left = charge.amount - charge.refunded;
  if (left == 0) {
    throw invalid("Charge " + charge.id + " has already been refunded.", "", "charge_already_refunded");
  }
  const bool disputed = std::ranges::any_of(charge.disputes, [](const Dispute* one) {
    return !one->withdrawal.empty() && one->reinstatement.empty();
  });
  if (disputed) throw invalid("Charge " + charge.id + " is disputed.", "", "charge_disputed");
  if (amount.value_or(left) > left) {
    throw invalid("The refund (" + std::to_string(*amount) + ") is more than what is left of the charge (" +
                      std::to_string(left) + ").",
                  "amount");
  }
  if (charge.refunds.size() >= kMostRefunds) throw invalid("The charge has too many refunds.");
  Refund& refund = refunds_.add({.id = new_id("re_"),
                                 .charge = &charge,
                                 .created = now,
                                 .amount = amount.value_or(left),
                                 .status = pending ? RefundStatus::pending : RefundStatus::succeeded,
                                 .reason = std::move(reason),
                                 .metadata = std::move(metadata)});
  charge.refunds.push_back(&refund);
  charge.refunded += refund.amount;
  book_of(charge).refunded += refund.amount;
  publish("refund.created", refund, now);
  publish("charge.refunded", charge, now);
  return refund;
}

void World::settle_refund(Refund& refund, bool succeeds, Timestamp now) {
  if (succeeds && refund.status != RefundStatus::pending) throw invalid("The refund is not pending.");
  if (refund.status == RefundStatus::failed) throw invalid("The refund has failed already.");
  refund.status = succeeds ? RefundStatus::succeeded : RefundStatus::failed;
  if (!succeeds) {
    refund.charge->refunded -= refund.amount;
    book_of(*refund.charge).refunded -= refund.amount;
  }
  publish("refund.updated", refund, now);
  if (!succeeds) publish("refund.failed", refund, now);
}

Dispute& World::dispute(Charge& charge, std::optional<std::int64_t> amount, std::string reason, bool inquiry,
                        Timestamp now) {
  if (charge.status != ChargeStatus::succeeded) throw invalid("The charge did not succeed: " + charge.id);
  if (amount.value_or(charge.amount) > charge.amount) {
    throw invalid("A dispute is about no more than the charge.", "amount");
  }
  if (std::ranges::any_of(charge.disputes, [](const Dispute* one) { return !is_over(*one); })) {
    throw invalid("A dispute about the charge is open: " + charge.id);
  }
  if (charge.disputes.size() >= kMostDisputes) throw invalid("The charge has too many disputes.");
  Dispute& dispute = disputes_.add(
      {.id = new_id("dp_"),
       .charge = &charge,
       .created = now,
       .amount = amount.value_or(charge.amount),
       .status = inquiry ? DisputeStatus::warning_needs_response : DisputeStatus::needs_response,
       .reason = std::move(reason),
       .withdrawal = {},
       .reinstatement = {}});
  charge.disputes.push_back(&dispute);
  if (!inquiry) dispute.withdrawal = new_id("txn_");
  publish("charge.dispute.created", dispute, now);
  if (!inquiry) withdraw(dispute, now);
  return dispute;
}

void World::withdraw(Dispute& dispute, Timestamp now) {
  if (dispute.withdrawal.empty()) dispute.withdrawal = new_id("txn_");
  book_of(*dispute.charge).withdrawn += dispute.amount;
  publish("charge.dispute.funds_withdrawn", dispute, now);
}

void World::escalate(Dispute& dispute, Timestamp now) {
  if (is_over(dispute) || !dispute.withdrawal.empty()) throw invalid("The dispute is no open inquiry.");
  dispute.status = DisputeStatus::needs_response;
  withdraw(dispute, now);
  publish("charge.dispute.updated", dispute, now);
}

void World::respond(Dispute& dispute, Timestamp now) {
  if (is_over(dispute)) throw invalid("The dispute is closed.");
  dispute.status =
      dispute.withdrawal.empty() ? DisputeStatus::warning_under_review : DisputeStatus::under_review;
  publish("charge.dispute.updated", dispute, now);
}

void World::close(Dispute& dispute, bool won, Timestamp now) {
  if (is_over(dispute)) throw invalid("The dispute is closed already.");
  if (dispute.withdrawal.empty()) {
    dispute.status = DisputeStatus::warning_closed;
    publish("charge.dispute.closed", dispute, now);
    return;
  }
  dispute.status = won ? DisputeStatus::won : DisputeStatus::lost;
  if (won) {
    dispute.reinstatement = new_id("txn_");
    dispute.reinstated = now;
    book_of(*dispute.charge).reinstated += dispute.amount;
  }
  publish("charge.dispute.closed", dispute, now);
  if (won) publish("charge.dispute.funds_reinstated", dispute, now);
}

void World::settle(Timestamp now) {
  while (!open_.empty() && open_.begin()->first <= now) {
    Session& session = *open_.begin()->second;
    open_.erase(open_.begin());
    if (session.status != SessionStatus::open) continue;
    session.status = SessionStatus::expired;
    publish("checkout.session.expired", session, session.asked.expires_at);
  }
}

std::optional<Timestamp> World::next_due() const {
  if (open_.empty()) return std::nullopt;
  return open_.begin()->first;
}

void World::publish(std::string_view type, const Session& session, Timestamp now) {
  publish(type, session_object(session, page_url_), now);
}
void World::publish(std::string_view type, const Charge& charge, Timestamp now) {
  publish(type, charge_object(charge, page_url_), now);
}
void World::publish(std::string_view type, const Refund& refund, Timestamp now) {
  publish(type, refund_object(refund), now);
}
void World::publish(std::string_view type, const Dispute& dispute, Timestamp now) {
  publish(type, dispute_object(dispute), now);
}

void World::publish(std::string_view type, json::object object, Timestamp now) {
  auto event = std::make_shared<Event>(new_id("evt_"), std::string(type), now, "");
  event->body = json::serialize(event_object(*event, std::move(object), api_version_));
  event_bytes_ += event->body.size();
  events_.push_back(event);
  while (events_.size() > limits_.events || event_bytes_ > limits_.event_bytes) {
    event_bytes_ -= events_.front()->body.size();
    events_.pop_front();
  }
  new_events_.push_back(std::move(event));
}

}  // namespace presetbridge::paysim
