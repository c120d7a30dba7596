// A cache of the integrations' data that accepting an order needs: settings, mappings and the decrypted
// signing secrets. The version of a copy older than two seconds is compared with the row's, and the
// integration is read again if the row's is newer. Code that writes with a copy, which may be old, checks
// its version in the same transaction (Intake does).
//
// Strangers may ask for any number of ids that do not exist (spec 8.6) without delaying stores that do: an
// id without a copy is first asked for its version, many ids in one read by their keys, one such read at a
// time (integration_versions.h). Ids that do not exist leave nothing in memory. Whole integrations are read
// one at a time for each account, so that an account with many large ones delays no other.
#pragma once

#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/task.h"
#include "crypto/secret.h"
#include "crypto/service_cipher.h"
#include "services/accounts/disabled_accounts.h"
#include "services/delivery/fulfilment.h"
#include "services/stores/integration_versions.h"
#include "storage/commit/async_database.h"
#include "storage/stores/integration_store.h"

namespace presetbridge::services {

struct IntegrationSnapshot {
  IntegrationSnapshot() = default;
  IntegrationSnapshot(IntegrationSnapshot&&) = default;
  IntegrationSnapshot& operator=(IntegrationSnapshot&&) = default;
  ~IntegrationSnapshot();

  IntegrationId id;
  AccountId account;
  domain::Provider provider = domain::Provider::generic;
  std::int64_t version = 0;
  bool archived = false;
  bool require_api_key = false;
  ApiKeyId owning_key;
  std::vector<std::string> username_fields;
  FulfilmentRules rules;
  // Ordinary strings, wiped by the destructor: thousands may be in memory, and guarded memory costs pages.
  std::string secret;
  std::string previous_secret;  // empty: none
  std::optional<Timestamp> previous_secret_expires_at;
  std::string older_secret;  // empty: none
  std::optional<Timestamp> older_secret_expires_at;
  std::size_t weight = 0;  // bytes of memory, about

  // A copy of this snapshot in which the store is inactive.
  IntegrationSnapshot inactive() const;
  // The secrets that sign at `now`: the current one and, in the overlaps of rotations, the two before.
  std::vector<std::string_view> secrets(Timestamp now) const;

 private:
  IntegrationSnapshot(const IntegrationSnapshot&) = default;
};

// INTERNAL_ERROR if a secret cannot be decrypted.
Expected<IntegrationSnapshot> make_snapshot(const storage::IntegrationRow& row,
                                            const std::vector<storage::MappingRow>& mappings,
                                            const crypto::ServiceCipher& cipher);

// Thread-safe. Outlives the coroutines that wait in it, and is destroyed after AsyncDatabase::shutdown().
class IntegrationDirectory {
 public:
  static constexpr std::size_t kMaxWeight = std::size_t{64} << 20;
  // All outlive this. `disabled` null: no account is disabled. `max_weight`: bytes of the copies; the least
  // recently used are dropped, but never the newest, whatever its weight.
  IntegrationDirectory(storage::AsyncDatabase& async_db, const crypto::ServiceCipher& cipher,
                       const Clock& clock, DisabledAccounts* disabled, std::size_t max_weight = kMaxWeight)
      : async_db_(async_db),
        cipher_(cipher),
        clock_(clock),
        disabled_(disabled),
        max_weight_(max_weight),
        versions_(async_db) {}

  using Copy = std::shared_ptr<const IntegrationSnapshot>;
  // The greatest age of a copy for code that does not write with it: another node may have changed the row.
  static constexpr Millis kMaxAge{2'000};
  // For a caller that doubts the copy and may be a stranger: at most ten reads of an integration a second.
  static constexpr Millis kDoubted{100};
  // Null: no such integration, or archived. If its account is disabled, it is inactive. A copy younger than
  // `max_age` is not read again. Resumes on `executor`. OVERLOADED: no read can be queued.
  Task<Expected<Copy>> find(Executor& executor, IntegrationId id, Millis max_age = kMaxAge);
  // Drops the copy, so that the next find() reads again.
  void forget(IntegrationId id);

  std::size_t weight() const;  // bytes of all copies

 private:
  struct Entry {
    IntegrationId id;
    Copy copy;
    Timestamp read_at;
  };
  using Resume = std::function<void(Expected<Copy>)>;
  struct Reading {
    IntegrationId id;
    std::vector<Resume> waiting;
  };

  Task<Expected<Copy>> find_as_stored(Executor& executor, IntegrationId id, Millis max_age);
  Task<Expected<Copy>> read(Executor& executor, AccountId account, IntegrationId id);
  void enqueue(AccountId account, IntegrationId id, Resume resume);
  void begin(AccountId account, IntegrationId id);
  Copy read_whole(storage::Tx& tx, IntegrationId id) const;
  // The caller holds mutex_.
  void keep(IntegrationId id, Copy copy, Timestamp read_at);
  void drop(IntegrationId id);

  storage::AsyncDatabase& async_db_;
  const crypto::ServiceCipher& cipher_;
  const Clock& clock_;
  DisabledAccounts* const disabled_;
  const std::size_t max_weight_;
  IntegrationVersions versions_;
  mutable std::mutex mutex_;  // guards all below
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<IntegrationId, std::list<Entry>::iterator> by_id_;
  std::size_t weight_ = 0;
  // Integrations to read whole, by account; the first of each queue is being read. No queue is empty.
  std::unordered_map<AccountId, std::deque<Reading>> queues_;
};

}  // namespace presetbridge::services
