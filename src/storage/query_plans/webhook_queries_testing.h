// The hot queries of outbound webhooks: subscriptions, dispatches, attempts and their retention.
#pragma once

#include <gmock/gmock.h>

#include <array>
#include <vector>

#include "storage/query_plans/hot_query_testing.h"
#include "storage/stores/census_store.h"
#include "storage/stores/dispatch_store.h"
#include "storage/stores/event_store.h"
#include "storage/stores/retention.h"
#include "storage/stores/subscription_store.h"
#include "storage/stores/webhook_event_store.h"

namespace presetbridge::storage::testing {

inline std::vector<HotQuery> webhook_queries(const Known& k) {
  return {
      {"count_pending_sends",
       {"webhook_subscriptions_ready", "webhook_sends_pending"},
       [](Tx& tx) { count_pending_dispatches(tx); }},
      {"active_subscriptions",
       {"webhook_subscriptions_of_account"},
       [=](Tx& tx) { active_subscriptions(tx, std::array{k.account}); }},
      {"lease_sends",
       {"webhook_subscriptions_ready", "webhook_sends_pending", "webhook_sends_leased"},
       [](Tx& tx) {
         const auto leases = lease_dispatches(tx, lock_ready_subscriptions(tx, {}), {});
         std::vector<DispatchResult> results;
         for (const auto& dispatch : leases.dispatches) {
           results.push_back({.subscription = leases.targets.at(dispatch.target).id,
                              .dispatch = dispatch.id,
                              .fence = dispatch.fence,
                              .attempt_id = dispatch.id,
                              .attempts = 1});
         }
         EXPECT_THAT(results, ::testing::Not(::testing::IsEmpty()));
         record_results(tx, results);
       }},
      {"take_over_expired_sends",
       {"webhook_sends_leased"},
       [=](Tx& tx) {
         any_dispatch_expired(tx, {});
         take_over_expired_dispatches(tx, {}, 100);
         wake_subscriptions(tx, std::array{k.subscription});
       }},
      {"list_attempts", {}, [=](Tx& tx) { list_attempts(tx, k.subscription, {}); }},
      {"find_subscription_health", {}, [=](Tx& tx) { find_subscription_health(tx, k.subscription); }},
      {"what was sent to a subscription",
       {"webhook_sends_of_subscription", "webhook_attempts_of_send"},
       [=](Tx& tx) {
         list_sent_events(tx, k.subscription, {}, {});
         find_sent_event(tx, k.subscription, EventId{1});
         attempts_of_dispatch(tx, 1);
       }},
      {"what failed or waits",
       {"webhook_sends_failed", "webhook_sends_pending", "webhook_sends_leased"},
       [=](Tx& tx) {
         list_sent_events(tx, k.subscription, {.status = SentStatus::waiting}, {});
         list_sent_events(tx, k.subscription, {.status = SentStatus::exhausted}, {});
         count_failed_dispatches(tx, k.subscription, {}, tx.now(), 100);
       }},
      {"a delivery's events",
       {"outbound_events_of_delivery"},
       [=](Tx& tx) {
         list_sent_events(tx, k.subscription, {.delivery = k.delivery}, {});
         blank_events(tx, std::array{k.delivery});
       }},
      {"an event of an earlier program",
       {"outbound_events_of_before"},
       [](Tx& tx) { find_event_of_before(tx, "0b7c9a52-6d0e-4c0e-9a53-5f2d6f0f3a11"); }},
      {"a recovery",
       {"webhook_sends_failed"},
       [=](Tx& tx) {
         begin_recovery(tx, k.subscription, {}, tx.now());
         any_recovery(tx);
         recover_failed_dispatches(tx, {}, 100);
       }},
      {"subscriptions in trouble",
       {"webhook_subscriptions_failing"},
       [](Tx& tx) { find_subscriptions_in_trouble(tx, {.now = tx.now()}, 100); }},
      {"sends of deleted subscriptions",
       {"webhook_sends_pending"},
       [=](Tx& tx) {
         delete_dispatches_of_nobody(tx, 0, 100);
         delete_pending_dispatches(tx, k.subscription, 100);
       }},
      {"retention",
       {},
       [](Tx& tx) {
         delete_old_payloads(tx, 0, tx.now(), 100);
         delete_old_dispatches(tx, 0, tx.now(), 100);
         delete_old_events(tx, 0, tx.now(), 100);
         delete_old_attempts(tx, 0, tx.now(), 100);
       }},
  };
}

}  // namespace presetbridge::storage::testing
