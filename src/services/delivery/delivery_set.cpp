#include "services/delivery/delivery_set.h"

#include <algorithm>
#include <iterator>

#include "domain/delivery.h"
#include "storage/stores/delivery_keys.h"

namespace presetbridge::services {
namespace {

using domain::ResolutionCode;
using storage::CredentialsStatus;

template <class Rows>
auto changed_of(Rows& rows) {
  std::vector<decltype(&rows.begin()->second.row)> changed;
  for (auto& [id, entry] : rows) {
    if (std::exchange(entry.changed, false)) changed.push_back(&entry.row);
  }
  return changed;
}

}  // namespace

DeliverySet::DeliverySet(storage::Tx& tx, DeliveryChanges& changes, std::vector<CustomerId> customers)
    : tx_(tx), changes_(changes), customers_(std::move(customers)) {
  // Two sets take the locks of customers in one order. One whose lease was lost may be there twice.
  std::ranges::sort(customers_);
  customers_.erase(std::ranges::unique(customers_).begin(), customers_.end());
}

// ---------------------------------------------------------------- customers

std::optional<storage::CustomerRow> DeliverySet::customer(CustomerId id) {
  if (!std::exchange(rows_.customers_read, true)) {
    for (auto& row : lock_customers(tx_, customers_)) rows_.customers.try_emplace(row.id, std::move(row));
  }
  if (const auto found = rows_.customers.find(id); found != rows_.customers.end()) return found->second.row;
  auto row = lock_customer(tx_, id);
  if (row) rows_.customers.try_emplace(id, *row);
  return row;
}

void DeliverySet::put(storage::CustomerRow row) {
  if (!row.cloud_user_id.empty()) rows_.users_of_changed[{row.cloud_account, row.cloud_user_id}] = row.id;
  auto& entry = rows_.customers[row.id];
  entry.row = std::move(row);
  entry.changed = true;
}

void DeliverySet::save_customers() {
  update_customers(tx_, changed_of(rows_.customers));
}

void DeliverySet::read_anew(std::span<const CustomerId> customers) {
  for (const auto id : customers) rows_.customers.erase(id);
  std::erase_if(rows_.users_of_changed,
                [&](const auto& entry) { return !rows_.customers.contains(entry.second); });
  rows_.users_read = false;
  rows_.users.clear();
}

void DeliverySet::enqueue(CustomerId customer, domain::JobClass job_class, Timestamp due_at) {
  save_customers();
  enqueue_customer(tx_, customer, job_class, due_at);
  read_anew(std::span(&customer, 1));
}

std::vector<CustomerId> DeliverySet::enqueue(std::span<const storage::Buyer> buyers, Timestamp due_at) {
  save_customers();
  auto customers = enqueue_buyers(tx_, buyers, due_at);
  read_anew(customers);
  return customers;
}

void DeliverySet::expect_user(CloudAccountId cloud_account, const std::string& user) {
  expected_users_.emplace(cloud_account, user);
}

std::optional<storage::CustomerRow> DeliverySet::customer_of_user(CloudAccountId cloud_account,
                                                                  const std::string& user) {
  if (!std::exchange(rows_.users_read, true)) {
    std::vector<storage::CloudUserKey> keys;
    for (const auto& [account, id] : expected_users_) keys.push_back({account, id});
    for (auto& row : find_customers_by_cloud_user(tx_, keys))
      rows_.users.try_emplace({row.cloud_account, row.cloud_user_id}, std::move(row));
  }
  const auto is_user = [&](const storage::CustomerRow& row) {
    return row.cloud_account == cloud_account && row.cloud_user_id == user;
  };
  // What the set has changed is not in the database yet.
  if (const auto own = rows_.users_of_changed.find({cloud_account, user});
      own != rows_.users_of_changed.end()) {
    const auto& row = rows_.customers.at(own->second).row;
    if (is_user(row)) return row;
  }
  const auto found = rows_.users.find({cloud_account, user});
  if (found == rows_.users.end()) return std::nullopt;
  const auto own = rows_.customers.find(found->second.id);
  if (own == rows_.customers.end()) return found->second;
  return is_user(own->second.row) ? std::optional(own->second.row) : std::nullopt;
}

// ---------------------------------------------------------------- deliveries and items

storage::DeliveryRow& DeliverySet::keep(storage::DeliveryRow row) {
  const auto [kept, is_new] = rows_.deliveries.try_emplace(row.id, std::move(row));
  if (is_new && kept->second.row.customer) rows_.open[kept->second.row.customer].insert(kept->first);
  return kept->second.row;
}

// What was read before, perhaps without the lock of its delivery, gives way.
DeliverySet::ItemEntry& DeliverySet::keep(storage::ItemRow row) {
  auto& entry = rows_.items[row.id];
  if (entry.changed) return entry;
  if (entry.lines_read) row.lines = std::move(entry.row.lines);
  entry.row = std::move(row);
  return entry;
}

void DeliverySet::read_open() {
  if (std::exchange(rows_.open_read, true) || customers_.empty()) return;
  for (auto& row : lock_open_deliveries(tx_, customers_, kMostOpenOfCustomer)) keep(std::move(row));
}

std::vector<DeliveryId> DeliverySet::open(CustomerId customer) {
  read_open();
  std::vector<DeliveryId> ids;
  for (const auto id : rows_.open[customer]) {
    const auto& row = rows_.deliveries.at(id).row;
    if (row.customer == customer && storage::is_open(row)) ids.push_back(id);
  }
  return ids;
}

void DeliverySet::changed(const storage::DeliveryRow& row) {
  rows_.deliveries.at(row.id).changed = true;
  if (row.customer) rows_.open[row.customer].insert(row.id);
}

storage::DeliveryRow* DeliverySet::delivery(DeliveryId id) {
  read_open();
  if (!rows_.deliveries.contains(id)) {
    auto row = lock_delivery(tx_, id);
    if (!row) return nullptr;
    keep(std::move(*row));
    rows_.order_settings.clear();  // the store may have changed them, and ended this order, before the lock
  }
  return &rows_.deliveries.at(id).row;
}

std::vector<storage::ItemRow*> DeliverySet::items(DeliveryId id) {
  if (!rows_.of_delivery.contains(id)) {
    // Whoever changes items has locked their delivery: what is read before that may be old.
    delivery(id);
    std::vector<DeliveryId> unread;
    for (const auto& [other, entry] : rows_.deliveries) {
      if (rows_.of_delivery.try_emplace(other).second) unread.push_back(other);
    }
    save_removals();
    for (auto& row : find_items_of_job(tx_, unread)) {
      const auto& kept = keep(std::move(row)).row;
      rows_.of_delivery[kept.delivery].insert(kept.id);
    }
  }
  std::vector<storage::ItemRow*> items;
  for (const auto item : rows_.of_delivery[id]) items.push_back(&rows_.items.at(item).row);
  return items;
}

std::vector<storage::ItemRow*> DeliverySet::items_with_lines(DeliveryId id) {
  if (rows_.with_lines.insert(id).second) {
    delivery(id);
    save_removals();
    const auto [of_delivery, unread] = rows_.of_delivery.try_emplace(id);
    for (auto& row : find_items(tx_, id)) {
      auto lines = row.lines;
      // What was read under the lock of the delivery may be about to change: it gets its lines alone.
      auto& entry = unread ? keep(std::move(row)) : rows_.items.at(row.id);
      entry.lines_read = true;
      entry.row.lines = std::move(lines);
      of_delivery->second.insert(entry.row.id);
    }
  }
  return items(id);
}

std::vector<storage::DeliveryRow*> DeliverySet::take(std::vector<storage::DeliveryRow> locked) {
  std::vector<storage::DeliveryRow*> taken;
  for (auto& row : locked) taken.push_back(&keep(std::move(row)));
  return taken;
}

storage::ItemRow& DeliverySet::add(storage::ItemRow row) {
  items(row.delivery);
  rows_.of_delivery[row.delivery].insert(row.id);
  auto& entry = rows_.items[row.id];
  entry = {.row = std::move(row), .lines_read = true, .added = true};
  note_customer(entry.row);
  return entry.row;
}

void DeliverySet::read_items_of(CustomerId customer) {
  read_open();
  if (rows_.items_read.contains(customer)) return;
  std::vector<CustomerId> unread{customer};
  for (const auto id : customers_) {
    if (id != customer && !rows_.items_read.contains(id)) unread.push_back(id);
  }
  rows_.items_read.insert(unread.begin(), unread.end());
  save_removals();
  for (auto& row : find_items_of_customers(tx_, unread)) note_customer(keep(std::move(row)).row);
}

std::vector<storage::ItemRow*> DeliverySet::of(const std::set<ItemId>& ids, CustomerId customer) {
  std::vector<storage::ItemRow*> items;
  for (const auto id : ids) {
    auto& row = rows_.items.at(id).row;
    if (row.customer == customer) items.push_back(&row);
  }
  return items;
}

std::vector<storage::ItemRow*> DeliverySet::items_of(CustomerId customer) {
  read_items_of(customer);
  return of(rows_.of_customer[customer], customer);
}

std::vector<storage::ItemRow*> DeliverySet::items_of(CustomerId customer, const std::string& file) {
  read_items_of(customer);
  return of(rows_.of_customer_and_file[{customer, file}], customer);
}

void DeliverySet::note_customer(const storage::ItemRow& row) {
  if (!row.customer) return;
  rows_.of_customer[row.customer].insert(row.id);
  rows_.of_customer_and_file[{row.customer, row.file_id}].insert(row.id);
}

storage::ItemRow* DeliverySet::item(DeliveryId delivery, ItemId id) {
  const auto all = items(delivery);
  const auto found = std::ranges::find(all, id, &storage::ItemRow::id);
  return found == all.end() ? nullptr : *found;
}

void DeliverySet::changed(const storage::ItemRow& row) {
  rows_.items.at(row.id).changed = true;
  note_customer(row);
}

void DeliverySet::remove(const storage::ItemRow& row) {
  const storage::ItemRow gone = row;
  rows_.of_delivery[gone.delivery].erase(gone.id);
  if (gone.customer) {
    rows_.of_customer[gone.customer].erase(gone.id);
    rows_.of_customer_and_file[{gone.customer, gone.file_id}].erase(gone.id);
  }
  const bool stored = !rows_.items.at(gone.id).added;
  rows_.items.erase(gone.id);
  if (stored) rows_.removed_items.push_back(gone);
}

Expected<void> DeliverySet::try_apply(storage::DeliveryRow& row, const Change& change) {
  auto done = changes_.apply(tx_.now(), row, change, record_);
  if (done) changed(row);
  return done;
}

void DeliverySet::apply(storage::DeliveryRow& row, const Change& change) {
  // What the service itself asked for was not possible: a fault here, whose text is for the log.
  if (const auto done = try_apply(row, change); !done)
    throw Error{"INTERNAL_ERROR", to_string(row.id) + ": " + done.error().message, {}};
}

void DeliverySet::note(const storage::DeliveryRow& row, domain::Actor actor, std::string message, Told told) {
  changes_.note(tx_.now(), row, actor, std::move(message), record_, std::move(told));
}

const storage::OrderSettings& DeliverySet::order_settings(const storage::DeliveryRow& row) {
  if (rows_.order_settings.empty()) {
    std::set<IntegrationId> stores;
    for (const auto& [id, entry] : rows_.deliveries) stores.insert(entry.row.integration);
    const std::vector<IntegrationId> ids(stores.begin(), stores.end());
    const auto found = find_order_settings(tx_, ids);
    for (std::size_t i = 0; i < ids.size(); ++i) rows_.order_settings[ids[i]] = found[i];
  }
  return rows_.order_settings.at(row.integration);
}

// ---------------------------------------------------------------- credits

void DeliverySet::lock() {
  read_open();
  std::set<AccountId> wanted = expected_accounts_;
  for (const auto customer : spending_) {
    for (const auto id : open(customer)) wanted.insert(rows_.deliveries.at(id).row.account);
  }
  std::set<AccountId> asked;
  for (const auto customer : beginning_) {
    for (const auto id : open(customer)) asked.insert(rows_.deliveries.at(id).row.account);
  }
  for (const auto& [id, balance, low_at] : find_balances(tx_, std::vector(asked.begin(), asked.end()))) {
    if (balance.available() > 0) continue;
    without_credit_.insert(id);
    wanted.insert(id);
  }
  read_balances(wanted);
}

void DeliverySet::read_balances(const std::set<AccountId>& wanted) {
  std::vector<AccountId> unread;
  std::ranges::copy_if(wanted, std::back_inserter(unread),
                       [&](AccountId id) { return !rows_.balances.contains(id); });
  for (const auto& [id, balance, low_at] : lock_balances(tx_, unread)) {
    rows_.balances[id].row = balance;
    rows_.credits_low_at[id] = low_at.value_or(changes_.credits_low_at());
  }
}

const domain::Balance& DeliverySet::balance(AccountId account) {
  if (!rows_.balances.contains(account)) read_balances({account});
  return rows_.balances.at(account).row;
}

void DeliverySet::set_balance(AccountId account, const domain::Balance& balance) {
  rows_.balances.at(account) = {balance, true};
}

void DeliverySet::spend(AccountId account) {
  const auto before = balance(account);
  set_balance(account, domain::spend(before, 1).value());
  // A hold that is released changes nothing of what is left, so nothing is told of it twice.
  tell_if_low(account, before);
}

void DeliverySet::tell_if_low(AccountId account, const domain::Balance& before) {
  const auto& after = balance(account);
  const auto threshold = rows_.credits_low_at.at(account);
  if (before.within_reach() > threshold && after.within_reach() <= threshold)
    record_.credits_low.push_back({account, after, threshold});
}

// ---------------------------------------------------------------- accounts

void DeliverySet::read_standings(std::span<const AccountId> accounts) {
  std::vector<AccountId> unread;
  for (const auto account : accounts) {
    if (rows_.standings.try_emplace(account).second) unread.push_back(account);
  }
  const auto standings = find_standings(tx_, unread);
  for (std::size_t i = 0; i < unread.size(); ++i) rows_.standings[unread[i]].row = standings[i];
  for (const auto& row : find_balances(tx_, unread)) rows_.standings[row.account].balance = row.balance;
}

const storage::CredentialsStanding& DeliverySet::standing(AccountId account) {
  read_standings(std::span(&account, 1));
  return rows_.standings[account].row;
}

ResolutionCode DeliverySet::cause_of(AccountId account, const StandingEntry& standing) const {
  const auto& login = standing.row;
  if (login.status == CredentialsStatus::missing) return ResolutionCode::credentials_missing;
  if (login.status == CredentialsStatus::invalid)
    return login.unreadable ? ResolutionCode::credentials_missing : ResolutionCode::credentials_invalid;
  const auto locked = rows_.balances.find(account);
  const auto balance = locked == rows_.balances.end() ? standing.balance : locked->second.row;
  // Credits on hold may come back: that is found out when the share is due.
  return balance && balance->within_reach() > 0 ? ResolutionCode::none : ResolutionCode::insufficient_credits;
}

ResolutionCode DeliverySet::cause(AccountId account) {
  read_standings(std::span(&account, 1));
  auto& standing = rows_.standings[account];
  const auto cause = cause_of(account, standing);
  if (cause == ResolutionCode::none || std::exchange(standing.locked, true)) return cause;
  standing.row = lock_standing(tx_, account).value_or(storage::CredentialsStanding{});
  read_balances({account});
  return cause_of(account, standing);
}

void DeliverySet::read_subscriptions(std::span<const AccountId> accounts) {
  std::vector<AccountId> unread;
  for (const auto account : accounts) {
    if (rows_.subscriptions.try_emplace(account).second) unread.push_back(account);
  }
  auto read = active_subscriptions(tx_, unread);
  for (std::size_t i = 0; i < unread.size(); ++i) rows_.subscriptions[unread[i]] = std::move(read[i]);
}

std::vector<SubscriptionId> DeliverySet::subscribers(AccountId account, std::string_view event_type,
                                                     IntegrationId integration) {
  read_subscriptions(std::span(&account, 1));
  std::vector<SubscriptionId> wanting;
  for (const auto& subscription : rows_.subscriptions[account]) {
    if (wants(subscription, event_type, integration)) wanting.push_back(subscription.id);
  }
  return wanting;
}

std::vector<SubscriptionId> DeliverySet::subscribers_of_account(AccountId account,
                                                                std::string_view event_type) {
  read_subscriptions(std::span(&account, 1));
  std::vector<SubscriptionId> wanting;
  for (const auto& subscription : rows_.subscriptions[account]) {
    if (wants_of_account(subscription, event_type)) wanting.push_back(subscription.id);
  }
  return wanting;
}

// ---------------------------------------------------------------- writing

std::optional<std::vector<const storage::ItemRow*>> DeliverySet::items_at_hand(DeliveryId id) const {
  const auto found = rows_.of_delivery.find(id);
  if (found == rows_.of_delivery.end()) return std::nullopt;
  std::vector<const storage::ItemRow*> items;
  for (const auto item : found->second) items.push_back(&rows_.items.at(item).row);
  return items;
}

void DeliverySet::save_removals() {
  delete_items(tx_, std::exchange(rows_.removed_items, {}));
}

void DeliverySet::save_items() {
  std::vector<const storage::ItemRow*> changed;
  std::vector<const storage::ItemRow*> other_lines;
  std::vector<storage::ItemRow> added;
  std::map<DeliveryId, storage::DeliveryKeys> keys;
  for (auto& [id, entry] : rows_.items) {
    const bool is_changed = std::exchange(entry.changed, false);
    const bool lines_changed = std::exchange(entry.lines_changed, false);
    if (std::exchange(entry.added, false)) {
      added.push_back(entry.row);
      auto& of = keys[entry.row.delivery];
      of.account = entry.row.account;
      of.delivery = entry.row.delivery;
      of.files.push_back(entry.row.file_id);
      continue;
    }
    if (is_changed) changed.push_back(&entry.row);
    if (lines_changed) other_lines.push_back(&entry.row);
  }
  save_removals();
  update_items(tx_, changed);
  update_item_lines(tx_, other_lines);
  insert_items(tx_, added);
  std::vector<storage::DeliveryKeys> all_keys;
  for (auto& [id, of] : keys) all_keys.push_back(std::move(of));
  insert_delivery_keys(tx_, all_keys);
}

void DeliverySet::save() {
  update_deliveries(tx_, changed_of(rows_.deliveries));
  save_items();
  std::vector<storage::AccountBalance> balances;
  for (auto& [account, entry] : rows_.balances) {
    if (std::exchange(entry.changed, false)) balances.push_back({account, entry.row});
  }
  update_balances(tx_, balances);
  save_customers();
  append_ledger(tx_, std::exchange(ledger_, {}));
  changes_.write(*this, std::exchange(record_, {}), [this](DeliveryId id) { return items_at_hand(id); });
  rows_.standings.clear();
}

}  // namespace presetbridge::services
