// Links that let a buyer see and mend one delivery without a sign-in (spec 3.7, 13.3). Their tokens are
// derived (crypto/link_token.h) from a link key, which all nodes share, and the delivery's link version:
// nothing that opens a delivery is stored.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/executor.h"
#include "base/task.h"
#include "crypto/service_cipher.h"
#include "services/keys/link_keys.h"
#include "storage/commit/async_database.h"
#include "storage/stores/delivery_store.h"

namespace presetbridge::services {

// Thread-safe once start() has succeeded.
class BuyerLinks {
 public:
  BuyerLinks(storage::AsyncDatabase& async_db, const crypto::ServiceCipher& cipher, IdSource& ids,
             Random& random)
      : async_db_(async_db), keys_(async_db, cipher, ids, random) {}

  // LinkKeys::start().
  Task<Expected<void>> start(Executor& executor) { return keys_.start(executor); }
  // For their rotation, and for links of other kinds.
  LinkKeys& keys() { return keys_; }

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
  storage::AsyncDatabase& async_db_;
  LinkKeys keys_;
};

}  // namespace presetbridge::services
