#include "services/delivery/delivery_set.h"

#include <map>
#include <utility>
#include <vector>

#include "storage/stores/delivery_keys.h"

namespace presetbridge::services {
namespace {

template <class Rows>
auto changed_of(Rows& rows) {
  std::vector<decltype(&rows.begin()->second.row)> changed;
  for (auto& [id, entry] : rows) {
    if (std::exchange(entry.changed, false)) changed.push_back(&entry.row);
  }
  return changed;
}

}  // namespace

void DeliverySet::save_orders() {
  std::vector<storage::OrderRow> rows;
  for (auto* const order : changed_of(rows_.orders)) {
    order->row.updated_at = now();
    set_state(order->row, order->state);
    rows.push_back(order->row);
  }
  update_orders(tx_, rows);
}

void DeliverySet::save_customers() {
  update_customers(tx_, changed_of(rows_.customers));
}

std::optional<std::vector<const storage::ItemRow*>> DeliverySet::loaded_items(DeliveryId id) const {
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
  save_orders();
  update_deliveries(tx_, changed_of(rows_.deliveries));
  save_items();
  std::vector<storage::AccountBalance> balances;
  for (auto& [account, entry] : rows_.balances) {
    if (std::exchange(entry.changed, false)) balances.push_back({account, entry.row});
  }
  update_balances(tx_, balances);
  save_customers();
  append_ledger(tx_, std::exchange(ledger_, {}));
  changes_.write(*this, std::exchange(record_, {}), [this](DeliveryId id) { return loaded_items(id); });
  rows_.standings.clear();
}

}  // namespace presetbridge::services
