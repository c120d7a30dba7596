// The hot queries of deliveries: their lists, keys, items and timelines.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "storage/query_plans/hot_query_testing.h"
#include "storage/stores/census_store.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/delivery_customers.h"
#include "storage/stores/delivery_keys.h"
#include "storage/stores/delivery_search.h"
#include "storage/stores/delivery_store.h"
#include "storage/stores/delivery_work.h"
#include "storage/stores/event_store.h"
#include "storage/stores/item_store.h"
#include "storage/stores/order_store.h"
#include "storage/stores/timeline_store.h"
#include "storage/stores/timeline_summary.h"

namespace presetbridge::storage::testing {

inline std::vector<HotQuery> delivery_queries(const Known& k) {
  const auto failed_for = domain::ResolutionCode::insufficient_credits;
  return {
      {"lock_order_by_key",
       {"orders_dedupe"},
       [=](Tx& tx) {
         lock_order_by_key(tx, k.integration, "OLD-1000000000");
         hold_orders(tx, std::array{OrderKey{k.integration, "OLD-1000000000"}});
       }},
      {"lock_open_deliveries", {"deliveries_open"}, [=](Tx& tx) { lock_open_deliveries(tx, k.customer); }},
      {"lock_open_deliveries, of many",
       {"deliveries_open"},
       [=](Tx& tx) { lock_open_deliveries(tx, std::array{k.customer}, 500); }},
      {"lock_failed_of_customer",
       {"deliveries_failed_of_customer"},
       [=](Tx& tx) { lock_failed_of_customer(tx, k.customer); }},
      {"lock_unanswered_of_customer",
       {"deliveries_failed_of_customer"},
       [=](Tx& tx) { lock_unanswered_of_customer(tx, k.customer, Timestamp{}, Timestamp{}, 500); }},
      {"find_failed_deliveries",
       {"deliveries_failed"},
       [=](Tx& tx) { find_failed_deliveries(tx, k.account, failed_for, {}, 200); }},
      {"count_unpaid_items",
       {"deliveries_open_of_account"},
       [=](Tx& tx) { count_unpaid_items(tx, k.account, 1'000); }},
      {"next_with_unpaid", {"deliveries_unpaid"}, [=](Tx& tx) { next_with_unpaid(tx, {}); }},
      {"find_deliveries_after",
       {"deliveries_of_account"},
       [=](Tx& tx) { find_deliveries_after(tx, k.account, {}, 200); }},
      {"count_deliveries",
       {"deliveries_under_way", "deliveries_in_review"},
       [](Tx& tx) { count_deliveries(tx); }},
      {"find_dry_runs",
       {"deliveries_dry_run_of_account"},
       [=](Tx& tx) { find_dry_runs(tx, k.account, 100); }},
      {"next_with_dry_runs",
       {"deliveries_dry_run_of_account"},
       [=](Tx& tx) { next_with_dry_runs(tx, k.account); }},
      {"find_items_of_customers",
       {"delivery_items_of_customer"},
       [=](Tx& tx) { find_items_of_customers(tx, std::array{k.customer}); }},
      {"a delivery and what belongs to it",
       {},
       [=](Tx& tx) {
         hold_customers_of(tx, std::array{k.delivery}, std::array{Buyer{k.cloud, "old-1000000000", {}}});
         hold_deliveries(tx, std::array{k.delivery});
         auto row = lock_delivery(tx, k.delivery).value();
         update_delivery(tx, row);
         for (const auto& item : find_items(tx, k.delivery)) update_items(tx, std::array{&item});
         find_timeline(tx, k.delivery, 100);
         find_first_times(tx, k.delivery);
         lock_order(tx, OrderId{k.delivery.value});
       }},
      {"list_deliveries",
       {"deliveries_of_account"},
       [=](Tx& tx) {
         list_deliveries(tx, {.account = k.account});
         list_deliveries(tx, {.account = k.account, .oldest_first = true});
         count_deliveries(tx, {.account = k.account});
       }},
      {"list_deliveries, by status",
       {"deliveries_by_status", "integrations_of_account"},
       [=](Tx& tx) {
         list_deliveries(tx, {.account = k.account, .statuses = {domain::DeliveryStatus::queued}});
         list_deliveries(
             tx, {.account = k.account, .statuses = {domain::DeliveryStatus::queued}, .oldest_first = true});
       }},
      {"list_deliveries, of a store",
       {"deliveries_by_status"},
       [=](Tx& tx) { list_deliveries(tx, {.account = k.account, .integrations = {{k.integration}}}); }},
      {"list_deliveries, failed",
       {"deliveries_failed"},
       [=](Tx& tx) {
         list_deliveries(tx, {.account = k.account, .codes = {failed_for}});
         list_deliveries(tx, {.account = k.account, .codes = {failed_for}, .oldest_first = true});
       }},
      {"list_deliveries, refunded",
       {"deliveries_refunded"},
       [=](Tx& tx) { list_deliveries(tx, {.account = k.account, .refunded = true}); }},
      {"list_deliveries, dry runs",
       {"deliveries_dry_runs"},
       [=](Tx& tx) { list_deliveries(tx, {.account = k.account, .dry_run = true}); }},
      {"list_deliveries, of a file",
       {},
       [=](Tx& tx) {
         list_deliveries(tx, {.account = k.account, .file_id = "file-1"});
         count_deliveries_with(tx, k.account, std::array{std::string("file-1"), std::string("file-2")},
                               1'000);
       }},
      {"list_deliveries, of an order",
       {"integrations_of_account", "orders_dedupe"},
       [=](Tx& tx) { list_deliveries(tx, {.account = k.account, .order_key = "OLD-1000000000"}); }},
      {"list_deliveries, searched",
       {"integrations_of_account", "orders_dedupe"},
       [=](Tx& tx) { list_deliveries(tx, {.account = k.account, .search = "OLD-1000000000"}); }},
      {"the keys of deliveries",
       {},
       [=](Tx& tx) {
         replace_delivery_key(tx, k.account, k.delivery, KeyOf::username, "a", "b");
         fill_delivery_keys(tx, 100);
       }},
      {"what a list tells of deliveries",
       {"customers_queued"},
       [=](Tx& tx) {
         summarise_items(tx, std::array{k.delivery});
         count_credits_owed(tx, std::array{k.delivery});
         queue_positions(tx, std::array{k.customer});
       }},
      {"what the store was told of a delivery",
       {"outbound_events_of_delivery", "webhook_sends_of_event"},
       [=](Tx& tx) { find_events_of_delivery(tx, k.delivery, 100); }},
      {"timelines to sum up",
       {"timeline_revisits_due"},
       [](Tx& tx) {
         collapse_timelines(tx, tx.now(), Millis{1}, 100);
         collapse_revisited(tx, tx.now(), Millis{1}, 100);
       }},
  };
}

}  // namespace presetbridge::storage::testing
