#include "services/intake/reception.h"

#include <utility>

#include "providers/profile.h"
#include "services/accounts/api_keys.h"
#include "services/intake/payload.h"

namespace presetbridge::services {
namespace {

std::string_view kind_of(const Accepted& accepted) {
  if (accepted.duplicate) return "duplicate";
  return accepted.delivery ? "delivery" : "ignored";
}

}  // namespace

Task<Expected<Reception::Copy>> Reception::verify(Executor& executor, const PostedOrder& posted, Copy copy) {
  const auto verified_with = [&](const Copy& one) {
    return providers::verify(posted.profile, posted.headers, posted.body, one->secrets(ports_.clock.now()));
  };
  const auto verified = verified_with(copy);
  if (verified) co_return copy;
  // Another node may have changed the secret a moment ago.
  auto newer =
      co_await ports_.integrations.find(executor, posted.integration, IntegrationDirectory::kDoubted);
  if (!newer) co_return std::unexpected(newer.error());
  if (*newer && *newer != copy && verified_with(*newer)) co_return *newer;
  ports_.metrics.count("presetbridge_webhooks_refused_total", {{"reason", "signature"}});
  co_return std::unexpected(verified.error());
}

Task<Expected<ApiKeyId>> Reception::check_key(Executor& executor, const PostedOrder& posted, Copy store) {
  if (posted.trial) co_return ApiKeyId{};
  const auto sent = posted.headers("x-api-key");
  if (sent.empty()) {
    if (store->require_api_key)
      co_return fail("UNAUTHORIZED", "This integration asks for an API key in the X-API-Key header.");
    co_return store->owning_key;
  }
  auto principal = co_await ports_.async_db.read(
      executor, [key = std::string(sent.front())](storage::Tx& tx) { return ApiKeys::check(tx, key); });
  if (!principal) co_return std::unexpected(principal.error());
  if (principal->account != store->account || !principal->sees(store->id))
    co_return fail("FORBIDDEN", "The API key is not for this integration.");
  co_return *principal->key;
}

Task<Expected<Reception::Copy>> Reception::find_store(Executor& executor, const PostedOrder& posted) {
  auto found = co_await ports_.integrations.find(executor, posted.integration);
  if (!found) co_return std::unexpected(found.error());
  if (!*found || (*found)->provider != posted.profile.provider)
    co_return fail("INTEGRATION_NOT_FOUND", std::string(kNoSuchIntegration));
  co_return std::move(*found);
}

Task<Expected<std::optional<Reception::Ready>>> Reception::read(Executor& executor, const PostedOrder& posted,
                                                                Copy copy) {
  if (posted.body_error) co_return std::unexpected(*posted.body_error);
  if (providers::is_unsigned_ping(posted.profile, posted.body)) co_return std::nullopt;

  auto store = co_await verify(executor, posted, std::move(copy));
  if (!store) co_return std::unexpected(store.error());
  const auto key = co_await check_key(executor, posted, *store);
  if (!key) co_return std::unexpected(key.error());

  const auto topic = providers::first_header(posted.profile.topic_headers, posted.headers);
  auto event = providers::parse(
      posted.profile, {.body = posted.body,
                       .topic = topic,
                       .test = providers::first_header(posted.profile.test_headers, posted.headers) == "true",
                       .username_fields = (*store)->username_fields,
                       .limits = limits_});
  if (!event) {
    ports_.metrics.count("presetbridge_webhooks_refused_total", {{"reason", "payload"}});
    co_return std::unexpected(event.error());
  }
  event->received_at = ports_.clock.now();
  if (posted.trial) event->sample = event->test = true;
  auto payload = compress_payload(posted.body);
  if (!payload) co_return std::unexpected(payload.error());
  std::optional<SeenEvent> counted;
  if (!posted.trial && ports_.tally != nullptr)
    counted = seen(*event, {topic, providers::store_origin(posted.profile, posted.headers)});
  co_return Ready{{std::move(*store), std::move(*event), std::move(*payload), *key}, std::move(counted)};
}

Task<Expected<std::optional<Accepted>>> Reception::take(Executor& executor, Make make) {
  for (int reads = 0; reads < kMaxStoreReads; ++reads) {
    auto ready = co_await make();
    if (!ready) co_return std::unexpected(ready.error());
    if (!*ready) co_return std::nullopt;
    auto& [order, counted] = **ready;
    const auto store = order.integration;
    auto accepted = co_await ports_.intake.accept(executor, std::move(order));
    if (!accepted) co_return std::unexpected(accepted.error());
    if (accepted->stale_integration) {
      ports_.integrations.forget(store->id);
      continue;
    }
    ports_.metrics.count("presetbridge_orders_accepted_total", {{"kind", kind_of(*accepted)}});
    if (counted) ports_.tally->accepted(store, *counted, *accepted);
    co_return std::move(*accepted);
  }
  co_return fail("OVERLOADED", "The integration is being changed; send the order again.");
}

Task<Expected<std::optional<Accepted>>> Reception::receive(Executor& executor, PostedOrder posted) {
  bool found = false;
  auto accepted = co_await take(executor, [&]() -> Task<Expected<std::optional<Ready>>> {
    auto store = co_await find_store(executor, posted);
    if (!store) co_return std::unexpected(store.error());
    found = true;
    co_return co_await read(executor, posted, std::move(*store));
  });
  if (!accepted && found && !posted.trial && ports_.tally != nullptr)
    ports_.tally->refused(posted.integration, accepted.error().code);
  co_return accepted;
}

Task<Expected<Accepted>> Reception::place(Executor& executor, DirectOrder order) {
  const auto payload = compress_payload(order.body);
  if (!payload) co_return std::unexpected(payload.error());
  order.event.received_at = ports_.clock.now();
  auto accepted = co_await take(executor, [&]() -> Task<Expected<std::optional<Ready>>> {
    auto store = co_await ports_.integrations.find(executor, order.integration);
    if (!store) co_return std::unexpected(store.error());
    if (!*store || (*store)->account != order.by.account || !order.by.sees(order.integration))
      co_return fail("NOT_FOUND", "There is no such integration.");
    if ((*store)->provider != domain::Provider::generic)
      co_return fail("VALIDATION_FAILED", "The integration is not of provider generic.",
                     {{"integrationId", "is not of provider generic"}});
    const auto key = order.by.key.value_or((*store)->owning_key);
    std::optional<SeenEvent> counted;
    if (ports_.tally != nullptr) counted = seen(order.event, {});
    if (counted) counted->direct = true;
    co_return Ready{{.integration = std::move(*store),
                     .event = order.event,
                     .payload = *payload,
                     .key = key,
                     .asked_by = order.by.actor()},
                    std::move(counted)};
  });
  if (!accepted) co_return std::unexpected(accepted.error());
  co_return std::move(**accepted);
}

}  // namespace presetbridge::services
