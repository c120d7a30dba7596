// A cache of the integrations' data that accepting an order needs: settings, mappings and the
// decrypted signing secrets. A copy older than two seconds is compared with the row's version, and read again
// where that has grown. A copy may be old; code that writes with it checks its version in the same
// transaction (Intake does).
//
// Strangers may ask for any number of ids that nobody has (spec 8.6), and a store that exists is found among
// them: whatever has no copy is asked for its version first, many ids in one read by their keys and one such
// read at a time (integration_versions.h). Nothing is kept of an id that is not there. Whole integrations are
// read one at a time an account, so that one with many large ones keeps nobody waiting.
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
#include "services/intake/integration_versions.h"
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
  // Ordinary strings: thousands may be at hand, and guarded memory has a price a piece. Wiped at the end.
  std::string secret;
  std::string previous_secret;  // empty: none
  std::optional<Timestamp> previous_secret_expires_at;
  std::size_t weight = 0;  // bytes of memory, about

  // A snapshot like this of a store that is inactive.
  IntegrationSnapshot inactive() const;
  // The secrets that sign at `now`: the current one and, while the rotation's overlap lasts, the one before.
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
  // `disabled` outlives it; null: no account is. `max_weight`: bytes of copies kept; those used longest ago
  // go first, the newest stays whatever it weighs.
  IntegrationDirectory(storage::AsyncDatabase& async_db, const crypto::ServiceCipher& cipher,
                       const Clock& clock, DisabledAccounts* disabled, std::size_t max_weight = kMaxWeight)
      : async_db_(async_db),
        cipher_(cipher),
        clock_(clock),
        disabled_(disabled),
        max_weight_(max_weight),
        versions_(async_db) {}

  using Copy = std::shared_ptr<const IntegrationSnapshot>;
  // A copy that is only read, not written with, is this old at most: another node may change it.
  static constexpr Millis kMaxAge{2'000};
  // For a caller that has reason to doubt the copy, and may be a stranger: ten reads a second of one
  // integration.
  static constexpr Millis kDoubted{100};
  // Null: no such integration, or archived. That of a disabled account is inactive. A copy that is younger
  // than `max_age` is not read again. Resumes on `executor`. OVERLOADED when the read cannot be queued.
  Task<Expected<Copy>> find(Executor& executor, IntegrationId id, Millis max_age = kMaxAge);
  // The copy is old: the next find() reads again.
  void forget(IntegrationId id);

  std::size_t weight() const;  // of the copies that are kept

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
  // Under the lock.
  void keep(IntegrationId id, Copy copy, Timestamp read_at);
  void drop(IntegrationId id);

  storage::AsyncDatabase& async_db_;
  const crypto::ServiceCipher& cipher_;
  const Clock& clock_;
  DisabledAccounts* const disabled_;
  const std::size_t max_weight_;
  IntegrationVersions versions_;
  mutable std::mutex mutex_;  // guards all below
  std::list<Entry> entries_;  // used last first
  std::unordered_map<IntegrationId, std::list<Entry>::iterator> by_id_;
  std::size_t weight_ = 0;
  // By account, what waits to be read whole; the first of each is under way. None is empty.
  std::unordered_map<AccountId, std::deque<Reading>> lines_;
};

}  // namespace presetbridge::services
