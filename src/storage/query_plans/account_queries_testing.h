// The hot queries of accounts: balances, purchases, stores, statistics, sessions and people.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <vector>

#include "storage/query_plans/hot_query_testing.h"
#include "storage/stores/account_deletion.h"
#include "storage/stores/activity_store.h"
#include "storage/stores/api_key_store.h"
#include "storage/stores/audit_store.h"
#include "storage/stores/change_store.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/credential_store.h"
#include "storage/stores/credit_store.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/mail_store.h"
#include "storage/stores/order_store.h"
#include "storage/stores/overview_store.h"
#include "storage/stores/people_store.h"
#include "storage/stores/product_store.h"
#include "storage/stores/purchase_store.h"
#include "storage/stores/session_store.h"
#include "storage/stores/store_activity_store.h"

namespace presetbridge::storage::testing {

inline std::vector<HotQuery> account_queries(const Known& k) {
  return {
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
      {"lock_api_key_by_hash", {}, [](Tx& tx) { lock_api_key_by_hash(tx, std::vector<std::byte>(32)); }},
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
      {"the next mail",
       {"mail_links_due"},
       [](Tx& tx) {
         any_mail_due(tx);
         claim_due_mail(tx, tx.now());
       }},
      {"the links of an address",
       {"mail_links_of_address"},
       [](Tx& tx) {
         const EmailHash hash{std::byte{1}};
         age_of_mail_link(tx, hash, MailPurpose::reset, 2);
         end_mail_links(tx, hash, MailPurpose::reset);
       }},
      {"links of mails that have expired",
       {"mail_links_expiry"},
       [](Tx& tx) { delete_expired_mail_links(tx, tx.now(), 100); }},
      {"a page of the audit log",
       {"audit_log_of_account"},
       [=](Tx& tx) {
         list_audit(tx, k.account, {}, {.action = "session.", .from = tx.now(), .to = tx.now()});
       }},
      {"what deleted accounts' audit log tells",
       {"audit_log_telling"},
       [](Tx& tx) { blank_audit_of_deleted(tx, 100); }},
  };
}

}  // namespace presetbridge::storage::testing
