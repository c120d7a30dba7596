// The hot queries of orders: their lists, jobs on many of them, and erasures.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "storage/query_plans/hot_query_testing.h"
#include "storage/stores/bulk_store.h"
#include "storage/stores/customer_orders.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/delivery_customers.h"
#include "storage/stores/delivery_store.h"
#include "storage/stores/item_store.h"
#include "storage/stores/order_list.h"
#include "storage/stores/order_store.h"
#include "storage/stores/privacy_store.h"
#include "storage/stores/timeline_store.h"

namespace presetbridge::storage::testing {

inline std::vector<HotQuery> order_queries(const Known& k) {
  const OrderId order{k.delivery.value};  // a delivery has the id of its order
  const OrderShown all_shown = [](const ListedOrder&) { return true; };
  return {
      {"list_orders",
       {"orders_of_account", "orders_unmapped", "orders_without_delivery", "orders_by_number",
        "integrations_of_account", "orders_dedupe"},
       [=](Tx& tx) {
         list_orders(tx, {.account = k.account}, {}, all_shown);
         list_orders(tx, {.account = k.account, .unmapped = true}, {}, all_shown);
         list_orders(tx, {.account = k.account, .outcome = domain::OrderOutcome::stopped}, {}, all_shown);
         using Kind = OrderSearch::Kind;
         list_orders(tx, {.account = k.account, .search = {Kind::number, "#1001"}}, {}, all_shown);
         list_orders(tx, {.account = k.account, .search = {Kind::id, to_string(order)}}, {}, all_shown);
         read_search(tx, k.account, "1001");
         find_delivery_standings(tx, std::array{k.delivery});
         find_invalidated_by_merchant(tx, std::array{k.delivery});
         find_order_payload(tx, order);
         find_order_payload_time(tx, order);
         find_order_integration(tx, order);
       }},
      {"walk_orders",
       {"orders_of_account", "orders_unmapped", "orders_without_delivery"},
       [=](Tx& tx) {
         walk_orders(tx, {.account = k.account}, {}, tx.now(), 200, all_shown);
         walk_orders(tx, {.account = k.account, .unmapped = true}, {}, tx.now(), 200, all_shown);
         walk_orders(tx, {.account = k.account, .outcome = domain::OrderOutcome::stopped}, {}, tx.now(), 200,
                     all_shown);
       }},
      {"orders of before", {"orders_unlisted"}, [](Tx& tx) { list_orders_of_before(tx, 0, 50); }},
      {"jobs on many",
       {"bulk_jobs_under_way"},
       [=](Tx& tx) {
         next_bulk_job(tx, {});
         count_bulk_jobs_under_way(tx, k.account);
         delete_old_bulk_jobs(tx, tx.now(), 100);
       }},
      {"privacy requests of an account",
       {"privacy_requests_of_account", "privacy_requests_open"},
       [=](Tx& tx) {
         list_privacy_requests(tx, k.account, {});
         list_privacy_requests(tx, k.account, {}, true);
       }},
      {"orders that a data request names",
       {"orders_dedupe"},
       [=](Tx& tx) {
         const PrivacyRequestRow request{.id = PrivacyRequestId{1}, .integration = k.integration};
         const std::vector<std::string> names{"OLD-1000000000"};
         add_orders_named(tx, request.id, names);
         list_orders_named(tx, request, {});
       }},
      {"an erasure",
       {"orders_dedupe", "deliveries_open", "deliveries_failed_of_customer", "delivery_items_of_customer"},
       [=](Tx& tx) {
         known_orders(tx, std::array{OrderKey{k.integration, "OLD-1000000000"}});
         find_order_keys_after(tx, k.integration, "", 200);
         find_order_names(tx, std::array{order});
         lock_orders_by_key(tx, std::array{OrderKey{k.integration, "OLD-1000000000"}});
         customers_of(tx, std::array{k.delivery});
         lock_deliveries(tx, std::array{k.delivery});
         blank_item_usernames(tx, std::array{k.delivery});
         blank_timelines(tx, std::array{k.delivery});
         blank_usernames(tx, std::array{k.customer});
       }},
      {"a shop's erasure", {"privacy_requests_to_do"}, [](Tx& tx) { lock_shop_redaction(tx, {}); }},
      {"a customer's orders",
       {"orders_of_account"},
       [=](Tx& tx) {
         walk_customer_orders(tx, k.account, {.email = "a@x.example", .username = "a"}, {}, tx.now(), 100);
       }},
  };
}

}  // namespace presetbridge::storage::testing
