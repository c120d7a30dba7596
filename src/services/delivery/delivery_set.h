// The unit of work of everything that changes deliveries: the rows of orders, customers, deliveries, items
// and balances that one transaction reads, changes in memory and writes together. The status machine is in
// change.h; the rows of accounts that deliveries depend on (login, credits, subscriptions) are read here too.
//
// Rules, each with its reason:
//  1. A row is read when it is first asked for, together with the rows of its kind that the caller has named;
//     from then on the set's copy is the row. So one statement serves the many jobs of a batch, and each of
//     them sees the changes of those before it.
//  2. Customers, deliveries and balances are locked as they are read. An item has no lock of its own: it is
//     safe under the lock of its delivery, which items() takes first. So what was read is still true when it
//     is written.
//     Nor does an order here: whoever changes one locks it first, and then its delivery, to align the items. So
//     the set, which reads an order once it has locked the delivery, has the order of that moment.
//  3. Locks are taken in one order, customers before deliveries before accounts, and of one kind by rising id
//     (docs/decisions/0018-order-of-locks.md). Code that finds a delivery by another way than its customer
//     calls hold_customers_of() before. So two transactions do not wait for each other in a circle.
//  4. A batch announces what its steps will need by the expect_ functions, and calls lock() before the first
//     of them: one step may need a row that comes before those that another step has locked.
//  5. Changed rows are written by save(), a statement a table for all of them. enqueue() writes the changed
//     customers at once, since it changes their rows in the database, and removed items are deleted before
//     items are read again.
//  6. The database does not know the unsaved changes. save() comes before any statement that reads rows which
//     the set may have changed, and at the end.
//  7. The status of a stored delivery changes by apply() and try_apply() alone; DeliveryChanges::create()
//     makes new deliveries. They take a cause through the state machine and record the timeline entry and the
//     outbound event, which are written with the row. So there is an event for each change that is committed
//     and has one, and for no other (spec 3.1, 10.1).
//  8. The state of an account's login and credits is first read without a lock. Where it stops deliveries,
//     both are locked and read again. So the transaction that writes the failure cannot miss its fix (spec
//     3.6).
//  9. A ledger entry holds the balance behind it, so that a merchant can follow the sum; hence the balance is
//     set first. A fall of the credits within reach is compared with the account's threshold once, so that it
//     is one event (spec 10.1, 11.1).
// 10. A pointer to a row is valid as long as the set, one to an item until the item is removed. A caller may
//     change the row through it and then calls changed().
//
// Lives inside one transaction and on one thread.
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
#include "domain/order.h"
#include "services/delivery/change.h"
#include "storage/database.h"
#include "storage/stores/credential_store.h"
#include "storage/stores/credit_store.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/delivery_store.h"
#include "storage/stores/event_store.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/item_store.h"
#include "storage/stores/order_store.h"

namespace presetbridge::services {

// Open deliveries of one customer that a step reads at most, and deliveries that one job works on at most: a
// customer with more has further jobs (spec 8.6).
inline constexpr int kMostOpenOfCustomer = 500;
inline constexpr std::size_t kMostDeliveriesOfJob = 100;

// An order with its state, which save() encodes into the row.
struct LoadedOrder {
  storage::OrderRow row;  // its `state` is empty until then
  domain::OrderState state;
};

class DeliverySet {
 public:
  // `customers`: the first call for one of their rows reads all of them; likewise for their open deliveries,
  // and for their items.
  DeliverySet(storage::Tx& tx, DeliveryChanges& changes, std::vector<CustomerId> customers = {});
  DeliverySet(const DeliverySet&) = delete;
  DeliverySet& operator=(const DeliverySet&) = delete;

  Timestamp now() { return tx_.now(); }
  DeliveryChanges& changes() { return changes_; }
  // For statements on rows that are not the set's; see rule 6.
  storage::Tx& tx() { return tx_; }

  // ---- orders

  // Locks the order, for a caller that may change it: before customers (rule 3).
  void lock_order(DeliveryId id);
  // Returns the delivery's order, and locks the delivery before it reads it; null if there is no such order.
  // Valid until forget_orders(). Throws the error of decode_order_state() for a damaged state.
  LoadedOrder* order(DeliveryId id);
  // Adds an order that this transaction has locked, with its newest state. The set does not have it yet.
  LoadedOrder& adopt(storage::OrderRow locked, domain::OrderState state);
  // Marks the order to be written. Throws std::logic_error unless it was locked by lock_order(), or adopted.
  void changed(const LoadedOrder& order);
  // Frees the orders that are not to be written: a transaction on many deliveries has one of them at a time.
  void forget_orders();

  // ---- customers

  // Returns a copy of the customer's row, which is locked; nothing if there is none.
  std::optional<storage::CustomerRow> customer(CustomerId id);
  // Announces a user for customer_of_user(), so that all are looked up in one statement.
  void expect_user(CloudAccountId cloud_account, const std::string& user);
  // Returns the customer who is known as this user of the platform, not locked; nothing if there is none. The
  // user was announced by expect_user() before the first call.
  std::optional<storage::CustomerRow> customer_of_user(CloudAccountId cloud_account, const std::string& user);
  // Replaces the row of a customer that customer() has returned.
  void put(storage::CustomerRow row);
  // Queues the customer for a job of this class, due at `due_at` or at the earlier time that stands; a job
  // that holds the customer then checks for work again before it ends. The next customer() reads the row
  // anew.
  void enqueue(CustomerId customer, domain::JobClass job_class, Timestamp due_at);
  // Queues the customers of these usernames, and makes those that are new: for a share where the friendship
  // stands, else for a first request. Returns them in the order of `buyers`; customer() reads them anew.
  std::vector<CustomerId> enqueue(std::span<const storage::Buyer> buyers, Timestamp due_at);

  // ---- deliveries

  // Returns the customer's queued, processing and waiting deliveries, the oldest first: of a customer that
  // the constructor was given, kMostOpenOfCustomer at most are read, the next to be worked on; of any other,
  // only deliveries that the set has already.
  std::vector<DeliveryId> open(CustomerId customer);
  // Returns the delivery, locked; null if there is none.
  storage::DeliveryRow* delivery(DeliveryId id);
  // Adds deliveries that this transaction has locked and read, and returns them in that order. A row that the
  // set has already stays as it is there.
  std::vector<storage::DeliveryRow*> adopt(std::vector<storage::DeliveryRow> locked);
  // Marks the row, which is of the set, to be written.
  void changed(const storage::DeliveryRow& row);
  // Takes the change's cause through the state machine, for a row of the set. INVALID_TRANSITION, and the row
  // is as it was, where the status does not take the cause.
  Expected<void> try_apply(storage::DeliveryRow& row, const Change& change);
  // Takes a cause through the state machine that the service itself knows to be possible, for a row of the
  // set. Throws INTERNAL_ERROR where it is not.
  void apply(storage::DeliveryRow& row, const Change& change);
  // Records something that moves no status, e.g. an action that waits for the job in progress. The row need
  // not be of the set.
  void add_timeline_entry(const storage::DeliveryRow& row, domain::Actor actor, std::string message,
                          EntryDetails details = {});
  // Returns the settings of the store of a delivery of the set, read under the locks of the deliveries that
  // the set then has.
  const storage::OrderSettings& order_settings(const storage::DeliveryRow& row);

  // ---- items

  // Returns the delivery's items by rising id, and locks the delivery before it reads them. `lines` is filled
  // only in items that items_with_lines() has read or add() has added.
  std::vector<storage::ItemRow*> items(DeliveryId delivery);
  // Returns the delivery's items by rising id with their lines, which may be longer than all else.
  std::vector<storage::ItemRow*> items_with_lines(DeliveryId delivery);
  // Returns the items of any delivery that are, were or may have been shared with the customer, by rising id.
  // They are read without the locks of their deliveries.
  std::vector<storage::ItemRow*> items_of(CustomerId customer);
  // Returns of items_of(customer) those of one file.
  std::vector<storage::ItemRow*> items_of(CustomerId customer, const std::string& file);
  // Returns the item of this id, with its delivery locked; null if the delivery has none.
  storage::ItemRow* item(DeliveryId delivery, ItemId id);
  // Marks the item to be written, without its lines.
  void changed(const storage::ItemRow& row);
  // Marks the item's lines to be written.
  void lines_changed(const storage::ItemRow& row) { rows_.items.at(row.id).lines_changed = true; }
  // Adds a new item to its delivery, and its file to the keys that the delivery is found by.
  storage::ItemRow& add(storage::ItemRow row);
  // Removes an item that another item of its delivery stands for from now on.
  void remove(const storage::ItemRow& row);

  // ---- credits

  // Announces that a step for this customer may need the balances of the accounts of their open deliveries.
  void expect_spending(CustomerId customer) { spending_.insert(customer); }
  // Announces that a step may change the account's login or balance.
  void expect_account(AccountId account) { expected_accounts_.insert(account); }
  // Announces that a job of this customer begins: lock() then finds the accounts without credits, so that
  // they are known before the job's first call.
  void expect_beginning(CustomerId customer) { beginning_.insert(customer); }
  // Returns whether lock() found no available credit in the account, which is one of a job that begins. That
  // was read before the balance was locked: balance() has the amount that counts.
  bool without_credit(AccountId account) const { return without_credit_.contains(account); }
  // Locks the open deliveries of the constructor's customers, who have been locked by customer() before, and
  // then balances: of accounts that were announced, and of those without credits where a job begins.
  void lock();
  // Returns the account's balance, locked. Throws std::out_of_range for an account that does not exist.
  const domain::Balance& balance(AccountId account);
  // Replaces the balance, which balance() has returned before.
  void set_balance(AccountId account, const domain::Balance& balance);
  // Spends one of the credits on hold, and calls notify_if_low().
  void spend(AccountId account);
  // Records the event credits.low if the credits within reach fell from above the account's threshold, as
  // they were in `before`, to it or below. Called once after each set_balance() that lowers them.
  void notify_if_low(AccountId account, const domain::Balance& before);
  // Records a movement of the account's credits, with the balance behind it: called after set_balance().
  void add_ledger_entry(storage::LedgerRow entry) {
    entry.entry.balance_after = balance(entry.account).within_reach();
    ledger_.push_back(std::move(entry));
  }

  // ---- accounts

  // Reads in one statement a table what standing() and cause() need of these accounts.
  void read_standings(std::span<const AccountId> accounts);
  // Returns the state of the account's cloud login. The reference is valid until save(), after which the
  // state is read anew.
  const storage::CredentialsStanding& standing(AccountId account);
  // Returns the cause that stops all work on the account's deliveries, which is its login or its credits;
  // else none. Login and balance are locked where there is a cause (rule 8).
  domain::ResolutionCode cause(AccountId account);
  // Reads in one statement what subscribers() and subscribers_of_account() need of these accounts.
  void read_subscriptions(std::span<const AccountId> accounts);
  // Returns the active subscriptions that want events of this type from this store, as they were when the set
  // first read those of the account. A subscription that is made meanwhile gets the events of later
  // transactions.
  std::vector<SubscriptionId> subscribers(AccountId account, std::string_view event_type,
                                          IntegrationId integration);
  // Returns the active subscriptions that want events of this type of the whole account.
  std::vector<SubscriptionId> subscribers_of_account(AccountId account, std::string_view event_type);

  // Writes all changes since the last call, with the timeline, the events and the ledger. Pointers stay
  // valid.
  void save();

 private:
  template <class T>
  struct Entry {
    T row;
    bool changed = false;
  };
  struct OrderEntry {
    LoadedOrder row;
    bool locked = false;
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
    std::optional<domain::Balance> balance;  // as read without a lock
    bool locked = false;                     // login and balance
  };
  using CloudUser = std::pair<CloudAccountId, std::string>;
  // The rows as they are now, and which of the database's rows have been read.
  struct Rows {
    bool customers_read = false;
    std::map<CustomerId, Entry<storage::CustomerRow>> customers;
    bool users_read = false;
    std::map<CloudUser, storage::CustomerRow> users;     // found for expected_users_
    std::map<CloudUser, CustomerId> users_of_changed;    // of customers that put() has got: the last of each
    std::map<OrderId, storage::OrderRow> locked_orders;  // not decoded yet
    std::map<OrderId, OrderEntry> orders;
    bool open_read = false;
    std::map<DeliveryId, Entry<storage::DeliveryRow>> deliveries;
    // By customer: deliveries that had the customer at some time; they need not be open any more.
    std::unordered_map<CustomerId, std::set<DeliveryId>> open;
    std::map<ItemId, ItemEntry> items;
    std::unordered_map<DeliveryId, std::set<ItemId>> of_delivery;  // has each delivery whose items are read
    std::set<DeliveryId> with_lines;                               // deliveries whose items' lines are read
    std::set<CustomerId> items_read;                               // customers whose items are read
    std::unordered_map<CustomerId, std::set<ItemId>> of_customer;
    std::map<std::pair<CustomerId, std::string>, std::set<ItemId>> of_customer_and_file;
    std::vector<storage::ItemRow> removed_items;
    std::map<AccountId, Entry<domain::Balance>> balances;
    std::map<IntegrationId, storage::OrderSettings> order_settings;
    std::unordered_map<AccountId, std::int64_t> credits_low_at;  // of the accounts in `balances`
    std::unordered_map<AccountId, StandingEntry> standings;      // read since the last save()
    std::unordered_map<AccountId, std::vector<storage::ActiveSubscription>> subscriptions;
  };
  void read_open();
  LoadedOrder& load_order(storage::OrderRow row, bool locked);
  void save_orders();
  void save_customers();
  void save_items();
  void save_removals();
  void forget_customers(std::span<const CustomerId> customers);
  void read_items_of(CustomerId customer);
  std::vector<storage::ItemRow*> still_of(CustomerId customer, const std::set<ItemId>& ids);
  void index_by_customer(const storage::ItemRow& row);
  void read_balances(const std::set<AccountId>& wanted);
  domain::ResolutionCode cause_of(AccountId account, const StandingEntry& standing) const;
  std::optional<std::vector<const storage::ItemRow*>> loaded_items(DeliveryId id) const;
  storage::DeliveryRow& insert(storage::DeliveryRow row);
  ItemEntry& insert(storage::ItemRow row);

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
