#include "services/webhooks/subscriptions.h"

#include <fmt/format.h>
#include <array>

#include <algorithm>
#include <boost/json.hpp>

#include "crypto/webhook_signature.h"
#include "domain/delivery.h"
#include "identity/audit.h"
#include "net/address_guard.h"
#include "services/accounts/account_lock.h"
#include "services/webhooks/event_uuid.h"
#include "services/webhooks/secret_rotation.h"
#include "storage/stores/credential_store.h"
#include "storage/stores/dispatch_store.h"
#include "storage/stores/event_store.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/webhook_event_store.h"

namespace presetbridge::services {
namespace {

using identity::Principal;
using storage::SubscriptionRow;
using storage::Tx;

crypto::ValuePlace place_of(SubscriptionId id) {
  return {"webhook_subscriptions.secret", id.value};
}

std::unexpected<Error> no_such_subscription() {
  return fail("NOT_FOUND", "There is no such subscription.");
}
Error invalid(std::vector<FieldProblem> problems) {
  return {"VALIDATION_FAILED", "The request has fields that are not valid.", std::move(problems)};
}

bool inside_scope(const Principal& by, const std::vector<IntegrationId>& integrations) {
  return by.integrations.all() ||
         (!integrations.empty() &&
          std::ranges::all_of(integrations, [&](IntegrationId id) { return by.sees(id); }));
}

SubscriptionView view(Tx& tx, SubscriptionRow row) {
  auto health = find_subscription_health(tx, row.id);
  return {std::move(row), std::move(health)};
}

void check_event_types(std::vector<FieldProblem>& problems, const std::vector<std::string>& types) {
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto type = domain::parse_event_type(types[i]);
    if (!type || *type == domain::EventType::webhook_test) {
      problems.push_back({fmt::format("eventTypes[{}]", i), "is not an event that can be subscribed to"});
    }
  }
}

void check_integrations(Tx& tx, std::vector<FieldProblem>& problems, const Principal& by,
                        const std::vector<IntegrationId>& integrations) {
  for (std::size_t i = 0; i < integrations.size(); ++i) {
    const auto row = find_integration(tx, integrations[i]);
    if (!row || row->account != by.account || !by.sees(row->id)) {
      problems.push_back({fmt::format("integrationIds[{}]", i),
                          "is not the id of one of your stores (GET /api/integrations)"});
    }
  }
}

// The caller's own scope where none was asked for.
std::vector<IntegrationId> scope_of(const Principal& by, std::vector<IntegrationId> wanted) {
  return wanted.empty() ? by.integrations.ids() : wanted;
}

// Whether `after` lacks stores that `before` has.
bool narrows(const std::vector<IntegrationId>& before, const std::vector<IntegrationId>& after) {
  if (before.empty() || after.empty()) return before.empty() && !after.empty();
  return std::ranges::any_of(before,
                             [&](IntegrationId id) { return std::ranges::find(after, id) == after.end(); });
}

using identity::ChangedField;

void audit(Tx& tx, IdSource& ids, const Principal& by, std::string_view action, SubscriptionId id,
           std::string_view detail = "", std::vector<ChangedField> changes = {}) {
  identity::audit(tx, ids, by, {action, to_string(id), std::string(detail), std::move(changes)});
}

// Its path and query may hold secrets of the receiver's.
std::string origin_of(std::string_view url) {
  const auto host = url.find("://");
  const auto end = host == std::string_view::npos ? host : url.find_first_of("/?#", host + 3);
  return std::string(url.substr(0, end));
}

std::vector<ChangedField> changes_between(const SubscriptionRow& from, const SubscriptionRow& to) {
  const auto active = [](bool flag) { return std::string(flag ? "true" : "false"); };
  const auto names = [](const std::vector<std::string>& all) {
    return all.empty() ? std::string("all") : fmt::format("{}", fmt::join(all, ", "));
  };
  const auto ids = [&](const std::vector<IntegrationId>& all) {
    std::vector<std::string> texts;
    for (const auto id : all) texts.push_back(to_string(id));
    return names(texts);
  };
  return {{"name", from.name, to.name},
          {"url", origin_of(from.url), origin_of(to.url)},
          {"active", active(from.active), active(to.active)},
          {"eventTypes", names(from.event_types), names(to.event_types)},
          {"integrationIds", ids(from.integrations), ids(to.integrations)}};
}

}  // namespace

std::optional<SubscriptionRow> visible_subscription(const Principal& by, std::optional<SubscriptionRow> row) {
  if (!row || row->account != by.account || !inside_scope(by, row->integrations)) return std::nullopt;
  return row;
}

bool reaches_beyond(const Principal& by, const SubscriptionRow& row) {
  return !by.integrations.all() && row.narrowed_at;
}

std::unexpected<Error> of_other_stores() {
  return fail(
      "FORBIDDEN",
      "The subscription had other stores before, whose events may still be sent. A person, or a key of all "
      "stores, has to do this; or make another subscription.");
}

std::vector<FieldProblem> Subscriptions::problems_of_url(const std::string& url) const {
  const bool sandbox = policy_ == net::AddressPolicy::sandbox_receivers;
  const auto checked = net::check_url(url, policy_);
  // By plain HTTP to this machine alone. A name could lead anywhere, so the attempts would fail: better
  // refused now.
  if (checked && (checked->https || checked->literal || checked->host == "localhost")) return {};
  return {{"url", fmt::format("must be an https URL of a host on the public internet{}; {}",
                              sandbox ? ", or a URL of this machine" : "",
                              checked ? "the URL's scheme is http, and its host is not this machine"
                                      : checked.error().message)}};
}

Task<Expected<IssuedSubscription>> Subscriptions::create(Executor& executor, Principal by,
                                                         NewSubscription wanted) {
  auto problems = problems_of_url(wanted.url);
  check_event_types(problems, wanted.event_types);
  if (wanted.secret && !crypto::is_webhook_secret(*wanted.secret)) {
    problems.push_back({"secret", "must be whsec_ and the base64 of 24 to 64 bytes"});
  }
  const auto secret = wanted.secret ? *wanted.secret : crypto::generate_webhook_secret(random_);
  auto made = co_await async_db_.write(executor, [&](Tx& tx) {
    auto all_problems = problems;
    check_integrations(tx, all_problems, by, wanted.integrations);
    if (!all_problems.empty()) throw invalid(std::move(all_problems));
    lock_account_of(tx, by);
    if (count_subscriptions(tx, by.account) >= max_subscriptions) {
      throw Error{
          "LIMIT_REACHED",
          fmt::format("An account has at most {} subscriptions; delete one first.", max_subscriptions),
          {}};
    }
    SubscriptionRow row;
    row.id = ids_.make<SubscriptionId>();
    row.account = by.account;
    row.name = wanted.name;
    row.url = wanted.url;
    row.encrypted_secret = cipher_.encrypt(place_of(row.id), secret);
    row.event_types = wanted.event_types;
    row.integrations = scope_of(by, wanted.integrations);
    row.created_at = tx.now();
    insert_subscription(tx, row);
    audit(tx, ids_, by, "subscription.created", row.id);
    return view(tx, std::move(row));
  });
  if (!made) co_return std::unexpected(made.error());
  co_return IssuedSubscription{std::move(*made), secret};
}

Task<Expected<storage::Page<SubscriptionView>>> Subscriptions::list(Executor& executor, Principal by,
                                                                    storage::PageRequest page) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) {
    // An account has at most max_subscriptions: read on until the page is full.
    std::vector<SubscriptionView> rows;
    std::int64_t before = page.before;
    bool more = true;
    while (more && static_cast<int>(rows.size()) < page.fetch()) {
      auto batch = list_subscriptions(tx, by.account, before, page.fetch());
      more = static_cast<int>(batch.size()) == page.fetch();
      for (auto& row : batch) {
        before = row.id.value;
        if (inside_scope(by, row.integrations) && static_cast<int>(rows.size()) < page.fetch())
          rows.push_back(view(tx, std::move(row)));
      }
    }
    return make_page(std::move(rows), page, [](const SubscriptionView& v) { return v.row.id.value; });
  });
}

Task<Expected<SubscriptionView>> Subscriptions::get(Executor& executor, Principal by, SubscriptionId id) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) -> Expected<SubscriptionView> {
    auto row = visible_subscription(by, find_subscription(tx, id));
    if (!row) return no_such_subscription();
    return view(tx, std::move(*row));
  });
}

Task<Expected<SubscriptionView>> Subscriptions::change(Executor& executor, Principal by, SubscriptionId id,
                                                       SubscriptionChange change) {
  auto problems = change.url ? problems_of_url(*change.url) : std::vector<FieldProblem>{};
  if (change.event_types) check_event_types(problems, *change.event_types);
  auto changed = co_await async_db_.write(executor, [&](Tx& tx) -> Expected<SubscriptionView> {
    auto row = visible_subscription(by, lock_subscription(tx, id));
    if (!row) return no_such_subscription();
    auto all_problems = problems;
    if (change.integrations) check_integrations(tx, all_problems, by, *change.integrations);
    if (!all_problems.empty()) throw invalid(std::move(all_problems));
    const auto before = *row;
    if (change.url && *change.url != row->url && reaches_beyond(by, *row)) return of_other_stores();
    if (change.name) row->name = *change.name;
    if (change.url) row->url = *change.url;
    if (change.event_types) row->event_types = *change.event_types;
    if (change.integrations) row->integrations = scope_of(by, *change.integrations);
    if (narrows(before.integrations, row->integrations)) row->narrowed_at = tx.now();
    auto action = "subscription.changed";
    if (change.active && *change.active != row->active) {
      row->active = *change.active;
      row->deactivated_reason = row->active ? "" : "deactivated";
      action = row->active ? "subscription.reactivated" : "subscription.deactivated";
    }
    if (*row == before) return view(tx, std::move(*row));
    update_subscription(tx, *row);
    // Another address, or another chance.
    if (row->failing_since && (row->url != before.url || (row->active && !before.active)))
      forget_failures(tx, *row);
    // Events that waited while it was inactive are due.
    if (row->active) storage::refresh_readiness(tx, id);
    audit(tx, ids_, by, action, id, row->url == before.url ? "" : "another address",
          changes_between(before, *row));
    return view(tx, std::move(*row));
  });
  if (changed) changed_();
  co_return changed;
}

Task<Expected<void>> Subscriptions::remove(Executor& executor, Principal by, SubscriptionId id) {
  co_return co_await async_db_.write(executor, [&](Tx& tx) -> Expected<void> {
    if (!visible_subscription(by, lock_subscription(tx, id))) return no_such_subscription();
    delete_subscription(tx, id);
    tx.changes().push_back(storage::changed(storage::ChangeKind::subscription, by.account, id));
    audit(tx, ids_, by, "subscription.deleted", id);
    return {};
  });
}

Task<Expected<IssuedSubscription>> Subscriptions::rotate_secret(Executor& executor, Principal by,
                                                                SubscriptionId id,
                                                                std::optional<std::string> wanted,
                                                                Millis overlap) {
  if (wanted && !crypto::is_webhook_secret(*wanted)) {
    co_return std::unexpected(invalid({{"secret", "must be whsec_ and the base64 of 24 to 64 bytes"}}));
  }
  const auto secret = wanted ? *wanted : crypto::generate_webhook_secret(random_);
  overlap = std::clamp(overlap, Millis{0}, max_overlap);
  auto rotated = co_await async_db_.write(executor, [&](Tx& tx) -> Expected<SubscriptionView> {
    auto row = visible_subscription(by, lock_subscription(tx, id));
    if (!row) return no_such_subscription();
    if (wanted && overlap > Millis{0} && has_secret(*row, cipher_, place_of(id), secret))
      return view(tx, std::move(*row));
    services::rotate_secret(*row, cipher_.encrypt(place_of(id), secret), overlap, tx.now());
    update_subscription(tx, *row);
    audit(tx, ids_, by, "subscription.secret_rotated", id,
          fmt::format("overlap of {} s", overlap.count() / 1000));
    return view(tx, std::move(*row));
  });
  if (!rotated) co_return std::unexpected(rotated.error());
  co_return IssuedSubscription{std::move(*rotated), secret};
}

Task<Expected<std::string>> Subscriptions::test(Executor& executor, Principal by, SubscriptionId id) {
  const auto event = ids_.make<EventId>();
  const auto uuid = event_uuid(event, random_);
  auto queued = co_await async_db_.write(executor, [&](Tx& tx) -> Expected<std::string> {
    const auto row = visible_subscription(by, lock_subscription(tx, id));
    if (!row) return no_such_subscription();
    if (!row->active) return fail("CONFLICT", "The subscription is not active. Activate it first.");
    const auto type = domain::to_string(domain::EventType::webhook_test);
    const boost::json::object body{
        {"id", uuid}, {"type", type}, {"createdAt", to_iso8601(tx.now())}, {"subscriptionId", to_string(id)}};
    insert_events(tx, std::array{storage::EventRow{.id = event,
                                                   .account = by.account,
                                                   .type = std::string(type),
                                                   .uuid = uuid,
                                                   .body = boost::json::serialize(body),
                                                   .created_at = tx.now()}});
    insert_dispatches(tx, std::array{storage::DispatchRow{ids_.next(), id, event, tx.now()}});
    audit(tx, ids_, by, "subscription.tested", id);
    return uuid;
  });
  if (queued) changed_();
  co_return queued;
}

Task<Expected<storage::Page<storage::AttemptRow>>> Subscriptions::attempts(Executor& executor, Principal by,
                                                                           SubscriptionId id,
                                                                           storage::PageRequest page) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) -> Expected<storage::Page<storage::AttemptRow>> {
    if (!visible_subscription(by, find_subscription(tx, id))) return no_such_subscription();
    auto attempts = list_attempts(tx, id, page);
    if (by.integrations.all()) return attempts;
    // The subscription may have had a wider scope than the key's (spec 6.2).
    std::erase_if(attempts.rows, [&](const storage::AttemptRow& row) {
      const auto event = event_of(row.event_uuid);
      if (!event) return true;
      storage::SentEventRow sent{.event = *event, .type = row.event_type, .delivery = row.delivery};
      return !is_of(tx, sent, by.integrations.ids());
    });
    return attempts;
  });
}

}  // namespace presetbridge::services
