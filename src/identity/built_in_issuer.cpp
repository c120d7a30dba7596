#include "identity/built_in_issuer.h"

#include <fmt/format.h>
#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "base/ascii.h"
#include "base/utf8.h"
#include "crypto/digest.h"
#include "identity/audit.h"
#include "identity/mail_links.h"
#include "storage/stores/audit_store.h"

namespace presetbridge::identity {

namespace json = boost::json;
using storage::Tx;

namespace {

// Failed sign-ins with one address are counted for each network and for all of them together. A stranger locks
// the address for one network only. Strangers in ten networks lock it for all networks but those where the person is
// signed in, which are counted alone.
constexpr std::int64_t kFreeFailures = 4;  // of one network; the fifth locks
constexpr std::int64_t kFreeFailuresOfAll = 99;
constexpr std::int64_t kCountedOfOneNetwork = 10;  // in the count of all
constexpr Millis kFirstLock = std::chrono::seconds{30};
constexpr Millis kLongestLock = std::chrono::minutes{15};
constexpr std::string_view kEmailTaken = "EMAIL_TAKEN";
// Budgets that refill evenly over an hour: of a person, and of a network with all its accounts (spec 8.6).
constexpr std::int64_t kEmailChanges = 10;
constexpr std::int64_t kEmailChangesOfNetwork = 20;

std::unexpected<Error> invalid_field(std::string field, std::string problem) {
  return fail("VALIDATION_FAILED", "The request has fields that are not valid.",
              {{std::move(field), std::move(problem)}});
}

std::unexpected<Error> wrong_login() {
  return fail("INVALID_CREDENTIALS", "The e-mail or the password is wrong.");
}

std::unexpected<Error> stored_elsewhere() {
  return fail("FORBIDDEN", "Another identity provider stores your password; change or confirm it there.");
}

LoginFailure too_many_attempts(Millis locked_for) {
  return {{"TOO_MANY_ATTEMPTS",
           fmt::format("Too many failed sign-ins with this e-mail address; try again in {} seconds.",
                       (locked_for.count() + 999) / 1000),
           {}},
          locked_for};
}

Millis lock_after(std::int64_t failures, std::int64_t free) {
  if (failures <= free) return Millis{0};
  const auto doublings = std::min<std::int64_t>(failures - free - 1, 10);
  return std::min(kLongestLock, kFirstLock * (std::int64_t{1} << doublings));
}

// Counts a failure and locks the key accordingly; returns the failures that are not forgotten.
std::int64_t count_failure(Tx& tx, storage::Blob key, storage::SignInAttempts& attempts, std::int64_t free) {
  const auto now = tx.now();
  if (now - attempts.last_at > kFailuresForgottenAfter) attempts.failures = 0;
  ++attempts.failures;
  attempts.last_at = now;
  attempts.locked_until = now + lock_after(attempts.failures, free);
  storage::update_sign_in_attempts(tx, key, attempts);
  return attempts.failures;
}

// The key of one network's failures. A new password has a new key: whoever resets it signs in at once.
crypto::Sha256 key_of_network(std::string_view name, std::string_view network,
                              const std::optional<storage::UserRow>& user) {
  return crypto::sha256(fmt::format("{}\n{}\n{}", name, network, user ? user->password_hash : ""));
}

// The name under which the attempts of a signed-in person are counted. Sign-ins are counted by e-mail address.
std::string counted_for_user(UserId id) {
  return "user " + to_string(id);
}

}  // namespace

std::string normalise_email(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return lowered(text);
}

std::optional<std::string> problem_of_password(std::string_view password) {
  if (characters(password) < kMinPasswordCharacters) {
    return fmt::format("must have at least {} characters", kMinPasswordCharacters);
  }
  if (password.size() > crypto::kMaxPasswordBytes) {
    return fmt::format("must have at most {} bytes", crypto::kMaxPasswordBytes);
  }
  return std::nullopt;
}

void replace_password(Tx& tx, const storage::UserRow& user, std::string_view hash) {
  storage::forget_sign_in_attempts(tx, crypto::sha256(user.email));
  storage::forget_sign_in_attempts(tx, crypto::sha256(counted_for_user(user.id)));
  storage::set_password_hash(tx, user.id, hash);
  end_reset_links(tx, user.email);
  Sessions::end_all(tx, user.id);
}

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

BuiltInIssuer::BuiltInIssuer(Deps deps, BuiltInIssuerOptions options)
    : deps_(deps),
      options_(std::move(options)),
      unknown_hash_([&] {
        auto hash = deps.hasher.hash("no user has this password");
        if (!hash) throw std::runtime_error(hash.error().message);
        return *hash;
      }()),
      keys_(deps.async_db, deps.cipher, deps.clock),
      sessions_({deps.async_db, keys_, deps.ids, deps.random, deps.clock, deps.log},
                {.iss = options_.iss, .audience = options_.audience}),
      sign_ups_(options_.signups, deps.clock),
      email_changes_(deps.clock, {.times = kEmailChanges, .window = std::chrono::hours{1}}),
      email_changes_of_networks_(deps.clock,
                                 {.times = kEmailChangesOfNetwork, .window = std::chrono::hours{1}}) {}

BuiltInIssuer::~BuiltInIssuer() = default;

Task<Expected<void>> BuiltInIssuer::start(Executor& executor) {
  auto loaded = co_await keys_.load(executor);
  if (!loaded) co_return std::unexpected(loaded.error());
  co_return Expected<void>{};
}

std::string BuiltInIssuer::discovery_document() const {
  return json::serialize(json::object{
      {"issuer", options_.iss},
      {"jwks_uri", options_.iss + "/.well-known/jwks.json"},
      {"id_token_signing_alg_values_supported", json::array{"ES256"}},
      {"response_types_supported", json::array{"id_token"}},
      {"subject_types_supported", json::array{"public"}},
      {"claims_supported",
       json::array{"iss", "sub", "aud", "iat", "exp", "email", "email_verified", "sid", "auth_time"}},
  });
}

void BuiltInIssuer::mail_verification(Tx& tx, const storage::UserRow& user) const {
  if (options_.mail_came) add_mail_link(tx, deps_.ids, MailPurpose::verify, user.id, user.email);
}

Sessions::Opened BuiltInIssuer::open_session(Tx& tx, const storage::UserRow& user, Device device) const {
  auto sub = to_string(user.id);
  const auto member = find_membership(tx, options_.iss, sub);
  if (!member) throw Error{"INTERNAL_ERROR", "A user belongs to no account.", {}};
  return sessions_.open(tx, deps_.ids.make<SessionId>(),
                        {.member = *member,
                         .iss = options_.iss,
                         .sub = std::move(sub),
                         .email = user.email,
                         .authenticated_at = tx.now(),
                         .device = std::move(device)});
}

std::vector<FieldProblem> BuiltInIssuer::problems_of_sign_up(std::string_view email,
                                                             std::string_view password) {
  std::vector<FieldProblem> problems;
  if (!looks_like_email(normalise_email(email))) problems.push_back({"email", "is not an e-mail address"});
  if (auto problem = problem_of_password(password)) problems.push_back({"password", std::move(*problem)});
  return problems;
}

Task<LoginResult<Tokens>> BuiltInIssuer::sign_up(Executor& executor, net::Caller caller, std::string email,
                                                 std::string password, std::string account_name,
                                                 Device device, std::string invitation) {
  if (options_.signup == Signup::closed)
    co_return fail("SIGNUP_CLOSED", "Sign-up is closed here; ask the operator for an account.");
  if (options_.signup == Signup::invite && invitation.empty())
    co_return fail("SIGNUP_CLOSED", "People join here by invitation; ask whoever runs your account for one.");
  if (auto problems = problems_of_sign_up(email, password); !problems.empty())
    co_return fail("VALIDATION_FAILED", "The request has fields that are not valid.", std::move(problems));
  email = normalise_email(email);
  if (account_name.empty()) account_name = account_name_of(email);

  AccountId invited_to;
  if (!invitation.empty()) {
    const auto found =
        co_await deps_.async_db.read(executor, [&](Tx& tx) { return find_good_invitation(tx, invitation); });
    if (!found) co_return std::unexpected(found.error());
    invited_to = found->account;
  }
  const auto now = deps_.clock.now();
  const auto wait = sign_ups_.admit(caller, now, invited_to);
  if (wait > Millis{0}) co_return std::unexpected(rate_limit_exceeded(wait));
  auto session = co_await make_account(
      executor, caller,
      {std::move(email), std::move(password), std::move(account_name), std::move(invitation)},
      std::move(device));
  if (session) {
    if (options_.mail_came) options_.mail_came();
    co_return sessions_.begin(std::move(*session));
  }
  sign_ups_.failed(caller, now, invited_to, session.error());
  co_return std::unexpected(session.error());
}

Task<LoginResult<Sessions::Opened>> BuiltInIssuer::make_account(Executor& executor, net::Caller caller,
                                                                NewUser wanted, Device device) {
  const Error taken{
      std::string(kEmailTaken), "This e-mail address has an account already; sign in instead.", {}};
  auto seat = deps_.passwords.seat(caller);
  if (!seat) co_return std::unexpected(seat.error());
  // No hash for what will come to nothing.
  auto hopeful = co_await deps_.async_db.read(executor, [&](Tx& tx) -> Expected<void> {
    if (storage::find_user_by_email(tx, wanted.email)) return std::unexpected(taken);
    return {};
  });
  if (!hopeful) co_return std::unexpected(hopeful.error());
  auto hash = co_await deps_.passwords.hash(executor, *seat, std::move(wanted.password));
  if (!hash) co_return std::unexpected(hash.error());
  auto session = co_await deps_.async_db.write(executor, [&](Tx& tx) {
    const storage::UserRow user{deps_.ids.make<UserId>(), wanted.email, *hash};
    if (!storage::insert_user(tx, user.id, user.email, user.password_hash)) throw Error(taken);
    const auto sub = to_string(user.id);
    if (wanted.invitation.empty()) {
      found_account(tx, deps_.ids, user.id, options_.iss, sub, wanted.account_name, options_.signup_credits,
                    {}, device.origin());
    } else {
      join_account(tx, deps_.ids, user.id, options_.iss, sub, {}, wanted.invitation, device.origin());
    }
    mail_verification(tx, user);
    return open_session(tx, user, device);
  });
  if (!session) co_return std::unexpected(session.error());
  co_return std::move(*session);
}

Task<LoginResult<storage::UserRow>> BuiltInIssuer::verify_password(Executor& executor,
                                                                   const PasswordWorkers::Seat& seat,
                                                                   std::string email, std::string password,
                                                                   Origin origin, CountedFor counted_for) {
  const auto key_of_all = crypto::sha256(counted_for.name);
  struct Known {
    std::optional<storage::UserRow> user;
    crypto::Sha256 key{};
    bool counted_with_all = false;
    Millis locked_for{0};
  };
  auto known = co_await deps_.async_db.read(executor, [&](Tx& tx) {
    Known found{.user = storage::find_user_by_email(tx, email)};
    found.key = key_of_all;
    if (counted_for.network) {
      found.key = key_of_network(counted_for.name, *counted_for.network, found.user);
      // Asked for an unknown address too, so that the work is equal.
      const auto user = found.user ? found.user->id : UserId{};
      found.counted_with_all = !storage::has_session_from(tx, user, *counted_for.network);
    }
    const auto lock_of = [&](storage::Blob key) {
      const auto attempts = storage::find_sign_in_attempts(tx, key);
      return attempts ? attempts->locked_until - tx.now() : Millis{0};
    };
    found.locked_for = lock_of(found.key);
    if (found.counted_with_all) found.locked_for = std::max(found.locked_for, lock_of(key_of_all));
    return found;
  });
  if (!known) co_return std::unexpected(known.error());
  if (known->locked_for > Millis{0}) co_return std::unexpected(too_many_attempts(known->locked_for));

  std::string stored = known->user ? known->user->password_hash : unknown_hash_;
  auto verified = co_await deps_.passwords.verify(executor, seat, std::move(stored), std::move(password));
  if (!verified) co_return std::unexpected(verified.error());
  const bool right = *verified && known->user;
  // Only so many of concurrent attempts get their result: each sees here those that ended before it. A row is
  // written only where a hash was computed.
  auto locked_for = co_await deps_.async_db.write(executor, [&](Tx& tx) {
    const auto now = tx.now();
    auto attempts = storage::lock_sign_in_attempts(tx, known->key);
    auto of_all = attempts;
    if (known->counted_with_all) of_all = storage::lock_sign_in_attempts(tx, key_of_all);
    const auto locked_until = std::max(attempts.locked_until, of_all.locked_until);
    if (locked_until > now) return locked_until - now;
    if (right) {
      storage::forget_sign_in_attempts(tx, known->key);
      if (known->counted_with_all) storage::forget_sign_in_attempts(tx, key_of_all);
      return Millis{0};
    }
    const auto failures = count_failure(tx, known->key, attempts, kFreeFailures);
    if (known->counted_with_all &&
        (failures <= kCountedOfOneNetwork || of_all.failures >= kFreeFailuresOfAll))
      count_failure(tx, key_of_all, of_all, kFreeFailuresOfAll);
    if (known->user) {
      const auto who = to_string(known->user->id);
      if (const auto member = find_membership(tx, options_.iss, who))
        audit(tx, deps_.ids, *member, origin,
              {.action = "sign_in.failed", .target = who, .detail = "the password was wrong"});
    }
    return Millis{0};
  });
  if (!locked_for) co_return std::unexpected(locked_for.error());
  if (*locked_for > Millis{0}) co_return std::unexpected(too_many_attempts(*locked_for));
  if (!right) co_return wrong_login();
  co_return std::move(*known->user);
}

Task<LoginResult<Tokens>> BuiltInIssuer::sign_in(Executor& executor, net::Caller caller, std::string email,
                                                 std::string password, Device device) {
  email = normalise_email(email);
  if (!looks_like_email(email) || password.size() > crypto::kMaxPasswordBytes) co_return wrong_login();
  auto seat = deps_.passwords.seat(caller);
  if (!seat) co_return std::unexpected(seat.error());
  const auto name = email;
  auto user = co_await verify_password(executor, *seat, std::move(email), password, device.origin(),
                                       {.name = name, .network = caller.network});
  if (!user) co_return std::unexpected(user.error());
  if (const auto wait = sessions_.wait_to_begin(user->id); wait > Millis{0})
    co_return std::unexpected(rate_limit_exceeded(wait));

  std::string better_hash;
  if (deps_.hasher.needs_rehash(user->password_hash)) {
    if (auto hash = co_await deps_.passwords.hash(executor, *seat, std::move(password)))
      better_hash = std::move(*hash);
  }
  auto session = co_await deps_.async_db.write(executor, [&](Tx& tx) {
    // The password may have been changed since it was verified: then this sign-in is one with the old
    // password.
    const auto current = storage::lock_user(tx, user->id);
    if (!current || current->password_hash != user->password_hash) throw Error(wrong_login().error());
    if (!better_hash.empty()) storage::set_password_hash(tx, user->id, better_hash);
    return open_session(tx, *user, device);
  });
  if (!session) co_return std::unexpected(session.error());
  co_return sessions_.begin(std::move(*session));
}

Task<LoginResult<storage::UserRow>> BuiltInIssuer::verify_own_password(Executor& executor,
                                                                       const PasswordWorkers::Seat& seat,
                                                                       const Principal& by,
                                                                       std::string password, Origin origin) {
  const auto id = by.person->id;
  auto known = co_await deps_.async_db.read(executor, [&](Tx& tx) { return storage::find_user(tx, id); });
  if (!known) co_return std::unexpected(known.error());
  if (!*known) co_return wrong_login();
  // These attempts are counted apart from sign-ins: strangers who guess at the address lock only the latter.
  const auto name = counted_for_user(id);
  co_return co_await verify_password(executor, seat, (*known)->email, std::move(password), std::move(origin),
                                     {.name = name, .network = {}});
}

Task<LoginResult<Tokens>> BuiltInIssuer::change_password(Executor& executor, net::Caller caller, Principal by,
                                                         std::string current, std::string next,
                                                         Device device) {
  if (!by.person || by.person->iss != options_.iss) co_return stored_elsewhere();
  if (auto problem = problem_of_password(next)) co_return invalid_field("newPassword", *problem);
  if (current.size() > crypto::kMaxPasswordBytes) co_return wrong_login();
  auto seat = deps_.passwords.seat(caller);
  if (!seat) co_return std::unexpected(seat.error());
  auto verified = co_await verify_own_password(executor, *seat, by, std::move(current), by.origin);
  if (!verified) co_return std::unexpected(verified.error());
  if (const auto wait = sessions_.wait_to_begin(by.person->id); wait > Millis{0})
    co_return std::unexpected(rate_limit_exceeded(wait));
  auto hash = co_await deps_.passwords.hash(executor, *seat, std::move(next));
  if (!hash) co_return std::unexpected(hash.error());

  const auto id = by.person->id;
  auto session = co_await deps_.async_db.write(executor, [&](Tx& tx) {
    // A reset may have come in between: then it was an old password that was verified.
    const auto now = storage::lock_user(tx, id);
    if (!now || now->password_hash != verified->password_hash) throw Error(wrong_login().error());
    replace_password(tx, *now, *hash);
    audit(
        tx, deps_.ids, by,
        {.action = "password.changed", .target = to_string(id), .detail = "other sessions were signed out"});
    return open_session(tx, *verified, device);
  });
  if (!session) co_return std::unexpected(session.error());
  co_return sessions_.begin(std::move(*session));
}

Task<LoginResult<Tokens>> BuiltInIssuer::change_email(Executor& executor, net::Caller caller, Principal by,
                                                      std::string password, std::string email,
                                                      Device device) {
  if (!by.person || by.person->iss != options_.iss) co_return stored_elsewhere();
  email = normalise_email(email);
  if (!looks_like_email(email)) co_return invalid_field("email", "is not an e-mail address");
  if (password.size() > crypto::kMaxPasswordBytes) co_return wrong_login();
  auto seat = deps_.passwords.seat(caller);
  if (!seat) co_return std::unexpected(seat.error());
  auto verified = co_await verify_own_password(executor, *seat, by, std::move(password), by.origin);
  if (!verified) co_return std::unexpected(verified.error());
  if (verified->email == email) co_return invalid_field("email", "is the address that you sign in with");

  // The answer reveals whether the address is taken.
  const auto id = by.person->id;
  auto wait = email_changes_.wait(to_string(id));
  if (!caller.for_others) wait = std::max(wait, email_changes_of_networks_.wait(caller.network));
  if (wait > Millis{0}) co_return std::unexpected(rate_limit_exceeded(wait));
  email_changes_.count(to_string(id));
  if (!caller.for_others) email_changes_of_networks_.count(caller.network);
  auto session = co_await deps_.async_db.write(executor, [&](Tx& tx) {
    auto now = storage::lock_user(tx, id);
    if (!now || now->password_hash != verified->password_hash) throw Error(wrong_login().error());
    if (!storage::set_user_email(tx, id, email))
      throw Error{std::string(kEmailTaken), "This e-mail address has an account already.", {}};
    now->email = email;
    mail_verification(tx, *now);
    Sessions::end_all(tx, id);
    audit(tx, deps_.ids, by,
          {.action = "email.changed", .target = to_string(id), .detail = "other sessions were signed out"});
    return open_session(tx, *now, device);
  });
  if (!session) {
    if (session.error().code != kEmailTaken) {
      email_changes_.give_back(to_string(id));
      if (!caller.for_others) email_changes_of_networks_.give_back(caller.network);
    }
    co_return std::unexpected(session.error());
  }
  if (options_.mail_came) options_.mail_came();
  co_return sessions_.begin(std::move(*session));
}

Task<LoginResult<Tokens>> BuiltInIssuer::step_up(Executor& executor, net::Caller caller, Principal by,
                                                 std::string password) {
  if (!by.person || by.person->iss != options_.iss) co_return stored_elsewhere();
  if (!by.person->session || !by.person->session->browser)
    co_return fail("FORBIDDEN", "Only a session of a browser is confirmed.");
  if (password.size() > crypto::kMaxPasswordBytes) co_return wrong_login();
  auto seat = deps_.passwords.seat(caller);
  if (!seat) co_return std::unexpected(seat.error());
  auto verified = co_await verify_own_password(executor, *seat, by, std::move(password), by.origin);
  if (!verified) co_return std::unexpected(verified.error());
  co_return co_await sessions_.confirm(executor, by.person->session->id, std::nullopt, by.origin);
}

Task<Expected<AccountId>> BuiltInIssuer::reset_password(Executor& executor, std::string email,
                                                        std::string next, std::string name) {
  email = normalise_email(email);
  if (auto problem = problem_of_password(next)) co_return invalid_field("newPassword", *problem);
  auto seat = deps_.passwords.seat({});
  if (!seat) co_return std::unexpected(seat.error());
  auto hash = co_await deps_.passwords.hash(executor, *seat, std::move(next));
  if (!hash) co_return std::unexpected(hash.error());
  co_return co_await deps_.async_db.write(executor, [&](Tx& tx) -> Expected<AccountId> {
    const auto found = storage::find_user_by_email(tx, email);
    const auto user = found ? storage::lock_user(tx, found->id) : std::nullopt;
    if (!user || user->email != email) return fail("NOT_FOUND", "Nobody has this e-mail address.");
    replace_password(tx, *user, *hash);
    const auto member = find_membership(tx, options_.iss, to_string(user->id));
    if (!member) return AccountId{};
    storage::insert_audit(tx, deps_.ids,
                          {.account = member->account,
                           .actor = "operator",
                           .action = "password.reset",
                           .target = to_string(user->id),
                           .detail = "by the operator",
                           .actor_name = name});
    return member->account;
  });
}

}  // namespace presetbridge::identity
