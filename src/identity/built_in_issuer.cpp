#include "identity/built_in_issuer.h"

#include <fmt/format.h>
#include <algorithm>
#include <boost/json.hpp>
#include <cctype>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "base/characters.h"
#include "crypto/digest.h"
#include "storage/audit_store.h"

namespace presetbridge::identity {

namespace json = boost::json;
using storage::Tx;

namespace {

constexpr std::int64_t kFreeFailures = 4;  // the fifth locks
constexpr Millis kFirstLock = std::chrono::seconds{30};
constexpr Millis kLongestLock = std::chrono::minutes{15};
constexpr Millis kReloadCoolDown = std::chrono::seconds{10};
constexpr std::string_view kEmailTaken = "EMAIL_TAKEN";
constexpr std::string_view kKeyColumn = "issuer_keys.encrypted_private_jwk";

std::string normalise_email(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  std::string email(text);
  for (char& c : email) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return email;
}

// Only what can be told without writing to it: one '@' with something on both sides, no white space or
// controls.
bool looks_like_email(std::string_view email) {
  const auto at = email.find('@');
  if (at == 0 || at == std::string_view::npos || at + 1 == email.size() || characters(email) > 254)
    return false;
  if (email.find('@', at + 1) != std::string_view::npos) return false;
  return std::ranges::none_of(email, [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return u <= 0x20 || u == 0x7f;
  });
}

std::optional<std::string> problem_of_password(std::string_view password) {
  if (characters(password) < kMinPasswordCharacters) {
    return fmt::format("must have at least {} characters", kMinPasswordCharacters);
  }
  if (password.size() > crypto::max_password_bytes) {
    return fmt::format("must have at most {} bytes", crypto::max_password_bytes);
  }
  return std::nullopt;
}

std::unexpected<Error> invalid_field(std::string field, std::string problem) {
  return fail("VALIDATION_FAILED", "The request has fields that are not valid.",
              {{std::move(field), std::move(problem)}});
}

std::unexpected<Error> wrong_login() {
  return fail("INVALID_CREDENTIALS", "The e-mail or the password is wrong.");
}

std::unexpected<Error> wrong_token() {
  return fail("UNAUTHORIZED", "The refresh token is expired, revoked or not valid. Sign in again.");
}

LoginFailure too_many_attempts(Millis locked_for) {
  return {{"TOO_MANY_ATTEMPTS",
           fmt::format("Too many failed sign-ins with this e-mail address; try again in {} seconds.",
                       (locked_for.count() + 999) / 1000),
           {}},
          locked_for};
}

Millis lock_after(std::int64_t failures) {
  if (failures <= kFreeFailures) return Millis{0};
  const auto doublings = std::min<std::int64_t>(failures - kFreeFailures - 1, 10);
  return std::min(kLongestLock, kFirstLock * (std::int64_t{1} << doublings));
}

void audit(Tx& tx, IdSource& ids, const Membership& member, std::string_view action,
           std::string_view detail) {
  const auto target = to_string(member.user);
  storage::insert_audit(tx, ids, {member.account, target, action, target, detail});
}

}  // namespace

struct BuiltInIssuer::Ring {
  crypto::PrivateJwk signer;
  Keys all;
};

// What a transaction leaves for the tokens that are made after its commit.
struct BuiltInIssuer::Session {
  storage::UserRow user;
  AccountId account;
  std::string refresh_token;
  Timestamp refresh_expires_at;
  Timestamp now;
};

BuiltInIssuer::BuiltInIssuer(Deps deps, BuiltInIssuerOptions options)
    : deps_(deps), options_(std::move(options)), unknown_hash_([&] {
        auto hash = deps.hasher.hash("no user has this password");
        if (!hash) throw std::runtime_error(hash.error().message);
        return *hash;
      }()) {
  if (options_.signups) signups_.emplace(*options_.signups);
}

BuiltInIssuer::~BuiltInIssuer() = default;

// ---------------------------------------------------------------- keys

std::shared_ptr<const BuiltInIssuer::Ring> BuiltInIssuer::ring() const {
  const std::scoped_lock lock(mutex_);
  return ring_;
}

Task<Expected<std::shared_ptr<const BuiltInIssuer::Ring>>> BuiltInIssuer::load(Executor& executor) {
  auto rows = co_await deps_.commits.write(executor, [this](Tx& tx) {
    auto found = storage::issuer_keys(tx);
    if (found.empty()) {
      // The first of several nodes that start at one moment decides, and the others take what it made.
      tx.lock_schema();
      found = storage::issuer_keys(tx);
    }
    if (found.empty()) {
      const auto key = crypto::PrivateJwk::generate(crypto::JwsAlgorithm::es256);
      const auto now = tx.now();
      storage::IssuerKeyRow row{
          key.kid(), key.public_key().to_json(),
          deps_.cipher.encrypt({kKeyColumn, to_unix_ms(now)}, key.reveal_json().reveal()), now};
      storage::insert_issuer_key(tx, row);
      found.push_back(std::move(row));
    }
    return found;
  });
  if (!rows) co_return std::unexpected(rows.error());

  std::vector<crypto::PublicJwk> all;
  for (const auto& row : *rows) {
    auto key = crypto::PublicJwk::parse(row.public_jwk);
    if (!key) co_return std::unexpected(key.error());
    all.push_back(std::move(*key));
  }
  const auto& newest = rows->front();
  auto secret =
      deps_.cipher.decrypt({kKeyColumn, to_unix_ms(newest.created_at)}, newest.encrypted_private_jwk);
  if (!secret) co_return std::unexpected(secret.error());
  auto signer = crypto::PrivateJwk::parse(*secret);
  if (!signer) co_return std::unexpected(signer.error());
  if (signer->kid() != newest.kid)
    co_return fail("RECORD_CORRUPT", "A signing key is stored under another's name.");

  auto fresh = std::make_shared<const Ring>(
      Ring{std::move(*signer), std::make_shared<const crypto::JwkSet>(std::move(all))});
  const std::scoped_lock lock(mutex_);
  ring_ = fresh;
  loaded_at_ = deps_.clock.now();
  co_return fresh;
}

Task<Expected<void>> BuiltInIssuer::start(Executor& executor) {
  auto loaded = co_await load(executor);
  if (!loaded) co_return std::unexpected(loaded.error());
  co_return Expected<void>{};
}

Task<Expected<Keys>> BuiltInIssuer::keys(Executor& executor) {
  auto known = ring();
  if (known) co_return known->all;
  auto loaded = co_await load(executor);
  if (!loaded) co_return std::unexpected(loaded.error());
  co_return (*loaded)->all;
}

Task<Expected<Keys>> BuiltInIssuer::fresh_keys(Executor& executor) {
  const auto now = deps_.clock.now();
  Keys known;
  {
    const std::scoped_lock lock(mutex_);
    // Set before the reading ends, so that a crowd with unknown keys makes one reading.
    const bool recent = loaded_at_ && now >= *loaded_at_ && now < *loaded_at_ + kReloadCoolDown;
    if (recent && ring_) known = ring_->all;
    loaded_at_ = recent ? loaded_at_ : std::optional(now);
  }
  if (known) co_return known;
  auto loaded = co_await load(executor);
  if (!loaded) co_return std::unexpected(loaded.error());
  co_return (*loaded)->all;
}

std::string BuiltInIssuer::discovery_document() const {
  return json::serialize(json::object{
      {"issuer", options_.iss},
      {"jwks_uri", options_.iss + "/.well-known/jwks.json"},
      {"id_token_signing_alg_values_supported", json::array{"ES256"}},
      {"response_types_supported", json::array{"id_token"}},
      {"subject_types_supported", json::array{"public"}},
      {"claims_supported", json::array{"iss", "sub", "aud", "iat", "exp", "email"}},
  });
}

std::string BuiltInIssuer::jwks() const {
  const auto known = ring();
  return known ? known->all->to_json() : R"({"keys":[]})";
}

// ---------------------------------------------------------------- sessions

BuiltInIssuer::Session BuiltInIssuer::open_session(Tx& tx, const storage::UserRow& user,
                                                   std::int64_t family) const {
  const auto member = find_membership(tx, options_.iss, to_string(user.id));
  if (!member) throw Error{"INTERNAL_ERROR", "A user belongs to no account.", {}};
  auto token = crypto::generate_opaque_token(deps_.random, kRefreshTokenPrefix);
  const auto expires_at = tx.now() + options_.refresh_lifetime;
  storage::insert_refresh_token(tx, token.hash, user.id, family, expires_at);
  return {user, member->account, std::move(token.text), expires_at, tx.now()};
}

Expected<Tokens> BuiltInIssuer::tokens(Session session) const {
  const auto known = ring();
  if (!known) return fail("ISSUER_UNAVAILABLE", "The issuer has not started.");
  const auto expires_at = session.now + options_.token_lifetime;
  const auto seconds = [](Timestamp t) { return to_unix_ms(t) / 1000; };
  const auto claims = json::serialize(json::object{
      {"iss", options_.iss},
      {"sub", to_string(session.user.id)},
      {"aud", options_.audience},
      {"iat", seconds(session.now)},
      {"exp", seconds(expires_at)},
      {"email", session.user.email},
  });
  return Tokens{known->signer.sign(claims),
                from_unix_ms(seconds(expires_at) * 1000),
                std::move(session.refresh_token),
                session.refresh_expires_at,
                session.user.id,
                session.account,
                session.user.email};
}

std::vector<FieldProblem> BuiltInIssuer::problems_of_sign_up(std::string_view email,
                                                             std::string_view password) {
  std::vector<FieldProblem> problems;
  if (!looks_like_email(normalise_email(email))) problems.push_back({"email", "is not an e-mail address"});
  if (auto problem = problem_of_password(password)) problems.push_back({"password", std::move(*problem)});
  return problems;
}

Task<LoginResult<Tokens>> BuiltInIssuer::sign_up(Executor& executor, net::Caller caller, std::string email,
                                                 std::string password, std::string account_name) {
  if (options_.signup != Signup::open) {
    co_return fail("SIGNUP_CLOSED", "Sign-up is closed here; ask the operator for an account.");
  }
  if (auto problems = problems_of_sign_up(email, password); !problems.empty())
    co_return fail("VALIDATION_FAILED", "The request has fields that are not valid.", std::move(problems));
  email = normalise_email(email);
  if (account_name.empty()) account_name = email.substr(0, email.find('@'));

  const auto now = deps_.clock.now();
  const auto place = caller.for_others ? std::string() : caller.network;
  const auto wait = [&] {
    const std::scoped_lock lock(mutex_);
    return signups_ ? signups_->admit(place, now) : Millis{0};
  }();
  if (wait > Millis{0}) co_return std::unexpected(rate_limit_exceeded(wait));
  auto session = co_await make_account(executor, std::move(caller), std::move(email), std::move(password),
                                       std::move(account_name));
  if (session) co_return tokens(std::move(*session));
  if (session.error().code != kEmailTaken) {
    const std::scoped_lock lock(mutex_);
    if (signups_) signups_->give_back(place, now);
  }
  co_return std::unexpected(session.error());
}

Task<LoginResult<BuiltInIssuer::Session>> BuiltInIssuer::make_account(Executor& executor, net::Caller caller,
                                                                      std::string email, std::string password,
                                                                      std::string account_name) {
  const Error taken{
      std::string(kEmailTaken), "This e-mail address has an account already; sign in instead.", {}};
  auto seat = deps_.passwords.seat(caller);
  if (!seat) co_return std::unexpected(seat.error());
  auto known =
      co_await deps_.commits.read(executor, [&](Tx& tx) { return storage::find_user_by_email(tx, email); });
  if (!known) co_return std::unexpected(known.error());
  if (*known) co_return std::unexpected(taken);  // no hash for what will come to nothing
  auto hash = co_await deps_.passwords.hash(executor, *seat, std::move(password));
  if (!hash) co_return std::unexpected(hash.error());
  auto session = co_await deps_.commits.write(executor, [&](Tx& tx) {
    const storage::UserRow user{deps_.ids.make<UserId>(), email, *hash};
    if (!storage::insert_user(tx, user.id, user.email, user.password_hash)) throw Error(taken);
    found_account(tx, deps_.ids, user.id, options_.iss, to_string(user.id), account_name);
    return open_session(tx, user, deps_.ids.next());
  });
  if (!session) co_return std::unexpected(session.error());
  co_return std::move(*session);
}

Task<LoginResult<storage::UserRow>> BuiltInIssuer::verify_password(Executor& executor,
                                                                   const PasswordWorkers::Seat& seat,
                                                                   std::string email, std::string password) {
  const auto key = crypto::sha256(email);
  struct Known {
    std::optional<storage::UserRow> user;
    Millis locked_for{0};
  };
  auto known = co_await deps_.commits.read(executor, [&](Tx& tx) {
    const auto tries = storage::find_sign_in_tries(tx, key);
    return Known{storage::find_user_by_email(tx, email), tries ? tries->locked_until - tx.now() : Millis{0}};
  });
  if (!known) co_return std::unexpected(known.error());
  if (known->locked_for > Millis{0}) co_return std::unexpected(too_many_attempts(known->locked_for));

  std::string stored = known->user ? known->user->password_hash : unknown_hash_;
  auto verified = co_await deps_.passwords.verify(executor, seat, std::move(stored), std::move(password));
  if (!verified) co_return std::unexpected(verified.error());
  const bool right = *verified && known->user;
  // Of many that ran at once only so many are told what came of it: each sees here who ended before it. A row
  // is written only for what a hash was spent on.
  auto locked_for = co_await deps_.commits.write(executor, [&](Tx& tx) {
    const auto now = tx.now();
    auto tries = storage::lock_sign_in_tries(tx, key);
    if (tries.locked_until > now) return tries.locked_until - now;
    if (right) {
      storage::forget_sign_in_tries(tx, key);
      return Millis{0};
    }
    if (now - tries.last_at > kFailuresForgottenAfter) tries.failures = 0;
    ++tries.failures;
    tries.last_at = now;
    tries.locked_until = now + lock_after(tries.failures);
    storage::update_sign_in_tries(tx, key, tries);
    return Millis{0};
  });
  if (!locked_for) co_return std::unexpected(locked_for.error());
  if (*locked_for > Millis{0}) co_return std::unexpected(too_many_attempts(*locked_for));
  if (!right) co_return wrong_login();
  co_return std::move(*known->user);
}

Task<LoginResult<Tokens>> BuiltInIssuer::sign_in(Executor& executor, net::Caller caller, std::string email,
                                                 std::string password) {
  email = normalise_email(email);
  if (!looks_like_email(email) || password.size() > crypto::max_password_bytes) co_return wrong_login();
  auto seat = deps_.passwords.seat(caller);
  if (!seat) co_return std::unexpected(seat.error());
  auto user = co_await verify_password(executor, *seat, std::move(email), password);
  if (!user) co_return std::unexpected(user.error());

  std::string better_hash;
  if (deps_.hasher.needs_rehash(user->password_hash)) {
    if (auto hash = co_await deps_.passwords.hash(executor, *seat, std::move(password)))
      better_hash = std::move(*hash);
  }
  auto session = co_await deps_.commits.write(executor, [&](Tx& tx) {
    // The password may have been changed since it was verified: then this sign-in is one with the old
    // password.
    const auto current = storage::find_user(tx, user->id);
    if (!current || current->password_hash != user->password_hash) throw Error(wrong_login().error());
    if (!better_hash.empty()) storage::set_password_hash(tx, user->id, better_hash);
    return open_session(tx, *user, deps_.ids.next());
  });
  if (!session) co_return std::unexpected(session.error());
  co_return tokens(std::move(*session));
}

Task<Expected<Tokens>> BuiltInIssuer::refresh(Executor& executor, std::string refresh_token) {
  const auto hash = crypto::opaque_token_hash(kRefreshTokenPrefix, refresh_token);
  if (!hash) co_return wrong_token();
  bool reused = false;
  auto session = co_await deps_.commits.write(executor, [&](Tx& tx) -> Expected<Session> {
    reused = false;
    const auto token = storage::lock_refresh_token(tx, *hash);
    if (!token || token->expires_at <= tx.now()) return wrong_token();
    if (token->revoked_at) {
      reused = true;
      storage::revoke_refresh_family(tx, token->user, token->family);
      return wrong_token();  // commits the revocation
    }
    const auto user = storage::find_user(tx, token->user);
    if (!user) return wrong_token();
    storage::revoke_refresh_token(tx, *hash);
    return open_session(tx, *user, token->family);
  });
  if (reused) deps_.log.warn("A refresh token was used twice; its sign-in is revoked.");
  if (!session) co_return std::unexpected(session.error());
  co_return tokens(std::move(*session));
}

Task<Expected<bool>> BuiltInIssuer::sign_out(Executor& executor, std::string refresh_token) {
  const auto hash = crypto::opaque_token_hash(kRefreshTokenPrefix, refresh_token);
  if (!hash) co_return false;
  co_return co_await deps_.commits.write(executor, [&](Tx& tx) {
    const auto token = storage::lock_refresh_token(tx, *hash);
    if (token) storage::revoke_refresh_family(tx, token->user, token->family);
    return token.has_value();
  });
}

Task<LoginResult<Tokens>> BuiltInIssuer::change_password(Executor& executor, net::Caller caller, Principal by,
                                                         std::string current, std::string next) {
  if (!by.person || by.person->iss != options_.iss) {
    co_return fail("FORBIDDEN", "Your password is kept by another identity provider; change it there.");
  }
  if (auto problem = problem_of_password(next)) co_return invalid_field("newPassword", *problem);
  if (current.size() > crypto::max_password_bytes) co_return wrong_login();
  auto seat = deps_.passwords.seat(caller);
  if (!seat) co_return std::unexpected(seat.error());
  const auto id = by.person->id;
  auto known = co_await deps_.commits.read(executor, [&](Tx& tx) { return storage::find_user(tx, id); });
  if (!known) co_return std::unexpected(known.error());
  if (!*known) co_return wrong_login();
  auto verified = co_await verify_password(executor, *seat, (*known)->email, std::move(current));
  if (!verified) co_return std::unexpected(verified.error());
  auto hash = co_await deps_.passwords.hash(executor, *seat, std::move(next));
  if (!hash) co_return std::unexpected(hash.error());

  auto session = co_await deps_.commits.write(executor, [&](Tx& tx) {
    // A reset may have come in between: then it was an old password that was verified.
    const auto now = storage::find_user(tx, id);
    if (!now || now->password_hash != verified->password_hash) throw Error(wrong_login().error());
    storage::set_password_hash(tx, id, *hash);
    storage::revoke_refresh_tokens_of(tx, id);
    audit(tx, deps_.ids, {by.account, id, by.person->role}, "password.changed",
          "other sessions were signed out");
    return open_session(tx, *verified, deps_.ids.next());
  });
  if (!session) co_return std::unexpected(session.error());
  co_return tokens(std::move(*session));
}

Task<Expected<void>> BuiltInIssuer::reset_password(Executor& executor, std::string email, std::string next) {
  email = normalise_email(email);
  if (auto problem = problem_of_password(next)) co_return invalid_field("newPassword", *problem);
  auto seat = deps_.passwords.seat({});
  if (!seat) co_return std::unexpected(seat.error());
  auto hash = co_await deps_.passwords.hash(executor, *seat, std::move(next));
  if (!hash) co_return std::unexpected(hash.error());
  co_return co_await deps_.commits.write(executor, [&](Tx& tx) -> Expected<void> {
    const auto user = storage::find_user_by_email(tx, email);
    if (!user) return fail("NOT_FOUND", "Nobody has this e-mail address.");
    storage::forget_sign_in_tries(tx, crypto::sha256(email));
    storage::set_password_hash(tx, user->id, *hash);
    storage::revoke_refresh_tokens_of(tx, user->id);
    if (const auto member = find_membership(tx, options_.iss, to_string(user->id))) {
      storage::insert_audit(
          tx, deps_.ids,
          {member->account, "operator", "password.reset", to_string(user->id), "by the operator"});
    }
    return {};
  });
}

}  // namespace presetbridge::identity
