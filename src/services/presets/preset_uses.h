// The use of the merchant's files by the mappings of an account's stores (spec 4.4, 9.2): which products
// deliver a file, and in how many deliveries it is.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/executor.h"
#include "base/task.h"
#include "identity/principal.h"
#include "storage/commit/async_database.h"

namespace presetbridge::services {

// A mapping that delivers the file.
struct PresetUse {
  IntegrationId store;
  std::string store_name;
  std::string match_type;
  std::string match_value;  // as the merchant wrote it
  bool stale = false;       // made for another cloud account than the login of now
};
struct MappedPreset {
  std::string name;  // as a mapping has it; either may be empty
  std::string kind;
  int used_by = 0;              // all of the mappings
  std::vector<PresetUse> uses;  // the first kMostUses of them
};
using MappedPresets = std::map<std::string, MappedPreset, std::less<>>;  // by file

// Thread-safe.
class PresetUses {
 public:
  static constexpr int kMostMappings = 5'000;  // that one call reads
  static constexpr std::size_t kMostUses = 100;
  static constexpr std::int64_t kMostDeliveries = 1'000;

  explicit PresetUses(storage::AsyncDatabase& async_db) : async_db_(async_db) {}

  // Files that mappings of stores which the caller sees deliver: of the first kMostMappings mappings, the
  // newest store's first. Nothing for a caller without Permission::integrations.
  Task<Expected<std::optional<MappedPresets>>> mapped(Executor& executor, identity::Principal by);
  // Of each file, in their order: deliveries that have it, counted up to kMostDeliveries. Nothing for a
  // caller who may not read all deliveries of the account.
  Task<Expected<std::optional<std::vector<std::int64_t>>>> deliveries(Executor& executor,
                                                                      identity::Principal by,
                                                                      std::vector<std::string> files);

 private:
  storage::AsyncDatabase& async_db_;
};

}  // namespace presetbridge::services
