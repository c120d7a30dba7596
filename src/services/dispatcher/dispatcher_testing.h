// For the tests of the dispatcher: a bridge's database with subscriptions and events, a receiver that answers
// what a test says, and virtual time.
#pragma once

#include <gtest/gtest.h>
#include <array>

#include <algorithm>
#include <functional>
#include <mutex>
#include <set>

#include "base/testing.h"
#include "crypto/webhook_signature.h"
#include "identity/testing.h"
#include "services/dispatcher/webhook_dispatcher.h"
#include "storage/stores/account_store.h"
#include "storage/stores/event_store.h"
#include "storage/testing.h"

namespace presetbridge::services::testing {

using identity::testing::RecordingLog;
using namespace std::chrono_literals;

// Answers each request by `answer`; nothing: the call stays open until abort_all().
class FakeReceiver final : public net::HttpClient {
 public:
  std::function<std::optional<net::HttpResult>(const net::OutgoingRequest&)> answer;
  std::vector<net::OutgoingRequest> requests;

  Task<net::HttpResult> send(Executor& executor, net::OutgoingRequest request) override {
    requests.push_back(request);
    auto result = answer(request);
    co_return co_await suspend<net::HttpResult>(executor, [this, result](auto resume) {
      if (result) {
        resume(*result);
      } else {
        open_.emplace_back(resume);
      }
    });
  }
  std::size_t open() const { return open_.size(); }
  void end_all(const net::HttpResult& result) {
    for (auto& resume : std::exchange(open_, {})) resume(result);
  }
  void abort_all() { end_all(failure(net::HttpFailure::Kind::aborted)); }

  static net::HttpResult status(int status, std::string body = "ok") {
    return {net::HttpAnswer{.status = status, .headers = {}, .body = std::move(body)}, Millis{12}};
  }
  static net::HttpResult failure(net::HttpFailure::Kind kind) {
    return {net::HttpFailure{kind, "did not work"}, Millis{5}};
  }

 private:
  std::vector<std::function<void(net::HttpResult)>> open_;
};

struct DispatchState {
  std::string status;
  std::int64_t attempts = 0;
  std::int64_t due_at = 0;
  std::int64_t fence = 0;
};

struct AttemptState {
  std::int64_t at = 0;
  std::optional<std::int64_t> status_code;
  std::string outcome;
  std::string answer;
};

class DispatcherTest : public ::testing::Test {
 protected:
  static constexpr AccountId kAccount{7};

  DispatcherTest() {
    db_->write([](storage::Tx& tx) { insert_account(tx, kAccount, "a merchant"); });
    receiver_.answer = [](const auto&) { return FakeReceiver::status(200); };
  }

  static crypto::ServiceKey key() {
    presetbridge::testing::SeededRandom same(99);
    return crypto::generate_service_key(same);
  }
  static std::vector<crypto::ServiceKey> keys() {
    std::vector<crypto::ServiceKey> all;
    all.push_back(key());
    return all;
  }

  std::unique_ptr<WebhookDispatcher> dispatcher(DispatcherOptions options = {}) {
    auto made = std::make_unique<WebhookDispatcher>(
        DispatcherPorts{scheduler_, db_.clock, ids_, log_, metrics_, *async_db_, receiver_, cipher_},
        options);
    made->start();
    return made;
  }
  // Ends a dispatcher in order.
  void stop(WebhookDispatcher& dispatcher) {
    bool stopped = false;
    dispatcher.stop([&] { stopped = true; });
    receiver_.abort_all();
    scheduler_.advance(2s);
    EXPECT_TRUE(stopped);
  }

  SubscriptionId subscribe(const std::string& url, const std::string& previous = {},
                           std::optional<Timestamp> previous_until = {}, AccountId account = kAccount) {
    const auto id = ids_.make<SubscriptionId>();
    const auto place = crypto::ValuePlace{storage::kSubscriptionSecret, id.value};
    const auto secret = cipher_.encrypt(place, kSecret);
    const auto old = cipher_.encrypt(place, previous);
    static constexpr storage::Sql kInsert{
        "INSERT INTO webhook_subscriptions (id, account_id, url, encrypted_secret, encrypted_previous_secret,"
        " previous_secret_expires_at, event_types, integration_ids, created_at)"
        " VALUES ($1, $2, $3, $4, $5, $6, '', '', $7)"};
    db_->write([&](storage::Tx& tx) {
      tx.exec(kInsert, id, account, url, storage::Blob(secret),
              previous.empty() ? storage::Param(nullptr) : storage::Param(storage::Blob(old)), previous_until,
              tx.now());
    });
    return id;
  }
  // One event for these subscriptions; returns the id of the first one's dispatch.
  std::int64_t publish(std::vector<SubscriptionId> subscriptions) {
    const auto event = ids_.make<EventId>();
    const auto first = ids_.next();
    db_->write([&](storage::Tx& tx) {
      insert_events(tx, std::array{storage::EventRow{
                            event, kAccount, DeliveryId{5}, 1, "delivery.completed",
                            "uuid-" + std::to_string(event.value),
                            R"({"id":"uuid-)" + std::to_string(event.value) + R"("})", tx.now()}});
      std::vector<storage::DispatchRow> dispatches;
      for (const auto subscription : subscriptions)
        dispatches.push_back({dispatches.empty() ? first : ids_.next(), subscription, event, tx.now()});
      insert_dispatches(tx, dispatches);
    });
    return first;
  }
  DispatchState state(std::int64_t dispatch) {
    static constexpr storage::Sql kRead{
        "SELECT status, attempts, due_at, fence FROM webhook_sends WHERE id = $1"};
    DispatchState s;
    db_->read([&](storage::Tx& tx) {
      tx.query(kRead, dispatch,
               [&](const storage::Row& r) { s = {r.string(0), r.int64(1), r.int64(2), r.int64(3)}; });
    });
    return s;
  }
  std::vector<AttemptState> attempts(std::int64_t dispatch) {
    static constexpr storage::Sql kRead{
        "SELECT at, status_code, outcome, answer FROM webhook_attempts WHERE send_id = $1 ORDER BY id"};
    std::vector<AttemptState> all;
    db_->read([&](storage::Tx& tx) {
      tx.query(kRead, dispatch, [&](const storage::Row& r) {
        all.push_back({r.int64(0), r.opt_int64(1), r.string(2), r.string(3)});
      });
    });
    return all;
  }
  std::int64_t count(const storage::Sql& sql) {
    std::int64_t n = 0;
    db_->read(
        [&](storage::Tx& tx) { n = tx.one(sql, [](const storage::Row& r) { return r.int64(0); }).value(); });
    return n;
  }
  static std::string header(const net::OutgoingRequest& request, std::string_view name) {
    for (const auto& [field, value] : request.headers) {
      if (net_same(field, name)) return value;
    }
    return {};
  }
  static bool net_same(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, [](char x, char y) { return (x | 32) == (y | 32); });
  }

  static constexpr std::string_view kSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  static constexpr std::string_view kOldSecret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

  storage::testing::SuiteDatabase db_;
  presetbridge::testing::VirtualScheduler scheduler_{db_.clock};
  presetbridge::testing::SeededRandom random_{3};
  IdSource ids_{db_.clock, 1};
  RecordingLog log_;
  presetbridge::testing::CountingMetrics metrics_;
  crypto::ServiceCipher cipher_{keys(), random_};
  FakeReceiver receiver_;
  std::unique_ptr<storage::AsyncDatabase> async_db_ = std::make_unique<storage::AsyncDatabase>(
      *db_, log_, storage::AsyncDatabase::Options{.inline_execution = true});
};

}  // namespace presetbridge::services::testing
