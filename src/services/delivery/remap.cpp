#include "services/delivery/remap.h"

#include <algorithm>
#include <map>
#include <set>

#include "storage/stores/credential_store.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/order_store.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using domain::OrderLine;
using storage::Tx;

struct Mappings {
  domain::MappingIndex index;
  bool stale = false;  // some mappings are stale, and are left out of the index
};

Mappings mappings_of(Tx& tx, IntegrationId integration) {
  std::vector<domain::Mapping> current;
  bool stale = false;
  for (auto& m : find_mappings(tx, integration)) {
    stale = stale || m.stale;
    if (!m.stale) current.push_back(std::move(m.mapping));
  }
  return {domain::MappingIndex(current), stale};
}

domain::OrderState state_of(const storage::OrderRow& order) {
  auto state = domain::decode_order_state(order.state);
  if (!state) throw Error(state.error());
  return std::move(*state);
}

}  // namespace

Alignment remap(DeliverySet& set, const storage::DeliveryRow& row, domain::MappingIndex::Lines lines) {
  auto& tx = set.tx();
  auto order = find_order(tx, OrderId{row.id.value});
  if (!order) return {};
  auto state = state_of(*order);
  // An order that is too large to be read does not say which files it owes.
  if (state.too_large) return {};
  const auto mappings = mappings_of(tx, row.integration);
  const auto before = state.lines;
  const auto mapped = mappings.index.map(state, lines);
  order->unmapped = domain::unmapped_lines(state).value_or(order->unmapped);
  order->updated_at = tx.now();
  set_state(*order, state);
  update_order(tx, *order);
  set.changes().report_unmapped(set, *order, before, state, row.dry_run);
  auto aligned = align_items(set, row, state, mapped, !mappings.stale);
  if (aligned.owes_less) set.add_timeline_entry(row, domain::Actor::system(), dropped_message(aligned));
  return aligned;
}

bool replace_missing(DeliverySet& set, const storage::DeliveryRow& row) {
  auto& tx = set.tx();
  const auto standing = find_standing(tx, row.account);
  const bool moved = standing && row.cloud_account && row.cloud_account != standing->cloud_account;
  // The order is not locked: the delivery is, and orders are locked before deliveries. A transaction that
  // changes the order meanwhile aligns the items once this delivery is free.
  const auto order = find_order(tx, OrderId{row.id.value});
  if (!order) return moved;
  auto state = state_of(*order);
  std::map<std::string, std::set<std::string>> owed;  // files, by line
  std::set<std::string> without;                      // lines that owe a file which is missing
  std::size_t missing = 0;
  std::set<std::string> known;
  std::vector<ItemStatus> before;
  for (const auto* const item : set.items_with_lines(row.id)) {
    known.insert(item->file_id);
    before.push_back(item->status);
    if (item->former || item->status == ItemStatus::dropped) continue;
    const auto ids = line_ids(*item);
    for (const auto& id : ids) owed[id].insert(item->file_id);
    if (item->status != ItemStatus::owed) continue;
    ++missing;
    without.insert(ids.begin(), ids.end());
  }
  const auto mappings = mappings_of(tx, row.integration);
  // A mapping that is gone takes nothing away by itself, and one that is new adds nothing but a replacement.
  const auto is_replaced = [&](const OrderLine& line) {
    const auto* const now = line.file_id.empty() ? mappings.index.find(line) : nullptr;
    return now != nullptr && std::ranges::any_of(*now, [&](const domain::Mapping& mapping) {
             return mapping.action == domain::MappingAction::deliver &&
                    !owed[line.line_id].contains(mapping.file_id);
           });
  };
  for (auto& line : state.lines) {
    const bool again = without.contains(line.line_id) && is_replaced(line);
    line.mapped = again ? OrderLine::Mapped::not_yet : OrderLine::Mapped::owes;
  }
  auto mapped = mappings.index.map(state, domain::MappingIndex::Lines::not_mapped);
  if (mapped.lines.empty()) return moved;
  std::size_t added = 0;
  std::erase_if(mapped.files, [&](const domain::OwedFile& file) {
    return !known.contains(file.file_id) && ++added > missing;
  });
  align_items(set, row, state, mapped, !mappings.stale);
  return moved || !std::ranges::equal(before, set.items(row.id), {}, {}, &storage::ItemRow::status);
}

}  // namespace presetbridge::services
