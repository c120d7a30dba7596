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
#include "services/delivery/change_words.h"
#include "services/delivery/delivery_set.h"
#include "services/delivery/event_body.h"
#include "services/webhooks/event_uuid.h"
#include "services/webhooks/outbound_rows.h"
#include "storage/stores/delivery_keys.h"
#include "storage/stores/event_store.h"
#include "storage/stores/timeline_store.h"

namespace presetbridge::services {
namespace {

using domain::Cause;
using domain::DeliveryStatus;
using domain::ResolutionCode;

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

void DeliveryChanges::create(DeliverySet& set, NewDeliveries& created) {
  auto& tx = set.tx();
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
  write(set, std::move(record), [&](DeliveryId id) { return std::optional(items.of(id)); });
}

Expected<void> DeliveryChanges::apply(Timestamp now, storage::DeliveryRow& row, const Change& change,
                                      ChangeRecord& record) {
  const auto transition = domain::step(row.status, change.cause, row.invalidated_by);
  if (!transition) return std::unexpected(transition.error());
  now = row.updated_at = std::max(now, row.updated_at);
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

void DeliveryChanges::note(Timestamp now, const storage::DeliveryRow& row, domain::Actor actor,
                           std::string message, ChangeRecord& record, Told told) {
  record.timeline.push_back(entry(row, now, "action", actor, std::move(message), std::move(told)));
}

storage::TimelineRow DeliveryChanges::entry(const storage::DeliveryRow& row, Timestamp now, std::string kind,
                                            const domain::Actor& actor, std::string message, Told told) {
  return {row.id,
          {.id = ids_.next(),
           .at = std::max(now, row.updated_at),
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

void DeliveryChanges::write(DeliverySet& set, ChangeRecord record, const ItemsAtHand& at_hand) {
  auto& tx = set.tx();
  std::ranges::move(record.ends, std::back_inserter(tx.news().deliveries));
  append_timeline(tx, record.timeline);
  std::vector<AccountId> accounts;
  for (const auto& telling : record.tellings) accounts.push_back(telling.row.account);
  for (const auto& telling : record.unmapped) accounts.push_back(telling.order.get().account);
  for (const auto& low : record.credits_low) accounts.push_back(low.account);
  set.read_subscriptions(accounts);
  std::vector<const ChangeRecord::Telling*> wanted;
  OutboundRows rows;
  for (const auto& telling : record.tellings) {
    const auto& row = telling.row;
    const auto subscribers = set.subscribers(row.account, domain::to_string(telling.type), row.integration);
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
         delivery_event_body(uuid, telling->type, telling->row, items.of(telling->row.id),
                             buyer_url_ ? buyer_url_(telling->row) : std::string(), telling->row.updated_at),
         telling->row.updated_at});
  }
  for (const auto& telling : record.unmapped) {
    const storage::OrderRow& order = telling.order;
    const auto subscribers = set.subscribers(
        order.account, domain::to_string(domain::EventType::order_unmapped), order.integration);
    if (subscribers.empty()) continue;
    rows.events.push_back(event_of(telling, tx.now()));
    for (const auto subscription : subscribers)
      rows.sends.push_back({ids_.next(), subscription, telling.event, tx.now()});
  }
  for (const auto& low : record.credits_low) {
    add_account_event(rows, {ids_, random_, tx.now()}, low.account, domain::EventType::credits_low,
                      set.subscribers_of_account(low.account, "credits.low"),
                      {{"credits", boost::json::object{{"available", low.balance.available()},
                                                       {"held", low.balance.held},
                                                       {"threshold", low.threshold}}}});
  }
  insert_events(tx, rows.events);
  insert_sends(tx, rows.sends);
}

void DeliveryChanges::tell_unmapped(DeliverySet& set, const storage::OrderRow& order,
                                    std::span<const domain::OrderLine> before,
                                    const domain::OrderState& state, bool dry_run) {
  if (!newly_unmapped(before, state.lines)) return;
  ChangeRecord record;
  record.unmapped.push_back({ids_.make<EventId>(), order, state, dry_run});
  write(set, std::move(record));
}

storage::EventRow DeliveryChanges::event_of(const UnmappedOrder& telling, Timestamp now) {
  const storage::OrderRow& order = telling.order;
  const auto uuid = event_uuid(telling.event, random_);
  return {telling.event,
          order.account,
          order.outcome == "delivery" ? DeliveryId{order.id.value} : DeliveryId{},
          0,
          std::string(domain::to_string(domain::EventType::order_unmapped)),
          uuid,
          unmapped_event_body(uuid, order, telling.state, telling.dry_run, now),
          now};
}

}  // namespace presetbridge::services
