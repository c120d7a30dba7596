#include "services/delivery/delivery_set.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "domain/delivery.h"
#include "services/delivery/change_words.h"

namespace presetbridge::services {

DeliverySet::DeliverySet(storage::Tx& tx, DeliveryChanges& changes, std::vector<CustomerId> customers)
    : tx_(tx), changes_(changes), customers_(std::move(customers)) {
  // Rising ids, so that two sets lock customers in one order. A customer whose lease was lost may be given
  // twice.
  std::ranges::sort(customers_);
  customers_.erase(std::ranges::unique(customers_).begin(), customers_.end());
}

// ---------------------------------------------------------------- orders

void DeliverySet::lock_order(DeliveryId id) {
  auto row = storage::lock_order(tx_, OrderId{id.value});
  if (row) rows_.locked_orders.try_emplace(row->id, std::move(*row));
}

LoadedOrder* DeliverySet::order(DeliveryId id) {
  const OrderId order{id.value};
  if (const auto found = rows_.orders.find(order); found != rows_.orders.end()) return &found->second.row;
  delivery(id);
  if (auto locked = rows_.locked_orders.extract(order)) return &load_order(std::move(locked.mapped()), true);
  auto row = find_order(tx_, order);
  return row ? &load_order(std::move(*row), false) : nullptr;
}

LoadedOrder& DeliverySet::load_order(storage::OrderRow row, bool locked) {
  auto state = state_of(row);
  row.state = {};
  const auto id = row.id;
  return rows_.orders.emplace(id, OrderEntry{{std::move(row), std::move(state)}, locked}).first->second.row;
}

LoadedOrder& DeliverySet::adopt(storage::OrderRow locked, domain::OrderState state) {
  const auto id = locked.id;
  const auto [at, is_new] =
      rows_.orders.try_emplace(id, OrderEntry{{std::move(locked), std::move(state)}, true});
  if (!is_new) throw std::logic_error("the set has the order already");
  return at->second.row;
}

void DeliverySet::changed(const LoadedOrder& order) {
  auto& entry = rows_.orders.at(order.row.id);
  if (!entry.locked) throw std::logic_error("an order is changed that is not locked");
  entry.changed = true;
}

void DeliverySet::forget_orders() {
  std::erase_if(rows_.orders, [](const auto& entry) { return !entry.second.changed; });
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

void DeliverySet::forget_customers(std::span<const CustomerId> customers) {
  for (const auto id : customers) rows_.customers.erase(id);
  std::erase_if(rows_.users_of_changed,
                [&](const auto& entry) { return !rows_.customers.contains(entry.second); });
  rows_.users_read = false;
  rows_.users.clear();
}

void DeliverySet::enqueue(CustomerId customer, domain::JobClass job_class, Timestamp due_at) {
  save_customers();
  enqueue_customer(tx_, customer, job_class, due_at);
  forget_customers(std::span(&customer, 1));
}

std::vector<CustomerId> DeliverySet::enqueue(std::span<const storage::Buyer> buyers, Timestamp due_at) {
  save_customers();
  auto customers = enqueue_buyers(tx_, buyers, due_at);
  forget_customers(customers);
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
  // Changed customers are not in the database yet.
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

storage::DeliveryRow& DeliverySet::insert(storage::DeliveryRow row) {
  const auto [entry, is_new] = rows_.deliveries.try_emplace(row.id, std::move(row));
  if (is_new && entry->second.row.customer) rows_.open[entry->second.row.customer].insert(entry->first);
  return entry->second.row;
}

// Replaces an unchanged copy, which may have been read without the lock of its delivery.
DeliverySet::ItemEntry& DeliverySet::insert(storage::ItemRow row) {
  auto& entry = rows_.items[row.id];
  if (entry.changed) return entry;
  if (entry.lines_read) row.lines = std::move(entry.row.lines);
  entry.row = std::move(row);
  return entry;
}

void DeliverySet::read_open() {
  if (std::exchange(rows_.open_read, true) || customers_.empty()) return;
  for (auto& row : lock_open_deliveries(tx_, customers_, kMostOpenOfCustomer)) insert(std::move(row));
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
    insert(std::move(*row));
    // The store may have changed them, and have stopped this order, before the delivery was locked.
    rows_.order_settings.clear();
  }
  return &rows_.deliveries.at(id).row;
}

std::vector<storage::ItemRow*> DeliverySet::items(DeliveryId id) {
  if (!rows_.of_delivery.contains(id)) {
    // Items change under the lock of their delivery: a copy that is read before it is taken may be old.
    delivery(id);
    std::vector<DeliveryId> unread;
    for (const auto& [other, entry] : rows_.deliveries) {
      if (rows_.of_delivery.try_emplace(other).second) unread.push_back(other);
    }
    save_removals();
    for (auto& row : find_items_of_job(tx_, unread)) {
      const auto& item = insert(std::move(row)).row;
      rows_.of_delivery[item.delivery].insert(item.id);
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
      // A copy that was read under the lock of the delivery may hold changes: it gets its lines alone.
      auto& entry = unread ? insert(std::move(row)) : rows_.items.at(row.id);
      entry.lines_read = true;
      entry.row.lines = std::move(lines);
      of_delivery->second.insert(entry.row.id);
    }
  }
  return items(id);
}

std::vector<storage::DeliveryRow*> DeliverySet::adopt(std::vector<storage::DeliveryRow> locked) {
  std::vector<storage::DeliveryRow*> adopted;
  for (auto& row : locked) adopted.push_back(&insert(std::move(row)));
  return adopted;
}

storage::ItemRow& DeliverySet::add(storage::ItemRow row) {
  items(row.delivery);
  rows_.of_delivery[row.delivery].insert(row.id);
  auto& entry = rows_.items[row.id];
  entry = {.row = std::move(row), .lines_read = true, .added = true};
  index_by_customer(entry.row);
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
  for (auto& row : find_items_of_customers(tx_, unread)) index_by_customer(insert(std::move(row)).row);
}

std::vector<storage::ItemRow*> DeliverySet::still_of(CustomerId customer, const std::set<ItemId>& ids) {
  std::vector<storage::ItemRow*> items;
  for (const auto id : ids) {
    auto& row = rows_.items.at(id).row;
    if (row.customer == customer) items.push_back(&row);
  }
  return items;
}

std::vector<storage::ItemRow*> DeliverySet::items_of(CustomerId customer) {
  read_items_of(customer);
  return still_of(customer, rows_.of_customer[customer]);
}

std::vector<storage::ItemRow*> DeliverySet::items_of(CustomerId customer, const std::string& file) {
  read_items_of(customer);
  return still_of(customer, rows_.of_customer_and_file[{customer, file}]);
}

void DeliverySet::index_by_customer(const storage::ItemRow& row) {
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
  index_by_customer(row);
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
  if (change.cause == domain::Cause::nothing_left_owed && change.message.empty() &&
      std::ranges::any_of(items(row.id), [](const storage::ItemRow* item) {
        return !item->former && item->status == domain::ItemStatus::dropped;
      })) {
    Change part = change;
    part.message = kRestShared;
    return try_apply(row, part);
  }
  auto done = changes_.apply(tx_.now(), row, change, record_);
  if (done) changed(row);
  return done;
}

void DeliverySet::apply(storage::DeliveryRow& row, const Change& change) {
  // A fault of the service itself, whose text is for the log.
  if (const auto done = try_apply(row, change); !done)
    throw Error{"INTERNAL_ERROR", to_string(row.id) + ": " + done.error().message, {}};
}

void DeliverySet::add_timeline_entry(const storage::DeliveryRow& row, domain::Actor actor,
                                     std::string message, EntryDetails details) {
  changes_.add_timeline_entry(tx_.now(), row, actor, std::move(message), record_, std::move(details));
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

}  // namespace presetbridge::services
