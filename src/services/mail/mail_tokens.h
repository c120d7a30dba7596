// The tokens of links in mails (spec 7.2): derived (crypto/link_token.h) from a link key, for each purpose with a key of its
// own, and the row's id. Nothing that opens an account is stored.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/executor.h"
#include "base/ids.h"
#include "base/task.h"
#include "services/keys/link_keys.h"
#include "storage/commit/async_database.h"
#include "storage/stores/mail_store.h"

namespace presetbridge::services {

using storage::MailPurpose;

// Thread-safe.
class MailTokens {
 public:
  // Both outlive this.
  MailTokens(storage::AsyncDatabase& async_db, LinkKeys& keys) : async_db_(async_db), keys_(keys) {}

  // The token of the link, by the newest key that this node has read.
  std::string token_of(MailLinkId link, MailPurpose purpose) const;
  // The link whose token it is; whether that is still good is not known yet (identity::EmailProofs). LINK_INVALID: nobody
  // made it, or for another purpose, or with a key that was dropped.
  Task<Expected<MailLinkId>> find(Executor& executor, std::string token, MailPurpose purpose);

 private:
  storage::AsyncDatabase& async_db_;
  LinkKeys& keys_;
};

}  // namespace presetbridge::services
