// The rows that the steps of a batch of jobs work on: read together, changed here, and written together, so
// that one statement serves many customers. Lives inside one transaction, which holds the locks of all
// customers, deliveries and balances in it; an item is safe under the lock of its delivery.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "services/delivery/change.h"
#include "storage/credit_store.h"
#include "storage/customer_store.h"
#include "storage/database.h"
#include "storage/delivery_store.h"
#include "storage/integration_store.h"

namespace presetbridge::services {

// Open deliveries of one customer that a step looks at, and those that a job works on: with more of them the
// customer has further jobs (spec 8.6).
inline constexpr int kMostOpenOfCustomer = 500;
inline constexpr std::size_t kMostDeliveriesOfJob = 100;

// A reference to a row stays valid until directly() of its set. What a row tells may be changed
// through it; changed() then has it written.
class WorkSet {
 public:
  // Of customers whose rows this transaction has locked, or will have when their turn comes.
  WorkSet(storage::Tx& tx, DeliveryChanges& changes, std::vector<CustomerId> customers);
  WorkSet(const WorkSet&) = delete;
  WorkSet& operator=(const WorkSet&) = delete;

  Timestamp now() { return tx_.now(); }
  DeliveryChanges& changes() { return changes_; }

  // The customer's row, locked; nothing if there is none.
  std::optional<storage::CustomerRow> customer(CustomerId id);
  // Who is known as this user of the platform, if anybody.
  std::optional<storage::CustomerRow> customer_of_user(CloudAccountId cloud_account, const std::string& user);
  // Tells whom customer_of_user() will be asked for, so that all are looked up at once.
  void expect_user(CloudAccountId cloud_account, const std::string& user);
  // The row as it shall be; of a customer of the set.
  void put(storage::CustomerRow row);

  // The customer's deliveries that are queued, in processing or waiting, oldest first; of very many those
  // that are to be worked on next.
  std::vector<DeliveryId> open(CustomerId customer);
  // Locked; null if there is none. Of any customer.
  storage::DeliveryRow* delivery(DeliveryId id);
  // By rising id, as they are under the lock of their delivery.
  std::vector<storage::ItemRow*> items(DeliveryId delivery);
  // Those that are, were, or may have been shared with the customer, by rising id.
  std::vector<storage::ItemRow*> items_of(CustomerId customer);
  // Those of one file.
  std::vector<storage::ItemRow*> items_of(CustomerId customer, const std::string& file);
  // Null if there is none.
  storage::ItemRow* item(DeliveryId delivery, ItemId id);
  void changed(const storage::DeliveryRow& row) { rows_.deliveries.at(row.id).changed = true; }
  void changed(const storage::ItemRow& row);
  // The item is gone: another one of its delivery stands for what it was.
  void remove(const storage::ItemRow& row);

  // As DeliveryChanges has it.
  void apply(storage::DeliveryRow& row, const Change& change);
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
  // One of the credits on hold is spent; what is left may be what the account wants to hear of (spec 10.1).
  void spend(AccountId account);
  void append(storage::LedgerRow entry) { ledger_.push_back(std::move(entry)); }

  // For what is done to the database itself: all changes so far are written before, and all rows are read
  // anew after.
  template <class F>
  void directly(F f) {
    save();
    f(tx_);
    rows_ = {};
  }
  // For what touches none of the set's rows, beyond reading what is saved.
  storage::Tx& tx() { return tx_; }

  // Writes what was changed. The caller's last call, too.
  void save();

 private:
  template <class T>
  struct Entry {
    T row;
    bool changed = false;
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
    std::unordered_map<CustomerId, std::vector<DeliveryId>> open;
    std::map<ItemId, Entry<storage::ItemRow>> items;
    std::unordered_map<DeliveryId, std::set<ItemId>> of_delivery;  // of those whose items are read
    bool items_of_customers_read = false;
    std::unordered_map<CustomerId, std::set<ItemId>> of_customer;
    std::map<std::pair<CustomerId, std::string>, std::set<ItemId>> of_customer_and_file;
    std::vector<storage::ItemRow> removed_items;
    std::map<AccountId, Entry<domain::Balance>> balances;
    std::map<IntegrationId, storage::OrderSettings> order_settings;
    std::unordered_map<AccountId, std::int64_t> credits_low_at;  // of those
  };
  void read_open();
  void read_items_of_customers();
  std::vector<storage::ItemRow*> of(const std::set<ItemId>& ids, CustomerId customer);
  void note_customer(const storage::ItemRow& row);
  void read_balances(const std::set<AccountId>& wanted);
  std::optional<std::vector<const storage::ItemRow*>> items_at_hand(DeliveryId id) const;
  void keep(storage::DeliveryRow row);
  storage::ItemRow& keep(storage::ItemRow row);

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
