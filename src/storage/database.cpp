#include "storage/database.h"

#include <utility>

#include "storage/stores/change_store.h"

namespace presetbridge::storage {

void Tx::conclude() {
  run_wakes();
  run_sums();
  // Last of all: of two transactions that have come so far neither waits for the other.
  if (!changes_.empty()) write_changes(*this, std::exchange(changes_, {}), news_.changes);
}

}  // namespace presetbridge::storage
