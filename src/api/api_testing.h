// A fixture with the API without sockets: requests in, answers out, over a real database.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/api.h"
#include "api/handlers/account_handlers.h"
#include "api/handlers/auth_handlers.h"
#include "api/handlers/keys_handlers.h"
#include "api/handlers/meta_handlers.h"
#include "api/handlers/pages_handlers.h"
#include "api/handlers/sessions_handlers.h"
#include "base/wakeup.h"
#include "identity/testing.h"

namespace presetbridge::api::testing {

struct EchoDeps {
  int unused = 0;
};

struct SlowDeps {
  Scheduler& scheduler;
};

inline Task<Reply> answer_slowly(SlowDeps deps, Call) {
  co_await sleep_for(deps.scheduler, Millis{500});
  co_return json_response(200, json::object{});
}

inline Task<Reply> whoami(EchoDeps, Call call) {
  co_return json_response(200, json::object{{"account", to_string(call.principal.account)},
                                            {"actor", domain::to_string(call.principal.actor())},
                                            {"login", call.principal.may(Permission::login)}});
}

inline Task<Reply> fail_with(Error error, Call) {
  co_return std::unexpected(error);
}

inline Task<Reply> fall_over(EchoDeps, Call) {
  throw std::runtime_error("planted exception");
  co_return no_content();
}

class ApiTest : public ::testing::Test {
 protected:
  using HeaderMap = std::map<std::string, std::string>;

  struct Answer {
    int status = 0;
    net::Headers headers;
    json::value body;
    std::string text;
    std::string code() const {
      const auto* error = body.is_object() ? body.get_object().if_contains("error") : nullptr;
      return error == nullptr ? "" : std::string(error->at("code").as_string());
    }
    std::string string(std::string_view field) const { return std::string(body.at(field).as_string()); }
    std::string header(std::string_view name) const { return std::string(headers.get(name).value_or("")); }
  };

  ApiTest() {
    issuer_ = world_.issuer({.iss = "https://bridge.example", .mail_came = [] {}});
    if (auto started = world_.await(issuer_->start(world_.scheduler)); !started) throw started.error();
    if (auto started = world_.await(link_keys_.start(world_.scheduler)); !started) throw started.error();
    proofs_ = std::make_unique<identity::EmailProofs>(identity::EmailProofs::Deps{
        world_.async_db, *issuer_, world_.passwords, world_.ids, world_.clock(), [] {}});
    tokens_ = std::make_unique<identity::TokenVerifier>(std::vector<identity::Issuer*>{issuer_.get()},
                                                        world_.clock());
    authentication_ = std::make_unique<Authentication>(*tokens_, accounts_, keys_, disabled_);
    add_auth_routes(router_, {.issuer = *issuer_,
                              .proxies = {},
                              .sign_ins = sign_ins_,
                              .requests = failures_,
                              .cookie = SessionCookie("https://bridge.example"),
                              .keys = keys_,
                              .disabled = disabled_,
                              .mail = MailDeps{*proofs_, mail_tokens_}});
    add_sessions_routes(router_, {issuer_->sessions()});
    add_keys_routes(router_, {keys_});
    add_account_routes(router_, {accounts_});
    add_about_routes(router_, {.version = "1.2.3", .commit = "abc"});
    add_pages_routes(router_, {.sandbox = sandbox_});
    add_health_routes(router_,
                      {.readiness = [this](Executor&) -> Task<Readiness> { return readiness(ready_); },
                       .metrics_text = {}});
    router_.add("GET", "/api/known", Access::anyone_known(), with(EchoDeps{}, whoami));
    router_.add("GET", "/api/slow", Access::anyone_known(), with(SlowDeps{world_.scheduler}, answer_slowly));
    router_.add("GET", "/api/reads", Access::needs(Permission::deliveries_read), with(EchoDeps{}, whoami));
    router_.add("GET", "/api/logins", Access::needs(Permission::login), with(EchoDeps{}, whoami));
    router_.add("GET", "/test/{secret}/known", Access::anyone_known(),
                with(Error{"RECORD_CORRUPT", "the table is broken", {}}, fail_with));
    router_.add("GET", "/test/{secret}/open", Access::open(),
                with(Error{"INTERNAL_ERROR", "the log cannot be read", {}}, fail_with));
    router_.add("GET", "/test/{secret}/storage", Access::open(),
                with(Error{"STORAGE_UNAVAILABLE", "The storage is not available.", {}}, fail_with));
    router_.add("GET", "/test/{secret}/throws", Access::open(), with(EchoDeps{}, fall_over));
    router_.add("GET", "/test/{secret}/busy", Access::open(),
                with(Error{"OVERLOADED", "The service is busy.", {}}, fail_with));
    api_ = std::make_unique<Api>(router_, *authentication_, failures_, world_.clock(), world_.log, metrics_);
  }
  static Task<Readiness> readiness(bool ready) {
    Readiness state{ready, {}};
    if (!ready) state.waiting_for.emplace_back("storage");
    co_return state;
  }

  Answer send(std::string method, std::string target, HeaderMap headers = {}, std::string body = {}) {
    net::HttpRequest request;
    request.id = "request-1";
    request.method = std::move(method);
    request.target = target;
    request.path = target.substr(0, target.find('?'));
    if (request.path.size() < target.size()) request.query = target.substr(request.path.size() + 1);
    for (auto& [name, value] : headers) request.headers.add(name, value);
    request.body = std::move(body);
    request.remote_address = peer_;
    request.executor = &world_.scheduler;
    auto response = world_.await(api_->handle(std::move(request)));
    Answer answer{response.status, response.headers, nullptr, response.body};
    if (response.content_type == "application/json") answer.body = json::parse(response.body);
    return answer;
  }
  Answer post(std::string target, json::value body, HeaderMap headers = {}) {
    headers["Content-Type"] = "application/json";
    return send("POST", std::move(target), std::move(headers), json::serialize(body));
  }
  Answer sign_up(std::string email) {
    return post("/api/auth/sign-up", {{"email", email}, {"password", "correct horse battery"}});
  }
  static HeaderMap bearer(const Answer& tokens) {
    return {{"Authorization", "Bearer " + tokens.string("idToken")}};
  }
  Answer create_key(const Answer& owner, json::object body = {{"name", "Shop"}}) {
    return post("/api/keys", std::move(body), bearer(owner));
  }
  static HeaderMap key(const Answer& issued) { return {{"X-API-Key", issued.string("secret")}}; }
  Answer patch(const Answer& owner, std::string id, json::object body) {
    auto headers = bearer(owner);
    headers["Content-Type"] = "application/json";
    return send("PATCH", "/api/keys/" + id, headers, json::serialize(body));
  }

  identity::testing::World world_;
  NullMetrics metrics_;
  net::NetworkBudget failures_{world_.clock(), {}, {.failures = 300, .window = std::chrono::minutes{1}}};
  net::NetworkBudget sign_ins_{world_.clock(), {}, {.failures = 20, .window = std::chrono::hours{1}}};
  bool ready_ = true;
  bool sandbox_ = true;
  std::string peer_ = "127.0.0.1";
  std::unique_ptr<identity::BuiltInIssuer> issuer_;
  std::unique_ptr<identity::TokenVerifier> tokens_;
  services::Accounts accounts_{world_.async_db, world_.ids, identity::Signup::open};
  services::ApiKeys keys_{world_.async_db, world_.ids, world_.random, world_.clock(), world_.log, {}};
  services::DisabledAccounts disabled_{world_.async_db, world_.ids, world_.clock()};
  services::LinkKeys link_keys_{world_.async_db, world_.cipher, world_.ids, world_.random};
  services::MailTokens mail_tokens_{world_.async_db, link_keys_};
  std::unique_ptr<identity::EmailProofs> proofs_;
  std::unique_ptr<Authentication> authentication_;
  Router router_;
  std::unique_ptr<Api> api_;
};

}  // namespace presetbridge::api::testing
