// What accepting an order needs to know of its integration, kept at hand: settings, mappings and the
// decrypted signing secrets. A copy older than two seconds is compared with the row's version, and read again
// where that has grown. A copy may be old; whoever writes with it checks its version in the same
// transaction (Intake does).
#pragma once

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
#include "services/delivery/fulfilment.h"
#include "storage/group_commit.h"
#include "storage/integration_store.h"

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

  // The secrets that sign at `now`: the current one and, while the rotation's overlap lasts, the one before.
  std::vector<std::string_view> secrets(Timestamp now) const;
};

// INTERNAL_ERROR if a secret cannot be decrypted.
Expected<IntegrationSnapshot> make_snapshot(const storage::IntegrationRow& row,
                                            const std::vector<storage::MappingRow>& mappings,
                                            const crypto::ServiceCipher& cipher);

// Thread-safe.
class IntegrationDirectory {
 public:
  IntegrationDirectory(storage::GroupCommit& commits, const crypto::ServiceCipher& cipher, const Clock& clock,
                       std::size_t max_entries = 100'000)
      : commits_(commits), cipher_(cipher), clock_(clock), max_entries_(max_entries) {}

  // What is only read, not written with, is this old at most: an unknown id may be made at any moment, and
  // another node may change a known one.
  static constexpr Millis kMaxAge{2'000};
  // For who has reason to doubt the copy, and may be a stranger: ten reads a second of one integration.
  static constexpr Millis kDoubted{100};

  // Null: no such integration, or archived. A copy that is younger than `max_age` is not read again. Resumes
  // on `executor`.
  Task<Expected<std::shared_ptr<const IntegrationSnapshot>>> find(Executor& executor, IntegrationId id,
                                                                  Millis max_age = kMaxAge);
  // Whether the last find() of it, if any is remembered, found one. Asks no database.
  bool remembers(IntegrationId id) const;
  // The copy is old, and its version another by now: the next find() reads again. It is remembered still.
  void forget(IntegrationId id);

 private:
  struct Entry {
    std::shared_ptr<const IntegrationSnapshot> snapshot;  // null: there is none
    Timestamp read_at;
  };
  storage::GroupCommit& commits_;
  const crypto::ServiceCipher& cipher_;
  const Clock& clock_;
  const std::size_t max_entries_;
  mutable std::mutex mutex_;
  std::unordered_map<IntegrationId, Entry> entries_;
};

}  // namespace presetbridge::services
