// The unit of work of everything that changes deliveries: the rows of customers, deliveries, items and
// balances are read, and locked, when they are first asked for, changed in memory, and written together by
// save(), with the timeline and the outbound events that follow from the changes. The rows of accounts that
// deliveries depend on (login, credits, subscriptions) are read once, too. One statement serves many rows.
// Lives inside one transaction, which holds the locks of all customers, deliveries and balances in it; an item
// is safe under the lock of its delivery.
//
// Locks are taken in the order of docs/decisions/0018-order-of-locks.md: whoever comes to a delivery by another
// way than its customer calls hold_customers_of() before.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "domain/credits.h"
#include "domain/delivery.h"
#include "services/delivery/change.h"
#include "storage/database.h"
#include "storage/stores/credential_store.h"
#include "storage/stores/credit_store.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/delivery_store.h"
#include "storage/stores/event_store.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/item_store.h"

namespace presetbridge::services {

// Open deliveries of one customer that a step looks at, and those that a job works on: with more of them the
// customer has further jobs (spec 8.6).
inline constexpr int kMostOpenOfCustomer = 500;
inline constexpr std::size_t kMostDeliveriesOfJob = 100;

// A pointer to a row is valid as long as its set, an item's until it is removed. A row may be changed through
// it; changed() then has it written.
class DeliverySet {
 public:
  // `customers`: those whose rows, open deliveries and items are read together when one of them is asked for.
  DeliverySet(storage::Tx& tx, DeliveryChanges& changes, std::vector<CustomerId> customers = {});
  DeliverySet(const DeliverySet&) = delete;
  DeliverySet& operator=(const DeliverySet&) = delete;

  Timestamp now() { return tx_.now(); }
  DeliveryChanges& changes() { return changes_; }

  // The customer's row, locked; nothing if there is none. Of any customer.
  std::optional<storage::CustomerRow> customer(CustomerId id);
  // Who is known as this user of the platform, if anybody.
  std::optional<storage::CustomerRow> customer_of_user(CloudAccountId cloud_account, const std::string& user);
  // Tells whom customer_of_user() will be asked for, so that all are looked up at once.
  void expect_user(CloudAccountId cloud_account, const std::string& user);
  // The row as it shall be; of a customer that customer() has returned.
  void put(storage::CustomerRow row);
  // As enqueue_customer() and enqueue_buyers() have it. The rows of the customers are read anew after.
  void enqueue(CustomerId customer, domain::JobClass job_class, Timestamp due_at);
  std::vector<CustomerId> enqueue(std::span<const storage::Buyer> buyers, Timestamp due_at);

  // The customer's deliveries that are queued, in processing or waiting, oldest first; of very many those
  // that are to be worked on next.
  std::vector<DeliveryId> open(CustomerId customer);
  // Locked; null if there is none. Of any customer.
  storage::DeliveryRow* delivery(DeliveryId id);
  // Rows that this transaction has locked and read, in the order given. A row that the set has already stays as
  // it is there.
  std::vector<storage::DeliveryRow*> take(std::vector<storage::DeliveryRow> locked);
  // By rising id, as they are under the lock of their delivery; without the lines, unless those were read.
  std::vector<storage::ItemRow*> items(DeliveryId delivery);
  // The same, with their lines.
  std::vector<storage::ItemRow*> items_with_lines(DeliveryId delivery);
  // Those that are, were, or may have been shared with the customer, whatever their delivery, by rising id.
  std::vector<storage::ItemRow*> items_of(CustomerId customer);
  // Those of one file.
  std::vector<storage::ItemRow*> items_of(CustomerId customer, const std::string& file);
  // Null if there is none.
  storage::ItemRow* item(DeliveryId delivery, ItemId id);
  void changed(const storage::DeliveryRow& row);
  void changed(const storage::ItemRow& row);
  // The item's lines were changed; changed() alone does not have them written.
  void lines_changed(const storage::ItemRow& row) { rows_.items.at(row.id).lines_changed = true; }
  // A new item of a delivery of the set; and how the delivery is found by its file.
  storage::ItemRow& add(storage::ItemRow row);
  // The item is gone: another one of its delivery stands for what it was.
  void remove(const storage::ItemRow& row);

  // Takes the change's cause through the state machine; the timeline and the outbound event follow. The row is
  // of the set. INVALID_TRANSITION leaves the row untouched.
  Expected<void> try_apply(storage::DeliveryRow& row, const Change& change);
  // The same where the service itself knows that the status takes it: otherwise throws INTERNAL_ERROR.
  void apply(storage::DeliveryRow& row, const Change& change);
  // What an actor did that moves no status, e.g. an action that waits for the job in progress. The row need not
  // be of the set.
  void note(const storage::DeliveryRow& row, domain::Actor actor, std::string message, Told told = {});

  // Of the store of a delivery of the set, read under the locks of all its deliveries.
  const storage::OrderSettings& order_settings(const storage::DeliveryRow& row);

  // Tells that a step of this customer may ask for a balance, so that all are locked at once.
  void expect_spending(CustomerId customer) { spending_.insert(customer); }
  // Tells that a step may change the account's login or balance.
  void expect_account(AccountId account) { expected_accounts_.insert(account); }
  // Tells that a job of this customer begins, so that who has no credit left is known before its first call.
  void expect_beginning(CustomerId customer) { beginning_.insert(customer); }
  // Of the accounts of those: whether it had none left to hold when lock() looked.
  bool without_credit(AccountId account) const { return without_credit_.contains(account); }
  // Locks what the steps will need, as far as it is known: customers, their open deliveries, and the accounts
  // of those who may spend, with the expected ones.
  void lock();
  // Locked. Throws std::out_of_range for an account that does not exist.
  const domain::Balance& balance(AccountId account);
  void set_balance(AccountId account, const domain::Balance& balance);
  // One of the credits on hold is spent; the account may hear of it, as tell_if_low() has it.
  void spend(AccountId account);
  // The account hears of its balance if that has fallen, from `before`, to what it wants to hear of
  // (spec 10.1). Whoever sets a lower balance calls this once.
  void tell_if_low(AccountId account, const domain::Balance& before);
  // Behind the change of the balance that it tells of.
  void append(storage::LedgerRow entry) {
    entry.entry.balance_after = balance(entry.account).within_reach();
    ledger_.push_back(std::move(entry));
  }

  // Reads at once what standing() and cause() would read for one account after the other.
  void read_standings(std::span<const AccountId> accounts);
  // Of the account's cloud login. Valid until save(): what is asked for after it is read anew.
  const storage::CredentialsStanding& standing(AccountId account);
  // The cause that keeps the account's deliveries from being worked on at all: the login, or the credits; or
  // none. Where there is a cause, login and balance are locked and read again, so that the transaction
  // that writes the failure cannot miss its fix (spec 3.6).
  domain::ResolutionCode cause(AccountId account);
  // Reads at once what subscribers() would read for one account after the other.
  void read_subscriptions(std::span<const AccountId> accounts);
  // Active subscriptions that want events of this type from this integration, as they were when the set first
  // read those of the account: one that is made meanwhile gets the events of later transactions.
  std::vector<SubscriptionId> subscribers(AccountId account, std::string_view event_type,
                                          IntegrationId integration);
  // Active subscriptions that want events of this type of the whole account.
  std::vector<SubscriptionId> subscribers_of_account(AccountId account, std::string_view event_type);

  // For what touches none of the set's rows, beyond reading what is saved.
  storage::Tx& tx() { return tx_; }

  // Writes what was changed so far. Called before the database itself is asked of rows that the set may have
  // changed, and at the end. Pointers stay valid.
  void save();

 private:
  template <class T>
  struct Entry {
    T row;
    bool changed = false;
  };
  struct ItemEntry {
    storage::ItemRow row;
    bool changed = false;
    bool lines_changed = false;
    bool lines_read = false;
    bool added = false;
  };
  struct StandingEntry {
    storage::CredentialsStanding row;
    std::optional<domain::Balance> balance;  // where the set has none that is locked
    bool locked = false;                     // login and balance
  };
  using CloudUser = std::pair<CloudAccountId, std::string>;
  // Rows as they are now, with what of the database has been read.
  struct Rows {
    bool customers_read = false;
    std::map<CustomerId, Entry<storage::CustomerRow>> customers;
    bool users_read = false;
    std::map<CloudUser, storage::CustomerRow> users;   // of those expected
    std::map<CloudUser, CustomerId> users_of_changed;  // the newest of each
    bool open_read = false;
    std::map<DeliveryId, Entry<storage::DeliveryRow>> deliveries;
    std::unordered_map<CustomerId, std::set<DeliveryId>> open;  // or were, of the customer
    std::map<ItemId, ItemEntry> items;
    std::unordered_map<DeliveryId, std::set<ItemId>> of_delivery;  // of those whose items are read
    std::set<DeliveryId> with_lines;                               // of those
    std::set<CustomerId> items_read;                               // of these customers
    std::unordered_map<CustomerId, std::set<ItemId>> of_customer;
    std::map<std::pair<CustomerId, std::string>, std::set<ItemId>> of_customer_and_file;
    std::vector<storage::ItemRow> removed_items;
    std::map<AccountId, Entry<domain::Balance>> balances;
    std::map<IntegrationId, storage::OrderSettings> order_settings;
    std::unordered_map<AccountId, std::int64_t> credits_low_at;  // of those
    std::unordered_map<AccountId, StandingEntry> standings;      // since the last save()
    std::unordered_map<AccountId, std::vector<storage::ActiveSubscription>> subscriptions;
  };
  void read_open();
  void save_customers();
  void save_items();
  void save_removals();
  void read_anew(std::span<const CustomerId> customers);
  void read_items_of(CustomerId customer);
  std::vector<storage::ItemRow*> of(const std::set<ItemId>& ids, CustomerId customer);
  void note_customer(const storage::ItemRow& row);
  void read_balances(const std::set<AccountId>& wanted);
  domain::ResolutionCode cause_of(AccountId account, const StandingEntry& standing) const;
  std::optional<std::vector<const storage::ItemRow*>> items_at_hand(DeliveryId id) const;
  storage::DeliveryRow& keep(storage::DeliveryRow row);
  ItemEntry& keep(storage::ItemRow row);

  storage::Tx& tx_;
  DeliveryChanges& changes_;
  std::vector<CustomerId> customers_;
  std::set<CloudUser> expected_users_;
  std::set<CustomerId> spending_;
  std::set<CustomerId> beginning_;
  std::set<AccountId> without_credit_;
  std::set<AccountId> expected_accounts_;
  Rows rows_;
  ChangeRecord record_;
  std::vector<storage::LedgerRow> ledger_;
};

}  // namespace presetbridge::services
