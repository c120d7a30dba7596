// The service from the bytes of a request to the rows, with everything counted that a request costs.
#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "api/handlers/bulk_handlers.h"
#include "api/handlers/deliveries_handlers.h"
#include "api/handlers/integrations_handlers.h"
#include "api/handlers/orders_handlers.h"
#include "api/handlers/subscriptions_handlers.h"
#include "api/handlers/webhook_handlers.h"
#include "counting_database.h"
#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "limits_page.h"
#include "net/key_budget.h"
#include "net/network_budget.h"
#include "services/testing.h"

namespace presetbridge::worst_case {

namespace json = boost::json;

// The limits as they are where nothing is set (spec 2.14).
constexpr std::size_t kBody = 1024 * 1024;
constexpr int kLines = 250;
constexpr int kMappings = 5'000;
constexpr int kOfKey = 100;
constexpr int kFiles = 500;  // of a delivery
constexpr int kRefundLines = 2'000;
constexpr std::size_t kIdBytes = 255;  // of an identifier of a store
constexpr std::size_t kLineIdBytes = domain::kMaxLineIdBytes;

// Texts as long as they may be, each of them another.
inline std::string longest(std::string_view begin, int n, std::size_t bytes) {
  std::string text(begin);
  text += std::to_string(n) + "-";
  text.resize(bytes, 'x');
  return text;
}

class WorstCase : public ::testing::Test {
 protected:
  WorstCase() {
    api::add_webhook_routes(router_, {world_.reception, failures_});
    api::add_integrations_routes(router_, {integrations_, presets_, "https://bridge.example"});
    EXPECT_TRUE(world_.await(links_.start(world_.scheduler)));
    api::add_deliveries_routes(router_, {world_.actions, links_, "https://bridge.example"});
    api::add_subscriptions_routes(router_, {subscriptions_, dispatches_});
    api::add_orders_routes(router_, {orders_, reprocess_, std::chrono::days{30}});
    api::add_bulk_routes(router_, {bulk_jobs_, on_deliveries_});
    world_.write([&](storage::Tx& tx) {
      tx.exec({"UPDATE integrations SET provider = 'provider_a' WHERE id = $1"}, world_.integration);
    });
    hold_queue(std::chrono::hours{24});
    // Somebody listens, so that events are written.
    const auto made = send("POST", "/api/webhook-subscriptions",
                           json::object{{"url", "https://receiver.example.com/hook"}});
    EXPECT_EQ(made.status, 201) << made.body;
    store_ = "/api/integrations/" + to_string(world_.integration);
  }

  net::HttpResponse send(std::string method, const std::string& target, std::string body,
                         std::vector<std::pair<std::string, std::string>> headers) {
    api::Call call;
    call.request.method = method;
    call.request.path = target.substr(0, target.find('?'));
    call.request.body = std::move(body);
    call.request.executor = &world_.scheduler;
    for (const auto& [name, value] : headers) call.request.headers.add(name, value);
    if (const auto at = target.find('?'); at != std::string::npos)
      call.query = api::parse_query(std::string_view(target).substr(at + 1)).value();
    call.principal = world_.merchant();
    auto match = router_.match(method, call.request.path);
    if (!match) return match.error();
    call.params = match->params;
    auto reply = world_.await(match->route->handler(std::move(call)));
    return reply ? *reply : api::error_response(reply.error());
  }
  net::HttpResponse send(std::string method, const std::string& target, const json::value& body = nullptr) {
    if (body.is_null()) return send(std::move(method), target, "", {});
    return send(std::move(method), target, json::serialize(body), {{"Content-Type", "application/json"}});
  }
  // A webhook of the hosted shop; what it is answered must be 202.
  json::object hook(std::string_view topic, const std::string& body) {
    EXPECT_LE(body.size(), kBody);
    const auto signature = crypto::base64_encode(crypto::hmac_sha256(
        std::as_bytes(std::span(std::string_view("secret"))), std::as_bytes(std::span(body))));
    const auto answer = send("POST", "/api/webhooks/provider_a/" + to_string(world_.integration), body,
                             {{"X-Hosted-Hmac-Sha256", signature}, {"X-Hosted-Topic", std::string(topic)}});
    EXPECT_EQ(answer.status, 202) << answer.body.substr(0, 500);
    return json::parse(answer.body).as_object();
  }
  json::object hook(std::string_view topic, const json::object& body) {
    return hook(topic, json::serialize(body));
  }

  // `keys` SKUs with `of_each` mappings, each to a file of its own, with texts as long as they may be where
  // the body has room for that.
  net::HttpResponse map(int keys, int of_each, std::size_t text_bytes = 60) {
    json::array mappings;
    int file = 0;
    for (int key = 0; key < keys; ++key) {
      for (int n = 0; n < of_each; ++n, ++file) {
        mappings.push_back(json::object{{"matchType", "sku"},
                                        {"matchValue", sku(key)},
                                        {"fileId", longest("f", file, text_bytes)},
                                        {"fileName", longest("n", file, text_bytes)}});
      }
    }
    return send("PUT", store_ + "/mappings", json::object{{"mappings", std::move(mappings)}});
  }
  static std::string sku(int key) { return "sku-" + std::to_string(key); }

  // An order of as many lines as it may have, over `keys` SKUs, with identifiers and titles as long as they
  // may be: a megabyte of it.
  json::object order(std::string_view id, int keys, int minute = 0, std::string_view titles = "t") {
    json::array lines;
    for (int line = 0; line < kLines; ++line) {
      lines.push_back(json::object{{"id", longest("l", line, kLineIdBytes)},
                                   {"sku", sku(line % keys)},
                                   {"variant_id", longest("v", line, kIdBytes)},
                                   {"product_id", longest("p", line, kIdBytes)},
                                   {"title", longest(titles, line, 1'000)},
                                   {"quantity", 1}});
    }
    json::object all{
        {"id", id},
        {"order_number", 1001},
        {"email", "buyer@example.com"},
        {"financial_status", "paid"},
        {"updated_at", to_iso8601(from_unix_ms(1'790'000'000'000) + std::chrono::minutes{minute})},
        {"note_attributes", json::array{json::object{{"name", "vendor_username"}, {"value", "Ann"}}}},
        {"line_items", std::move(lines)}};
    all["note"] = std::string(kBody - 100 - json::serialize(all).size(), 'n');
    return all;
  }

  // No job starts for so long.
  void hold_queue(Millis time) {
    world_.write([&](storage::Tx& tx) {
      const Timestamp until = tx.now() + time;
      tx.exec({"UPDATE cloud_accounts SET blocked_until = $1, ready_at = $1"}, until);
    });
  }
  // What `fn` costs.
  template <class Fn>
  Work measure(Fn fn) {
    work_ = {};
    const auto before = std::array{allocations(), bytes_allocated(), branches()};
    fn();
    auto work = work_;
    work.allocations = allocations() - before[0];
    work.bytes_allocated = bytes_allocated() - before[1];
    work.branches = branches() - before[2];
    return work;
  }
  void expect(std::string_view what, const Work& work, const Bound& bound) {
    hold(what, work, bound, world_.database->engine() == "sqlite");
  }

  Work work_;
  services::BuyerLinks links_{world_.async_db, world_.cipher, world_.ids, world_.random};
  services::testing::World world_{
      services::testing::World::unlimited(), 1'000'000,
      [this](std::unique_ptr<storage::Database> database) { return count_work(std::move(database), work_); }};
  net::NetworkBudget failures_{
      world_.database.clock, {}, {.failures = 300, .window = std::chrono::minutes{1}}};
  services::Integrations integrations_{world_.async_db, world_.ids,       world_.random,
                                       world_.cipher,   world_.directory, [] {}};
  services::Subscriptions subscriptions_{
      world_.async_db, world_.ids, world_.random, world_.cipher, net::AddressPolicy::public_https, [] {}};
  net::KeyBudget dispatches_{world_.database.clock, {.times = 60, .window = std::chrono::minutes{1}}};
  services::LoginGuard guard_{world_.async_db, world_.ids,
                              [] { return std::string("key of e-mail hashes"); }};
  services::CloudLogins logins_{world_.async_db, world_.ids,   world_.random,
                                world_.cipher,   world_.agent, guard_};
  services::CloudSessions sessions_{world_.scheduler, *world_.sessions};
  services::OwnStoredLogins stored_{world_.async_db, world_.cloud, world_.agent,
                                    sessions_,       logins_,      world_.database.clock};
  services::Presets presets_{world_.async_db, stored_, logins_, world_.database.clock};
  services::Orders orders_{world_.async_db, world_.changes, world_.directory, [] {}};
  services::BulkJobs bulk_jobs_{world_.async_db, world_.ids, [] {}};
  services::BulkReprocess reprocess_{world_.async_db, world_.changes, world_.directory, bulk_jobs_};
  services::BulkDeliveries on_deliveries_{world_.async_db, world_.actions, bulk_jobs_};
  api::Router router_;
  std::string store_;
};

}  // namespace presetbridge::worst_case
