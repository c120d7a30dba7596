#include "services/vault/cloud_logins.h"

#include <algorithm>
#include <boost/json.hpp>

#include "crypto/opaque_token.h"
#include "identity/audit.h"
#include "services/vault/stored_logins.h"
#include "storage/stores/cloud_login_store.h"

namespace presetbridge::services {
namespace {

namespace json = boost::json;
using cloud::CloudError;
using storage::Tx;

constexpr std::string_view kTokenPrefix = "pdb_session_";

crypto::ValuePlace place_of(std::span<const std::byte> hash) {
  return {storage::kCloudSession, storage::cloud_session_row(hash)};
}

std::unexpected<LoginFailure> failure(Error error) {
  return std::unexpected(LoginFailure(std::move(error)));
}
std::unexpected<Error> no_session() {
  return fail("UNAUTHORIZED", "The session token is not valid for this API key, or has expired.");
}

}  // namespace

Task<LoginResult<OpenedSession>> CloudLogins::login(Executor& executor, identity::Principal by,
                                                    std::string email, crypto::SecretString password) {
  if (!by.key) co_return failure({"FORBIDDEN", "A session is bound to an API key: send one.", {}});
  auto allowed = co_await guard_.begin(executor, by.account, email);
  if (!allowed) co_return std::unexpected(allowed.error());
  auto session = co_await agent_.login_with(executor, std::move(email), std::move(password));
  const bool refused = !session && session.error().kind == CloudError::Kind::login_refused;
  const auto outcome = session   ? LoginGuard::Outcome::succeeded
                       : refused ? LoginGuard::Outcome::refused
                                 : LoginGuard::Outcome::unanswered;
  if (auto ended = co_await guard_.end(executor, *allowed, outcome); !ended) co_return failure(ended.error());
  if (!session && !refused) {
    co_return failure(unanswered(session.error()));
  }
  const auto token = crypto::generate_opaque_token(random_, kTokenPrefix);
  std::string text;
  if (session) {
    text = json::serialize(json::object{
        {"token", session->token}, {"userId", session->user_id}, {"username", session->username}});
  }
  auto opened = co_await async_db_.write(executor, [&](Tx& tx) {
    OpenedSession o;
    if (session) {
      o = {token.text, std::min(session->expires_at, tx.now() + max_age), session->user_id,
           session->username};
      insert_cloud_session(
          tx, {{token.hash.begin(), token.hash.end()}, *by.key, by.account, session->user_id, o.expires_at},
          cipher_.encrypt(place_of(token.hash), text));
    }
    identity::audit(tx, ids_, by, {.action = session ? "cloud_login.succeeded" : "cloud_login.refused"});
    return o;
  });
  crypto::wipe(text);
  if (!opened) co_return failure(opened.error());
  if (refused) {
    co_return refused_by_platform(*allowed, "The cloud platform refused this e-mail address and password.");
  }
  co_return std::move(*opened);
}

Task<Expected<storage::CloudSessionRow>> CloudLogins::find(Executor& executor, identity::Principal by,
                                                           std::string token) {
  const auto hash = crypto::opaque_token_hash(kTokenPrefix, token);
  if (!hash || !by.key) co_return no_session();
  auto row = co_await async_db_.read(executor, [&](Tx& tx) -> std::optional<storage::CloudSessionRow> {
    auto found = find_cloud_session(tx, *hash);
    if (!found || found->key != *by.key || found->account != by.account || found->expires_at <= tx.now())
      return std::nullopt;
    return found;
  });
  if (!row) co_return std::unexpected(row.error());
  if (!*row) co_return no_session();
  co_return std::move(**row);
}

Task<Expected<cloud::Session>> CloudLogins::open(Executor& executor, crypto::Bytes hash) {
  struct Found {
    storage::CloudSessionRow row;
    crypto::Bytes encrypted;
  };
  auto found = co_await async_db_.read(executor, [&](Tx& tx) -> std::optional<Found> {
    auto row = find_cloud_session(tx, hash);
    auto encrypted = find_encrypted_session(tx, hash);
    if (!row || !encrypted || row->expires_at <= tx.now()) return std::nullopt;
    return Found{std::move(*row), std::move(*encrypted)};
  });
  if (!found) co_return std::unexpected(found.error());
  if (!*found) co_return no_session();
  const auto secret = cipher_.decrypt(place_of(hash), (*found)->encrypted);
  if (!secret) co_return no_session();
  const auto value = json::parse(secret->reveal());
  cloud::Session s;
  s.token = value.at("token").as_string();
  s.user_id = value.at("userId").as_string();
  s.username = value.at("username").as_string();
  s.expires_at = (*found)->row.expires_at;
  co_return s;
}

}  // namespace presetbridge::services
