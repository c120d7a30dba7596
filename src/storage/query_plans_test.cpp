// Tests how each engine finds the rows of the hot queries, in tables full of finished work: by an index with a
// condition for these rows, or by a partial index that holds nothing but work to do. The statements are those that
// the stores run, explained on their way to the driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "storage/postgres/bulk_statement.h"
#include "storage/schema/migrations.h"
#include "storage/sql_text.h"
#include "storage/stores/account_deletion.h"
#include "storage/stores/account_store.h"
#include "storage/stores/activity_store.h"
#include "storage/stores/api_key_store.h"
#include "storage/stores/audit_store.h"
#include "storage/stores/bulk_store.h"
#include "storage/stores/census_store.h"
#include "storage/stores/change_store.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/credential_store.h"
#include "storage/stores/credit_store.h"
#include "storage/stores/customer_orders.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/delivery_customers.h"
#include "storage/stores/delivery_keys.h"
#include "storage/stores/delivery_search.h"
#include "storage/stores/delivery_store.h"
#include "storage/stores/delivery_work.h"
#include "storage/stores/event_store.h"
#include "storage/stores/identity_store.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/item_store.h"
#include "storage/stores/order_list.h"
#include "storage/stores/order_store.h"
#include "storage/stores/overview_store.h"
#include "storage/stores/people_store.h"
#include "storage/stores/privacy_store.h"
#include "storage/stores/product_store.h"
#include "storage/stores/purchase_store.h"
#include "storage/stores/retention.h"
#include "storage/stores/send_store.h"
#include "storage/stores/session_store.h"
#include "storage/stores/store_activity_store.h"
#include "storage/stores/subscription_store.h"
#include "storage/stores/timeline_store.h"
#include "storage/stores/timeline_summary.h"
#include "storage/stores/webhook_event_store.h"
#include "storage/stores/worker_call_store.h"
#include "storage/testing.h"
#include "storage/testing/old_deliveries.h"
#include "storage/tx_driver.h"

namespace presetbridge::storage {
namespace {

using testing::Engine;
using ::testing::IsEmpty;
using ::testing::Not;

// Few, so that it would seem cheap to read an account's deliveries by id alone, past those of the others.
constexpr int kStores = 20;
// Without a store. Enough that looking up those of a batch is cheaper than reading all.
constexpr int kOtherAccounts = 100;
constexpr int kOldDeliveries = 10'000;
constexpr int kOldPurchases = 5'000;

constexpr Sql kPartialIndexesOfPostgres{
    "SELECT CAST(indexname AS TEXT) FROM pg_indexes WHERE schemaname = 'public' AND position(' WHERE ' IN "
    "indexdef) > 0"};
constexpr Sql kPartialIndexesOfSqlite{
    "SELECT name FROM sqlite_master WHERE type = 'index' AND instr(sql, ' WHERE ') > 0"};
constexpr Dialect kDialect{.bytes = "BYTEA",
                           .key = "",
                           .integer = "",
                           .table = "",
                           .clustered = "",
                           .lock = "FOR NO KEY UPDATE SKIP LOCKED",
                           .for_update = "FOR NO KEY UPDATE",
                           .lane = "pg_backend_pid() % 8",
                           .postgres = "",
                           .sqlite = "--"};
constexpr Sql kPreparedAs{"SELECT name FROM pg_prepared_statements WHERE statement = $1"};

// An Sql's text has static storage duration.
Sql lasting(std::string text) {
  static std::set<std::string> texts;
  return {texts.insert(std::move(text)).first->c_str()};
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
// The word after `before`; empty if that is not there.
std::string word_after(std::string_view text, std::string_view before) {
  const auto at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  return std::string(text.substr(0, text.find_first_of(" (")));
}

// Explains what passes through to `tx`.
class ExplainingDriver final : public TxDriver {
 public:
  ExplainingDriver(Tx& tx, bool postgres) : tx_(tx), postgres_(postgres) {
    tx.query(postgres ? kPartialIndexesOfPostgres : kPartialIndexesOfSqlite,
             [&](const Row& r) { partial_.insert(r.string(0)); });
    // Beside the plan for these values there is the one that the server caches for all values.
    if (postgres) tx.exec_script("SET LOCAL plan_cache_mode = force_generic_plan;");
  }

  bool others_write() const override { return true; }
  std::int64_t exec(const Sql& sql, std::span<const Param> params) override {
    const auto changed = tx_.exec_params(sql, params);
    explain(sql, params);
    return changed;
  }
  void query(const Sql& sql, std::span<const Param> params, const RowFn& fn) override {
    tx_.query_params(sql, params, fn);
    explain(sql, params);
  }
  void exec_many(const Sql& sql, std::size_t width, std::span<const Param> flat) override {
    tx_.exec_many(sql, width, flat);
    explain(sql, flat.first(width));
  }
  std::vector<bool> insert_each(const Sql& sql, std::size_t width, std::span<const Param> flat) override {
    auto inserted = tx_.insert_each(sql, width, flat);
    explain(sql, flat.first(width));
    return inserted;
  }
  std::int64_t update_each(const Sql& sql, std::size_t width, std::span<const Param> flat) override {
    const auto changed = tx_.update_each(sql, width, flat);
    explain_each(sql, width, flat, [&](std::span<const Param> twice) { tx_.update_each(sql, width, twice); });
    return changed;
  }
  void query_each(const Sql& sql, std::size_t width, std::span<const Param> flat,
                  const EachRowFn& fn) override {
    tx_.query_each(sql, width, flat, fn);
    explain_each(sql, width, flat, [&](std::span<const Param> twice) {
      tx_.query_each(sql, width, twice, [](std::size_t, const Row&) {});
    });
  }
  void exec_script(std::string_view text) override { tx_.exec_script(text); }
  void lock_schema() override { tx_.lock_schema(); }

  // Statements that read a whole table, with their plans.
  std::vector<std::string> whole_reads;
  // Indexes that each plan used.
  std::set<std::string> used;

 private:
  // A statement for one row, and for many, which PostgreSQL plans anew.
  template <class Run>
  void explain_each(const Sql& sql, std::size_t width, std::span<const Param> flat, const Run& run) {
    if (explained_.contains(sql.text)) return;
    explain(sql, flat.first(width));
    if (!postgres_) return;
    std::vector<Param> twice(flat.begin(), flat.begin() + static_cast<std::ptrdiff_t>(width));
    twice.insert(twice.end(), flat.begin(), flat.begin() + static_cast<std::ptrdiff_t>(width));
    run(twice);
    const std::string one = to_statement(sql.text, kDialect).text;
    const int parameters = static_cast<int>(width);
    const auto many = postgres::bulk_update(one, parameters).or_else([&] {
      return postgres::bulk_select(one, parameters);
    });
    EXPECT_TRUE(many && judge_cached_plan(sql, *many, width)) << sql.text;
  }

  void explain(const Sql& sql, std::span<const Param> params) {
    if (!explained_.insert(sql.text).second) return;
    if (!postgres_) {
      judge(sql, plan(lasting(std::string("EXPLAIN QUERY PLAN ") + sql.text), params, 3));
      return;
    }
    judge(sql, plan(lasting(std::string("EXPLAIN ") + sql.text), params, 0));
    judge_cached_plan(sql, to_statement(sql.text, kDialect).text, params.size());
  }

  // False if the server has no such prepared statement: an INSERT of many rows has another form there.
  bool judge_cached_plan(const Sql& sql, const std::string& text, std::size_t parameters) {
    const auto prepared = tx_.one(kPreparedAs, text, [](const Row& r) { return r.string(0); });
    if (!prepared) return false;
    std::string execute = "EXPLAIN EXECUTE \"" + *prepared + "\"";
    for (std::size_t i = 0; i < parameters; ++i) execute += i == 0 ? " (NULL" : ", NULL";
    judge(sql, plan(lasting(execute + (parameters == 0 ? "" : ")")), {}, 0));
    return true;
  }

  std::vector<std::string> plan(const Sql& explanation, std::span<const Param> params, int column) {
    std::vector<std::string> lines;
    tx_.query_params(explanation, params, [&](const Row& r) { lines.push_back(r.string(column)); });
    return lines;
  }

  void judge(const Sql& sql, const std::vector<std::string>& lines) {
    bool whole = false;
    for (std::size_t i = 0; i < lines.size(); ++i)
      whole = (postgres_ ? whole_of_postgres(lines, i) : whole_of_sqlite(lines[i])) || whole;
    if (!whole) return;
    whole_reads.emplace_back(sql.text);
    for (const auto& line : lines) whole_reads.back() += "\n    " + line;
  }

  bool whole_of_postgres(const std::vector<std::string>& lines, std::size_t at) {
    if (contains(lines[at], "Seq Scan on ") || contains(lines[at], "Bitmap Heap Scan")) return true;
    if (!contains(lines[at], "Scan") || !contains(lines[at], " using ")) return false;
    const std::string index = word_after(lines[at], " using ");
    used.insert(index);
    if (partial_.contains(index)) return false;
    for (++at; at < lines.size() && !contains(lines[at], "->"); ++at) {
      if (contains(lines[at], "Index Cond:")) return false;
    }
    return true;
  }

  bool whole_of_sqlite(const std::string& line) {
    const std::string index = word_after(line, " INDEX ");
    if (!index.empty()) used.insert(index);
    // The subqueries of a query.
    static const std::set<std::string> made{"CONSTANT", "queued", "q", "s", "counted", "quarters"};
    return line.starts_with("SCAN ") && !made.contains(word_after(line, "SCAN ")) &&
           !partial_.contains(index);
  }

  Tx& tx_;
  const bool postgres_;
  std::set<std::string> partial_;
  std::set<std::string> explained_;
};

struct HotQuery {
  std::string name;
  std::vector<std::string> indexes;  // those that it must use, beside primary keys
  std::function<void(Tx&)> run;
};

struct Known {
  AccountId account;
  IntegrationId integration;
  CloudAccountId cloud;
  SubscriptionId subscription;
  CustomerId customer;
  DeliveryId delivery;
};

std::vector<HotQuery> hot_queries(const Known& k) {
  const auto share = domain::JobClass::share;
  const auto failed_for = domain::ResolutionCode::insufficient_credits;
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
      {"count_pending_sends",
       {"webhook_subscriptions_ready", "webhook_sends_pending"},
       [](Tx& tx) { count_pending_sends(tx); }},
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
      {"list_orders",
       {"orders_of_account", "orders_unmapped", "orders_without_delivery", "orders_by_number",
        "integrations_of_account", "orders_dedupe"},
       [=](Tx& tx) {
         const auto shown = [](const ListedOrder&) { return true; };
         list_orders(tx, {.account = k.account}, {}, shown);
         list_orders(tx, {.account = k.account, .unmapped = true}, {}, shown);
         list_orders(tx, {.account = k.account, .outcome = domain::OrderOutcome::stopped}, {}, shown);
         using Kind = OrderSearch::Kind;
         list_orders(tx, {.account = k.account, .search = {Kind::number, "#1001"}}, {}, shown);
         list_orders(tx, {.account = k.account, .search = {Kind::id, to_string(OrderId{k.delivery.value})}},
                     {}, shown);
         read_search(tx, k.account, "1001");
         find_delivery_standings(tx, std::array{k.delivery});
         find_invalidated_by_merchant(tx, std::array{k.delivery});
         find_order_payload(tx, OrderId{k.delivery.value});
         find_order_payload_time(tx, OrderId{k.delivery.value});
         find_order_integration(tx, OrderId{k.delivery.value});
       }},
      {"walk_orders",
       {"orders_of_account", "orders_unmapped", "orders_without_delivery"},
       [=](Tx& tx) {
         const auto shown = [](const ListedOrder&) { return true; };
         walk_orders(tx, {.account = k.account}, {}, tx.now(), 200, shown);
         walk_orders(tx, {.account = k.account, .unmapped = true}, {}, tx.now(), 200, shown);
         walk_orders(tx, {.account = k.account, .outcome = domain::OrderOutcome::stopped}, {}, tx.now(), 200,
                     shown);
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
      {"the mappings of a store",
       {},
       [=](Tx& tx) {
         find_mappings(tx, k.integration);
         count_mappings(tx, std::array{k.integration});
         const auto save = begin_mappings(tx, k.integration, tx.now());
         stage_mappings(tx, save, {});
         use_mappings(tx, save, 0);
         find_mapping_remains(tx, k.integration);
         delete_mapping_remains(tx, {k.integration, 1}, 100);
       }},
      {"an erasure",
       {"orders_dedupe", "deliveries_open", "deliveries_failed_of_customer", "delivery_items_of_customer"},
       [=](Tx& tx) {
         known_orders(tx, std::array{OrderKey{k.integration, "OLD-1000000000"}});
         find_order_keys_after(tx, k.integration, "", 200);
         find_order_numbers(tx, std::array{OrderId{k.delivery.value}});
         lock_orders_by_key(tx, std::array{OrderKey{k.integration, "OLD-1000000000"}});
         customers_of(tx, std::array{k.delivery});
         lock_deliveries(tx, std::array{k.delivery});
         blank_item_usernames(tx, std::array{k.delivery});
         blank_timelines(tx, std::array{k.delivery});
         blank_usernames(tx, std::array{k.customer});
       }},
      {"a shop's erasure", {"privacy_requests_to_do"}, [](Tx& tx) { lock_shop_redaction(tx, {}); }},
      {"list_ledger",
       {},
       [=](Tx& tx) {
         list_ledger(tx, k.account, {}, 50);
         count_spent(tx, k.account, {}, 50);
       }},
      {"purchases",
       {"purchases_by_session", "purchases_by_payment", "purchases_of_account",
        "purchases_of_account_by_state", "purchases_by_state", "purchases_due"},
       [=](Tx& tx) {
         const PurchaseId id{1'000};
         find_purchase_of_session(tx, "cs_1000");
         find_purchase_of_payment(tx, "pi_1000");
         number_question(tx, id);
         update_purchase(tx, lock_purchase(tx, id).value());
         make_purchase_due(tx, id, tx.now());
         list_purchases(tx, k.account, {}, {});
         list_purchases(tx, k.account, domain::PurchaseState::pending, {});
         list_all_purchases(tx, {}, {});
         list_all_purchases(tx, domain::PurchaseState::pending, {});
         count_pending_purchases(tx, k.account, true, Timestamp{}, 20);
         count_old_pending_purchases(tx, true, tx.now(), 100);
         any_purchase_due(tx, true);
         claim_due_purchases(tx, true, tx.now(), 10);
         make_pending_purchases_due(tx, tx.now(), 10);
         lease_notices(tx, false, "node", tx.now(), tx.now());
         advance_notices(tx, false, "node", {});
       }},
      {"an account's balance, login and sweep",
       {},
       [=](Tx& tx) {
         update_balances(tx, lock_balances(tx, std::array{k.account}));
         find_standings(tx, std::array{k.account});
         note_friend_request(tx, k.cloud, tx.now());
         lock_cloud_accounts(tx, std::array{k.cloud});
         update_cloud_account(tx, lock_cloud_account(tx, k.cloud).value());
       }},

      {"active_subscriptions",
       {"webhook_subscriptions_of_account"},
       [=](Tx& tx) { active_subscriptions(tx, std::array{k.account}); }},
      {"lease_sends",
       {"webhook_subscriptions_ready", "webhook_sends_pending", "webhook_sends_leased"},
       [](Tx& tx) {
         const auto leases = lease_sends(tx, lock_ready_subscriptions(tx, {}), {});
         std::vector<SendResult> results;
         for (const auto& send : leases.sends) {
           results.push_back({.subscription = leases.targets.at(send.target).id,
                              .send = send.id,
                              .fence = send.fence,
                              .attempt_id = send.id,
                              .attempts = 1});
         }
         EXPECT_THAT(results, Not(IsEmpty()));
         record_sends(tx, results);
       }},
      {"take_over_expired_sends",
       {"webhook_sends_leased"},
       [=](Tx& tx) {
         any_send_expired(tx, {});
         take_over_expired_sends(tx, {}, 100);
         wake_subscriptions(tx, std::array{k.subscription});
       }},
      {"lock_api_key_by_hash", {}, [](Tx& tx) { lock_api_key_by_hash(tx, std::vector<std::byte>(32)); }},
      {"take_worker_calls",
       {"worker_calls_waiting"},
       [](Tx& tx) {
         any_worker_calls(tx, tx.now());
         take_worker_calls(tx, tx.now(), 10);
       }},
      {"list_attempts", {}, [=](Tx& tx) { list_attempts(tx, k.subscription, {}); }},
      {"find_subscription_health", {}, [=](Tx& tx) { find_subscription_health(tx, k.subscription); }},

      {"what was sent to a subscription",
       {"webhook_sends_of_subscription", "webhook_attempts_of_send"},
       [=](Tx& tx) {
         list_sent_events(tx, k.subscription, {}, {});
         find_sent_event(tx, k.subscription, EventId{1});
         attempts_of_send(tx, 1);
       }},
      {"what failed or waits",
       {"webhook_sends_failed", "webhook_sends_pending", "webhook_sends_leased"},
       [=](Tx& tx) {
         list_sent_events(tx, k.subscription, {.status = SentStatus::waiting}, {});
         list_sent_events(tx, k.subscription, {.status = SentStatus::exhausted}, {});
         count_failed_sends(tx, k.subscription, {}, tx.now(), 100);
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
         recover_failed_sends(tx, {}, 100);
       }},
      {"subscriptions in trouble",
       {"webhook_subscriptions_failing"},
       [](Tx& tx) { find_subscriptions_in_trouble(tx, {.now = tx.now()}, 100); }},

      {"find_integration_versions",
       {},
       [=](Tx& tx) { find_integration_versions(tx, std::array{k.integration, IntegrationId{12}}); }},
      {"what is kept for statistics",
       {"deliveries_uncounted"},
       [=](Tx& tx) {
         count_activity(tx, {k.account, k.integration, {}}, Activity::made, 1, tx.now());
         find_activity(tx,
                       {.account = k.account,
                        .from = quarter_of(tx.now() - std::chrono::days{29}),
                        .to = quarter_of(tx.now()) + kQuarter,
                        .first_day = std::chrono::floor<std::chrono::days>(tx.now()) - std::chrono::days{29},
                        .end_day = std::chrono::floor<std::chrono::days>(tx.now())},
                       [](const ActivitySum&) {});
         first_delivery_made(tx, k.account);
         fold_activity(tx, std::chrono::floor<std::chrono::days>(tx.now()), 100);
         count_deliveries_of_before(tx, 0, 100);
       }},
      {"count_friendships",
       {"deliveries_of_account"},
       [=](Tx& tx) { count_friendships(tx, k.account, k.cloud, 10'000); }},
      {"what stands now",
       {"deliveries_by_status", "deliveries_failed", "privacy_requests_open", "deliveries_dry_runs"},
       [=](Tx& tx) {
         const std::array stores{k.integration, IntegrationId{2}};
         count_standing(tx, stores, domain::DeliveryStatus::queued);
         find_oldest_waiting(tx, stores);
         count_failed(tx, k.account);
         count_failed(tx, k.integration);
         count_open_privacy_requests(tx, k.account, k.integration);
         count_stale_mappings(tx, stores);
         each_mapped_file(tx, k.integration, 100, [](const MappedFile&) {});
         any_test_delivered(tx, k.account);
         any_delivered(tx, stores);
       }},
      {"what stores have sent",
       {"store_products_unmapped", "deliveries_failed_of_integration", "store_hours_age",
        "orders_unmapped_of_store"},
       [=](Tx& tx) {
         put_products(tx, std::array{ProductRow{.integration = k.integration, .key = "sku:a"}});
         find_store_activity(tx, std::array{k.integration}, tx.now());
         find_store_origin(tx, k.integration);
         find_products(tx, k.integration, "", 100);
         delete_store_hours(tx, tx.now(), 100);
         find_unmapped_orders(tx, k.integration, OrderId{1'000'000}, 50);
       }},
      {"sessions",
       {"sessions_of_user", "sessions_expiry", "session_tokens_in_force", "session_tokens_expiry"},
       [](Tx& tx) {
         const UserId user{1};
         const SessionId session{1};
         const std::vector<std::byte> hash(32);
         find_session_member(tx, session);
         find_session_token(tx, hash);
         lock_session(tx, session);
         list_sessions(tx, user, {});
         end_session(tx, user, session);
         end_surplus_sessions(tx, user, true, 100);
         end_sessions_of(tx, user);
         has_session_tokens(tx, session, 50);
         replace_session_tokens(tx, session);
         delete_expired_session_tokens(tx, tx.now(), 100);
         delete_expired_sessions(tx, tx.now(), 100);
       }},
      {"changes of a watched account",
       {"account_watches_until", "account_changes_at", "accounts_of_cloud_account"},
       [=](Tx& tx) {
         watch_account(tx, k.account, 7, tx.now());
         tx.changes() = {changed(ChangeKind::delivery, k.account, k.delivery),
                         changed(ChangeKind::intake_refused, AccountId{}, k.integration),
                         changed(ChangeKind::subscription, AccountId{}, k.subscription),
                         changed(ChangeKind::cloud, AccountId{}, k.cloud)};
         tx.conclude();
         find_watches(tx, std::array{k.account});
         find_changes(tx, std::array{ChangesAsked{k.account, 7, 0}}, 100);
         find_delivery_marks(tx, std::array{k.delivery});
         delete_old_changes(tx, tx.now() + Millis{1}, 100);
         delete_ended_watches(tx, tx.now() + Millis{1}, 100);
       }},
      {"sends of deleted subscriptions",
       {"webhook_sends_pending"},
       [=](Tx& tx) {
         delete_sends_of_nobody(tx, 0, 100);
         delete_pending_sends(tx, k.subscription, 100);
       }},
      {"retention",
       {},
       [](Tx& tx) {
         delete_old_payloads(tx, 0, tx.now(), 100);
         delete_old_sends(tx, 0, tx.now(), 100);
         delete_old_events(tx, 0, tx.now(), 100);
         delete_old_attempts(tx, 0, tx.now(), 100);
       }},
      {"an account's people",
       {"identities_of_account"},
       [=](Tx& tx) {
         list_people(tx, k.account, {});
         count_people(tx, k.account, 50);
         find_person(tx, k.account, UserId{1});
       }},
      {"an account's invitations",
       {"invitations_of_account"},
       [=](Tx& tx) {
         list_invitations(tx, k.account, {});
         count_invitations(tx, k.account, 50);
       }},
      {"a page of the audit log",
       {"audit_log_of_account"},
       [=](Tx& tx) {
         list_audit(tx, k.account, {}, {.action = "session.", .from = tx.now(), .to = tx.now()});
       }},
      {"what deleted accounts' audit log tells",
       {"audit_log_telling"},
       [](Tx& tx) { blank_audit_of_deleted(tx, 100); }},
      {"a customer's orders",
       {"orders_of_account"},
       [=](Tx& tx) {
         walk_customer_orders(tx, k.account, {.email = "a@x.example", .username = "a"}, {}, tx.now(), 100);
       }},
      {"timelines to sum up",
       {"timeline_revisits_due"},
       [](Tx& tx) {
         collapse_timelines(tx, tx.now(), Millis{1}, 100);
         collapse_revisited(tx, tx.now(), Millis{1}, 100);
       }},
  };
}

// Thrown, so that a transaction has no effect.
struct Undo {};

enum class Statistics { none, fresh };

class QueryPlansTest : public ::testing::TestWithParam<std::tuple<Engine, Statistics>> {
 protected:
  QueryPlansTest() {
    if (!migrate(*db_)) throw std::runtime_error("the schema could not be made");
    db_->write([&](Tx& tx) {
      for (int n = 1; n <= kStores; ++n) make_store(tx, n);
    });
    testing::insert_old_deliveries(*db_, kOldDeliveries, db_.clock.now());
    db_->write([&](Tx& tx) {
      leave_work(tx);
      insert_activity(tx);
      for (int n = 1; n <= kOldDeliveries / 10; ++n) insert_store_activity(tx, IntegrationId{n});
      for (int n = kStores + 1; n <= kStores + kOtherAccounts; ++n) make_account(tx, n);
      for (int n = 1; n <= kOldDeliveries / 10; ++n) make_session(tx, n);
      for (int n = 1; n <= kOldPurchases; ++n) make_purchase(tx, n);
    });
    if (std::get<1>(GetParam()) == Statistics::fresh) db_->write([](Tx& tx) { tx.exec_script("ANALYZE;"); });
  }

  static void make_account(Tx& tx, int n) {
    const AccountId account{n};
    insert_account(tx, account, "a merchant");
    const auto cloud =
        find_or_insert_cloud_account(tx, "merchant-" + std::to_string(n), "m", CloudAccountId{n});
    update_standing(tx, account, {CredentialsStatus::valid, 1, cloud});
  }

  // One in a hundred is still pending.
  static void make_purchase(Tx& tx, int n) {
    const auto number = std::to_string(n);
    PurchaseRow row{.id = PurchaseId{n},
                    .account = AccountId{1 + n % (kStores + kOtherAccounts)},
                    .created_at = tx.now()};
    row.pack_id = row.pack_name = "small";
    row.credits = row.amount = 10;
    row.currency = "eur";
    insert_purchase(tx, row);
    row.session = "cs_" + number;
    row.payment = "pi_" + number;
    if (n % 100 == 0) {
      row.due_at = tx.now();
    } else {
      row.standing = {.state = domain::PurchaseState::paid, .granted = 10};
      row.paid_at = tx.now();
    }
    update_purchase(tx, row);
  }

  static void make_store(Tx& tx, int n) {
    const AccountId account{n};
    make_account(tx, n);
    put_credentials(tx, {.account = account, .version = 1, .masked_email = "m", .saved_at = tx.now()},
                    std::vector<std::byte>(3));
    IntegrationRow row{.id = IntegrationId{n}, .account = account, .name = "Store"};
    row.encrypted_secret = std::vector<std::byte>(3);
    insert_integration(tx, row);
    SubscriptionRow subscription{.id = SubscriptionId{n}, .account = account, .url = "https://example.com/"};
    subscription.encrypted_secret = std::vector<std::byte>(3);
    insert_subscription(tx, subscription);
  }

  // Signed out of, but for the newest.
  static void make_session(Tx& tx, int n) {
    const UserId user{n % (kStores + kOtherAccounts) + 1};
    const auto sub = std::to_string(user.value);
    insert_identity(tx, "iss", sub, {AccountId{user.value}, user, "owner"});
    insert_session(tx, {.id = SessionId{n}, .user = user, .iss = "iss", .sub = sub, .expires_at = tx.now()});
    const std::string hash = std::to_string(n);
    insert_session_token(tx, std::as_bytes(std::span(hash)), SessionId{n}, tx.now());
    if (n <= kOldDeliveries / 20) {
      end_session(tx, user, SessionId{n});
      replace_session_tokens(tx, SessionId{n});
    }
  }

  // In each store's hours, long ago and now.
  static void insert_activity(Tx& tx) {
    for (int n = 1; n <= kStores; ++n) {
      for (int quarter = 0; quarter < 200; ++quarter)
        count_activity(tx, {AccountId{n}, IntegrationId{n}, {}}, Activity::made, 1,
                       tx.now() - quarter * kQuarter);
    }
  }

  static void insert_store_activity(Tx& tx, IntegrationId store) {
    add_store_hours(tx, std::array{StoreHour{store, tx.now(), "accepted", 1, tx.now()}});
    note_store_orders(tx, std::array{StoreOrder{store, tx.now()}});
    note_store_topics(tx, std::array{StoreTopic{store, "orders/paid", tx.now()}});
    note_store_origins(tx, std::array{StoreOrigin{store, "https://x.example/", tx.now()}});
    put_products(tx, std::array{ProductRow{.integration = store, .key = "sku:b", .mapped = true}});
  }

  // The newest delivery, customer and row of webhook_sends of each account are work to do.
  void leave_work(Tx& tx) {
    static constexpr Sql customers{
        "UPDATE customers SET queue_state = 1 WHERE id IN (SELECT max(id) FROM customers GROUP BY "
        "cloud_account_id)"};
    static constexpr Sql deliveries{
        "UPDATE deliveries SET status = 'queued', open = 1, completed_at = NULL WHERE id IN"
        " (SELECT max(id) FROM deliveries GROUP BY account_id)"};
    static constexpr Sql sends{
        "UPDATE webhook_sends SET status = 'pending', attempts = 0 WHERE id IN"
        " (SELECT max(id) FROM webhook_sends GROUP BY subscription_id)"};
    static constexpr Sql newest{"SELECT max(id), max(customer_id) FROM deliveries WHERE account_id = $1"};
    tx.exec(customers);
    tx.exec(deliveries);
    tx.exec(sends);
    known_ = {.account = {1},
              .integration = {1},
              .cloud = {1},
              .subscription = {1},
              .customer = {},
              .delivery = {}};
    tx.query(newest, 1, [&](const Row& r) {
      known_.delivery = r.id<DeliveryId>(0);
      known_.customer = r.id<CustomerId>(1);
    });
    for (int n = 1; n <= kStores; ++n) refresh_readiness(tx, SubscriptionId{n});
  }

  // The faults of the plans of `query`, while there is no index `without`.
  std::vector<std::string> faults_of(const HotQuery& query, const std::string& without = {}) {
    std::vector<std::string> faults;
    try {
      db_->write([&](Tx& tx) {
        faults.clear();
        if (!without.empty()) tx.exec_script("DROP INDEX " + without + ";");
        ExplainingDriver explaining(tx, db_->engine() == "postgres");
        Tx explained(explaining, tx.now());
        query.run(explained);
        explained.conclude();
        for (const auto& read : explaining.whole_reads) faults.push_back("reads a whole table: " + read);
        for (const auto& index : query.indexes) {
          if (!explaining.used.contains(index)) faults.push_back("does not use " + index);
        }
        throw Undo{};
      });
    } catch (const Undo&) {
    }
    return faults;
  }

  testing::TemporaryDatabase db_{std::get<0>(GetParam()), testing::TemporaryPostgres::Kind::quick};
  Known known_;
};

TEST_P(QueryPlansTest, EachHotQueryFindsItsRowsByItsIndex) {
  for (const auto& query : hot_queries(known_)) {
    SCOPED_TRACE(query.name);
    EXPECT_THAT(faults_of(query), IsEmpty());
  }
}

TEST_P(QueryPlansTest, AHotQueryWithoutItsIndexIsNoticed) {
  for (const auto& query : hot_queries(known_)) {
    for (const auto& index : query.indexes) {
      SCOPED_TRACE(query.name + " without " + index);
      EXPECT_THAT(faults_of(query, index), Not(IsEmpty()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, QueryPlansTest,
                         ::testing::Combine(::testing::ValuesIn(testing::engines),
                                            ::testing::Values(Statistics::none, Statistics::fresh)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param) == Engine::sqlite ? "Sqlite"
                                                                                        : "Postgres") +
                                  (std::get<1>(info.param) == Statistics::fresh ? "WithStatistics"
                                                                                : "WithoutStatistics");
                         });

}  // namespace
}  // namespace presetbridge::storage
