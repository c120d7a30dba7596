// The changes of a transaction that screens show (spec 13.1). Stores note them in Tx::changes(); right before the
// commit the changes of accounts that are watched become rows (change_store.h), and the others are dropped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"

namespace presetbridge::storage {

enum class ChangeKind : std::uint8_t { delivery, order, intake_refused, subscription, credits, cloud, bulk };

struct Change {
  ChangeKind kind;
  // None where it is found by `id`, which is then an intake_refused's integration, a subscription, or a cloud's
  // cloud account.
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

// In the order in which they were noted; where one object is noted several times, the last one counts.
using Changes = std::vector<Change>;

// A change that became a row.
struct WrittenChange {
  std::string kind;
  std::string data;  // JSON
};
// The changes of one account that became rows; the first one has the number `first`, and so on.
struct WrittenChanges {
  AccountId account;
  std::int64_t generation = 0;
  std::int64_t first = 0;
  std::vector<WrittenChange> changes;
};

}  // namespace presetbridge::storage
