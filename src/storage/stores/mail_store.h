// Links that are mailed to people, and the addresses that they have confirmed (spec 7.2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"
#include "storage/database.h"

namespace presetbridge {

struct MailLinkKind {
  static constexpr std::string_view prefix = "mal";
};
using MailLinkId = Id<MailLinkKind>;

}  // namespace presetbridge

namespace presetbridge::storage {

enum class MailPurpose : std::uint8_t { reset, verify };
std::string_view to_string(MailPurpose purpose);
std::optional<MailPurpose> parse_mail_purpose(std::string_view name);

using EmailHash = std::array<std::byte, 32>;  // SHA-256 of the address as it is stored

struct MailLinkRow {
  MailLinkId id;
  UserId user;  // none: nobody has the address
  MailPurpose purpose = MailPurpose::reset;
  EmailHash email_hash{};
  Timestamp created_at{};
  Timestamp expires_at{};
  std::optional<Timestamp> used_at = std::nullopt;  // or replaced
  std::int64_t attempts = 0;
  std::optional<Timestamp> due_at = std::nullopt;  // nothing: there is nothing to send

  bool stands(Timestamp now) const { return user.value != 0 && !used_at && now < expires_at; }
};

// Ends the address's links of this purpose that were not used.
void end_mail_links(Tx& tx, Blob email_hash, MailPurpose purpose);
void insert_mail_link(Tx& tx, const MailLinkRow& row);
// When the link was made that has `newer` links of the address and purpose after it; nothing if there are not so many.
std::optional<Timestamp> age_of_mail_link(Tx& tx, Blob email_hash, MailPurpose purpose, std::int64_t newer);
std::optional<MailLinkRow> find_mail_link(Tx& tx, MailLinkId id);
// Locks the row until the transaction ends.
std::optional<MailLinkRow> lock_mail_link(Tx& tx, MailLinkId id);

// Whether a mail is due.
bool any_mail_due(Tx& tx);
// Takes the mail that is due longest: its attempt is counted, and it is due again at `again`, should the result
// of the attempt not be recorded. Others pass it over until then.
std::optional<MailLinkRow> claim_due_mail(Tx& tx, Timestamp again);
// The result of that attempt: sent, or due again at `due_at`, or, without a time, given up. False: another
// attempt has begun since.
bool record_mail_sent(Tx& tx, MailLinkId id, std::int64_t attempts);
bool record_mail_failed(Tx& tx, MailLinkId id, std::int64_t attempts, std::optional<Timestamp> due_at);
// Deletes at most `limit` links that expired before `expired_before`; returns how many.
std::int64_t delete_expired_mail_links(Tx& tx, Timestamp expired_before, int limit);

void put_verified_email(Tx& tx, UserId user, Blob email_hash);
bool is_verified_email(Tx& tx, UserId user, Blob email_hash);
void delete_verified_email(Tx& tx, UserId user);

}  // namespace presetbridge::storage
