// Links that let a buyer see and mend one delivery without a sign-in (spec 3.7, 13.3). Their tokens are
// derived (crypto/link_token.h) from a link key, which all nodes share, and the delivery's link version:
// nothing that opens a delivery is stored.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/executor.h"
#include "base/task.h"
#include "crypto/service_cipher.h"
#include "storage/delivery_store.h"
#include "storage/group_commit.h"
#include "storage/link_key_store.h"

namespace presetbridge::services {

// How long a token opens a delivery after that was completed or invalidated. Until then, and again once it is
// reopened, it does not expire.
inline constexpr Millis kBuyerLinkLife = std::chrono::days{90};

// Thread-safe once start() has succeeded.
class BuyerLinks {
 public:
  BuyerLinks(storage::GroupCommit& commits, const crypto::ServiceCipher& cipher, IdSource& ids,
             Random& random)
      : commits_(commits), cipher_(cipher), ids_(ids), random_(random) {}

  // Reads the link keys; the first node makes the first. The errors of ServiceCipher::decrypt, and of
  // storage.
  Task<Expected<void>> start(Executor& executor);

  // Of this delivery, at its link version. Made with the newest key that this node has read.
  std::string token_of(const storage::DeliveryRow& delivery) const;

  // What the token opens. NOT_FOUND, in the same words for a text that is no token, one that nobody made, one
  // of an earlier link version and one that has expired. The errors of start() too: keys of before this
  // node's are read here.
  Task<Expected<storage::DeliveryRow>> find(Executor& executor, std::string token);

 private:
  struct Ring;
  std::shared_ptr<const Ring> ring() const;
  // The keys of these rows, newest first; those read before are not opened again.
  Expected<std::shared_ptr<const Ring>> ring_of(std::span<const storage::LinkKeyRow> rows);

  storage::GroupCommit& commits_;
  const crypto::ServiceCipher& cipher_;
  IdSource& ids_;
  Random& random_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Ring> ring_;  // guarded by mutex_
};

}  // namespace presetbridge::services
