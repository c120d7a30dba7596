// The keys that links are derived with (spec 3.7, 7.2), which all nodes share: those of buyers, and those in mails.
// The newest two open links, and the newest makes them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/executor.h"
#include "base/ids.h"
#include "base/task.h"
#include "crypto/secret.h"
#include "crypto/service_cipher.h"
#include "domain/delivery.h"
#include "storage/commit/async_database.h"
#include "storage/stores/link_key_store.h"

namespace presetbridge::services {

// How long a buyer's link opens its delivery after that was completed or invalidated. Until then, and again once it is
// reopened, it does not expire.
inline constexpr Millis kBuyerLinkLife = std::chrono::days{90};
// Whether that is over, of a delivery in this status, which it has had since `ended` if it is one of these
// two.
bool is_link_over(domain::DeliveryStatus status, Timestamp ended, Timestamp now);

// Thread-safe once start() has succeeded.
class LinkKeys {
 public:
  struct Key {
    std::int64_t id;
    crypto::SecretString bytes;
  };
  using Ring = std::vector<Key>;  // newest first, one at least

  LinkKeys(storage::AsyncDatabase& async_db, const crypto::ServiceCipher& cipher, IdSource& ids,
           Random& random)
      : async_db_(async_db), cipher_(cipher), ids_(ids), random_(random) {}

  // Reads the keys; the first node makes the first. The errors of ServiceCipher::decrypt, and of storage.
  Task<Expected<void>> start(Executor& executor);
  // Reads them again; how many there are.
  Task<Expected<int>> reload(Executor& executor);
  // Makes a new key beside the only one, which links are made with from now on; those of before still open.
  // False, and nothing is done, where there are two.
  Task<Expected<bool>> add_key(Executor& executor);

  // The keys that this node has read.
  std::shared_ptr<const Ring> ring() const;
  // The keys of these rows, newest first; those read before are not decrypted again.
  Expected<std::shared_ptr<const Ring>> ring_of(std::span<const storage::LinkKeyRow> rows);

 private:
  storage::AsyncDatabase& async_db_;
  const crypto::ServiceCipher& cipher_;
  IdSource& ids_;
  Random& random_;
  mutable std::mutex mutex_;  // guards ring_
  std::shared_ptr<const Ring> ring_;
};

}  // namespace presetbridge::services
