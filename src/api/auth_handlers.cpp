#include "api/auth_handlers.h"

#include "api/json_body.h"
#include "crypto/password_hash.h"
#include "net/client_address.h"

namespace presetbridge::api {
namespace {

constexpr TextRule kEmail{.max = 254};
constexpr TextRule kPassword{.max = crypto::max_password_bytes, .exact = true};
// So many characters are never too many bytes.
constexpr TextRule kNewPassword{.max = crypto::max_password_bytes / 4, .exact = true};
constexpr TextRule kToken{.max = 200, .exact = true};

net::HttpResponse tokens_response(int status, const identity::Tokens& tokens) {
  auto response =
      json_response(status, json::object{
                                {"idToken", tokens.id_token},
                                {"idTokenExpiresAt", to_iso8601(tokens.id_token_expires_at)},
                                {"refreshToken", tokens.refresh_token},
                                {"refreshTokenExpiresAt", to_iso8601(tokens.refresh_token_expires_at)},
                                {"user", {{"id", to_string(tokens.user)}, {"email", tokens.email}}},
                                {"accountId", to_string(tokens.account)},
                            });
  response.headers.add("Cache-Control", "no-store");
  return response;
}

Reply reply_with(int status, const identity::LoginResult<identity::Tokens>& tokens) {
  if (!tokens) return login_failed(tokens.error());
  return tokens_response(status, *tokens);
}

Task<Reply> sign_up(AuthDeps deps, Call call) {
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  auto email = fields.text("email", kEmail);
  auto password = fields.text("password", kNewPassword);
  auto name = fields.optional_text("accountName", {.max = 100});
  for (auto& [field, problem] : identity::BuiltInIssuer::problems_of_sign_up(email, password)) {
    const bool told = (field == "email" ? email : password).empty();  // by what read it
    if (!told) fields.problem(field, std::move(problem));
  }
  if (auto error = body->problems()) co_return std::unexpected(*error);
  co_return reply_with(
      201, co_await deps.issuer.sign_up(call.executor(), net::caller_of(call.request, deps.proxies),
                                        std::move(email), std::move(password), name.value_or("")));
}

Task<Reply> sign_in(AuthDeps deps, Call call) {
  if (const auto wait = deps.sign_ins.wait(call.request); wait > Millis{0}) co_return too_often(wait);
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  auto email = fields.text("email", kEmail);
  auto password = fields.text("password", kPassword);
  if (auto error = body->problems()) co_return std::unexpected(*error);
  auto tokens = co_await deps.issuer.sign_in(call.executor(), net::caller_of(call.request, deps.proxies),
                                             std::move(email), std::move(password));
  if (!tokens && (tokens.error().code == "INVALID_CREDENTIALS" || tokens.error().code == "TOO_MANY_ATTEMPTS"))
    deps.sign_ins.count(call.request);
  co_return reply_with(200, tokens);
}

Task<Reply> refresh(AuthDeps deps, Call call) {
  if (const auto wait = deps.requests.wait(call.request); wait > Millis{0}) co_return too_often(wait);
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto token = (*body)->text("refreshToken", kToken);
  if (auto error = body->problems()) co_return std::unexpected(*error);
  auto tokens = co_await deps.issuer.refresh(call.executor(), std::move(token));
  if (!tokens && tokens.error().code == "UNAUTHORIZED") deps.requests.count(call.request);
  co_return reply_with(200, tokens);
}

Task<Reply> sign_out(AuthDeps deps, Call call) {
  if (const auto wait = deps.requests.wait(call.request); wait > Millis{0}) co_return too_often(wait);
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto token = (*body)->text("refreshToken", kToken);
  if (auto error = body->problems()) co_return std::unexpected(*error);
  auto done = co_await deps.issuer.sign_out(call.executor(), std::move(token));
  if (!done) co_return std::unexpected(done.error());
  if (!*done) deps.requests.count(call.request);
  co_return no_content();
}

Task<Reply> change_password(AuthDeps deps, Call call) {
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto current = (*body)->text("currentPassword", kPassword);
  auto next = (*body)->text("newPassword", kNewPassword);
  if (auto error = body->problems()) co_return std::unexpected(*error);
  co_return reply_with(
      200, co_await deps.issuer.change_password(call.executor(), net::caller_of(call.request, deps.proxies),
                                                call.principal, std::move(current), std::move(next)));
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

void add_auth_routes(Router& router, AuthDeps deps) {
  router.add("POST", "/api/auth/sign-up", Access::open(), with(deps, sign_up));
  router.add("POST", "/api/auth/sign-in", Access::open(), with(deps, sign_in));
  router.add("POST", "/api/auth/refresh", Access::open(), with(deps, refresh));
  router.add("POST", "/api/auth/sign-out", Access::open(), with(deps, sign_out));
  router.add("POST", "/api/auth/password", Access::needs(Permission::account), with(deps, change_password));
  router.add("GET", "/.well-known/openid-configuration", Access::open(), with(deps, discovery));
  router.add("GET", "/.well-known/jwks.json", Access::open(), with(deps, jwks));
}

}  // namespace presetbridge::api
