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

// The files of a line that owes a missing one.
struct LineFiles {
  std::set<std::string> missing;  // owed, and not shared
  std::set<std::string> owed;     // those and what was shared
  std::set<std::string> now;      // to be owed from now on
  std::int64_t quantity = 0;      // as ordered
  std::int64_t paid = 0;
};

// Fills `now` from the line's present mappings (null: none). A file that the line does not owe yet replaces a
// missing file that no mapping names any more, one for one, in the order of the mappings. Returns whether any file
// is replaced: a mapping that is gone takes nothing away by itself (spec 2.6).
bool choose_replacements(const std::vector<domain::Mapping>* mappings, LineFiles& line) {
  if (mappings == nullptr) return false;
  auto gone = line.missing;
  for (const auto& mapping : *mappings) gone.erase(mapping.file_id);
  std::size_t added = 0;
  for (const auto& mapping : *mappings) {
    if (mapping.action != domain::MappingAction::deliver || line.now.contains(mapping.file_id)) continue;
    const bool is_new = !line.owed.contains(mapping.file_id);
    if (is_new && added == gone.size()) continue;
    added += is_new ? 1 : 0;
    line.now.insert(mapping.file_id);
  }
  return added > 0;
}

}  // namespace

Alignment remap(DeliverySet& set, const storage::DeliveryRow& row, domain::MappingIndex::Lines lines) {
  auto* const order = set.order(row.id);
  if (order == nullptr) return {};
  auto& state = order->state;
  // An order that is too large to be read does not say which files it owes.
  if (state.too_large) return {};
  // A stopped order owes nothing until it is paid again or approved.
  const bool waits =
      row.status == domain::DeliveryStatus::in_review || row.pending.kind == domain::PendingActionKind::stop;
  if (state.stopped() && waits && lines == domain::MappingIndex::Lines::all) return {};
  const auto mappings = mappings_of(set.tx(), row.integration);
  const auto before = state.lines;
  const auto mapped = mappings.index.map(state, lines);
  mappings.index.note_excess(state, mapped.too_many);
  order->row.unmapped = domain::unmapped_lines(state).value_or(order->row.unmapped);
  set.changed(*order);
  set.changes().report_unmapped(set, order->row, before, state, row.dry_run);
  auto aligned = align_items(set, row, state, mapped, !mappings.stale);
  if (aligned.owes_less) set.add_timeline_entry(row, domain::Actor::system(), dropped_message(aligned));
  return aligned;
}

bool replace_missing(DeliverySet& set, const storage::DeliveryRow& row) {
  auto& tx = set.tx();
  const auto standing = find_standing(tx, row.account);
  const bool moved = standing && row.cloud_account && row.cloud_account != standing->cloud_account;
  const auto* const order = set.order(row.id);
  if (order == nullptr) return moved;
  auto state = order->state;               // a copy: the order's own lines stay mapped as they are
  if (state.too_large) return moved;       // its lines are not known
  std::map<std::string, LineFiles> lines;  // by id, those that owe a file which is missing
  std::vector<ItemStatus> before;
  const auto items = set.items_with_lines(row.id);
  for (const auto* const item : items) {
    before.push_back(item->status);
    if (item->former || item->status != ItemStatus::owed) continue;
    for (const auto& id : line_ids(*item)) lines[id].missing.insert(item->file_id);
  }
  for (const auto* const item : items) {
    if (item->former || item->status == ItemStatus::dropped) continue;
    for (const auto& id : line_ids(*item)) {
      if (const auto line = lines.find(id); line != lines.end()) line->second.owed.insert(item->file_id);
    }
  }
  const auto mappings = mappings_of(tx, row.integration);
  const domain::PaidQuantities paid(state);
  for (auto& line : state.lines) {
    const auto files = lines.find(line.line_id);
    bool replaced = false;
    if (files != lines.end()) {
      files->second.quantity = line.quantity;
      files->second.paid = paid.of(line);
      replaced = files->second.paid > 0 && choose_replacements(mappings.index.find(line), files->second);
    }
    line.mapped = replaced ? OrderLine::Mapped::not_yet : OrderLine::Mapped::owes;
  }
  auto mapped = mappings.index.map(state, domain::MappingIndex::Lines::not_mapped);
  if (mapped.lines.empty()) return moved;
  mapped.fresh.clear();  // they are the products that they were
  for (auto& file : mapped.files) {
    std::erase_if(file.line_ids,
                  [&](const std::string& id) { return !lines[id].now.contains(file.file_id); });
    file.quantity = file.paid_quantity = 0;
    for (const auto& id : file.line_ids) {
      file.quantity += lines[id].quantity;
      file.paid_quantity += lines[id].paid;
    }
  }
  std::erase_if(mapped.files, [](const domain::OwedFile& file) { return file.line_ids.empty(); });
  const auto aligned = align_items(set, row, state, mapped, !mappings.stale);
  if (aligned.owes_less) set.add_timeline_entry(row, domain::Actor::system(), dropped_message(aligned));
  return moved || !std::ranges::equal(before, set.items(row.id), {}, {}, &storage::ItemRow::status);
}

}  // namespace presetbridge::services
