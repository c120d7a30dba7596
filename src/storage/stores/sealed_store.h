// All that is stored sealed, for whoever seals it anew under another key (spec 5.4): row by row in the order
// of the primary keys, and each value replaced only where it is still as it was read. What a value is sealed
// with, and opens to, is not known here.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "storage/database.h"

namespace presetbridge::storage {

// `logins` are sealed to the vault's key, all others under the service key. `logins` and `sessions` can be
// read by nodes that open logins alone (storage/postgres/node_roles.h).
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
  std::vector<std::byte> former;  // a store's or receiver's secret of before; empty: none
};

// At most `limit` rows behind `after`, of which only the key counts; a SealedRow{} to begin with.
std::vector<SealedRow> sealed_rows(Tx& tx, SealedTable table, const SealedRow& after, int limit);
// False, and nothing is done, where the value is another by now. `former`: that one is meant; `row` has what
// it was.
bool replace_sealed(Tx& tx, SealedTable table, const SealedRow& row, bool former, Blob fresh);

}  // namespace presetbridge::storage
