#include "identity/external_sign_in.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "base/percent.h"
#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "crypto/opaque_token.h"
#include "identity/token_verifier.h"
#include "storage/stores/people_store.h"

namespace presetbridge::identity {

namespace json = boost::json;
using storage::Tx;

namespace {

constexpr crypto::ValuePlace kAttemptPlace{"external_sign_in.attempt", 0};
constexpr std::size_t kLongestAttempt = 3'500;  // browsers keep 4,096 bytes of a cookie
constexpr std::size_t kLongestCode = 4'000;
constexpr std::size_t kLongestAnswer = 64 * 1024;
constexpr Millis kDeadline = std::chrono::seconds{10};
// An unknown key may be one that the issuer has made since; the codes that bring such tokens
// are the issuer's own, so strangers cause no fetches.
constexpr Millis kKeysCoolDown = std::chrono::seconds{5};

std::unexpected<Error> state_invalid() {
  return fail(
      "SIGN_IN_STATE_INVALID",
      "This sign-in was not begun in this browser, has been used, or took more than 10 minutes. Sign in "
      "again.");
}

std::unexpected<Error> answer_invalid() {
  return fail(
      "ISSUER_ANSWER_INVALID",
      "The identity provider's answer cannot be trusted. Nobody was signed in; try again. If it stays so, "
      "ask the operator.");
}

std::unexpected<Error> unavailable() {
  return fail("ISSUER_UNAVAILABLE", "The identity provider does not answer. Try again in a moment.");
}

std::unexpected<Error> refusal_of(std::string_view error) {
  if (error == "temporarily_unavailable" || error == "server_error") return unavailable();
  return fail("SIGN_IN_DENIED", "The identity provider did not sign you in, or you have cancelled it.");
}

std::string form(const std::vector<std::pair<std::string_view, std::string>>& pairs) {
  std::string out;
  for (const auto& [name, value] : pairs)
    out.append(out.empty() ? "" : "&").append(name).append("=").append(percent_encoded(value));
  return out;
}

bool same(std::string_view a, std::string_view b) {
  return crypto::equal_constant_time(a, b);
}

std::string text_member(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::int64_t integer_member(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

// An object, however hostile the text.
std::optional<json::object> parse_object(std::string_view text) {
  std::error_code error;
  auto value = json::parse(text, error);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.as_object());
}

RemoteIssuerOptions remote_options(const ExternalIssuerOptions& options) {
  return {.iss = options.iss, .audience = options.client_id, .cool_down = kKeysCoolDown};
}

}  // namespace

struct ExternalSignIn::Issuer {
  Issuer(ExternalIssuerOptions o, const Deps& deps)
      : options(std::move(o)),
        remote(remote_options(options), deps.http, deps.clock, deps.log),
        tokens({&remote}, deps.clock) {}
  const ExternalIssuerOptions options;
  RemoteIssuer remote;
  const TokenVerifier tokens;
};

struct ExternalSignIn::Attempt {
  std::string issuer;
  SessionId session;  // that it will begin
  std::string state;
  std::string nonce;
  std::string verifier;
  std::string return_to;
  Timestamp expires_at;
  SessionId step_up;  // none: it is no step-up
  std::string invitation;
};

ExternalSignIn::ExternalSignIn(Deps deps, std::string base_url, std::vector<ExternalIssuerOptions> issuers)
    : deps_(deps), base_url_(std::move(base_url)), issuers_([&] {
        std::vector<std::unique_ptr<Issuer>> made;
        for (auto& one : issuers) made.push_back(std::make_unique<Issuer>(std::move(one), deps));
        return made;
      }()) {}

ExternalSignIn::~ExternalSignIn() = default;

std::vector<ExternalSignIn::Named> ExternalSignIn::issuers() const {
  std::vector<Named> named;
  for (const auto& one : issuers_) named.push_back({one->options.id, one->options.name});
  return named;
}

std::string ExternalSignIn::callback_url(std::string_view id) const {
  return fmt::format("{}/api/auth/external/{}/callback", base_url_, id);
}

ExternalSignIn::Issuer* ExternalSignIn::find(std::string_view id) const {
  for (const auto& one : issuers_) {
    if (one->options.id == id) return one.get();
  }
  return nullptr;
}

std::optional<ExternalSignIn::Attempt> ExternalSignIn::open(std::string_view sealed) const {
  if (sealed.size() > kLongestAttempt) return std::nullopt;
  const auto bytes = crypto::base64url_decode(sealed);
  if (!bytes) return std::nullopt;
  const auto text = deps_.cipher.decrypt(kAttemptPlace, *bytes);
  if (!text) return std::nullopt;
  const auto object = parse_object(text->reveal());
  if (!object) return std::nullopt;
  return Attempt{.issuer = text_member(*object, "issuer"),
                 .session = SessionId{integer_member(*object, "session")},
                 .state = text_member(*object, "state"),
                 .nonce = text_member(*object, "nonce"),
                 .verifier = text_member(*object, "verifier"),
                 .return_to = text_member(*object, "returnTo"),
                 .expires_at = from_unix_ms(integer_member(*object, "expiresAt")),
                 .step_up = SessionId{integer_member(*object, "stepUp")},
                 .invitation = text_member(*object, "invitation")};
}

ExternalSignIn::Aim ExternalSignIn::aim_of(std::string_view attempt) const {
  auto opened = open(attempt);
  return opened ? Aim{std::move(opened->return_to), bool(opened->step_up)} : Aim{};
}

Task<Expected<ExternalSignIn::Begun>> ExternalSignIn::begin(Executor& executor, std::string id,
                                                            std::string return_to,
                                                            std::optional<storage::SessionRow> step_up,
                                                            std::string invitation) {
  auto* issuer = find(id);
  if (issuer == nullptr) co_return fail("NOT_FOUND", "There is no such identity provider.");
  if (step_up && step_up->iss != issuer->options.iss)
    co_return fail("FORBIDDEN", "This session is not of a person of this identity provider.");
  const auto endpoints = co_await issuer->remote.endpoints(executor);
  if (!endpoints) co_return unavailable();

  const auto secret = [&] { return crypto::generate_opaque_token(deps_.random, "").text; };
  const Attempt attempt{.issuer = id,
                        .session = deps_.ids.make<SessionId>(),
                        .state = secret(),
                        .nonce = secret(),
                        .verifier = secret(),
                        .return_to = std::move(return_to),
                        .expires_at = deps_.clock.now() + kAttemptLifetime,
                        .step_up = step_up ? step_up->id : SessionId{},
                        .invitation = std::move(invitation)};
  const auto sealed = deps_.cipher.encrypt(
      kAttemptPlace, json::serialize(json::object{{"issuer", attempt.issuer},
                                                  {"session", attempt.session.value},
                                                  {"state", attempt.state},
                                                  {"nonce", attempt.nonce},
                                                  {"verifier", attempt.verifier},
                                                  {"returnTo", attempt.return_to},
                                                  {"expiresAt", to_unix_ms(attempt.expires_at)},
                                                  {"stepUp", attempt.step_up.value},
                                                  {"invitation", attempt.invitation}}));
  std::vector<std::pair<std::string_view, std::string>> query{
      {"response_type", "code"},
      {"client_id", issuer->options.client_id},
      {"redirect_uri", callback_url(id)},
      {"scope", "openid email"},
      {"state", attempt.state},
      {"nonce", attempt.nonce},
      {"code_challenge", crypto::base64url_encode(crypto::sha256(attempt.verifier))},
      {"code_challenge_method", "S256"}};
  if (step_up) query.emplace_back("max_age", std::to_string(kStepUpAfter / std::chrono::seconds{1}));
  // A provider that never says when somebody signed in has them choose their account, at least.
  if (step_up && !endpoints->states_auth_time) query.emplace_back("prompt", "select_account");
  const char separator = endpoints->authorization.contains('?') ? '&' : '?';
  co_return Begun{endpoints->authorization + separator + form(query), crypto::base64url_encode(sealed)};
}

Task<Expected<VerifiedToken>> ExternalSignIn::redeem(Executor& executor, Issuer& issuer,
                                                     const Attempt& attempt, std::string code) {
  const auto& options = issuer.options;
  const auto endpoints = co_await issuer.remote.endpoints(executor);
  if (!endpoints) co_return unavailable();
  std::vector<std::pair<std::string_view, std::string>> body{{"grant_type", "authorization_code"},
                                                             {"code", std::move(code)},
                                                             {"redirect_uri", callback_url(options.id)},
                                                             {"code_verifier", attempt.verifier}};
  net::OutgoingRequest request;
  request.url = endpoints->token;
  request.headers = {{"Content-Type", "application/x-www-form-urlencoded"}, {"Accept", "application/json"}};
  const auto secret = options.client_secret.reveal();
  if (!secret.empty() && !endpoints->secret_in_body) {
    const auto pair = percent_encoded(options.client_id) + ":" + percent_encoded(secret);
    request.headers.emplace_back("Authorization", "Basic " + crypto::base64_encode(pair));
  } else {
    body.emplace_back("client_id", options.client_id);
    if (!secret.empty()) body.emplace_back("client_secret", secret);
  }
  request.body = form(body);
  request.policy = net::AddressPolicy::configured;
  request.deadline = kDeadline;
  request.max_answer_bytes = kLongestAnswer;
  const auto result = co_await deps_.http.send(executor, std::move(request));

  const auto* answer = result.answer();
  const auto refuse = [&](const char* why) {
    deps_.log.warn("A sign-in by an identity provider came to nothing.",
                   {{"issuer", options.iss},
                    {"why", why},
                    {"status", std::int64_t{answer != nullptr ? answer->status : 0}}});
  };
  if (answer == nullptr || answer->status >= 500) {
    refuse("it does not answer");
    co_return unavailable();
  }
  const auto object = answer->truncated ? std::nullopt : parse_object(answer->body);
  if (answer->status != 200 || !object) {
    refuse("it does not take the code");
    co_return answer_invalid();
  }
  auto token = co_await issuer.tokens.verify(executor, text_member(*object, "id_token"));
  if (!token && token.error().code == "ISSUER_UNAVAILABLE") co_return unavailable();
  if (!token) {
    refuse("its ID token is not valid");
    co_return answer_invalid();
  }
  if (!same(token->nonce, attempt.nonce)) {
    refuse("its ID token is not for this sign-in");
    co_return answer_invalid();
  }
  if (!token->authorized_party.empty() && token->authorized_party != options.client_id) {
    refuse("its ID token is another client's");
    co_return answer_invalid();
  }
  co_return std::move(*token);
}

Task<LoginResult<ExternalSignIn::Ended>> ExternalSignIn::finish(Executor& executor, std::string id,
                                                                std::string attempt, Answer answer,
                                                                net::Caller caller, Device device) {
  auto* issuer = find(id);
  if (issuer == nullptr) co_return fail("NOT_FOUND", "There is no such identity provider.");
  const auto begun = open(attempt);
  if (!begun || begun->issuer != id || begun->expires_at <= deps_.clock.now() || answer.state.empty() ||
      !same(answer.state, begun->state))
    co_return state_invalid();
  // Another issuer's answer to this one's question.
  if (!answer.iss.empty() && answer.iss != issuer->options.iss) co_return state_invalid();
  if (!answer.error.empty()) co_return refusal_of(answer.error);
  if (answer.code.empty() || answer.code.size() > kLongestCode) co_return answer_invalid();
  auto token = co_await redeem(executor, *issuer, *begun, std::move(answer.code));
  if (!token) co_return std::unexpected(token.error());
  if (begun->step_up)
    co_return co_await confirm(executor, *issuer, *begun, std::move(*token), device.origin());
  auto tokens =
      co_await sign_in(executor, *issuer, *begun, std::move(*token), std::move(caller), std::move(device));
  if (!tokens) co_return std::unexpected(tokens.error());
  co_return Ended{std::move(*tokens), begun->return_to};
}

Task<LoginResult<Tokens>> ExternalSignIn::sign_in(Executor& executor, const Issuer& issuer,
                                                  const Attempt& attempt, VerifiedToken token,
                                                  net::Caller caller, Device device) {
  const auto signup = issuer.options.signup;
  const bool invited = !attempt.invitation.empty();
  AccountId invited_to;
  auto known = co_await deps_.async_db.read(executor, [&](Tx& tx) -> Expected<std::optional<Membership>> {
    auto member = find_membership(tx, token.iss, token.sub);
    if (member || !invited || signup == Signup::closed) return member;
    const auto found = find_good_invitation(tx, attempt.invitation);
    if (!found) return std::unexpected(found.error());
    invited_to = found->account;
    return member;
  });
  if (!known) co_return std::unexpected(known.error());
  const bool is_new = !*known;
  const auto now = deps_.clock.now();
  if (is_new) {
    if (signup == Signup::closed || (signup == Signup::invite && !invited))
      co_return fail("SIGNUP_CLOSED",
                     "You have no account here, and nobody makes one by this identity provider. "
                     "Ask the operator.");
    const auto wait = deps_.sign_ups.admit(caller, now, invited_to);
    if (wait > Millis{0}) co_return std::unexpected(rate_limit_exceeded(wait));
  } else if (const auto wait = deps_.sessions.wait_to_begin((*known)->user); wait > Millis{0}) {
    co_return std::unexpected(rate_limit_exceeded(wait));
  }
  const auto member_in = [&](Tx& tx) {
    if (invited)
      return join_account(tx, deps_.ids, deps_.ids.make<UserId>(), token.iss, token.sub, token.email,
                          attempt.invitation, device.origin());
    if (is_new)
      return found_account(tx, deps_.ids, deps_.ids.make<UserId>(), token.iss, token.sub,
                           account_name_of(token.email), deps_.signup_credits, token.email, device.origin());
    // The person may have been removed, or the account deleted, since it was read. From here on a removal waits
    // for this session, and ends it.
    const bool there = storage::lock_identity(tx, token.iss, token.sub);
    const auto member = there ? find_membership(tx, token.iss, token.sub) : std::nullopt;
    if (!member) throw Error{"CONFLICT", "You were removed from the account while you signed in.", {}};
    storage::set_identity_email(tx, token.iss, token.sub, token.email);
    return *member;
  };
  const auto open_in = [&](Tx& tx) {
    return deps_.sessions.open(tx, attempt.session,
                               {.member = member_in(tx),
                                .iss = token.iss,
                                .sub = token.sub,
                                .email = token.email,
                                .authenticated_at = token.auth_time,
                                .device = device});
  };
  auto opened = co_await deps_.async_db.write(executor, open_in);
  // Two first sign-ins at once: the other one has made the account.
  if (!opened && opened.error().code == "CONFLICT") opened = co_await deps_.async_db.write(executor, open_in);
  if (!opened && is_new) deps_.sign_ups.failed(caller, now, invited_to, opened.error());
  if (!opened) co_return std::unexpected(opened.error());
  co_return deps_.sessions.begin(std::move(*opened));
}

Task<LoginResult<ExternalSignIn::Ended>> ExternalSignIn::confirm(Executor& executor, Issuer& issuer,
                                                                 const Attempt& attempt, VerifiedToken token,
                                                                 Origin origin) {
  const auto now = deps_.clock.now();
  if (!token.auth_time) {
    const auto endpoints = co_await issuer.remote.endpoints(executor);
    if (!endpoints) co_return unavailable();
    // The token was redeemed just now for this attempt, which its nonce names.
    if (!endpoints->states_auth_time) token.auth_time = now;
  }
  // The request had max_age.
  if (!token.auth_time || now - *token.auth_time > kStepUpAfter + TokenVerifier::leeway)
    co_return fail(
        "ISSUER_ANSWER_INVALID",
        "The identity provider does not say that you signed in there within the last ten minutes, so "
        "nothing was confirmed. Sign out there and try again. If it stays so, ask the operator.");
  auto session = co_await deps_.async_db.read(
      executor, [&](Tx& tx) { return storage::find_session(tx, attempt.step_up); });
  if (!session) co_return std::unexpected(session.error());
  if (!*session) co_return fail("UNAUTHORIZED", "The session has ended meanwhile. Sign in again.");
  if ((*session)->iss != token.iss || (*session)->sub != token.sub)
    co_return fail("SIGN_IN_OTHER_PERSON",
                   "It was somebody else who signed in there. Sign in as the person whose session this is.");
  auto confirmed =
      co_await deps_.sessions.confirm(executor, attempt.step_up, token.auth_time, std::move(origin));
  if (!confirmed) co_return std::unexpected(confirmed.error());
  co_return Ended{std::nullopt, attempt.return_to};
}

}  // namespace presetbridge::identity
