#include "api/handlers/auth_handlers.h"

#include <optional>

#include "api/handlers/keys_handlers.h"
#include "api/json_body.h"
#include "api/optional_json.h"
#include "crypto/password_hash.h"
#include "identity/user_agent.h"
#include "net/client_address.h"

namespace presetbridge::api {
namespace {

constexpr TextRule kEmail{.max = 254};
constexpr TextRule kPassword{.max = crypto::kMaxPasswordBytes, .exact = true};
// So many characters are never too many bytes.
constexpr TextRule kNewPassword{.max = crypto::kMaxPasswordBytes / 4, .exact = true};
constexpr TextRule kToken{.max = 200, .exact = true};

bool is_wrong_guess(const Error& error) {
  return error.code == "INVALID_CREDENTIALS" || error.code == "TOO_MANY_ATTEMPTS";
}

// How a session is held: by whoever reads the answer, or by a browser, as a cookie.
struct Holding {
  std::optional<Door> door;  // of a browser
  bool browser() const { return door.has_value(); }
};

// `session` of a body; only once all of the body is known to be good is it judged whether the caller may.
bool read_session(JsonFields& fields) {
  return fields.optional_choice("session", {"body", "cookie"}).value_or("body") == "cookie";
}

Expected<Holding> holding_of(const AuthDeps& deps, const net::HttpRequest& request, bool cookie) {
  if (!cookie) return Holding{};
  const auto door = deps.cookie.judge(request);
  if (!door) return std::unexpected(door.error());
  return Holding{*door};
}

std::unexpected<Error> no_passwords() {
  return fail("PASSWORDS_OFF", "Nobody signs in by password here: sign in with an identity provider.");
}

json::object tokens_json(const identity::Tokens& tokens) {
  json::object body{
      {"idToken", tokens.id_token},
      {"idTokenExpiresAt", to_iso8601(tokens.id_token_expires_at)},
      {"refreshTokenExpiresAt", to_iso8601(tokens.refresh_token_expires_at)},
      {"user", {{"id", to_string(tokens.user)}, {"email", tokens.email}}},
      {"accountId", to_string(tokens.account)},
      {"sessionId", to_string(tokens.session)},
      {"authenticatedAt", time_or_null(tokens.authenticated_at)},
  };
  if (!tokens.browser) body["refreshToken"] = tokens.refresh_token;
  return body;
}

net::HttpResponse tokens_response(int status, const Holding& holding, const identity::Tokens& tokens,
                                  const json::object& body) {
  auto response = json_response(status, body);
  response.headers.add("Cache-Control", "no-store");
  if (holding.door && !tokens.refresh_token.empty()) {
    response.headers.add(
        "Set-Cookie", SessionCookie::set(*holding.door, tokens.refresh_token, tokens.refresh_token_lifetime));
  }
  return response;
}

Reply reply_with(int status, const Holding& holding, const identity::LoginResult<identity::Tokens>& tokens) {
  if (!tokens) return login_failed(tokens.error());
  return tokens_response(status, holding, *tokens, tokens_json(*tokens));
}

Task<Reply> sign_up(AuthDeps deps, Call call) {
  if (const auto wait = deps.requests.wait(call.request); wait > Millis{0}) co_return too_often(wait);
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  auto email = fields.text("email", kEmail);
  auto password = fields.text("password", kNewPassword);
  auto name = fields.optional_text("accountName", {.max = 100});
  auto invitation = fields.optional_text("invitation", kToken);
  const bool cookie = read_session(fields);
  for (auto& [field, problem] : identity::BuiltInIssuer::problems_of_sign_up(email, password)) {
    const bool reported = (field == "email" ? email : password).empty();  // by what read it
    if (!reported) fields.problem(field, std::move(problem));
  }
  if (auto error = body->problems()) co_return std::unexpected(*error);
  if (!deps.passwords) co_return no_passwords();
  const auto holding = holding_of(deps, call.request, cookie);
  if (!holding) co_return std::unexpected(holding.error());
  const auto tokens = co_await deps.issuer.sign_up(
      call.executor(), net::caller_of(call.request, deps.proxies), std::move(email), std::move(password),
      name.value_or(""), device_of(call.request, deps.proxies, holding->browser()), invitation.value_or(""));
  if (!tokens && tokens.error().code == "INVITATION_INVALID") deps.requests.count(call.request);
  co_return reply_with(201, *holding, tokens);
}

Task<Reply> sign_in(AuthDeps deps, Call call) {
  if (const auto wait = deps.sign_ins.wait(call.request); wait > Millis{0}) co_return too_often(wait);
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  auto email = fields.text("email", kEmail);
  auto password = fields.text("password", kPassword);
  const bool cookie = read_session(fields);
  if (auto error = body->problems()) co_return std::unexpected(*error);
  if (!deps.passwords) co_return no_passwords();
  const auto holding = holding_of(deps, call.request, cookie);
  if (!holding) co_return std::unexpected(holding.error());
  auto tokens = co_await deps.issuer.sign_in(call.executor(), net::caller_of(call.request, deps.proxies),
                                             std::move(email), std::move(password),
                                             device_of(call.request, deps.proxies, holding->browser()));
  if (!tokens && is_wrong_guess(tokens.error())) deps.sign_ins.count(call.request);
  if (tokens) {
    auto in = co_await admit_signed_in(call.executor(), deps.disabled, deps.issuer.sessions(), *tokens);
    if (!in) co_return std::unexpected(in.error());
  }
  co_return reply_with(200, *holding, tokens);
}

// The token by which a refresh and a sign-out name their session.
struct Held {
  Holding holding;
  std::string refresh_token;  // empty: a browser without a cookie
};
Expected<Held> read_held(const AuthDeps& deps, const net::HttpRequest& request) {
  auto body = JsonBody::parse(request);
  if (!body) return std::unexpected(body.error());
  auto& fields = **body;
  const bool cookie = read_session(fields);
  if (cookie) fields.refuse("refreshToken", "is in the cookie of a browser's session");
  auto token = cookie ? std::string() : fields.text("refreshToken", kToken);
  if (auto error = body->problems()) return std::unexpected(*error);
  auto holding = holding_of(deps, request, cookie);
  if (!holding) return std::unexpected(holding.error());
  if (holding->door) token = SessionCookie::token(request, *holding->door).value_or("");
  return Held{*holding, std::move(token)};
}

Task<Reply> refresh(AuthDeps deps, Call call) {
  if (const auto wait = deps.requests.wait(call.request); wait > Millis{0}) co_return too_often(wait);
  auto held = read_held(deps, call.request);
  if (!held) co_return std::unexpected(held.error());
  // Nobody is signed in in this browser; nothing was looked up.
  if (held->refresh_token.empty()) co_return fail("UNAUTHORIZED", "There is no session. Sign in.");
  auto tokens =
      co_await deps.issuer.sessions().refresh(call.executor(), std::move(held->refresh_token),
                                              device_of(call.request, deps.proxies, held->holding.browser()));
  if (!tokens && tokens.error().code == "UNAUTHORIZED") deps.requests.count(call.request);
  co_return reply_with(200, held->holding, tokens);
}

Task<Reply> sign_out(AuthDeps deps, Call call) {
  if (const auto wait = deps.requests.wait(call.request); wait > Millis{0}) co_return too_often(wait);
  auto held = read_held(deps, call.request);
  if (!held) co_return std::unexpected(held.error());
  if (!held->refresh_token.empty()) {
    auto done = co_await deps.issuer.sessions().sign_out(
        call.executor(), std::move(held->refresh_token),
        device_of(call.request, deps.proxies, held->holding.browser()).origin());
    if (!done) co_return std::unexpected(done.error());
    if (!*done) deps.requests.count(call.request);
  }
  auto response = no_content();
  if (held->holding.door) response.headers.add("Set-Cookie", SessionCookie::clear(*held->holding.door));
  co_return response;
}

// The holding of whom a token of a browser's session is of.
Expected<Holding> holding_of(const AuthDeps& deps, const Call& call) {
  const auto& session = call.principal.person->session;
  return holding_of(deps, call.request, session && session->browser);
}

// The keys in force, which somebody who knew the old password may have made.
Task<json::value> keys_in_force(AuthDeps deps, Executor& executor, identity::Principal by) {
  const auto found = co_await deps.keys.list(executor, std::move(by), {.limit = 100}, true);
  if (!found) co_return nullptr;
  json::array keys;
  for (const auto& key : found->rows) keys.push_back(key_json(key));
  co_return keys;
}

Task<Reply> change_password(AuthDeps deps, Call call) {
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto current = (*body)->text("currentPassword", kPassword);
  auto next = (*body)->text("newPassword", kNewPassword);
  if (auto error = body->problems()) co_return std::unexpected(*error);
  const auto holding = holding_of(deps, call);
  if (!holding) co_return std::unexpected(holding.error());
  auto tokens = co_await deps.issuer.change_password(
      call.executor(), net::caller_of(call.request, deps.proxies), call.principal, std::move(current),
      std::move(next), device_of(call.request, deps.proxies, holding->browser()));
  if (!tokens) co_return login_failed(tokens.error());
  auto answer = tokens_json(*tokens);
  answer["keys"] = co_await keys_in_force(deps, call.executor(), call.principal);
  co_return tokens_response(200, *holding, *tokens, answer);
}

Task<Reply> change_email(AuthDeps deps, Call call) {
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  auto password = fields.text("password", kPassword);
  auto email = fields.text("email", kEmail);
  if (!email.empty() && !identity::looks_like_email(email))
    fields.problem("email", "is not an e-mail address");
  if (auto error = body->problems()) co_return std::unexpected(*error);
  const auto holding = holding_of(deps, call);
  if (!holding) co_return std::unexpected(holding.error());
  auto tokens = co_await deps.issuer.change_email(call.executor(), net::caller_of(call.request, deps.proxies),
                                                  call.principal, std::move(password), std::move(email),
                                                  device_of(call.request, deps.proxies, holding->browser()));
  if (!tokens) co_return login_failed(tokens.error());
  auto answer = tokens_json(*tokens);
  answer["keys"] = co_await keys_in_force(deps, call.executor(), call.principal);
  co_return tokens_response(200, *holding, *tokens, answer);
}

Task<Reply> step_up(AuthDeps deps, Call call) {
  if (const auto wait = deps.sign_ins.wait(call.request); wait > Millis{0}) co_return too_often(wait);
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto password = (*body)->text("password", kPassword);
  if (auto error = body->problems()) co_return std::unexpected(*error);
  const auto holding = holding_of(deps, call);
  if (!holding) co_return std::unexpected(holding.error());
  auto tokens = co_await deps.issuer.step_up(call.executor(), net::caller_of(call.request, deps.proxies),
                                             call.principal, std::move(password));
  if (!tokens && is_wrong_guess(tokens.error())) deps.sign_ins.count(call.request);
  co_return reply_with(200, *holding, tokens);
}

std::unexpected<Error> no_mail() {
  return fail("MAIL_OFF", "This service sends no mail. Ask whoever runs it.");
}

// Every address gets this answer, and one without a person costs as much.
Reply mail_accepted() {
  return json_response(202, json::object{{"status", "accepted"}});
}

std::unexpected<Error> link_refused(const AuthDeps& deps, const Call& call, const Error& error) {
  if (error.code == "LINK_INVALID") deps.requests.count(call.request);
  return std::unexpected(error);
}

Task<Reply> ask_reset(AuthDeps deps, Call call) {
  if (const auto wait = deps.requests.wait(call.request); wait > Millis{0}) co_return too_often(wait);
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  auto email = fields.text("email", kEmail);
  if (!email.empty() && !identity::looks_like_email(identity::normalise_email(email)))
    fields.problem("email", "is not an e-mail address");
  if (auto error = body->problems()) co_return std::unexpected(*error);
  if (!deps.passwords) co_return no_passwords();
  if (!deps.mail) co_return no_mail();
  const auto asked = co_await deps.mail->proofs.ask_reset(
      call.executor(), net::caller_of(call.request, deps.proxies), std::move(email));
  if (!asked) co_return login_failed(asked.error());
  co_return mail_accepted();
}

Task<Reply> reset_password(AuthDeps deps, Call call) {
  if (const auto wait = deps.requests.wait(call.request); wait > Millis{0}) co_return too_often(wait);
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  auto token = fields.text("token", kToken);
  auto password = fields.text("password", kNewPassword);
  if (auto problem = identity::problem_of_password(password); problem && !password.empty())
    fields.problem("password", std::move(*problem));
  const bool cookie = read_session(fields);
  if (auto error = body->problems()) co_return std::unexpected(*error);
  if (!deps.passwords) co_return no_passwords();
  if (!deps.mail) co_return no_mail();
  const auto holding = holding_of(deps, call.request, cookie);
  if (!holding) co_return std::unexpected(holding.error());
  const auto link =
      co_await deps.mail->tokens.find(call.executor(), std::move(token), storage::MailPurpose::reset);
  if (!link) co_return link_refused(deps, call, link.error());
  auto tokens = co_await deps.mail->proofs.reset(call.executor(), net::caller_of(call.request, deps.proxies),
                                                 *link, std::move(password),
                                                 device_of(call.request, deps.proxies, holding->browser()));
  if (!tokens && tokens.error().code == "LINK_INVALID") co_return link_refused(deps, call, tokens.error());
  if (!tokens) co_return login_failed(tokens.error());
  auto in = co_await admit_signed_in(call.executor(), deps.disabled, deps.issuer.sessions(), *tokens);
  if (!in) co_return std::unexpected(in.error());
  auto answer = tokens_json(*tokens);
  answer["keys"] = co_await keys_in_force(deps, call.executor(), {.account = tokens->account});
  co_return tokens_response(200, *holding, *tokens, answer);
}

Task<Reply> verify_email(AuthDeps deps, Call call) {
  if (const auto wait = deps.requests.wait(call.request); wait > Millis{0}) co_return too_often(wait);
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto token = (*body)->text("token", kToken);
  if (auto error = body->problems()) co_return std::unexpected(*error);
  if (!deps.mail) co_return no_mail();
  const auto link =
      co_await deps.mail->tokens.find(call.executor(), std::move(token), storage::MailPurpose::verify);
  if (!link) co_return link_refused(deps, call, link.error());
  const auto done = co_await deps.mail->proofs.verify(call.executor(), *link,
                                                      device_of(call.request, deps.proxies, false).origin());
  if (!done) co_return link_refused(deps, call, done.error());
  co_return no_content();
}

Task<Reply> ask_verification(AuthDeps deps, Call call) {
  if (!deps.mail) co_return no_mail();
  const auto asked = co_await deps.mail->proofs.ask_verification(call.executor(), call.principal);
  if (!asked) co_return login_failed(asked.error());
  co_return mail_accepted();
}

net::HttpResponse public_document(std::string body) {
  net::HttpResponse response;
  response.body = std::move(body);
  response.headers.add("Cache-Control", "public, max-age=300");
  return response;
}

Task<Reply> discovery(AuthDeps deps, Call) {
  co_return public_document(deps.issuer.discovery_document());
}
Task<Reply> jwks(AuthDeps deps, Call) {
  co_return public_document(deps.issuer.jwks());
}

}  // namespace

identity::Device device_of(const net::HttpRequest& request, const std::vector<net::IpNetwork>& proxies,
                           bool browser) {
  return {.browser = browser,
          .network = net::caller_of(request, proxies).network,
          .user_agent = identity::summary_of_user_agent(request.headers.get("User-Agent").value_or("")),
          .request_id = request.id};
}

Task<Expected<void>> admit_signed_in(Executor& executor, services::DisabledAccounts& disabled,
                                     identity::Sessions& sessions, const identity::Tokens& tokens) {
  auto in = co_await disabled.admit(executor, tokens.account);
  // Any other error says nothing of the account: the session is good for the next try.
  if (in || in.error().code != "FORBIDDEN") co_return in;
  if (auto out = co_await sessions.sign_out(executor, tokens.refresh_token); !out)
    co_return std::unexpected(out.error());
  co_return in;
}

void add_auth_routes(Router& router, AuthDeps deps) {
  router.add("POST", "/api/auth/sign-up", Access::open(), with(deps, sign_up));
  router.add("POST", "/api/auth/sign-in", Access::open(), with(deps, sign_in));
  router.add("POST", "/api/auth/refresh", Access::open(), with(deps, refresh));
  router.add("POST", "/api/auth/sign-out", Access::open(), with(deps, sign_out));
  router.add("POST", "/api/auth/password", Access::needs(Permission::account), with(deps, change_password));
  router.add("POST", "/api/auth/email", Access::needs(Permission::account), with(deps, change_email));
  router.add("POST", "/api/auth/step-up", Access::needs(Permission::account), with(deps, step_up));
  router.add("POST", "/api/auth/password-reset", Access::open(), with(deps, ask_reset));
  router.add("POST", "/api/auth/password-reset/confirm", Access::open(), with(deps, reset_password));
  router.add("POST", "/api/auth/verify", Access::open(), with(deps, verify_email));
  router.add("POST", "/api/auth/verification", Access::needs(Permission::account),
             with(deps, ask_verification));
  router.add("GET", "/.well-known/openid-configuration", Access::open(), with(deps, discovery));
  router.add("GET", "/.well-known/jwks.json", Access::open(), with(deps, jwks));
}

}  // namespace presetbridge::api
