#include "identity/sessions.h"

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "crypto/digest.h"
#include "crypto/opaque_token.h"
#include "identity/login_failure.h"
#include "identity/mail_links.h"
#include "storage/stores/identity_store.h"

namespace presetbridge::identity {

namespace json = boost::json;
using storage::SessionRow;
using storage::Tx;

namespace {

constexpr std::string_view kOpensNothing = "what it gave opens nothing any more";

std::unexpected<Error> wrong_token() {
  return fail("UNAUTHORIZED", "The refresh token is expired, revoked or not valid. Sign in again.");
}

Deed token_reused(SessionId session) {
  return {.action = "refresh_token.reused", .target = to_string(session), .detail = "the session was ended"};
}

std::int64_t seconds(Timestamp time) {
  return to_unix_ms(time) / 1000;
}

}  // namespace

Sessions::Opened Sessions::open(Tx& tx, SessionId id, Start start) const {
  const auto now = tx.now();
  SessionRow row{.id = id,
                 .user = start.member.user,
                 .iss = std::move(start.iss),
                 .sub = std::move(start.sub),
                 .email = std::move(start.email),
                 .browser = start.device.browser,
                 .authenticated_at = start.authenticated_at,
                 .created_at = now,
                 .last_used_at = now,
                 .expires_at = now + std::min(options_.idle_lifetime, options_.longest_lifetime),
                 .ended_at = std::nullopt,
                 .network = std::move(start.device.network),
                 .user_agent = std::move(start.device.user_agent)};
  if (!storage::insert_session(tx, row))
    throw Error{"SIGN_IN_STATE_INVALID", "This sign-in has been used already. Sign in again.", {}};
  storage::end_surplus_sessions(tx, row.user, row.browser, options_.most);
  const Origin origin{row.network, std::move(start.device.request_id)};
  audit(tx, deps_.ids, start.member, origin,
        {.action = "session.started",
         .target = to_string(row.id),
         .detail = row.iss == options_.iss ? "by password" : "by " + row.iss});
  return add_token(tx, std::move(row), start.member.account);
}

Sessions::Opened Sessions::add_token(Tx& tx, SessionRow session, AccountId account) const {
  auto token = crypto::generate_opaque_token(deps_.random, kRefreshTokenPrefix);
  const auto expires_at = session.expires_at;
  storage::insert_session_token(tx, token.hash, session.id, expires_at);
  const auto verified = email_verified(tx, session);
  return {std::move(session), account, std::move(token.text), expires_at, tx.now(), verified};
}

std::optional<bool> Sessions::email_verified(Tx& tx, const SessionRow& session) const {
  if (session.iss != options_.iss) return std::nullopt;
  return storage::is_verified_email(tx, session.user, hash_of_email(session.email));
}

void Sessions::end_all(Tx& tx, UserId user) {
  storage::revoke_refresh_tokens_of(tx, user);
  storage::end_sessions_of(tx, user);
}

Expected<Tokens> Sessions::begin(Opened opened) {
  begun_.count(to_string(opened.session.user));
  return tokens(std::move(opened));
}

Expected<Tokens> Sessions::tokens(Opened opened) const {
  auto& session = opened.session;
  const auto expires_at = std::min(opened.now + options_.token_lifetime, session.expires_at);
  json::object claims{
      {"iss", options_.iss},        {"sub", to_string(session.user)}, {"aud", options_.audience},
      {"iat", seconds(opened.now)}, {"exp", seconds(expires_at)},     {"sid", to_string(session.id)},
  };
  if (!session.email.empty()) claims["email"] = session.email;
  if (opened.email_verified) claims["email_verified"] = *opened.email_verified;
  if (session.authenticated_at) claims["auth_time"] = seconds(*session.authenticated_at);
  auto signed_token = deps_.keys.sign(json::serialize(claims));
  if (!signed_token) return std::unexpected(signed_token.error());
  return Tokens{.id_token = std::move(*signed_token),
                .id_token_expires_at = from_unix_ms(seconds(expires_at) * 1000),
                .refresh_token = std::move(opened.refresh_token),
                .refresh_token_expires_at = opened.refresh_expires_at,
                .refresh_token_lifetime = opened.refresh_expires_at - opened.now,
                .user = session.user,
                .account = opened.account,
                .email = std::move(session.email),
                .session = session.id,
                .browser = session.browser,
                .authenticated_at = session.authenticated_at};
}

Task<LoginResult<Tokens>> Sessions::refresh(Executor& executor, std::string refresh_token, Device device) {
  const auto hash = crypto::opaque_token_hash(kRefreshTokenPrefix, refresh_token);
  if (!hash) co_return wrong_token();
  Refused refused;
  auto opened = co_await deps_.async_db.write(executor, [&](Tx& tx) -> Expected<Opened> {
    refused = {};
    const auto token = storage::find_session_token(tx, *hash);
    return token ? refresh_known(tx, *hash, *token, device, refused)
                 : refresh_of_before(tx, *hash, device, refused);
  });
  if (refused.wait > Millis{0}) co_return std::unexpected(rate_limit_exceeded(refused.wait));
  if (refused.reused) deps_.log.warn("A refresh token was used twice; its sign-in is revoked.");
  if (!opened) co_return std::unexpected(opened.error());
  refreshes_.count(to_string(opened->session.user));
  auto given = tokens(std::move(*opened));
  if (!given) co_return std::unexpected(given.error());
  co_return std::move(*given);
}

Expected<Sessions::Opened> Sessions::refresh_known(Tx& tx, storage::Blob hash,
                                                   const storage::SessionTokenRow& token,
                                                   const Device& device, Refused& refused) {
  auto session = storage::lock_session(tx, token.session);
  const auto now = tx.now();
  if (!session || !session->stands(now) || session->browser != device.browser) return wrong_token();
  // Again, as another transaction may have replaced it until the session was ours.
  const auto current = storage::find_session_token(tx, hash);
  if (!current || current->expires_at <= now) return wrong_token();
  const auto member = find_membership(tx, session->iss, session->sub);
  if (!member) return wrong_token();
  const bool replaced = current->replaced_at.has_value();
  if (replaced && !(session->browser && now - *current->replaced_at <= kRefreshGrace)) {
    refused.reused = true;
    storage::end_session(tx, session->user, session->id);
    audit(tx, deps_.ids, *member, device.origin(), token_reused(session->id));
    return wrong_token();  // commits the end
  }
  refused.wait = refreshes_.wait(to_string(session->user));
  if (replaced && storage::has_session_tokens(tx, session->id, options_.most_tokens))
    refused.wait = std::max(refused.wait, kRefreshGrace);
  if (refused.wait > Millis{0}) return std::unexpected<Error>(rate_limit_exceeded(refused.wait));
  if (!replaced) storage::replace_session_tokens(tx, session->id);
  session->last_used_at = now;
  session->expires_at =
      std::min(now + options_.idle_lifetime, session->created_at + options_.longest_lifetime);
  session->network = device.network;
  session->user_agent = device.user_agent;
  storage::update_session_use(tx, *session);
  return add_token(tx, std::move(*session), member->account);
}

// A token of the program before this one begins a session of its own, which has the token's family as id.
Expected<Sessions::Opened> Sessions::refresh_of_before(Tx& tx, storage::Blob hash, const Device& device,
                                                       Refused& refused) const {
  const auto token = storage::lock_refresh_token(tx, hash);
  if (!token || token->expires_at <= tx.now() || device.browser) return wrong_token();
  if (token->revoked_at) {
    refused.reused = true;
    storage::revoke_refresh_family(tx, token->user, token->family);
    storage::end_session(tx, token->user, SessionId{token->family});
    if (const auto member = find_membership(tx, options_.iss, to_string(token->user)))
      audit(tx, deps_.ids, *member, device.origin(), token_reused(SessionId{token->family}));
    return wrong_token();  // commits the revocation
  }
  const auto user = storage::find_user(tx, token->user);
  auto sub = to_string(token->user);
  const auto member = find_membership(tx, options_.iss, sub);
  if (!user || !member) return wrong_token();
  storage::revoke_refresh_family(tx, token->user, token->family);
  return open(tx, SessionId{token->family},
              {.member = *member,
               .iss = options_.iss,
               .sub = std::move(sub),
               .email = user->email,
               .authenticated_at = std::nullopt,
               .device = device});
}

void Sessions::audit_session(Tx& tx, const SessionRow& session, const Origin& origin,
                             const Deed& deed) const {
  if (const auto member = find_membership(tx, session.iss, session.sub))
    audit(tx, deps_.ids, *member, origin, deed);
}

Task<Expected<bool>> Sessions::sign_out(Executor& executor, std::string refresh_token, Origin origin) {
  const auto hash = crypto::opaque_token_hash(kRefreshTokenPrefix, refresh_token);
  if (!hash) co_return false;
  co_return co_await deps_.async_db.write(executor, [&](Tx& tx) {
    if (const auto token = storage::find_session_token(tx, *hash)) {
      const auto session = storage::lock_session(tx, token->session);
      if (session && storage::end_session(tx, session->user, session->id))
        audit_session(tx, *session, origin,
                      {.action = "session.signed_out", .target = to_string(session->id)});
      return true;
    }
    const auto of_before = storage::lock_refresh_token(tx, *hash);
    if (!of_before) return false;
    storage::revoke_refresh_family(tx, of_before->user, of_before->family);
    storage::end_session(tx, of_before->user, SessionId{of_before->family});
    return true;
  });
}

Task<Expected<SessionRow>> Sessions::of_token(Executor& executor, std::string refresh_token) {
  const auto hash = crypto::opaque_token_hash(kRefreshTokenPrefix, refresh_token);
  if (!hash) co_return wrong_token();
  auto found = co_await deps_.async_db.read(executor, [&](Tx& tx) -> std::optional<SessionRow> {
    const auto token = storage::find_session_token(tx, *hash);
    if (!token || token->replaced_at) return std::nullopt;
    return storage::find_session(tx, token->session);
  });
  if (!found) co_return std::unexpected(found.error());
  if (!*found || !(*found)->browser) co_return wrong_token();
  co_return std::move(**found);
}

Task<Expected<storage::Page<SessionRow>>> Sessions::list(Executor& executor, Principal by,
                                                         storage::PageRequest page) {
  const auto user = by.person->id;
  co_return co_await deps_.async_db.read(executor,
                                         [&](Tx& tx) { return storage::list_sessions(tx, user, page); });
}

Task<Expected<void>> Sessions::end(Executor& executor, Principal by, SessionId id) {
  co_return co_await deps_.async_db.write(executor, [&](Tx& tx) -> Expected<void> {
    if (!storage::end_session(tx, by.person->id, id)) return fail("NOT_FOUND", "There is no such session.");
    storage::revoke_refresh_family(tx, by.person->id, id.value);
    audit(tx, deps_.ids, by,
          {.action = "session.ended", .target = to_string(id), .detail = std::string(kOpensNothing)});
    return {};
  });
}

Task<Expected<void>> Sessions::end_all(Executor& executor, Principal by) {
  co_return co_await deps_.async_db.write(executor, [&](Tx& tx) -> Expected<void> {
    end_all(tx, by.person->id);
    audit(tx, deps_.ids, by,
          {.action = "sessions.ended",
           .target = to_string(by.person->id),
           .detail = std::string(kOpensNothing)});
    return {};
  });
}

Task<Expected<void>> Sessions::end_others(Executor& executor, Principal by) {
  co_return co_await deps_.async_db.write(executor, [&](Tx& tx) -> Expected<void> {
    const auto& own = by.person->session;
    // An earlier program made these tokens: the session that stays has none of them.
    storage::revoke_refresh_tokens_of(tx, by.person->id);
    storage::end_sessions_of(tx, by.person->id, own ? own->id : SessionId{});
    audit(tx, deps_.ids, by,
          {.action = "sessions.others_ended",
           .target = to_string(by.person->id),
           .detail = std::string(kOpensNothing)});
    return {};
  });
}

Task<LoginResult<Tokens>> Sessions::confirm(Executor& executor, SessionId id, std::optional<Timestamp> at,
                                            Origin origin) {
  Millis wait{0};
  auto opened = co_await deps_.async_db.write(executor, [&](Tx& tx) -> Expected<Opened> {
    wait = Millis{0};
    auto session = storage::lock_session(tx, id);
    const auto now = tx.now();
    if (!session || !session->stands(now)) return wrong_token();
    const auto member = find_membership(tx, session->iss, session->sub);
    if (!member) return wrong_token();
    wait = wait_to_begin(session->user);
    if (wait > Millis{0}) return std::unexpected<Error>(rate_limit_exceeded(wait));
    session->authenticated_at = std::max(session->authenticated_at.value_or(Timestamp{}), at.value_or(now));
    storage::set_session_authenticated(tx, id, *session->authenticated_at);
    audit(tx, deps_.ids, *member, origin, {.action = "session.confirmed", .target = to_string(id)});
    const auto expires_at = session->expires_at;
    const auto verified = email_verified(tx, *session);
    return Opened{std::move(*session), member->account, {}, expires_at, now, verified};
  });
  if (wait > Millis{0}) co_return std::unexpected(rate_limit_exceeded(wait));
  if (!opened) co_return std::unexpected(opened.error());
  begun_.count(to_string(opened->session.user));
  auto given = tokens(std::move(*opened));
  if (!given) co_return std::unexpected(given.error());
  co_return std::move(*given);
}

}  // namespace presetbridge::identity
