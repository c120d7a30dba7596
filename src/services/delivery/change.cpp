#include "services/delivery/change.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <iterator>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "domain/resolution.h"
#include "domain/trouble.h"
#include "domain/username.h"
#include "services/delivery/event_body.h"
#include "services/event_uuid.h"
#include "services/outbound_rows.h"
#include "storage/delivery_search.h"
#include "storage/event_store.h"

namespace presetbridge::services {
namespace {

using domain::Cause;
using domain::DeliveryStatus;
using domain::ResolutionCode;

// What a merchant reads of a change that brought no words of its own.
std::string usual_message(const domain::Transition& t, const Change& change) {
  const auto code =
      t.review_reason() == domain::ReviewReason::too_large ? ResolutionCode::order_too_large : change.code;
  if (code != ResolutionCode::none) return std::string(domain::describe(code).what_happened);
  switch (t.cause) {
    case Cause::order_accepted:
      return "The order is queued for delivery.";
    case Cause::order_held:
      return "The order is held for review.";
    case Cause::leased:
    case Cause::leased_after_acceptance:
      return "The delivery is being worked on.";
    case Cause::request_sent:
      return "A friend request was sent; the customer has to accept it.";
    case Cause::still_waiting:
      return "The customer has not accepted the friend request yet.";
    case Cause::nothing_left_owed:
      return "All files were shared with the customer.";
    case Cause::completed_by_hand:
      return "The merchant marked the order as delivered by hand.";
    case Cause::transient_failure:
      return "The cloud platform could not be reached; the delivery is tried again.";
    case Cause::account_trouble:
      return "The cloud platform or the merchant's account is in trouble; the delivery goes on when that has "
             "passed.";
    case Cause::lease_expired:
    case Cause::shutdown:
      return "The worker stopped; the delivery is taken up again.";
    case Cause::refreshed:
    case Cause::new_items_owed:
      return "The order changed; the delivery goes on with what it owes now.";
    case Cause::username_changed:
      return "The customer's username was changed.";
    case Cause::cloud_account_changed:
      return "The merchant's cloud account was changed.";
    case Cause::cause_fixed:
      return "What stopped the delivery was fixed; it goes on.";
    case Cause::stopped_by_order:
      return "The order was cancelled or refunded.";
    case Cause::nothing_to_deliver:
      return "Nothing of the order is left to deliver.";
    case Cause::customer_changed:
      return "The store sent another username; the files are owed to that customer.";
    case Cause::held:
      return "The order changed; it is held for review.";
    case Cause::payment_returned:
      return "The order was paid again; the delivery goes on.";
    case Cause::paid_again:
      return "The order was paid again.";
    case Cause::payment_withdrawn:
      return "The order is no longer paid; it waits for a review.";
    case Cause::high_risk:
      return "The store reports a high risk for this order; it waits for a review.";
    case Cause::erased:
      return "The customer's data was erased.";
    case Cause::invalidated_by_merchant:
      return "The merchant invalidated the delivery.";
    case Cause::reopened:
      return "The merchant reopened the order for review.";
    case Cause::retried:
      return "The merchant asked for a new attempt.";
    case Cause::approved:
      return "The merchant approved the order.";
    case Cause::order_too_large:
    case Cause::became_too_large:
    case Cause::permanent_failure:
    case Cause::known_cause:
    case Cause::friendship_ended:
      break;
  }
  return std::string(domain::to_string(t.cause));
}

// Nothing more is done on its own: until somebody acts, or what stopped it is mended.
bool is_end(DeliveryStatus status) {
  switch (status) {
    case DeliveryStatus::queued:
    case DeliveryStatus::processing:
    case DeliveryStatus::waiting_for_friendship:
      return false;
    case DeliveryStatus::completed:
    case DeliveryStatus::failed:
    case DeliveryStatus::in_review:
    case DeliveryStatus::invalidated:
      return true;
  }
  return false;
}

void note_end(const storage::DeliveryRow& row, Cause cause, ChangeRecord& record) {
  if (!is_end(row.status)) return;
  record.ends.push_back(
      {row.id, row.order_key, row.account, row.integration, row.status, row.resolution, cause});
}

// Every attempt's start would double the timeline: what the attempt came to is what it tells.
bool belongs_in_timeline(Cause cause) {
  return cause != Cause::leased && cause != Cause::leased_after_acceptance;
}

// The items of the deliveries that are told of: at hand, or read in one statement.
class ItemsTold {
 public:
  ItemsTold(storage::Tx& tx, std::span<const ChangeRecord::Telling* const> tellings,
            const ItemsAtHand& at_hand) {
    std::vector<DeliveryId> unread;
    for (const auto* const telling : tellings) {
      const auto id = telling->row.id;
      if (of_.contains(id)) continue;
      auto known = at_hand ? at_hand(id) : std::nullopt;
      if (!known) unread.push_back(id);
      of_.emplace(id, known ? std::move(*known) : std::vector<const storage::ItemRow*>());
    }
    if (!unread.empty()) read_ = find_items_of_job(tx, unread);
    for (const auto& row : read_) of_[row.delivery].push_back(&row);
  }
  std::span<const storage::ItemRow* const> of(DeliveryId id) const { return of_.at(id); }

 private:
  std::vector<storage::ItemRow> read_;
  std::unordered_map<DeliveryId, std::vector<const storage::ItemRow*>> of_;
};

// Groups items of new deliveries by their delivery.
class ItemsOfNew {
 public:
  explicit ItemsOfNew(std::span<const storage::ItemRow> items) : items_(items) {}
  std::vector<const storage::ItemRow*> of(DeliveryId id) {
    if (of_.empty()) {
      for (const auto& item : items_) of_[item.delivery].push_back(&item);
    }
    return of_[id];
  }

 private:
  const std::span<const storage::ItemRow> items_;
  std::unordered_map<DeliveryId, std::vector<const storage::ItemRow*>> of_;
};

// Names the type of the timeline entry that tells of a transition: what happened, or `action` where a person,
// a key or the buyer asked for it.
std::string_view type_of(const domain::Transition& t, const domain::Actor& actor) {
  using Kind = domain::Actor::Kind;
  if (actor.kind == Kind::user || actor.kind == Kind::api_key || actor.kind == Kind::buyer) return "action";
  switch (t.cause) {
    case Cause::request_sent:
      return "request_sent";
    case Cause::still_waiting:
      return "waiting";
    case Cause::transient_failure:
    case Cause::account_trouble:
    case Cause::lease_expired:
    case Cause::shutdown:
      return "put_off";
    default:
      break;
  }
  switch (t.to) {
    case DeliveryStatus::queued:
      return "queued";
    case DeliveryStatus::completed:
      return "completed";
    case DeliveryStatus::failed:
      return "failed";
    case DeliveryStatus::in_review:
      return "in_review";
    case DeliveryStatus::invalidated:
      return "invalidated";
    case DeliveryStatus::processing:
    case DeliveryStatus::waiting_for_friendship:
      return "waiting";
  }
  return "action";
}

// What the service itself asked for was not possible: a fault here, whose text is for the log.
[[noreturn]] void refuse(const storage::DeliveryRow& row, const Error& error) {
  throw Error{"INTERNAL_ERROR", to_string(row.id) + ": " + error.message, {}};
}

// Lines of an order that an event names; their texts are cut.
constexpr std::size_t kToldLines = 20;
constexpr std::size_t kToldBytes = 200;

boost::json::object told_line(const domain::OrderLine& line) {
  boost::json::object told{{"lineId", line.line_id}, {"quantity", line.quantity}};
  const auto add = [&](std::string_view key, const std::string& text) {
    if (!text.empty()) told[key] = domain::cut_utf8(text, kToldBytes);
  };
  add("title", line.title);
  add("sku", line.sku);
  add("productId", line.product_id);
  add("variantId", line.variant_id);
  return told;
}

// Whether one of the lines has no mapping that was not just so before.
bool newly_unmapped(std::span<const domain::OrderLine> before, std::span<const domain::OrderLine> after) {
  using Mapped = domain::OrderLine::Mapped;
  const auto product = [](const domain::OrderLine& line) {
    return std::tie(line.line_id, line.variant_id, line.sku, line.product_id, line.title);
  };
  std::set<decltype(product(after.front()))> known;
  for (const auto& line : before) {
    if (line.mapped == Mapped::nothing) known.insert(product(line));
  }
  return std::ranges::any_of(after, [&](const domain::OrderLine& line) {
    return line.mapped == Mapped::nothing && !known.contains(product(line));
  });
}

}  // namespace

std::string told_of(std::initializer_list<std::pair<std::string_view, std::string_view>> members) {
  boost::json::object object;
  for (const auto& [name, text] : members) object[name] = text;
  return boost::json::serialize(object);
}

std::string order_event_id(IntegrationId integration, std::string_view order_key) {
  const std::string text = to_string(integration) + "\n" + std::string(order_key);
  return "oev_" + crypto::hex_encode(crypto::sha256(text)).substr(0, 32);
}

void DeliveryChanges::move(storage::DeliveryRow& row, const domain::Transition& t, const Change& change,
                           Timestamp now) {
  row.status = t.to;
  if (t.sets_resolution()) row.resolution = change.code;
  if (t.clears_resolution()) row.resolution = ResolutionCode::none;
  if (t.sets_completed_at()) row.completed_at = now;
  if (t.clears_completed_at()) row.completed_at.reset();
  // A reason ends with the state that it explains.
  row.reason = t.sets_reason() ? change.reason : std::string();
  row.review_reasons = t.to == DeliveryStatus::in_review ? change.reasons : domain::ReviewReasons();
  if (const auto reason = t.review_reason()) row.review_reasons.add(*reason);
  if (row.review_reasons.has(domain::ReviewReason::too_large))
    row.resolution = ResolutionCode::order_too_large;
  if (t.restarts_waiting()) row.waiting_since.reset();
  if (t.to == DeliveryStatus::waiting_for_friendship && !row.waiting_since) row.waiting_since = now;
  row.invalidated_by = t.invalidated_by();
  const bool over = t.to == DeliveryStatus::completed || t.to == DeliveryStatus::invalidated;
  row.ended_at = over ? std::optional(now) : std::nullopt;
  if (over || (t.ends_lease() && !change.keep_pending)) row.pending = {};
  if (t.to != DeliveryStatus::failed) {
    row.failed_trouble.reset();
    row.probe_until.reset();
  } else if (row.resolution == ResolutionCode::cloud_unavailable) {
    row.probe_until = now + domain::kFailedProbeLimit;
  }
  if (t.to != DeliveryStatus::queued) row.next_attempt_at.reset();
  row.message = change.message.empty() ? usual_message(t, change) : change.message;
}

void DeliveryChanges::create(storage::Tx& tx, NewDeliveries& created, AccountFacts& facts) {
  const Timestamp now = tx.now();
  ChangeRecord record;
  for (std::size_t i = 0; i < created.rows.size(); ++i) {
    auto& row = created.rows[i];
    const auto& change = created.changes[i];
    const auto transition = domain::step(std::nullopt, change.cause);
    if (!transition) throw Error(transition.error());
    row.created_at = row.updated_at = now;
    move(row, *transition, change, now);
    note_end(row, change.cause, record);
    if (transition->emits) tell(row, *transition->emits, record);
    // That it was queued is what its order's arrival tells.
    if (row.status != DeliveryStatus::queued)
      record.timeline.push_back(entry(row, now, "attempt", change.actor, row.message,
                                      {.type = std::string(type_of(*transition, domain::Actor::system()))}));
  }
  record.unmapped = std::move(created.unmapped);
  insert_deliveries(tx, created.rows);
  insert_items(tx, created.items);
  std::vector<storage::DeliveryKeys> keys;
  auto item = created.items.begin();
  for (std::size_t i = 0; i < created.rows.size(); ++i) {
    const auto& row = created.rows[i];
    auto& of = keys.emplace_back(storage::DeliveryKeys{.account = row.account,
                                                       .delivery = row.id,
                                                       .order_key = row.order_key,
                                                       .order_number = created.order_numbers[i],
                                                       .username = row.username,
                                                       .email = row.email,
                                                       .files = {}});
    for (; item != created.items.end() && item->delivery == row.id; ++item) of.files.push_back(item->file_id);
  }
  insert_delivery_keys(tx, keys);
  ItemsOfNew items(created.items);
  write(tx, std::move(record), facts, [&](DeliveryId id) { return std::optional(items.of(id)); });
}

Expected<void> DeliveryChanges::apply(storage::Tx& tx, storage::DeliveryRow& row, const Change& change) {
  ChangeRecord record;
  if (auto applied = apply(tx.now(), row, change, record); !applied) return applied;
  update_delivery(tx, row);
  AccountFacts facts(tx);
  write(tx, std::move(record), facts);
  return {};
}

void DeliveryChanges::must_apply(storage::Tx& tx, storage::DeliveryRow& row, const Change& change) {
  if (auto applied = apply(tx, row, change); !applied) refuse(row, applied.error());
}

void DeliveryChanges::must_apply(Timestamp now, storage::DeliveryRow& row, const Change& change,
                                 ChangeRecord& record) {
  if (auto applied = apply(now, row, change, record); !applied) refuse(row, applied.error());
}

Expected<void> DeliveryChanges::apply(Timestamp now, storage::DeliveryRow& row, const Change& change,
                                      ChangeRecord& record) {
  const auto transition = domain::step(row.status, change.cause, row.invalidated_by);
  if (!transition) return std::unexpected(transition.error());
  const bool moves = transition->to != row.status;
  const bool reviewed = transition->to == DeliveryStatus::queued && !change.reasons.none();
  move(row, *transition, change, now);
  if (moves) note_end(row, change.cause, record);
  if (belongs_in_timeline(change.cause)) {
    const bool own = change.actor.kind == domain::Actor::Kind::system;
    record.timeline.push_back(entry(row, now, own ? "attempt" : "action", change.actor, row.message,
                                    {.type = std::string(type_of(*transition, change.actor))}));
  }
  if (transition->emits && !reviewed) tell(row, *transition->emits, record);
  if (!reviewed) return {};
  const Change review{.cause = domain::review_cause(change.reasons),
                      .reasons = change.reasons,
                      .actor = domain::Actor::order()};
  return apply(now, row, review, record);
}

void DeliveryChanges::note(storage::Tx& tx, const storage::DeliveryRow& row, domain::Actor actor,
                           std::string message, Told told) {
  append_timeline(tx, std::array{entry(row, tx.now(), "action", actor, std::move(message), std::move(told))});
}

void DeliveryChanges::note(Timestamp now, const storage::DeliveryRow& row, domain::Actor actor,
                           std::string message, ChangeRecord& record, Told told) {
  record.timeline.push_back(entry(row, now, "action", actor, std::move(message), std::move(told)));
}

storage::TimelineRow DeliveryChanges::entry(const storage::DeliveryRow& row, Timestamp now, std::string kind,
                                            const domain::Actor& actor, std::string message, Told told) {
  return {row.id,
          {.id = ids_.next(),
           .at = now,
           .type = std::move(told.type),
           .kind = std::move(kind),
           .actor = to_string(actor),
           .status = std::string(domain::to_string(row.status)),
           .resolution = std::string(domain::to_string(row.resolution)),
           .message = std::move(message),
           .version = row.version,
           .attempt = row.attempt_count,
           .duration = told.duration,
           .item = told.item,
           .data = std::move(told.data)}};
}

void DeliveryChanges::tell(storage::DeliveryRow& row, domain::EventType type, ChangeRecord& record) {
  // The number grows whether or not anybody listens, so that a receiver can order what it gets (spec 10.2).
  ++row.sequence;
  record.tellings.push_back({ids_.make<EventId>(), type, row});
}

void DeliveryChanges::write(storage::Tx& tx, ChangeRecord record, AccountFacts& facts,
                            const ItemsAtHand& at_hand) {
  std::ranges::move(record.ends, std::back_inserter(tx.news().deliveries));
  append_timeline(tx, record.timeline);
  std::vector<AccountId> accounts;
  for (const auto& telling : record.tellings) accounts.push_back(telling.row.account);
  for (const auto& telling : record.unmapped) accounts.push_back(telling.order.get().account);
  for (const auto& low : record.credits_low) accounts.push_back(low.account);
  facts.read_subscriptions(accounts);
  std::vector<const ChangeRecord::Telling*> wanted;
  OutboundRows rows;
  for (const auto& telling : record.tellings) {
    const auto& row = telling.row;
    const auto subscribers = facts.subscribers(row.account, domain::to_string(telling.type), row.integration);
    if (subscribers.empty()) continue;
    wanted.push_back(&telling);
    for (const auto subscription : subscribers)
      rows.sends.push_back({ids_.next(), subscription, telling.event, tx.now()});
  }
  const ItemsTold items(tx, wanted, at_hand);
  for (const auto* const telling : wanted) {
    const auto uuid = event_uuid(telling->event, random_);
    rows.events.push_back(
        {telling->event, telling->row.account, telling->row.id, telling->row.sequence,
         std::string(domain::to_string(telling->type)), uuid,
         delivery_event_body(uuid, telling->type, telling->row, items.of(telling->row.id), tx.now()),
         tx.now()});
  }
  for (const auto& telling : record.unmapped) {
    const storage::OrderRow& order = telling.order;
    const auto subscribers = facts.subscribers(
        order.account, domain::to_string(domain::EventType::order_unmapped), order.integration);
    if (subscribers.empty()) continue;
    rows.events.push_back(event_of(telling, tx.now()));
    for (const auto subscription : subscribers)
      rows.sends.push_back({ids_.next(), subscription, telling.event, tx.now()});
  }
  for (const auto& low : record.credits_low) {
    add_account_event(rows, {ids_, random_, tx.now()}, low.account, domain::EventType::credits_low,
                      facts.subscribers_of_account(low.account, "credits.low"),
                      {{"credits", boost::json::object{{"available", low.balance.available()},
                                                       {"held", low.balance.held},
                                                       {"threshold", low.threshold}}}});
  }
  insert_events(tx, rows.events);
  insert_sends(tx, rows.sends);
}

void DeliveryChanges::tell_unmapped(storage::Tx& tx, const storage::OrderRow& order,
                                    std::span<const domain::OrderLine> before,
                                    const domain::OrderState& state, bool dry_run) {
  if (!newly_unmapped(before, state.lines)) return;
  ChangeRecord record;
  record.unmapped.push_back({ids_.make<EventId>(), order, state, dry_run});
  AccountFacts facts(tx);
  write(tx, std::move(record), facts);
}

storage::EventRow DeliveryChanges::event_of(const UnmappedOrder& telling, Timestamp now) {
  const storage::OrderRow& order = telling.order;
  const domain::OrderState& state = telling.state;
  const std::string_view name = domain::to_string(domain::EventType::order_unmapped);
  const std::string uuid = event_uuid(telling.event, random_);
  const bool delivers = order.outcome == "delivery";
  boost::json::array lines;
  for (const auto& line : state.lines) {
    if (line.mapped != domain::OrderLine::Mapped::nothing) continue;
    if (lines.size() == kToldLines) break;
    lines.push_back(told_line(line));
  }
  boost::json::object told{
      {"orderId", order.order_key},
      {"eventId", order_event_id(order.integration, order.order_key)},
      {"outcome", order.outcome},
      {"message", domain::outcome_in_words(order.outcome, order.unmapped, domain::summarise(state))},
      {"lineCount", state.lines.size()},
      {"unmappedCount", order.unmapped},
      {"unmappedLines", std::move(lines)}};
  if (!state.order_number.empty()) told["orderNumber"] = state.order_number;
  if (telling.dry_run) told["dryRun"] = true;
  const boost::json::object body{
      {"id", uuid},
      {"type", name},
      {"createdAt", to_iso8601(now)},
      {"integrationId", to_string(order.integration)},
      {"deliveryId", delivers ? boost::json::value(to_string(DeliveryId{order.id.value})) : nullptr},
      {"order", std::move(told)}};
  return {telling.event,
          order.account,
          delivers ? DeliveryId{order.id.value} : DeliveryId{},
          0,
          std::string(name),
          uuid,
          boost::json::serialize(body),
          now};
}

}  // namespace presetbridge::services
