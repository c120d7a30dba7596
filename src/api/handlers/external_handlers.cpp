#include "api/handlers/external_handlers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "api/handlers/auth_handlers.h"
#include "api/html_page.h"
#include "api/json_body.h"
#include "api/optional_json.h"
#include "base/ascii.h"
#include "net/client_address.h"

namespace presetbridge::api {
namespace {

using Aim = identity::ExternalSignIn::Aim;

constexpr std::string_view kAttemptCookie = "pdb_sign_in";
constexpr std::size_t kLongestReturnTo = 500;

constexpr std::string_view kPage = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · Preset Delivery Bridge</title>
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<main class="front">
<h1>{title}</h1>
<p>{message}</p>
<p><a href="{back}">Back</a></p>
<p><code>{code}</code></p>
</main>
</body>
</html>
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// Failures that nobody can use for guesses count for nothing: for a wrong state neither database nor identity
// provider is asked, and any page can send a visitor's browser here with one; the others are no answer of the
// provider about the person.
bool counts_as_failure(const Error& error) {
  constexpr std::array kOthers = {"OVERLOADED", "SIGN_IN_STATE_INVALID", "ISSUER_UNAVAILABLE",
                                  "RATE_LIMIT_EXCEEDED"};
  return !is_fault(error) && std::ranges::find(kOthers, error.code) == kOthers.end();
}

// Whether every browser reads `path` as a path on this service, and not as another host: it begins with one
// slash only, and has no character that browsers drop or read as a slash.
bool is_own_path(std::string_view path) {
  constexpr std::string_view kMarks = "-._~/?=&%+";
  return path.starts_with('/') && !path.starts_with("//") && path.size() <= kLongestReturnTo &&
         std::ranges::all_of(path, [&](char c) { return is_alphanumeric(c) || kMarks.contains(c); });
}

std::string forget_attempt(Door door) {
  return set_cookie(door, {.name = kAttemptCookie, .value = "", .lives = Millis{0}, .strict = false});
}

// The cookie that binds the issuer's answer to this browser.
std::string attempt_cookie(Door door, std::string_view attempt) {
  return set_cookie(door, {.name = kAttemptCookie,
                           .value = std::string(attempt),
                           .lives = identity::kAttemptLifetime,
                           .strict = false});
}

// A page that shows the error. A fault of the service is answered, and logged, as in all other handlers. From a
// step-up it leads to the dashboard: the page of `return_to` is for a person who has confirmed.
Reply failed(const Error& error, const Aim& aim, std::optional<Door> door,
             std::optional<Millis> retry_after = std::nullopt) {
  if (is_fault(error)) return std::unexpected(error);
  const std::string back = !aim.step_up && is_own_path(aim.return_to) ? aim.return_to : "/";
  auto response =
      page_response("text/html; charset=utf-8",
                    fmt::format(kPage, fmt::arg("title", aim.step_up ? "Not confirmed" : "Not signed in"),
                                fmt::arg("message", escaped(error.message)), fmt::arg("back", escaped(back)),
                                fmt::arg("code", error.code)),
                    "no-store");
  response.status = status_of(error.code).value_or(500);
  if (door) response.headers.add("Set-Cookie", forget_attempt(*door));
  if (retry_after)
    response.headers.add("Retry-After", std::to_string((retry_after->count() + 999) / 1'000));
  else if (response.status == 503)
    response.headers.add("Retry-After", "1");
  return response;
}

net::HttpResponse go_to(std::string location) {
  net::HttpResponse response;
  response.status = 303;
  response.content_type.clear();
  response.headers.add("Location", std::move(location));
  response.headers.add("Cache-Control", "no-store");
  response.headers.add("Referrer-Policy", "no-referrer");
  return response;
}

Task<Reply> begin(ExternalDeps deps, Call call) {
  std::vector<FieldProblem> problems;
  const std::string return_to(call.query_value("returnTo").value_or("/"));
  const auto step_up = call.query_value("stepUp").value_or("false");
  if (!is_own_path(return_to)) problems.push_back({"returnTo", "must be the path of a page of this service"});
  if (step_up != "true" && step_up != "false") problems.push_back({"stepUp", "must be true or false"});
  if (!problems.empty())
    co_return fail("VALIDATION_FAILED", "The query has parameters that are not valid.", std::move(problems));

  const Aim aim{return_to, step_up == "true"};
  const auto door = deps.cookie.door();
  if (!door) co_return failed(door.error(), aim, std::nullopt);
  std::optional<storage::SessionRow> session;
  if (aim.step_up) {
    if (const auto wait = deps.sign_ins.wait(call.request); wait > Millis{0})
      co_return failed(identity::rate_limit_exceeded(wait), aim, *door, wait);
    const auto token = SessionCookie::token(call.request, *door).value_or("");
    auto found = co_await deps.sessions.of_token(call.executor(), token);
    if (!found) {
      // Without a token nothing was looked up; any page can send a visitor's browser here.
      if (!token.empty() && found.error().code == "UNAUTHORIZED") deps.sign_ins.count(call.request);
      co_return failed(found.error(), aim, *door);
    }
    session = std::move(*found);
  }
  auto begun =
      co_await deps.external.begin(call.executor(), call.param("issuer"), return_to, std::move(session));
  if (!begun) co_return failed(begun.error(), aim, *door);
  auto response = go_to(std::move(begun->url));
  response.headers.add("Set-Cookie", attempt_cookie(*door, begun->attempt));
  co_return response;
}

// A page's script posts the invitation, so that no URL contains it.
Task<Reply> begin_invited(ExternalDeps deps, Call call) {
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  auto invitation = fields.text("invitation", {.max = 200, .exact = true});
  const auto return_to =
      fields.optional_text("returnTo", {.max = kLongestReturnTo, .exact = true}).value_or("/");
  if (!is_own_path(return_to)) fields.problem("returnTo", "must be the path of a page of this service");
  if (auto error = body->problems()) co_return std::unexpected(*error);
  const auto door = deps.cookie.judge(call.request);
  if (!door) co_return std::unexpected(door.error());
  auto begun = co_await deps.external.begin(call.executor(), call.param("issuer"), return_to, std::nullopt,
                                            std::move(invitation));
  if (!begun) co_return std::unexpected(begun.error());
  auto response = json_response(200, json::object{{"url", std::move(begun->url)}});
  response.headers.add("Cache-Control", "no-store");
  response.headers.add("Set-Cookie", attempt_cookie(*door, begun->attempt));
  co_return response;
}

Task<Reply> finish(ExternalDeps deps, Call call) {
  const auto door = deps.cookie.door();
  if (!door) co_return failed(door.error(), {}, std::nullopt);
  auto attempt = read_cookie(call.request, *door, kAttemptCookie).value_or("");
  const auto aim = deps.external.aim_of(attempt);
  if (const auto wait = deps.sign_ins.wait(call.request); wait > Millis{0})
    co_return failed(identity::rate_limit_exceeded(wait), aim, *door, wait);
  const auto parameter = [&](std::string_view name) {
    return std::string(call.query_value(name).value_or(""));
  };
  auto ended = co_await deps.external.finish(call.executor(), call.param("issuer"), std::move(attempt),
                                             {.state = parameter("state"),
                                              .code = parameter("code"),
                                              .error = parameter("error"),
                                              .iss = parameter("iss")},
                                             net::caller_of(call.request, deps.proxies),
                                             device_of(call.request, deps.proxies, true));
  if (!ended) {
    if (counts_as_failure(ended.error())) deps.sign_ins.count(call.request);
    co_return failed(ended.error(), aim, *door, ended.error().retry_after);
  }
  if (ended->tokens) {
    const auto admitted =
        co_await admit_signed_in(call.executor(), deps.disabled, deps.sessions, *ended->tokens);
    if (!admitted) co_return failed(admitted.error(), aim, *door);
  }
  auto response = go_to(is_own_path(ended->return_to) ? ended->return_to : "/");
  response.headers.add("Set-Cookie", forget_attempt(*door));
  if (ended->tokens) {
    response.headers.add("Set-Cookie", SessionCookie::set(*door, ended->tokens->refresh_token,
                                                          ended->tokens->refresh_token_lifetime));
  }
  co_return response;
}

Task<Reply> config(SignInConfig config, Call) {
  json::array issuers;
  for (const auto& [id, name] : config.issuers) {
    issuers.push_back(
        json::object{{"id", id},
                     {"name", name},
                     {"startUrl", fmt::format("{}/api/auth/external/{}", config.base_url, id)}});
  }
  auto response = json_response(
      200, json::object{
               {"signup", config.signup},
               {"passwords", config.passwords},
               {"mail", config.mail},
               {"sandbox", config.sandbox},
               {"issuers", std::move(issuers)},
               {"cloud", json::object{{"name", config.cloud_name},
                                      {"friendRequestsUrl", text_or_null(config.cloud_friend_requests_url)},
                                      {"appUrl", text_or_null(config.cloud_app_url)}}},
               {"supportUrl", text_or_null(config.support_url)}});
  response.headers.add("Cache-Control", "public, max-age=300");
  co_return response;
}

}  // namespace

void add_external_routes(Router& router, ExternalDeps deps) {
  router.add("GET", "/api/auth/external/{issuer}", Access::open(), with(deps, begin));
  router.add("POST", "/api/auth/external/{issuer}", Access::open(), with(deps, begin_invited));
  router.add("GET", "/api/auth/external/{issuer}/callback", Access::open(), with(deps, finish));
}

void add_auth_config_route(Router& router, SignInConfig config_) {
  router.add("GET", "/api/auth/config", Access::open(), with(std::move(config_), config));
}

}  // namespace presetbridge::api
