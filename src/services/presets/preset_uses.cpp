#include "services/presets/preset_uses.h"

#include <utility>

#include "storage/stores/delivery_keys.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/overview_store.h"

namespace presetbridge::services {
namespace {

using identity::Permission;
using storage::Tx;

constexpr int kMostStores = 500;

MappedPresets read_mapped(Tx& tx, const identity::Principal& by) {
  MappedPresets found;
  int left = PresetUses::kMostMappings;
  for (const auto& store : list_integrations(tx, by.account, {}, kMostStores)) {
    if (left <= 0) break;
    if (!by.sees(store.id)) continue;
    left -= each_mapped_file(tx, store.id, left, [&](const storage::MappedFile& file) {
      auto& preset = found[file.id];
      if (preset.name.empty()) preset.name = file.name;
      if (preset.kind.empty()) preset.kind = file.kind;
      ++preset.used_by;
      if (preset.uses.size() < PresetUses::kMostUses)
        preset.uses.push_back({store.id, store.name, file.match_type, file.match_value, file.stale});
    });
  }
  return found;
}

}  // namespace

Task<Expected<std::optional<MappedPresets>>> PresetUses::mapped(Executor& executor, identity::Principal by) {
  if (!by.may(Permission::integrations)) co_return std::nullopt;
  auto found = co_await async_db_.read(executor, [&](Tx& tx) { return read_mapped(tx, by); });
  if (!found) co_return std::unexpected(found.error());
  co_return std::optional(std::move(*found));
}

Task<Expected<std::optional<std::vector<std::int64_t>>>> PresetUses::deliveries(
    Executor& executor, identity::Principal by, std::vector<std::string> files) {
  if (!by.may(Permission::deliveries_read) || !by.integrations.all()) co_return std::nullopt;
  auto counts = co_await async_db_.read(
      executor, [&](Tx& tx) { return count_deliveries_with(tx, by.account, files, kMostDeliveries); });
  if (!counts) co_return std::unexpected(counts.error());
  co_return std::optional(std::move(*counts));
}

}  // namespace presetbridge::services
