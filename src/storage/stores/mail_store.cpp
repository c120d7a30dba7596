#include "storage/stores/mail_store.h"

#include <tuple>

#include "storage/row_columns.h"

namespace presetbridge::storage {
namespace {

constexpr std::tuple kColumns{
    Column{"id", &MailLinkRow::id},
    Column{"user_id", &MailLinkRow::user},
    Column{"purpose", &MailLinkRow::purpose, kNamed<parse_mail_purpose>},
    Column{"email_hash", &MailLinkRow::email_hash},
    Column{"created_at", &MailLinkRow::created_at},
    Column{"expires_at", &MailLinkRow::expires_at},
    Column{"used_at", &MailLinkRow::used_at},
    Column{"attempts", &MailLinkRow::attempts},
    Column{"due_at", &MailLinkRow::due_at},
};
constexpr auto mail_link_row = read_row<MailLinkRow, kColumns>;

constexpr Sql kEnd{
    "UPDATE mail_links SET used_at = $3 WHERE email_hash = $1 AND purpose = $2 AND used_at IS NULL"};
constexpr Sql kInsert = sql<"INSERT INTO mail_links ", kInsertion<kColumns>>;
constexpr Sql kAge{
    "SELECT created_at FROM mail_links WHERE email_hash = $1 AND purpose = $2"
    " ORDER BY created_at DESC LIMIT 1 OFFSET $3"};
constexpr Sql kFind = sql<"SELECT ", kSelected<kColumns>, " FROM mail_links WHERE id = $1">;
constexpr Sql kLock = sql<"SELECT ", kSelected<kColumns>, " FROM mail_links WHERE id = $1 <for_update>">;
constexpr Sql kAnyDue{"SELECT id FROM mail_links WHERE due_at <= $1 LIMIT 1"};
constexpr Sql kClaim = sql<
    "WITH q AS MATERIALIZED (SELECT id FROM mail_links WHERE due_at <= $1 ORDER BY due_at LIMIT 1 <lock>)"
    " UPDATE mail_links SET attempts = attempts + 1, due_at = $2 WHERE id IN (SELECT id FROM q) RETURNING ",
    kSelected<kColumns>>;
constexpr Sql kSent{
    "UPDATE mail_links SET sent_at = $3, due_at = NULL WHERE id = $1 AND attempts = $2 AND due_at IS NOT "
    "NULL"};
constexpr Sql kFailed{
    "UPDATE mail_links SET due_at = $3 WHERE id = $1 AND attempts = $2 AND due_at IS NOT NULL"};
constexpr Sql kDeleteExpired{
    "DELETE FROM mail_links WHERE id IN"
    " (SELECT id FROM mail_links WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)"};

constexpr Sql kPutVerified{
    "INSERT INTO verified_emails (user_id, email_hash, verified_at) VALUES ($1, $2, $3)"
    " ON CONFLICT (user_id) DO UPDATE SET email_hash = excluded.email_hash, verified_at = "
    "excluded.verified_at"};
constexpr Sql kVerified{"SELECT user_id FROM verified_emails WHERE user_id = $1 AND email_hash = $2"};
constexpr Sql kDeleteVerified{"DELETE FROM verified_emails WHERE user_id = $1"};

}  // namespace

std::string_view to_string(MailPurpose purpose) {
  return purpose == MailPurpose::reset ? "reset" : "verify";
}
std::optional<MailPurpose> parse_mail_purpose(std::string_view name) {
  for (const auto purpose : {MailPurpose::reset, MailPurpose::verify}) {
    if (to_string(purpose) == name) return purpose;
  }
  return std::nullopt;
}

void end_mail_links(Tx& tx, Blob email_hash, MailPurpose purpose) {
  tx.exec(kEnd, email_hash, to_string(purpose), tx.now());
}

void insert_mail_link(Tx& tx, const MailLinkRow& row) {
  Texts texts;
  tx.exec_params(kInsert, insert_params<kColumns>(row, texts));
}

std::optional<Timestamp> age_of_mail_link(Tx& tx, Blob email_hash, MailPurpose purpose, std::int64_t newer) {
  return tx.one(kAge, email_hash, to_string(purpose), newer, [](const Row& r) { return r.time(0); });
}

std::optional<MailLinkRow> find_mail_link(Tx& tx, MailLinkId id) {
  return tx.one(kFind, id, mail_link_row);
}
std::optional<MailLinkRow> lock_mail_link(Tx& tx, MailLinkId id) {
  return tx.one(kLock, id, mail_link_row);
}

bool any_mail_due(Tx& tx) {
  return tx.one(kAnyDue, tx.now(), [](const Row&) { return true; }).value_or(false);
}

std::optional<MailLinkRow> claim_due_mail(Tx& tx, Timestamp again) {
  return tx.one(kClaim, tx.now(), again, mail_link_row);
}

bool record_mail_sent(Tx& tx, MailLinkId id, std::int64_t attempts) {
  return tx.exec(kSent, id, attempts, tx.now()) == 1;
}

bool record_mail_failed(Tx& tx, MailLinkId id, std::int64_t attempts, std::optional<Timestamp> due_at) {
  return tx.exec(kFailed, id, attempts, due_at) == 1;
}

std::int64_t delete_expired_mail_links(Tx& tx, Timestamp expired_before, int limit) {
  return tx.exec(kDeleteExpired, expired_before, limit);
}

void put_verified_email(Tx& tx, UserId user, Blob email_hash) {
  tx.exec(kPutVerified, user, email_hash, tx.now());
}

bool is_verified_email(Tx& tx, UserId user, Blob email_hash) {
  return tx.one(kVerified, user, email_hash, [](const Row&) { return true; }).value_or(false);
}

void delete_verified_email(Tx& tx, UserId user) {
  tx.exec(kDeleteVerified, user);
}

}  // namespace presetbridge::storage
