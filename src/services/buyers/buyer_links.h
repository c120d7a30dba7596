// Links that let a buyer see and mend one delivery without a sign-in (spec 3.7, 13.3). Their tokens are
// derived (crypto/link_token.h) from a link key, which all nodes share, and the delivery's link version:
// nothing that opens a delivery is stored.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/executor.h"
#include "base/task.h"
#include "crypto/service_cipher.h"
#include "storage/commit/async_database.h"
#include "storage/stores/delivery_store.h"
#include "storage/stores/link_key_store.h"

namespace presetbridge::services {

// How long a token opens a delivery after that was completed or invalidated. Until then, and again once it is
// reopened, it does not expire.
inline constexpr Millis kBuyerLinkLife = std::chrono::days{90};
// Whether that is over, of a delivery in this status, which it has had since `ended` if it is one of these
// two.
bool is_link_over(domain::DeliveryStatus status, Timestamp ended, Timestamp now);

// Thread-safe once start() has succeeded.
class BuyerLinks {
 public:
  BuyerLinks(storage::AsyncDatabase& async_db, const crypto::ServiceCipher& cipher, IdSource& ids,
             Random& random)
      : async_db_(async_db), cipher_(cipher), ids_(ids), random_(random) {}

  // Reads the link keys; the first node makes the first. The errors of ServiceCipher::decrypt, and of
  // storage.
  Task<Expected<void>> start(Executor& executor);

  // Reads them again; how many there are.
  Task<Expected<int>> reload(Executor& executor);
  // Makes a new key beside the only one, which links are made with from now on; those of before still open.
  // False, and nothing is done, where there are two.
  Task<Expected<bool>> add_key(Executor& executor);

  // Of this delivery, at its link version. Made with the newest key that this node has read.
  std::string token_of(const storage::DeliveryRow& delivery) const;
  // The link itself, at this service's address without a slash at the end. The text after # reaches no log of
  // a server.
  std::string url_of(std::string_view base_url, const storage::DeliveryRow& delivery) const {
    return std::string(base_url) + "/p#" + token_of(delivery);
  }

  // The delivery that the token opens. NOT_FOUND, in the same words for a text that is no token, one that
  // nobody made, one of an earlier link version, one that has expired and one of an erased order (spec 9.6).
  // The errors of start() too: keys of before this node's are read here.
  Task<Expected<storage::DeliveryRow>> find(Executor& executor, std::string token);

 private:
  struct Ring;
  std::shared_ptr<const Ring> ring() const;
  // The keys of these rows, newest first; those read before are not opened again.
  Expected<std::shared_ptr<const Ring>> ring_of(std::span<const storage::LinkKeyRow> rows);

  storage::AsyncDatabase& async_db_;
  const crypto::ServiceCipher& cipher_;
  IdSource& ids_;
  Random& random_;
  mutable std::mutex mutex_;  // guards ring_
  std::shared_ptr<const Ring> ring_;
};

}  // namespace presetbridge::services
