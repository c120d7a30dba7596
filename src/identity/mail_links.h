// Links that are mailed to people of the built-in issuer (spec 7.2), as rows: made with what they are for, and used
// once. services/mail makes and reads their tokens.
#pragma once

#include <string_view>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "storage/database.h"
#include "storage/stores/identity_store.h"
#include "storage/stores/mail_store.h"

namespace presetbridge::identity {

using storage::MailPurpose;

inline constexpr Millis kResetLinkLife = std::chrono::hours{1};
inline constexpr Millis kVerifyLinkLife = std::chrono::days{7};
// To one address, for one purpose.
inline constexpr std::int64_t kMailsAnHour = 3;

storage::EmailHash hash_of_email(std::string_view email);

// Adds a link to the address of `user`; one that confirms the address ends the older ones. The sender finds it
// (services/mail). No user:
// the row has no other effect than its cost. Returns how long until one may be added; 0: it was.
Millis add_mail_link(storage::Tx& tx, IdSource& ids, MailPurpose purpose, UserId user,
                     std::string_view email);

// LINK_INVALID: the link is unknown, of another purpose, used, replaced or expired, or its person has another
// address now.
Expected<storage::UserRow> find_person_of_link(storage::Tx& tx, MailLinkId id, MailPurpose purpose);
// Uses the link, with the address's others of this purpose; the person's row is locked. LINK_INVALID.
Expected<storage::UserRow> use_link(storage::Tx& tx, MailLinkId id, MailPurpose purpose);
// With each new password: a link that was asked for before it sets no other one.
void end_reset_links(storage::Tx& tx, std::string_view email);
std::unexpected<Error> link_invalid();

}  // namespace presetbridge::identity
