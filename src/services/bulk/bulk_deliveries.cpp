#include "services/bulk/bulk_deliveries.h"

#include <algorithm>
#include <boost/json.hpp>
#include <limits>
#include <ranges>
#include <utility>

namespace presetbridge::services {
namespace {

namespace json = boost::json;
using domain::DeliveryStatus;
using domain::MerchantAction;
using domain::ResolutionCode;
using domain::ReviewReason;
using identity::IntegrationScope;
using storage::BulkJobRow;
using storage::DeliveryFilter;
using storage::DeliveryRow;
using storage::FoundDelivery;
using storage::Tx;

// The targets of a job, as its row stores them.
struct Chosen {
  std::vector<DeliveryId> ids;  // sorted; empty: what the filter finds
  DeliveryFilter filter;
  std::string reason;
};

// Milliseconds; null: no bound.
json::value time_value(const std::optional<Timestamp>& time) {
  if (!time) return nullptr;
  return to_unix_ms(*time);
}
std::optional<Timestamp> time_of(const json::value& value) {
  return value.is_null() ? std::nullopt : std::optional(from_unix_ms(value.as_int64()));
}
json::value flag_value(const std::optional<bool>& flag) {
  if (!flag) return nullptr;
  return *flag;
}
std::optional<bool> flag_of(const json::value& value) {
  return value.is_null() ? std::nullopt : std::optional(value.as_bool());
}

std::string encode(const Chosen& chosen) {
  const auto& f = chosen.filter;
  json::array ids;
  for (const auto id : chosen.ids) ids.push_back(id.value);
  json::array statuses;
  for (const auto status : f.statuses) statuses.emplace_back(domain::to_string(status));
  json::array codes;
  for (const auto code : f.codes) codes.emplace_back(domain::to_string(code));
  json::array reviews;
  for (const auto reason : f.reviews) reviews.emplace_back(domain::to_string(reason));
  json::value integrations = nullptr;
  if (f.integrations) {
    auto& all = integrations.emplace_array();
    for (const auto id : *f.integrations) all.push_back(id.value);
  }
  return json::serialize(json::object{{"ids", std::move(ids)},
                                      {"statuses", std::move(statuses)},
                                      {"codes", std::move(codes)},
                                      {"reviews", std::move(reviews)},
                                      {"integrations", std::move(integrations)},
                                      {"orderKey", f.order_key},
                                      {"search", f.search},
                                      {"file", f.file_id},
                                      {"dryRun", flag_value(f.dry_run)},
                                      {"refunded", flag_value(f.refunded)},
                                      {"createdFrom", time_value(f.created_from)},
                                      {"createdTo", time_value(f.created_to)},
                                      {"updatedFrom", time_value(f.updated_from)},
                                      {"updatedTo", time_value(f.updated_to)},
                                      {"reason", chosen.reason}});
}

Chosen chosen_of(const BulkJobRow& job) {
  const auto value = json::parse(job.filter);
  const auto& o = value.as_object();
  const auto text = [&](const char* name) { return std::string(o.at(name).as_string()); };
  Chosen chosen{.ids = {},
                .filter = {.account = job.account,
                           .statuses = {},
                           .codes = {},
                           .reviews = {},
                           .order_key = text("orderKey"),
                           .search = text("search"),
                           .file_id = text("file"),
                           .dry_run = flag_of(o.at("dryRun")),
                           .refunded = flag_of(o.at("refunded")),
                           .created_from = time_of(o.at("createdFrom")),
                           .created_to = time_of(o.at("createdTo")),
                           .updated_from = time_of(o.at("updatedFrom")),
                           .updated_to = time_of(o.at("updatedTo")),
                           .page = {}},
                .reason = text("reason")};
  for (const auto& id : o.at("ids").as_array()) chosen.ids.push_back(DeliveryId{id.as_int64()});
  for (const auto& status : o.at("statuses").as_array())
    chosen.filter.statuses.push_back(domain::parse_delivery_status(status.as_string()).value());
  for (const auto& code : o.at("codes").as_array())
    chosen.filter.codes.push_back(domain::parse_resolution_code(code.as_string()).value());
  // A program of before wrote none.
  if (const auto* reviews = o.if_contains("reviews")) {
    for (const auto& reason : reviews->as_array())
      chosen.filter.reviews.push_back(domain::parse_review_reason(reason.as_string()).value());
  }
  if (const auto& stores = o.at("integrations"); !stores.is_null()) {
    chosen.filter.integrations.emplace();
    for (const auto& id : stores.as_array())
      chosen.filter.integrations->push_back(IntegrationId{id.as_int64()});
  }
  return chosen;
}

// Of many, nobody sees what stands against each (spec 3.1): unless they are named, the graver reasons are
// left to be seen one by one.
bool approves(const DeliveryFilter& filter, std::optional<ReviewReason> review) {
  static const std::vector<ReviewReason> unnamed{ReviewReason::held, ReviewReason::reopened};
  const auto& named = filter.reviews.empty() ? unnamed : filter.reviews;
  return review && std::ranges::find(named, *review) != named.end();
}

// Why the action is not for a delivery in this state; empty: it is. A cause that still stands would stop
// a retry at once, and its fix resumes the delivery automatically (spec 3.6).
std::string_view why_not(MerchantAction action, const DeliveryFilter& filter, const FoundDelivery& found,
                         bool nothing_to_serve) {
  const auto allowed = domain::allowed_actions(found.status, nothing_to_serve, false);
  if (std::ranges::find(allowed, action) == allowed.end()) return "INVALID_TRANSITION";
  if (action == MerchantAction::approve && found.review && !approves(filter, found.review))
    return domain::to_string(*found.review);
  if (action != MerchantAction::retry) return "";
  // Under way: there is no failure to try again.
  if (found.status != DeliveryStatus::failed) return "INVALID_TRANSITION";
  switch (found.code) {
    case ResolutionCode::username_missing:
    case ResolutionCode::credentials_missing:
    case ResolutionCode::credentials_invalid:
    case ResolutionCode::insufficient_credits:
      return domain::to_string(found.code);
    default:
      return "";
  }
}

// Those of them that are too large, and of which no file is known.
std::vector<DeliveryId> nothing_to_serve(Tx& tx, std::span<const FoundDelivery> found) {
  std::vector<DeliveryId> ids;
  for (const auto& d : found) {
    if (d.status == DeliveryStatus::in_review && d.code == ResolutionCode::order_too_large)
      ids.push_back(d.id);
  }
  const auto items = summarise_items(tx, ids);
  std::vector<DeliveryId> nothing;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (items[i].count == 0) nothing.push_back(ids[i]);
  }
  std::ranges::sort(nothing);
  return nothing;
}

// The deliveries that the action is for; `left_out` is called with the reason for each other.
template <class LeftOut>
std::vector<DeliveryId> eligible(Tx& tx, MerchantAction action, const DeliveryFilter& filter,
                                 std::span<const FoundDelivery> found, const LeftOut& left_out) {
  const auto nothing =
      action == MerchantAction::approve ? nothing_to_serve(tx, found) : std::vector<DeliveryId>();
  std::vector<DeliveryId> ids;
  for (const auto& d : found) {
    const auto why = why_not(action, filter, d, std::ranges::binary_search(nothing, d.id));
    if (why.empty()) {
      ids.push_back(d.id);
    } else {
      left_out(why);
    }
  }
  return ids;
}

std::vector<FoundDelivery> find_named(Tx& tx, std::span<const DeliveryId> ids, AccountId account,
                                      const IntegrationScope& scope) {
  std::vector<FoundDelivery> found;
  for (const auto& row : find_deliveries(tx, ids)) {
    if (row.account == account && scope.includes(row.integration))
      found.push_back({row.id, row.status, row.resolution, row.review_reasons.gravest()});
  }
  return found;
}

// Limits the filter to what the caller may see, and to what was there at that time.
void limit(DeliveryFilter& filter, const identity::Principal& by, Timestamp as_of) {
  filter.account = by.account;
  filter.page = {};
  filter.oldest_first = true;
  const auto end = as_of + Millis{1};
  filter.created_to = std::min(filter.created_to.value_or(end), end);
  if (by.integrations.all()) return;
  if (!filter.integrations) filter.integrations = by.integrations.ids();
  std::erase_if(*filter.integrations, [&](IntegrationId id) { return !by.sees(id); });
}

std::string excluded_json(const std::map<std::string, std::int64_t>& excluded) {
  json::array all;
  for (const auto& [code, count] : excluded) all.push_back(json::object{{"code", code}, {"count", count}});
  return json::serialize(all);
}

}  // namespace

const BulkDeliveries::Action& BulkDeliveries::action_of(MerchantAction action) const {
  if (action == MerchantAction::approve) return approve_;
  return action == MerchantAction::invalidate ? invalidate_ : retry_;
}

Task<Expected<BulkDeliveriesPlan>> BulkDeliveries::ask(Executor& executor, identity::Principal by,
                                                       DeliveriesChosen wanted,
                                                       DeliveryActions::BulkAction asked, bool dry_run) {
  std::ranges::sort(wanted.ids);
  wanted.ids.erase(std::ranges::unique(wanted.ids).begin(), wanted.ids.end());
  Chosen chosen{std::move(wanted.ids), wanted.filter.value_or(DeliveryFilter{}), std::move(asked.reason)};
  BulkDeliveriesPlan plan;
  Timestamp as_of;
  auto counted = co_await async_db_.read(executor, [&](Tx& tx) {
    plan = {};
    as_of = std::min(wanted.as_of.value_or(tx.now()), tx.now());
    std::vector<FoundDelivery> found;
    if (!chosen.ids.empty()) {
      found = find_named(tx, chosen.ids, by.account, by.integrations);
      plan.total = std::ssize(chosen.ids);
      if (const auto unknown = plan.total - std::ssize(found); unknown > 0)
        plan.excluded["NOT_FOUND"] = unknown;
    } else {
      limit(chosen.filter, by, as_of);
      const auto all =
          count_deliveries(tx, chosen.filter, [&](const FoundDelivery& d) { found.push_back(d); });
      plan.total = all.count;
      plan.total_is_exact = all.exact;
    }
    const auto meant = eligible(tx, asked.action, chosen.filter, found,
                                [&](std::string_view why) { ++plan.excluded[std::string(why)]; });
    plan.eligible = std::ssize(meant);
    if (dry_run && asked.action != MerchantAction::invalidate) plan.cost = count_credits_owed(tx, meant);
  });
  if (!counted) co_return std::unexpected(counted.error());
  if (dry_run) co_return plan;
  auto job = co_await jobs_.add(executor, std::move(by),
                                {.action = action_of(asked.action).name(),
                                 .filter = encode(chosen),
                                 .as_of = as_of,
                                 .total = plan.total,
                                 .total_is_exact = plan.total_is_exact,
                                 .eligible = plan.eligible,
                                 .excluded = excluded_json(plan.excluded)});
  if (!job) co_return std::unexpected(job.error());
  plan.job = std::move(*job);
  co_return plan;
}

std::string_view BulkDeliveries::Action::name() const {
  if (action_ == MerchantAction::approve) return "deliveries.approve";
  return action_ == MerchantAction::invalidate ? "deliveries.invalidate" : "deliveries.retry";
}

BulkAction::Found BulkDeliveries::Action::find(Tx& tx, const BulkJobRow& job, int limit) const {
  auto chosen = chosen_of(job);
  Found result;
  std::vector<FoundDelivery> found;
  if (!chosen.ids.empty()) {
    auto next = std::ranges::upper_bound(chosen.ids, DeliveryId{job.done_to});
    std::vector<DeliveryId> ids;
    for (; next != chosen.ids.end() && std::ssize(ids) < limit; ++next) ids.push_back(*next);
    if (next != chosen.ids.end()) result.next = ids.back().value;
    found = find_named(tx, ids, job.account, IntegrationScope::from_text(job.integration_ids));
  } else {
    chosen.filter.oldest_first = true;
    chosen.filter.page.limit = limit;
    if (job.done_to > 0) chosen.filter.page.before = job.done_to;
    const auto page = list_deliveries(tx, chosen.filter);
    result.next = page.next;
    for (const auto& row : page.rows)
      found.push_back({row.id, row.status, row.resolution, row.review_reasons.gravest()});
  }
  for (const auto id : eligible(tx, action_, chosen.filter, found, [](std::string_view) {}))
    result.ids.push_back(id.value);
  std::ranges::sort(result.ids);
  return result;
}

Task<Expected<BulkAction::Do>> BulkDeliveries::Action::prepare(Executor&, const BulkJobRow& job,
                                                               std::int64_t id) {
  const auto actor = domain::parse_actor(job.actor);
  if (!actor) co_return fail("INTERNAL_ERROR", "The job does not say who asked for it.");
  auto chosen = chosen_of(job);
  DeliveryActions::BulkAction asked{action_, std::move(chosen.reason), *actor};
  co_return Do([this, account = job.account, id = DeliveryId{id}, asked = std::move(asked),
                filter = std::move(chosen.filter)](Tx& tx) -> std::optional<Expected<void>> {
    deliveries_.act_in(tx, account, id, asked, [&](const DeliveryRow& row) {
      return is_still(filter, row) &&
             (asked.action != MerchantAction::approve || approves(filter, row.review_reasons.gravest()));
    });
    return Expected<void>{};
  });
}

}  // namespace presetbridge::services
