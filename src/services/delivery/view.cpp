#include "services/delivery/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "domain/order.h"
#include "domain/sweep_schedule.h"
#include "domain/trouble.h"
#include "providers/profile.h"
#include "services/delivery/change.h"
#include "services/delivery/items.h"
#include "storage/stores/api_key_store.h"
#include "storage/stores/buyer_act_store.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/delivery_work.h"
#include "storage/stores/identity_store.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/order_store.h"
#include "storage/stores/store_activity_store.h"
#include "storage/stores/timeline_store.h"

namespace presetbridge::services {
namespace {

using domain::DeliveryStatus;
using domain::ItemStatus;
using domain::ResolutionCode;
using domain::TimelineKind;
using domain::TimelineType;
using storage::DeliveryRow;
using storage::TimelineEntry;
using storage::Tx;

constexpr int kAffectedCounted = 1'000;

// The type of an entry without one that is known here: by the status that the delivery had then.
TimelineType type_by_status(const TimelineEntry& entry) {
  if (entry.kind == TimelineKind::action) return TimelineType::action;
  const auto status = domain::parse_delivery_status(entry.status);
  if (!status) return TimelineType::note;
  switch (*status) {
    case DeliveryStatus::queued:
      return TimelineType::queued;
    case DeliveryStatus::processing:
      return TimelineType::note;
    case DeliveryStatus::waiting_for_friendship:
      return TimelineType::waiting;
    case DeliveryStatus::completed:
      return TimelineType::completed;
    case DeliveryStatus::failed:
      return TimelineType::failed;
    case DeliveryStatus::in_review:
      return TimelineType::in_review;
    case DeliveryStatus::invalidated:
      return TimelineType::invalidated;
  }
  return TimelineType::note;
}

// In an outage one job a minute runs, and nobody knows when it is over.
bool in_outage(const storage::CloudAccountRow& account) {
  const auto trouble = domain::decode_account_trouble(account.trouble);
  return !trouble || domain::in_outage(*trouble);
}

// The earliest start. `free_at`: when the cloud account may start a job again.
Timestamp start_of(Timestamp now, Timestamp free_at, const storage::QueuePosition& place,
                   int jobs_per_minute) {
  Timestamp start = std::max({now, place.due_at, free_at});
  if (jobs_per_minute > 0) start += Millis{60'000} * ((place.position - 1) / jobs_per_minute);
  return start;
}

// Ids have the times of the nodes' clocks, and the version grows under the delivery's lock: neighbours that
// both have a version are sorted by it, the newest first.
void sort_by_version(std::vector<TimelineEntry>& entries) {
  for (std::size_t i = 1; i < entries.size(); ++i) {
    for (std::size_t k = i; k > 0; --k) {
      auto& newer = entries[k - 1];
      if (newer.version == 0 || entries[k].version <= newer.version) break;
      std::swap(newer, entries[k]);
    }
  }
}

// An entry that a job adds while it works changes no row, so that its time may be later than that of a newer
// entry, whose transaction waited for the job's locks (services/delivery/change.h). No entry of a page keeps
// a later time than a newer one.
void limit_times(std::vector<TimelineEntry>& entries) {
  for (std::size_t i = 1; i < entries.size(); ++i) entries[i].at = std::min(entries[i].at, entries[i - 1].at);
}

// The names of actors, each looked up once.
class ActorNames {
 public:
  ActorNames(Tx& tx, const DeliveryRow& row) : tx_(tx), row_(row) {}
  std::string of(const std::string& actor) {
    const auto [known, fresh] = names_.try_emplace(actor);
    if (fresh) known->second = look_up(domain::parse_actor(actor).value_or(domain::Actor::system()));
    return known->second;
  }

 private:
  std::string look_up(const domain::Actor& actor) {
    using Kind = domain::Actor::Kind;
    switch (actor.kind) {
      case Kind::system:
      case Kind::buyer:
        return {};
      case Kind::order: {
        const auto store = find_integration(tx_, row_.integration);
        return store ? store->name : std::string();
      }
      case Kind::user: {
        const auto user = find_user(tx_, UserId{actor.id});
        return user ? user->email : std::string();
      }
      case Kind::api_key: {
        const auto key = find_api_key(tx_, row_.account, ApiKeyId{actor.id});
        return key ? key->name : std::string();
      }
    }
    return {};
  }

  Tx& tx_;
  const DeliveryRow& row_;
  std::map<std::string, std::string> names_;
};

// Entries made of other rows, with the ids of those rows.
std::vector<TimelineEntry> entries_of_other_rows(Tx& tx, const DeliveryRow& row) {
  std::vector<TimelineEntry> entries;
  const auto order = find_order(tx, OrderId{row.id.value});
  entries.push_back({.id = row.id.value,
                     .at = order ? order->received_at : row.created_at,
                     .type = TimelineType::order_received,
                     .kind = TimelineKind::action,
                     .actor = "order",
                     .status = "queued",
                     .resolution = "",
                     .message = "The order was received."});
  const auto items = find_items_of_job(tx, std::array{row.id});
  if (!items.empty()) {
    const bool all = !order || order->unmapped == 0;
    entries.push_back(
        {.id = items.front().id.value,
         .at = row.created_at,
         .type = TimelineType::matched,
         .kind = TimelineKind::action,
         .actor = "order",
         .status = "queued",
         .resolution = "",
         .message = all ? "The products of the order were matched with files."
                        : outcome_in_words(domain::OrderOutcome::delivery, order->unmapped, order->summary),
         .item = items.front().id});
  }
  for (const auto& event : find_events_of_delivery(tx, row.id, kEventsShown)) {
    if (!entries.empty() && entries.back().id == event.id.value) continue;  // another subscription's
    // An event of the order alone has no status of the delivery.
    const auto status = event.type.starts_with("delivery.") ? event.type.substr(9) : std::string();
    entries.push_back({.id = event.id.value,
                       .at = event.created_at,
                       .type = TimelineType::event_created,
                       .kind = TimelineKind::action,
                       .actor = "system",
                       .status = status == "reopened" ? "in_review" : status,
                       .resolution = "",
                       .message = "The store is sent " + event.type + ".",
                       .data = timeline_data({{"eventId", to_string(event.id)}, {"eventType", event.type}})});
  }
  return entries;
}

std::int64_t count_alike(Tx& tx, const DeliveryRow& row) {
  if (row.status != DeliveryStatus::failed) return 1;
  return std::ssize(find_failed_deliveries(tx, row.account, row.resolution, {}, kAffectedCounted));
}

std::optional<Timestamp> resumable_until(const DeliveryRow& row) {
  if (row.status != DeliveryStatus::failed) return std::nullopt;
  switch (row.resolution) {
    case ResolutionCode::friendship_timeout:
    case ResolutionCode::friend_request_declined:
    case ResolutionCode::blocked_by_customer:
      if (!row.waiting_since) return std::nullopt;
      return *row.waiting_since + domain::kFriendshipResumeWindow;
    case ResolutionCode::cloud_unavailable:
      return row.probe_until;
    default:
      return std::nullopt;
  }
}

bool has_accepted(Tx& tx, const DeliveryRow& row) {
  if (row.status != DeliveryStatus::waiting_for_friendship) return false;
  const auto customer = find_customer(tx, row.customer);
  return customer && customer->friendship == storage::Friendship::friends;
}

UsernameSource source_of(Tx& tx, const DeliveryRow& row, const domain::OrderState& order) {
  if (row.username.empty()) return UsernameSource::none;
  if (const auto acts = find_buyer_acts(tx, row.id); acts.corrections > 0 && acts.acted_at == row.named_at)
    return UsernameSource::buyer;
  return order.username == row.username ? UsernameSource::store : UsernameSource::merchant;
}

}  // namespace

std::vector<DeliverySummary> summaries_of(Tx& tx, std::vector<DeliveryRow> rows, int jobs_per_minute) {
  std::vector<OrderId> orders;
  std::vector<DeliveryId> ids;
  std::vector<CustomerId> customers;
  std::vector<CustomerId> waiting;
  for (const auto& row : rows) {
    orders.push_back(OrderId{row.id.value});
    ids.push_back(row.id);
    customers.push_back(row.status == DeliveryStatus::queued ? row.customer : CustomerId{});
    waiting.push_back(row.status == DeliveryStatus::waiting_for_friendship ? row.customer : CustomerId{});
  }
  auto names = find_order_names(tx, orders);
  auto items = summarise_items(tx, ids);
  const auto places = queue_positions(tx, customers);
  const auto requests = find_request_times(tx, waiting);
  std::map<IntegrationId, std::string> stores;
  std::map<CloudAccountId, std::optional<Timestamp>> free_from;  // nothing: in an outage
  std::vector<DeliverySummary> all;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto [store, fresh] = stores.try_emplace(rows[i].integration);
    if (fresh) {
      if (auto found = find_integration(tx, store->first)) store->second = std::move(found->name);
    }
    auto& one = all.emplace_back(DeliverySummary{.row = std::move(rows[i]),
                                                 .order_number = std::move(names[i].number),
                                                 .marks = names[i].marks,
                                                 .integration_name = store->second,
                                                 .items_summary = std::move(items[i]),
                                                 .queue_position = {},
                                                 .estimated_at = {},
                                                 .requested_at = requests[i]});
    if (places[i].position == 0) continue;
    one.queue_position = places[i].position;
    const auto [free_at, first] = free_from.try_emplace(one.row.cloud_account);
    if (first) {
      const auto account = find_cloud_account(tx, free_at->first);
      if (account && !in_outage(*account)) free_at->second = account->blocked_until;
    }
    if (places[i].position <= storage::kMostBefore && free_at->second)
      one.estimated_at = start_of(tx.now(), *free_at->second, places[i], jobs_per_minute);
  }
  return all;
}

Outlook outlook_of(Tx& tx, const DeliveryRow& row, int jobs_per_minute) {
  const bool accepted = has_accepted(tx, row);
  if (row.status != DeliveryStatus::queued && row.status != DeliveryStatus::processing && !accepted)
    return {};
  const auto account = find_cloud_account(tx, row.cloud_account);
  if (account && in_outage(*account)) return {.accepted = accepted, .in_outage = true};
  if (row.status == DeliveryStatus::processing) return {};
  const auto place = queue_positions(tx, std::array{row.customer}).front();
  if (place.position == 0) return {.accepted = accepted};
  const auto start =
      start_of(tx.now(), account ? account->blocked_until : Timestamp{}, place, jobs_per_minute);
  const bool after_failure = row.next_attempt_at && *row.next_attempt_at > tx.now();
  if (start <= tx.now() + std::chrono::minutes{1} && !after_failure) return {.accepted = accepted};
  return {.accepted = accepted, .late_start = start};
}

DeliveryView view_of(Tx& tx, DeliveryRow row, int jobs_per_minute) {
  DeliveryView v;
  std::vector<DeliveryRow> one;
  one.push_back(std::move(row));
  static_cast<DeliverySummary&>(v) = std::move(summaries_of(tx, std::move(one), jobs_per_minute).front());
  const auto& d = v.row;
  v.items = find_items(tx, d.id);
  v.staying = find_staying_items(tx, v.items);
  auto entries = timeline_of(tx, d, {.limit = kTimelineEntries});
  v.timeline = std::move(entries.rows);
  v.timeline_next = entries.next;
  v.events = find_events_of_delivery(tx, d.id, kEventsShown);
  v.pending = d.pending.kind != domain::PendingActionKind::none;

  const auto order = find_order(tx, OrderId{d.id.value});
  v.partly_unmapped = order && order->unmapped > 0;
  auto decoded = order ? domain::decode_order_state(order->state) : domain::OrderState{};
  const auto state = std::move(decoded).value_or(domain::OrderState{});
  v.username_source = source_of(tx, d, state);
  const bool too_large = d.review_reasons.has(domain::ReviewReason::too_large) ||
                         d.resolution == ResolutionCode::order_too_large;
  if (too_large) v.size = state.excess;
  if (const auto at = find_store_origin(tx, d.integration))
    v.store_order_url = providers::order_url(at->provider, at->origin, d.order_key);

  const auto customer = d.customer ? find_customer(tx, d.customer) : std::nullopt;
  const auto tallied = tally(pointers(v.items), d);
  const bool friends = tallied.shared + tallied.sharing > 0 ||
                       (customer && customer->friendship == storage::Friendship::friends);
  std::map<TimelineType, Timestamp> first;
  for (const auto& [type, at] : find_first_times(tx, d.id)) first.emplace(type, at);
  const auto time_of = [&](TimelineType type) {
    const auto found = first.find(type);
    return found == first.end() ? std::nullopt : std::optional(found->second);
  };
  v.first_request_at = time_of(TimelineType::request_sent);
  v.steps = domain::journey(
      {.status = d.status,
       .code = d.resolution,
       .found = (customer && !customer->cloud_user_id.empty()) || time_of(TimelineType::looked_up),
       .requested = d.requests_sent > 0,
       .friends = friends,
       .items = tallied});
  v.step_times = {d.created_at, time_of(TimelineType::looked_up), v.first_request_at,
                  time_of(TimelineType::accepted), d.completed_at};
  for (std::size_t i = 0; i < v.steps.size(); ++i) {
    if (v.steps[i] != domain::StepState::done) v.step_times[i].reset();
  }
  const bool revocable = !d.dry_run && std::ranges::any_of(v.items, [](const auto& item) {
    return item.status == ItemStatus::shared || item.status == ItemStatus::already_shared ||
           item.status == ItemStatus::revoke_failed;
  });
  v.allowed = domain::allowed_actions(d.status,
                                      d.review_reasons.has(domain::ReviewReason::too_large) &&
                                          tallied.owed + tallied.sharing + tallied.shared == 0,
                                      revocable);
  if (nobody_pays(pointers(v.items), d, state)) std::erase(v.allowed, domain::MerchantAction::complete);
  if (order && order->summary.marks.has(domain::OrderMark::erased)) {
    std::erase_if(v.allowed, [](domain::MerchantAction action) {
      return action != domain::MerchantAction::invalidate && action != domain::MerchantAction::revoke;
    });
  }
  v.resumable_until = resumable_until(d);
  if (d.resolution != ResolutionCode::none) {
    v.resolution.affected = count_alike(tx, d);
    for (const auto& item : v.items) {
      if (!item.former && item.status == ItemStatus::owed && !item.spent) ++v.resolution.credits_needed;
    }
  }
  if (d.status == DeliveryStatus::waiting_for_friendship) {
    if (d.waiting_since) v.gives_up_at = *d.waiting_since + domain::kFriendshipTimeout;
    if (const auto account = find_cloud_account(tx, d.cloud_account)) v.next_sweep_at = account->sweep_due_at;
  }
  return v;
}

storage::Page<ShownEntry> timeline_of(Tx& tx, const DeliveryRow& row, const storage::PageRequest& page) {
  auto entries = find_timeline(tx, row.id, page.fetch(), page.before);
  const bool more = static_cast<int>(entries.size()) > page.limit;
  // Entries further back than those that were read belong to a later page.
  std::int64_t from = 0;
  if (more) from = std::ranges::min(entries, {}, &TimelineEntry::id).id;
  for (auto& entry : entries_of_other_rows(tx, row)) {
    if (entry.id < page.before && entry.id >= from) entries.push_back(std::move(entry));
  }
  std::ranges::sort(entries, std::greater{}, &TimelineEntry::id);
  auto cut = make_page(std::move(entries), page, [](const TimelineEntry& entry) { return entry.id; });
  sort_by_version(cut.rows);
  limit_times(cut.rows);
  ActorNames names(tx, row);
  storage::Page<ShownEntry> shown{.rows = {}, .next = cut.next};
  for (auto& entry : cut.rows) {
    const auto type = entry.type ? *entry.type : type_by_status(entry);
    auto name = names.of(entry.actor);
    shown.rows.push_back({std::move(entry), type, std::move(name)});
  }
  return shown;
}

}  // namespace presetbridge::services
