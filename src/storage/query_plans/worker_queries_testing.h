// The hot queries of the worker: due customers, leases, sweeps and probes.
#pragma once

#include <array>
#include <vector>

#include "storage/query_plans/hot_query_testing.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/credential_store.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/delivery_customers.h"
#include "storage/stores/delivery_work.h"
#include "storage/stores/worker_call_store.h"

namespace presetbridge::storage::testing {

inline std::vector<HotQuery> worker_queries(const Known& k) {
  const auto share = domain::JobClass::share;
  return {
      {"lock_due_customers",
       {"customers_queued"},
       [=](Tx& tx) { lock_due_customers(tx, std::array{k.cloud}, tx.now(), 8); }},
      {"lock_due_of_classes",
       {"customers_queued"},
       [=](Tx& tx) { lock_due_of_classes(tx, std::array{ClassOfAccount{k.cloud, share}}, tx.now()); }},
      {"next_due", {"customers_queued"}, [=](Tx& tx) { next_due(tx, std::array{k.cloud}); }},
      {"count_queued_deliveries",
       {"customers_queued", "deliveries_open"},
       [=](Tx& tx) { count_queued_deliveries(tx, k.cloud, 50); }},
      {"lock_queued_customers",
       {},
       [=](Tx& tx) { lock_queued_customers(tx, customers_of(tx, k.cloud, std::array{k.delivery})); }},
      {"any_lease_expired",
       {"customers_leased", "cloud_accounts_sweeping"},
       [](Tx& tx) { any_lease_expired(tx, Timestamp{}, tx.now()); }},
      {"lock_expired_leases",
       {"customers_leased"},
       [](Tx& tx) { lock_expired_leases(tx, Timestamp{}, tx.now(), 100); }},
      {"find_waiting",
       {"deliveries_waiting"},
       [=](Tx& tx) {
         find_waiting(tx, k.cloud, tx.now(), 100);
         find_waiting_unknown(tx, k.cloud, 100);
       }},
      {"any_awaited",
       {"deliveries_waiting", "deliveries_waited"},
       [=](Tx& tx) { any_awaited(tx, k.cloud, {}); }},
      {"find_at_work", {}, [=](Tx& tx) { find_at_work(tx, std::array{k.delivery}); }},
      {"next_to_probe", {"deliveries_to_probe"}, [=](Tx& tx) { next_to_probe(tx, k.cloud, {}); }},
      {"find_customer_by_cloud_user",
       {"customers_by_cloud_user"},
       [=](Tx& tx) { find_customer_by_cloud_user(tx, k.cloud, "u-old-1000000000"); }},
      {"find_customers_by_cloud_user",
       {"customers_by_cloud_user"},
       [=](Tx& tx) {
         find_customers_by_cloud_user(tx, std::array{CloudUserKey{k.cloud, "u-old-1000000000"}});
         lock_customers(tx, std::array{k.customer});
       }},
      {"enqueue_buyers",
       {},
       [=](Tx& tx) {
         enqueue_buyers(tx, std::array{Buyer{k.cloud, "old-1000000000", CustomerId{1}}}, tx.now());
         enqueue_customer(tx, k.customer, share, tx.now());
         auto row = lock_customer(tx, k.customer).value();
         update_customer(tx, row);
       }},
      {"lock_ready_accounts",
       {"cloud_accounts_ready"},
       [](Tx& tx) { lock_ready_accounts(tx, {}, tx.now(), 100); }},
      {"next_ready", {"cloud_accounts_ready"}, [](Tx& tx) { next_ready(tx, {}); }},
      {"lock_expired_sweeps",
       {"cloud_accounts_sweeping"},
       [](Tx& tx) { lock_expired_sweeps(tx, tx.now(), 100); }},
      {"accounts_in_trouble", {}, [=](Tx& tx) { accounts_in_trouble(tx, std::array{k.cloud}); }},
      {"find_due_probes",
       {"cloud_accounts_to_probe"},
       [=](Tx& tx) {
         ensure_probe(tx, k.cloud, tx.now());
         find_due_probes(tx, tx.now(), 100);
         postpone_probe(tx, k.cloud);
       }},
      {"the service's rolling window",
       {},
       [](Tx& tx) {
         lock_service_window(tx, "jobs");
         put_service_window(tx, "jobs", {});
       }},
      {"any_forgotten_account", {"customers_queued"}, [](Tx& tx) { any_forgotten_account(tx); }},
      {"wake_forgotten_accounts", {"customers_queued"}, [](Tx& tx) { wake_forgotten_accounts(tx); }},
      {"any_queued_delivery",
       {"customers_queued", "deliveries_open"},
       [=](Tx& tx) { any_queued_delivery(tx, k.cloud); }},
      {"accounts_of_cloud_account",
       {"accounts_of_cloud_account"},
       [=](Tx& tx) { accounts_of_cloud_account(tx, k.cloud); }},
      {"any_credentials_to_check",
       {"credentials_to_check"},
       [](Tx& tx) { any_credentials_to_check(tx, tx.now()); }},
      {"take_credentials_to_check",
       {"credentials_to_check"},
       [](Tx& tx) { take_credentials_to_check(tx, tx.now(), tx.now(), 100); }},
      {"take_worker_calls",
       {"worker_calls_waiting"},
       [](Tx& tx) {
         any_worker_calls(tx, tx.now());
         take_worker_calls(tx, tx.now(), 10);
       }},
  };
}

}  // namespace presetbridge::storage::testing
