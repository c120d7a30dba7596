#include "identity/mail_links.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "crypto/digest.h"

namespace presetbridge::identity {

using storage::MailLinkRow;
using storage::Tx;
using storage::UserRow;

namespace {

constexpr Millis kHour = std::chrono::hours{1};

Expected<UserRow> person_of(const Tx& tx, const std::optional<MailLinkRow>& link, MailPurpose purpose,
                            std::optional<UserRow> user) {
  const bool good = link && link->purpose == purpose && link->stands(tx.now()) && user &&
                    hash_of_email(user->email) == link->email_hash;
  if (!good) return link_invalid();
  return std::move(*user);
}

}  // namespace

std::unexpected<Error> link_invalid() {
  return fail("LINK_INVALID", "The link was used, is too old or is not valid. Ask for a new one.");
}

storage::EmailHash hash_of_email(std::string_view email) {
  return crypto::sha256(email);
}

Millis add_mail_link(Tx& tx, IdSource& ids, MailPurpose purpose, UserId user, std::string_view email) {
  const auto hash = hash_of_email(email);
  const auto now = tx.now();
  if (const auto first = age_of_mail_link(tx, hash, purpose, kMailsAnHour - 1); first && now - *first < kHour)
    return *first + kHour - now;
  // A stranger's request for an address does not end the link that its person asked for.
  if (purpose == MailPurpose::verify) end_mail_links(tx, hash, purpose);
  MailLinkRow row{.id = ids.make<MailLinkId>(),
                  .user = user,
                  .purpose = purpose,
                  .email_hash = hash,
                  .created_at = now,
                  .expires_at = now + (purpose == MailPurpose::reset ? kResetLinkLife : kVerifyLinkLife)};
  if (user.value != 0) row.due_at = now;
  insert_mail_link(tx, row);
  return Millis{0};
}

void end_reset_links(Tx& tx, std::string_view email) {
  end_mail_links(tx, hash_of_email(email), MailPurpose::reset);
}

Expected<UserRow> find_person_of_link(Tx& tx, MailLinkId id, MailPurpose purpose) {
  const auto link = find_mail_link(tx, id);
  return person_of(tx, link, purpose, link ? find_user(tx, link->user) : std::nullopt);
}

Expected<UserRow> use_link(Tx& tx, MailLinkId id, MailPurpose purpose) {
  // The person's row first, as a change of the address locks it.
  const auto known = find_mail_link(tx, id);
  auto user = known ? lock_user(tx, known->user) : std::nullopt;
  auto person = person_of(tx, lock_mail_link(tx, id), purpose, std::move(user));
  if (person) end_mail_links(tx, hash_of_email(person->email), purpose);
  return person;
}

}  // namespace presetbridge::identity
