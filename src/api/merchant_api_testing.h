// For tests of the merchant's resources: their use cases over a real database, their routes, and requests by
// a principal of the test's choice. Authentication is authentication_test.cpp's.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/handlers/credentials_handlers.h"
#include "api/handlers/credits_handlers.h"
#include "api/handlers/deliveries_handlers.h"
#include "api/handlers/integrations_handlers.h"
#include "api/handlers/subscriptions_handlers.h"
#include "api/handlers/webhook_events_handlers.h"
#include "crypto/digest.h"
#include "crypto/vault_keys.h"
#include "identity/testing.h"
#include "storage/stores/account_store.h"
#include "storage/stores/api_key_store.h"
#include "storage/stores/identity_store.h"

namespace presetbridge::api::testing {

using identity::testing::RecordingLog;

// Knows one password; or is away.
class FakeAgent final : public cloud::CredentialAgent {
 public:
  Millis login_deadline() const override { return Millis{1'000}; }
  Task<cloud::CloudResult<cloud::Session>> login(Executor&, AccountId, std::int64_t, crypto::Bytes) override {
    ++logins;
    if (unreadable) {
      co_return std::unexpected(
          cloud::CloudError{cloud::CloudError::Kind::credentials_unreadable, "altered", false, {}});
    }
    co_return answer(!stored_refused);
  }
  Task<cloud::CloudResult<cloud::Session>> login_with(Executor&, std::string,
                                                      crypto::SecretString sent) override {
    ++logins;
    co_return answer(sent.reveal() == password);
  }
  cloud::CloudResult<cloud::Session> answer(bool good) {
    using Kind = cloud::CloudError::Kind;
    if (away) return std::unexpected(cloud::CloudError{Kind::unavailable, "away", false, {}});
    if (busy) return std::unexpected(cloud::CloudError{Kind::busy, "busy", false, {}});
    if (!good) return std::unexpected(cloud::CloudError{Kind::login_refused, "refused", false, {}});
    return cloud::Session{"cloud-session-token", user_id, "merchant", from_unix_ms(1'900'000'000'000)};
  }
  std::string password = "planted-password-9731";
  std::string user_id = "u1";
  bool away = false;
  bool busy = false;  // no login finds a place
  bool stored_refused = false;
  bool unreadable = false;  // the stored login
  int logins = 0;
};

// Lists files only; with `hold` not before release().
class FakeCloud final : public cloud::Cloud {
 public:
  template <class T>
  static Task<cloud::CloudResult<T>> none() {
    co_return std::unexpected(
        cloud::CloudError{cloud::CloudError::Kind::unavailable, "not in this test", false, {}});
  }
  Millis call_timeout() const override { return Millis{1'000}; }
  Task<cloud::CloudResult<cloud::CloudUser>> find_user(Executor&, cloud::Session, std::string) override {
    return none<cloud::CloudUser>();
  }
  Task<cloud::CloudResult<cloud::FriendshipState>> friendship(Executor&, cloud::Session,
                                                              std::string) override {
    return none<cloud::FriendshipState>();
  }
  Task<cloud::CloudResult<cloud::FriendshipState>> request_friendship(Executor&, cloud::Session, std::string,
                                                                      std::string) override {
    return none<cloud::FriendshipState>();
  }
  Task<cloud::CloudResult<void>> withdraw_friendship(Executor&, cloud::Session, std::string) override {
    return none<void>();
  }
  Task<cloud::CloudResult<cloud::FriendshipPage>> friendships_since(Executor&, cloud::Session, std::string,
                                                                    int) override {
    return none<cloud::FriendshipPage>();
  }
  Task<cloud::CloudResult<cloud::FilePage>> list_files(Executor& executor, cloud::Session session,
                                                       std::string, int) override {
    ++lists;
    if (hold) {
      co_await suspend<int>(executor, [this](auto resume) { release = [resume] { resume(0); }; });
    }
    if (away)
      co_return std::unexpected(cloud::CloudError{cloud::CloudError::Kind::unavailable, "away", false, {}});
    EXPECT_EQ(session.token, "cloud-session-token");
    co_return cloud::FilePage{files, "", false};
  }
  Task<cloud::CloudResult<cloud::Share>> share(Executor&, cloud::Session, std::string, std::string,
                                               std::string) override {
    return none<cloud::Share>();
  }
  Task<cloud::CloudResult<std::optional<cloud::Share>>> find_share(Executor&, cloud::Session, std::string,
                                                                   std::string) override {
    return none<std::optional<cloud::Share>>();
  }
  Task<cloud::CloudResult<void>> revoke_share(Executor&, cloud::Session, std::string, std::string) override {
    return none<void>();
  }
  std::vector<cloud::CloudFile> files{
      {"f2", "preset", "Warm Clean"}, {"f1", "capture", "Big Amp"}, {"f3", "preset", "amp two"}};
  bool away = false;
  bool hold = false;
  std::function<void()> release;
  int lists = 0;
};

struct Answer {
  int status = 0;
  std::string text;
  json::value body;
  net::Headers headers;
  std::string code() const {
    const auto* error = body.is_object() ? body.get_object().if_contains("error") : nullptr;
    return error == nullptr ? "" : std::string(error->at("code").as_string());
  }
  std::string string(std::string_view field) const { return std::string(body.at(field).as_string()); }
};

class MerchantApiTest : public ::testing::Test {
 protected:
  MerchantApiTest() {
    account_ = add_account("Shop");
    me_ = person(account_);
    stranger_ = person(add_account("Other"));
    add_integrations_routes(router_, {integrations_, presets_, "https://bridge.example"});
    add_subscriptions_routes(router_, {subscriptions_, dispatches_});
    add_webhook_events_routes(router_, {webhook_events_, dispatches_});
    add_credits_routes(router_, {credits_, services::DeliveryChanges::usual_credits_low_at});
    EXPECT_TRUE(world_.await(links_.start(world_.scheduler)));
    add_deliveries_routes(router_, {deliveries_, links_, "https://bridge.example"});
    add_credentials_routes(router_, {vault_});
    add_login_routes(router_, {logins_});
    add_presets_routes(router_, {presets_, preset_uses_});
  }

  AccountId add_account(std::string_view name) {
    const auto id = world_.ids.make<AccountId>();
    write([&](storage::Tx& tx) { insert_account(tx, id, name); });
    return id;
  }
  identity::Principal person(AccountId account) {
    identity::Principal p;
    p.account = account;
    p.person = identity::Person{world_.ids.make<UserId>(), identity::Role::owner, "iss", "sub", ""};
    write([&](storage::Tx& tx) {
      insert_identity(tx, "iss", to_string(p.person->id), {account, p.person->id, "owner"});
    });
    p.permissions = identity::PermissionSet::all();
    return p;
  }
  identity::Principal key(std::vector<IntegrationId> scope = {}) {
    identity::Principal p;
    p.account = account_;
    p.key = world_.ids.make<ApiKeyId>();
    p.permissions = identity::PermissionSet::all();
    p.integrations = identity::IntegrationScope(std::move(scope));
    write([&](storage::Tx& tx) {
      const storage::ApiKeyRow row{.id = *p.key,
                                   .account = account_,
                                   .name = "k",
                                   .integration_ids = p.integrations.to_text(),
                                   .rate_limit = 10,
                                   .created_at = tx.now()};
      insert_api_key(tx, row, crypto::sha256(to_string(row.id)));
    });
    return p;
  }
  template <class Fn>
  void write(Fn fn) {
    (*world_.db).write([&](storage::Tx& tx) { fn(tx); });
  }

  Answer send(const identity::Principal& by, std::string method, std::string target,
              std::optional<json::value> body = {}, std::map<std::string, std::string> headers = {}) {
    Call call;
    call.request.method = method;
    call.request.path = target.substr(0, target.find('?'));
    if (body) {
      call.request.headers.add("Content-Type", "application/json");
      call.request.body = json::serialize(*body);
    }
    for (const auto& [name, value] : headers) call.request.headers.add(name, value);
    call.request.executor = &world_.scheduler;
    if (const auto at = target.find('?'); at != std::string::npos) {
      std::string_view rest = std::string_view(target).substr(at + 1);
      while (!rest.empty()) {
        const auto pair = rest.substr(0, rest.find('&'));
        rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
        call.query.emplace_back(pair.substr(0, pair.find('=')), pair.substr(pair.find('=') + 1));
      }
    }
    call.principal = by;
    auto match = router_.match(method, call.request.path);
    net::HttpResponse response;
    if (!match) {
      response = match.error();
    } else {
      call.params = match->params;
      auto reply = world_.await(match->route->handler(std::move(call)));
      response = reply ? *reply : error_response(reply.error());
    }
    Answer answer{response.status, response.body, nullptr, response.headers};
    if (!response.body.empty()) {
      boost::system::error_code error;
      answer.body = json::parse(response.body, error);
    }
    all_answers_ += response.body + "\n";
    return answer;
  }
  static IntegrationId integration_id(const Answer& made) {
    return *parse_id<IntegrationKind>(made.string("id"));
  }
  Answer add_integration(json::object body = {{"name", "Store"}, {"provider", "generic"}}) {
    return send(me_, "POST", "/api/integrations", std::move(body));
  }
  json::object login() const { return {{"email", "Merchant@example.com"}, {"password", agent_.password}}; }

  identity::testing::World world_;
  RecordingLog log_;
  std::string all_answers_;
  int wakes_ = 0;
  std::vector<AccountId> forgotten_;
  std::vector<AccountId> retired_;
  FakeAgent agent_;
  FakeCloud cloud_;
  AccountId account_;
  identity::Principal me_;
  identity::Principal stranger_;
  crypto::VaultPrivateKey vault_key_ = crypto::VaultPrivateKey::generate(world_.random);
  const crypto::SealingVaultKey sealing_key_{vault_key_.public_key()};
  services::LoginGuard guard_{world_.async_db, world_.ids,
                              [] { return std::string("key of e-mail hashes"); }};
  services::IntegrationDirectory directory_{world_.async_db, world_.cipher, world_.clock(), nullptr};
  services::Integrations integrations_{world_.async_db, world_.ids, world_.random,
                                       world_.cipher,   directory_, [this] { ++wakes_; }};
  services::Subscriptions subscriptions_{
      world_.async_db,     world_.ids, world_.random, world_.cipher, net::AddressPolicy::public_https,
      [this] { ++wakes_; }};
  services::WebhookEvents webhook_events_{world_.async_db, world_.ids, [this] { ++wakes_; }};
  net::KeyBudget dispatches_{world_.clock(), {.times = 4, .window = std::chrono::minutes{1}}};
  services::Credits credits_{world_.async_db, world_.ids, [this] { ++wakes_; }};
  services::DeliveryChanges changes_{world_.ids, world_.random};
  services::BuyerLinks links_{world_.async_db, world_.cipher, world_.ids, world_.random};
  services::DeliveryActions deliveries_{world_.async_db, changes_, 5, [this] { ++wakes_; }};
  services::CloudLogins logins_{world_.async_db, world_.ids, world_.random, world_.cipher, agent_, guard_};
  cloud::SessionCache cache_{world_.scheduler, world_.clock(), agent_};
  services::CloudSessions sessions_{world_.scheduler, cache_};
  services::OwnStoredLogins stored_{world_.async_db, cloud_, agent_, sessions_, logins_, world_.clock()};
  services::Vault vault_{{world_.async_db, world_.ids, world_.random, log_, agent_, stored_, guard_,
                          sealing_key_, [this](AccountId id) { forgotten_.push_back(id); },
                          [this](AccountId id) { retired_.push_back(id); }, [this] { ++wakes_; }}};
  services::Presets presets_{world_.async_db, stored_, logins_, world_.clock()};
  services::PresetUses preset_uses_{world_.async_db};
  Router router_;
};

}  // namespace presetbridge::api::testing
