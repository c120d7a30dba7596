#include "identity/email_proofs.h"

#include <utility>

#include "identity/audit.h"
#include "identity/mail_links.h"

namespace presetbridge::identity {

using storage::Tx;
using storage::UserRow;

namespace {

constexpr std::int64_t kResetsOfNetwork = 20;  // in an hour

void audit_person(Tx& tx, IdSource& ids, const std::string& iss, UserId user, const Origin& origin,
                  const Deed& deed) {
  if (const auto member = find_membership(tx, iss, to_string(user))) audit(tx, ids, *member, origin, deed);
}

}  // namespace

EmailProofs::EmailProofs(Deps deps)
    : deps_(std::move(deps)),
      resets_of_networks_(deps_.clock, {.times = kResetsOfNetwork, .window = std::chrono::hours{1}}) {}

Task<LoginResult<void>> EmailProofs::ask_reset(Executor& executor, net::Caller caller, std::string email) {
  email = normalise_email(email);
  if (!caller.for_others) {
    if (const auto wait = resets_of_networks_.wait(caller.network); wait > Millis{0})
      co_return std::unexpected(rate_limit_exceeded(wait));
    resets_of_networks_.count(caller.network);
  }
  // One row is written for an unknown address too, so that the answer takes equally long.
  auto written = co_await deps_.async_db.write(executor, [&](Tx& tx) {
    const auto user = find_user_by_email(tx, email);
    return add_mail_link(tx, deps_.ids, MailPurpose::reset, user ? user->id : UserId{}, email);
  });
  if (!written) {
    if (!caller.for_others) resets_of_networks_.give_back(caller.network);
    co_return std::unexpected(written.error());
  }
  deps_.mail_came();
  co_return LoginResult<void>{};
}

Task<LoginResult<Tokens>> EmailProofs::reset(Executor& executor, net::Caller caller, MailLinkId link,
                                             std::string next, Device device) {
  if (auto problem = problem_of_password(next))
    co_return fail("VALIDATION_FAILED", "The request has fields that are not valid.",
                   {{"password", std::move(*problem)}});
  // Nothing is hashed for a link that is not good.
  const auto known = co_await deps_.async_db.read(
      executor, [&](Tx& tx) { return find_person_of_link(tx, link, MailPurpose::reset); });
  if (!known) co_return std::unexpected(known.error());
  auto& sessions = deps_.issuer.sessions();
  if (const auto wait = sessions.wait_to_begin(known->id); wait > Millis{0})
    co_return std::unexpected(rate_limit_exceeded(wait));
  auto seat = deps_.passwords.seat(caller);
  if (!seat) co_return std::unexpected(seat.error());
  auto hash = co_await deps_.passwords.hash(executor, *seat, std::move(next));
  if (!hash) co_return std::unexpected(hash.error());

  auto session = co_await deps_.async_db.write(executor, [&](Tx& tx) {
    const auto user = use_link(tx, link, MailPurpose::reset);
    if (!user) throw Error(user.error());
    replace_password(tx, *user, *hash);
    put_verified_email(tx, user->id, hash_of_email(user->email));
    audit_person(tx, deps_.ids, deps_.issuer.iss(), user->id, device.origin(),
                 {.action = "password.reset",
                  .target = to_string(user->id),
                  .detail = "by a link in a mail; all sessions were signed out"});
    return deps_.issuer.open_session(tx, *user, device);
  });
  if (!session) co_return std::unexpected(session.error());
  co_return sessions.begin(std::move(*session));
}

Task<LoginResult<void>> EmailProofs::ask_verification(Executor& executor, Principal by) {
  if (!by.person || by.person->iss != deps_.issuer.iss())
    co_return fail("FORBIDDEN", "Another identity provider knows your e-mail address; confirm it there.");
  Millis wait{0};
  auto written = co_await deps_.async_db.write(executor, [&](Tx& tx) -> Expected<void> {
    wait = Millis{0};
    const auto user = lock_user(tx, by.person->id);
    if (!user) return fail("FORBIDDEN", "You are no longer a member of this account.");
    if (is_verified_email(tx, user->id, hash_of_email(user->email)))
      return fail("CONFLICT", "Your e-mail address is confirmed already.");
    wait = add_mail_link(tx, deps_.ids, MailPurpose::verify, user->id, user->email);
    return {};
  });
  if (!written) co_return std::unexpected(written.error());
  if (wait > Millis{0}) co_return std::unexpected(rate_limit_exceeded(wait));
  deps_.mail_came();
  co_return LoginResult<void>{};
}

Task<Expected<void>> EmailProofs::verify(Executor& executor, MailLinkId link, Origin origin) {
  co_return co_await deps_.async_db.write(executor, [&](Tx& tx) -> Expected<void> {
    const auto user = use_link(tx, link, MailPurpose::verify);
    if (!user) return std::unexpected(user.error());
    put_verified_email(tx, user->id, hash_of_email(user->email));
    audit_person(tx, deps_.ids, deps_.issuer.iss(), user->id, origin,
                 {.action = "email.verified", .target = to_string(user->id)});
    return {};
  });
}

}  // namespace presetbridge::identity
