#include "services/stores/mapping_preview.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_set>

#include "services/delivery/fulfilment.h"
#include "services/stores/unmapped_orders.h"
#include "storage/stores/item_store.h"
#include "storage/stores/order_store.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using domain::MappingIndex;
using domain::OrderLine;
using domain::OrderState;
using identity::Principal;
using storage::Tx;

std::vector<domain::Mapping> in_force(const std::vector<storage::MappingRow>& rows) {
  std::vector<domain::Mapping> mappings;
  for (const auto& row : rows) {
    if (!row.stale) mappings.push_back(row.mapping);
  }
  return mappings;
}

// The files of its delivery that the order's customer has, or may have. A dry run gives them none.
std::unordered_set<std::string> files_had(Tx& tx, OrderId order) {
  std::unordered_set<std::string> had;
  const auto delivery = find_delivery(tx, DeliveryId{order.value});
  if (!delivery || delivery->dry_run) return had;
  for (auto& item : find_items(tx, DeliveryId{order.value})) {
    const bool has = item.status == ItemStatus::shared || item.status == ItemStatus::already_shared ||
                     item.status == ItemStatus::delivered_by_hand || item.status == ItemStatus::sharing;
    if (has && !item.former) had.insert(std::move(item.file_id));
  }
  return had;
}

// The files that the mappings in force give the lines of the order that have one.
std::unordered_set<std::string> files_in_force(const OrderState& order, const MappingIndex& in_force) {
  std::unordered_set<std::string> files;
  for (const auto& line : order.lines) {
    if (line.mapped == OrderLine::Mapped::nothing) continue;
    if (!line.file_id.empty()) files.insert(line.file_id);
    const auto* const found = in_force.find(line);
    if (found == nullptr) continue;
    for (const auto& mapping : *found) files.insert(mapping.file_id);
  }
  return files;
}

// The number of files that the order would owe beyond those that it owes by the mappings in force; nothing where
// no line that is paid for and has no mapping would deliver.
std::optional<std::int64_t> files_more(const OrderState& order, const MappingIndex& index,
                                       const MappingIndex& in_force) {
  if (order.payment() != domain::Payment::deliver) return std::nullopt;
  auto mapped = order;
  const auto result = index.map(mapped, MappingIndex::Lines::all);
  const domain::PaidQuantities paid(order);
  bool is_served = false;
  for (std::size_t i = 0; i < order.lines.size(); ++i) {
    is_served |= order.lines[i].mapped == OrderLine::Mapped::nothing &&
                 mapped.lines[i].mapped == OrderLine::Mapped::owes && paid.of(order.lines[i]) > 0;
  }
  if (!is_served) return std::nullopt;
  if (result.too_many) return 1;  // none are listed
  const auto before = files_in_force(order, in_force);
  return std::ranges::count_if(result.files, [&](const domain::OwedFile& file) {
    return file.paid_quantity > 0 && !before.contains(file.file_id);
  });
}

void fill(MappingPreview& preview, const OrderState& order,
          const std::shared_ptr<const MappingIndex>& mappings, bool active,
          const std::unordered_set<std::string>& had) {
  const MappingIndex& index = *mappings;
  auto mapped = order;
  preview.files = index.map(mapped, MappingIndex::Lines::all).files;
  const domain::PaidQuantities paid(order);
  for (auto& line : mapped.lines) {
    PreviewLine shown{.line = line, .paid_quantity = paid.of(line), .matched_by = {}, .file_ids = {}};
    if (!line.file_id.empty()) shown.file_ids.push_back(line.file_id);
    if (const auto* found = index.find(line)) {
      shown.matched_by = found->front().type;
      for (const auto& mapping : *found) {
        if (mapping.action == domain::MappingAction::deliver) shown.file_ids.push_back(mapping.file_id);
      }
    }
    preview.lines.push_back(std::move(shown));
  }
  preview.credits = std::ranges::count_if(preview.files, [&](const domain::OwedFile& file) {
    return file.paid_quantity > 0 && !had.contains(file.file_id);
  });
  auto planned = order;
  const FulfilmentRules rules{.active = active, .mappings = mappings};
  const auto plan = plan_new_order(planned, rules, MappingIndex::Lines::all);
  preview.outcome = plan.outcome;
  preview.too_large = plan.too_large;
}

}  // namespace

Task<Expected<MappingPreview>> MappingPreviews::preview(Executor& executor, Principal by, IntegrationId id,
                                                        PreviewRequest request) {
  std::vector<storage::MappingRow> wanted;
  if (request.mappings) {
    auto rows = checked_mappings(*request.mappings, limits_);
    if (!rows) co_return std::unexpected(rows.error());
    wanted = std::move(*rows);
    // Mappings that are not saved yet have no ids, by which they would be sorted.
    for (std::size_t i = 0; i < wanted.size(); ++i)
      wanted[i].mapping.id = MappingId{static_cast<std::int64_t>(i) + 1};
  }
  co_return co_await async_db_.read(executor, [&](Tx& tx) -> Expected<MappingPreview> {
    const auto store = find_integration(tx, id);
    if (!store || store->account != by.account || store->archived_at || !by.sees(id))
      return fail("NOT_FOUND", "There is no such integration.");
    const auto rows = find_mappings(tx, id);
    if (std::ranges::any_of(wanted, &storage::MappingRow::stale)) match_saved(wanted, rows);
    const auto saved = std::make_shared<const MappingIndex>(in_force(rows));
    const auto index = request.mappings ? std::make_shared<const MappingIndex>(in_force(wanted)) : saved;
    OrderState order{.seen = true, .lines = request.lines};
    std::unordered_set<std::string> had;
    if (request.order_id) {
      const auto row = find_order_by_key(tx, id, *request.order_id);
      if (!row) return fail("NOT_FOUND", "The store has sent no such order.");
      auto state = domain::decode_order_state(row->state);
      if (!state) return std::unexpected(state.error());
      order = std::move(*state);
      // Its lines are not known.
      if (order.too_large) order.lines.clear();
      had = files_had(tx, row->id);
    }
    MappingPreview preview;
    fill(preview, order, index, store->active, had);
    if (!store->active) return preview;
    preview.reprocessable_exact =
        each_unmapped_order(tx, id, [&](const storage::OrderRow&, OrderState& stored) {
          const auto files = files_more(stored, *index, *saved);
          if (!files) return;
          ++preview.reprocessable_orders;
          preview.reprocessable_credits += *files;
        });
    return preview;
  });
}

MappingDiff diff_mappings(const std::vector<storage::MappingRow>& before,
                          const std::vector<storage::MappingRow>& after) {
  using Key = std::pair<domain::MatchType, std::string>;
  using Rest = std::tuple<std::string, domain::MappingAction, std::string, std::string, std::string>;
  std::map<Key, std::pair<std::multiset<Rest>, std::multiset<Rest>>> of_key;
  const auto rest_of = [](const storage::MappingRow& row) {
    const auto& m = row.mapping;
    return Rest{row.match_value, m.action, m.file_id, m.file_kind, m.file_name};
  };
  for (const auto& row : before) of_key[{row.mapping.type, row.mapping.value}].first.insert(rest_of(row));
  for (const auto& row : after) of_key[{row.mapping.type, row.mapping.value}].second.insert(rest_of(row));
  MappingDiff diff;
  for (const auto& [key, both] : of_key) {
    std::vector<Rest> gone;
    std::vector<Rest> come;
    std::ranges::set_difference(both.first, both.second, std::back_inserter(gone));
    std::ranges::set_difference(both.second, both.first, std::back_inserter(come));
    const auto changed = std::min(std::ssize(gone), std::ssize(come));
    diff.changed += changed;
    diff.added += std::ssize(come) - changed;
    diff.removed += std::ssize(gone) - changed;
  }
  return diff;
}

}  // namespace presetbridge::services
