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
using domain::TimelineKind;

// Whether the service does no more for the delivery until somebody acts, or until its trouble is over.
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

void record_end(const storage::DeliveryRow& row, Cause cause, ChangeRecord& record) {
  if (!is_end(row.status)) return;
  record.ends.push_back(
      {row.id, row.order_key, row.account, row.integration, row.status, row.resolution, cause});
}

// Starts of attempts are left out: they would double the timeline, and an attempt's result has its own entry.
bool belongs_in_timeline(Cause cause) {
  return cause != Cause::leased && cause != Cause::leased_after_acceptance;
}

// The items of the deliveries of events: loaded before, or read in one statement.
class EventItems {
 public:
  EventItems(storage::Tx& tx, std::span<const ChangeRecord::DeliveryEvent* const> events,
             const LoadedItems& loaded) {
    std::vector<DeliveryId> unread;
    for (const auto* const event : events) {
      const auto id = event->row.id;
      if (of_.contains(id)) continue;
      auto known = loaded ? loaded(id) : std::nullopt;
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
class NewItems {
 public:
  explicit NewItems(std::span<const storage::ItemRow> items) : items_(items) {}
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

// Whether a line of `after` has no mapping, and no line of the same product in `before` had none.
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

std::string timeline_data(std::initializer_list<std::pair<std::string_view, std::string_view>> members) {
  boost::json::object object;
  for (const auto& [name, text] : members) object[name] = text;
  return boost::json::serialize(object);
}

std::string order_event_id(IntegrationId integration, std::string_view order_key) {
  const std::string text = to_string(integration) + "\n" + std::string(order_key);
  return "oev_" + crypto::hex_encode(crypto::sha256(text)).substr(0, 32);
}

void DeliveryChanges::change_status(storage::DeliveryRow& row, const domain::Transition& t,
                                    const Change& change, Timestamp now) {
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
  // A person's decision outweighs a stop of the order that came before.
  if (t.cause == Cause::reopened || t.cause == Cause::approved)
    row.pending = domain::without_stop(std::move(row.pending), {});
  if (t.to != DeliveryStatus::failed) {
    row.failed_trouble.reset();
    row.probe_until.reset();
  } else if (row.resolution == ResolutionCode::cloud_unavailable) {
    row.probe_until = now + domain::kFailedProbeLimit;
  }
  if (t.to != DeliveryStatus::queued) row.next_attempt_at.reset();
  // The request that it asked for has been made, or nobody wants it any more.
  if (over || t.to == DeliveryStatus::waiting_for_friendship) row.asks_anew = false;
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
    change_status(row, *transition, change, now);
    record_end(row, change.cause, record);
    if (transition->emits) add_event(row, *transition->emits, record);
    // The entry of the order's arrival implies that it was queued.
    if (row.status != DeliveryStatus::queued)
      record.timeline.push_back(timeline_row(row, now, TimelineKind::attempt, change.actor, row.message,
                                             {.type = type_of(*transition, domain::Actor::system())}));
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
  NewItems items(created.items);
  write(set, std::move(record), [&](DeliveryId id) { return std::optional(items.of(id)); });
}

Expected<void> DeliveryChanges::apply(Timestamp now, storage::DeliveryRow& row, const Change& change,
                                      ChangeRecord& record) {
  const auto transition = domain::step(row.status, change.cause, row.invalidated_by);
  if (!transition) return std::unexpected(transition.error());
  now = row.updated_at = std::max(now, row.updated_at);
  const bool moves = transition->to != row.status;
  const bool reviewed = transition->to == DeliveryStatus::queued && !change.reasons.none();
  change_status(row, *transition, change, now);
  if (moves) record_end(row, change.cause, record);
  if (belongs_in_timeline(change.cause)) {
    const bool own = change.actor.kind == domain::Actor::Kind::system;
    record.timeline.push_back(timeline_row(row, now, own ? TimelineKind::attempt : TimelineKind::action,
                                           change.actor, row.message,
                                           {.type = type_of(*transition, change.actor)}));
  }
  if (transition->emits && !reviewed) add_event(row, *transition->emits, record);
  if (!reviewed) return {};
  const Change review{.cause = domain::review_cause(change.reasons),
                      .reasons = change.reasons,
                      .actor = domain::Actor::order()};
  return apply(now, row, review, record);
}

void DeliveryChanges::add_timeline_entry(Timestamp now, const storage::DeliveryRow& row, domain::Actor actor,
                                         std::string message, ChangeRecord& record, EntryDetails details) {
  record.timeline.push_back(
      timeline_row(row, now, TimelineKind::action, actor, std::move(message), std::move(details)));
}

storage::TimelineRow DeliveryChanges::timeline_row(const storage::DeliveryRow& row, Timestamp now,
                                                   TimelineKind kind, const domain::Actor& actor,
                                                   std::string message, EntryDetails details) {
  return {row.id,
          {.id = ids_.next(),
           .at = std::max(now, row.updated_at),
           .type = details.type,
           .kind = kind,
           .actor = to_string(actor),
           .status = std::string(domain::to_string(row.status)),
           .resolution = std::string(domain::to_string(row.resolution)),
           .message = std::move(message),
           .version = row.version,
           .attempt = row.attempt_count,
           .duration = details.duration,
           .item = details.item,
           .data = std::move(details.data)}};
}

void DeliveryChanges::add_event(storage::DeliveryRow& row, domain::EventType type, ChangeRecord& record) {
  // The number grows whether or not anybody subscribes, so that a receiver can order its events (spec 10.2).
  ++row.sequence;
  record.events.push_back({ids_.make<EventId>(), type, row});
}

void DeliveryChanges::write(DeliverySet& set, ChangeRecord record, const LoadedItems& loaded) {
  auto& tx = set.tx();
  std::ranges::move(record.ends, std::back_inserter(tx.news().deliveries));
  append_timeline(tx, record.timeline);
  std::vector<AccountId> accounts;
  for (const auto& event : record.events) accounts.push_back(event.row.account);
  for (const auto& report : record.unmapped) accounts.push_back(report.order.get().account);
  for (const auto& low : record.credits_low) accounts.push_back(low.account);
  set.read_subscriptions(accounts);
  std::vector<const ChangeRecord::DeliveryEvent*> wanted;
  OutboundRows rows;
  for (const auto& event : record.events) {
    const auto& row = event.row;
    const auto subscribers = set.subscribers(row.account, domain::to_string(event.type), row.integration);
    if (subscribers.empty()) continue;
    wanted.push_back(&event);
    for (const auto subscription : subscribers)
      rows.dispatches.push_back({ids_.next(), subscription, event.id, tx.now()});
  }
  const EventItems items(tx, wanted, loaded);
  for (const auto* const event : wanted) {
    const auto uuid = event_uuid(event->id, random_);
    rows.events.push_back(
        {event->id, event->row.account, event->row.id, event->row.sequence,
         std::string(domain::to_string(event->type)), uuid,
         delivery_event_body(uuid, event->type, event->row, items.of(event->row.id),
                             buyer_url_ ? buyer_url_(event->row) : std::string(), event->row.updated_at),
         event->row.updated_at});
  }
  for (const auto& report : record.unmapped) {
    const storage::OrderRow& order = report.order;
    const auto subscribers = set.subscribers(
        order.account, domain::to_string(domain::EventType::order_unmapped), order.integration);
    if (subscribers.empty()) continue;
    rows.events.push_back(unmapped_event(report, tx.now()));
    for (const auto subscription : subscribers)
      rows.dispatches.push_back({ids_.next(), subscription, report.event, tx.now()});
  }
  for (const auto& low : record.credits_low) {
    add_account_event(rows, {ids_, random_, tx.now()}, low.account, domain::EventType::credits_low,
                      set.subscribers_of_account(low.account, "credits.low"),
                      {{"credits", boost::json::object{{"available", low.balance.available()},
                                                       {"held", low.balance.held},
                                                       {"threshold", low.threshold}}}});
  }
  insert_events(tx, rows.events);
  insert_dispatches(tx, rows.dispatches);
}

void DeliveryChanges::report_unmapped(DeliverySet& set, const storage::OrderRow& order,
                                      std::span<const domain::OrderLine> before,
                                      const domain::OrderState& state, bool dry_run) {
  if (!newly_unmapped(before, state.lines)) return;
  ChangeRecord record;
  record.unmapped.push_back({ids_.make<EventId>(), order, state, dry_run});
  write(set, std::move(record));
}

storage::EventRow DeliveryChanges::unmapped_event(const UnmappedOrder& report, Timestamp now) {
  const storage::OrderRow& order = report.order;
  const auto uuid = event_uuid(report.event, random_);
  return {report.event,
          order.account,
          order.outcome == domain::OrderOutcome::delivery ? DeliveryId{order.id.value} : DeliveryId{},
          0,
          std::string(domain::to_string(domain::EventType::order_unmapped)),
          uuid,
          unmapped_event_body(uuid, order, report.state, report.dry_run, now),
          now};
}

}  // namespace presetbridge::services
