// Checks requests of API keys against the rows and the hourly limits of their keys (spec 6.3), at a bounded
// cost (spec 8.6). Each key has one unit of work in the database at a time; its requests that come meanwhile
// wait, and share the next one. A refused key is remembered for a second, or until its limit admits again if
// that is earlier: its further requests cost the database nothing. So where another node reactivates a key,
// or raises its limit, this node may refuse it for a second more.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/executor.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/task.h"
#include "base/time.h"
#include "crypto/digest.h"
#include "domain/rate_window.h"
#include "identity/principal.h"
#include "services/accounts/limited_requests.h"
#include "storage/commit/async_database.h"
#include "storage/stores/api_key_store.h"

namespace presetbridge::services {

// Codes of a check that failed: UNAUTHORIZED (no such key), FORBIDDEN (inactive, expired),
// RATE_LIMIT_EXCEEDED ("Rate limit exceeded"), OVERLOADED (too many requests of the key wait, or of all).
struct KeyCheck {
  Expected<identity::Principal> principal;
  std::optional<domain::Admission> rate;  // of an active key whose request was to be counted
};

// The holder of the key. FORBIDDEN: it is inactive, or expired at `now`.
Expected<identity::Principal> holder_of(const storage::ApiKeyRow& row, Timestamp now);
// UNAUTHORIZED, of a text that is no key.
std::unexpected<Error> unknown_key();

// Thread-safe. Outlives the coroutines that wait in it, and is destroyed after AsyncDatabase::shutdown().
class KeyAdmissions {
 public:
  static constexpr Millis kRemembered{1'000};
  static constexpr std::size_t kMostRemembered = 10'000;  // those that were used last
  static constexpr std::size_t kMostInUnit = 32;          // requests
  static constexpr std::size_t kMostWaiting = 1'000;      // requests of one key

  // All outlive this. `window`: of the limits.
  KeyAdmissions(storage::AsyncDatabase& async_db, const Clock& clock, Log& log, Millis window)
      : async_db_(async_db), clock_(clock), log_(log), window_(window), limited_(async_db) {}

  // Checks one request of the key whose text has this hash, and counts it if it is admitted. A stored log
  // that cannot be read counts as full, and is a fresh one when the window has passed.
  Task<KeyCheck> admit(Executor& executor, crypto::Sha256 hash);
  // The key was changed: its next request reads its row.
  void forget(ApiKeyId key);
  // The requests that were over the keys' limits.
  LimitedRequests& limited() { return limited_; }

 private:
  struct Answer {
    KeyCheck check;
    // Set where there is such a key.
    AccountId account = {};
    ApiKeyId key = {};
    Timestamp at = {};  // by the database
  };
  struct Unit {
    std::vector<Answer> answers;         // in the order of the requests; the last one is for all further ones
    std::optional<ApiKeyId> unreadable;  // whose log is
    Timestamp read_at;                   // by clock_
  };
  struct Refusal {
    crypto::Sha256 hash;
    Answer answer;
    Timestamp read_at;  // by clock_
    Timestamp until;
  };
  using Resume = std::function<void(Answer)>;

  void ask(crypto::Sha256 hash, Resume resume);
  void begin(const crypto::Sha256& hash, std::size_t requests);
  Unit run(storage::Tx& tx, const crypto::Sha256& hash, std::size_t requests) const;
  // Answers the requests of a unit that began at `began`, when `changes` keys had been changed.
  void end(const crypto::Sha256& hash, std::size_t requests, const Unit& unit, Timestamp began,
           std::uint64_t changes, const std::exception_ptr& thrown);
  // The caller holds mutex_.
  std::optional<Answer> find_refusal(const crypto::Sha256& hash, Timestamp now);
  void remember(Refusal refusal, Timestamp now);

  storage::AsyncDatabase& async_db_;
  const Clock& clock_;
  Log& log_;
  const Millis window_;
  LimitedRequests limited_;
  std::atomic<std::uint64_t> changes_{0};  // of keys, here
  std::mutex mutex_;                       // guards all below
  // By key; the first ones of each are in its unit. None is empty.
  std::map<crypto::Sha256, std::deque<Resume>> waiting_;
  std::list<Refusal> refusals_;  // used last first
  std::map<crypto::Sha256, std::list<Refusal>::iterator> by_hash_;
};

}  // namespace presetbridge::services
