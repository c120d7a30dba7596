// What a transaction changed that screens show (spec 13.1). Stores note it in Tx::changes(); right before the
// commit it becomes rows of those accounts that are watched (change_store.h), and nothing for all others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"

namespace presetbridge::storage {

enum class ChangeKind : std::uint8_t { delivery, order, intake_refused, subscription, credits, cloud, bulk };

struct Change {
  ChangeKind kind;
  // None: found by `id`: an intake_refused's integration, a subscription, a cloud's cloud account.
  AccountId account;
  std::int64_t id = 0;             // of what changed; none of an account's credits, or its cloud login
  IntegrationId integration = {};  // of an order
  std::string word = {};           // of an order its outcome, of an intake_refused the error's code: ours
};

template <class Kind>
Change changed(ChangeKind kind, AccountId account, Id<Kind> id) {
  return {.kind = kind, .account = account, .id = id.value};
}
inline Change changed(ChangeKind kind, AccountId account) {
  return {.kind = kind, .account = account};
}

// Noted as it comes; of what is noted several times the last counts.
using Changes = std::vector<Change>;

// What became rows: so many changes of an account, the first of which has the number `first`.
struct WrittenChange {
  std::string kind;
  std::string data;  // JSON
};
struct WrittenChanges {
  AccountId account;
  std::int64_t generation = 0;
  std::int64_t first = 0;
  std::vector<WrittenChange> changes;
};

}  // namespace presetbridge::storage
