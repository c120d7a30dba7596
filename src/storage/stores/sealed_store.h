// All values that are stored sealed, so that they can be sealed anew under another key (spec 5.4): row by
// row in the order of the primary keys; a value is replaced only where it is still as it was read. This
// store neither knows the keys nor opens the values.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "storage/database.h"

namespace presetbridge::storage {

// `logins` are sealed to the vault's key, all others under the service key. Only nodes that open logins can
// read `logins` and `sessions` (storage/postgres/node_roles.h).
enum class SealedTable { logins, stores, receivers, sessions, issuer_keys, link_keys };
inline constexpr std::array kServiceTables{SealedTable::stores, SealedTable::receivers, SealedTable::sessions,
                                           SealedTable::issuer_keys, SealedTable::link_keys};

struct SealedRow {
  // The primary key: one of the three, as the table has it.
  std::int64_t id = 0;
  std::vector<std::byte> hash;
  std::string kid;

  std::int64_t version = 0;  // of a login
  Timestamp created_at;      // of an issuer's key
  std::vector<std::byte> sealed;
  // The previous secret of a store or receiver, and the one before; empty: none.
  std::vector<std::byte> former;
  std::vector<std::byte> older;
};
// The values of a row.
inline constexpr std::array kSealedValues{&SealedRow::sealed, &SealedRow::former, &SealedRow::older};
using SealedValue = std::vector<std::byte> SealedRow::*;

// At most `limit` rows after `after`, of which only the key is read; SealedRow{} begins at the first.
std::vector<SealedRow> sealed_rows(Tx& tx, SealedTable table, const SealedRow& after, int limit);
// Replaces that value of the row by `fresh`. False, and nothing is done, where the stored value is another by
// now.
bool replace_sealed(Tx& tx, SealedTable table, const SealedRow& row, SealedValue value, Blob fresh);

}  // namespace presetbridge::storage
