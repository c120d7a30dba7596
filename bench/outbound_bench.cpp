// How many outbound webhooks are sent and recorded in a second (spec 10): the dispatcher over a SQLite file
// with its fsyncs, calling a receiver on loopback in this process. Only from the first send on: what wrote
// the events is not measured.
#include <sys/resource.h>
#include <array>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>

#include "crypto/random.h"
#include "crypto/webhook_signature.h"
#include "net/curl_client.h"
#include "net/http_server.h"
#include "net/runtime.h"
#include "services/dispatcher/webhook_dispatcher.h"
#include "storage/schema/migrations.h"
#include "storage/sqlite/sqlite_database.h"
#include "storage/stores/account_store.h"
#include "storage/stores/event_store.h"
#include "storage/testing.h"

namespace presetbridge {
namespace {

using Steady = std::chrono::steady_clock;

struct Options {
  int events = 20'000;
  int subscriptions = 100;
  bool json = false;
};

constexpr storage::Sql kInsertSubscription{
    "INSERT INTO webhook_subscriptions (id, account_id, url, encrypted_secret, event_types, integration_ids, "
    "created_at)"
    " VALUES ($1, $2, $3, $4, '', '', $5)"};
constexpr storage::Sql kCountRecorded{
    "SELECT count(*) FROM webhook_sends WHERE status = 'succeeded' AND id IN (SELECT send_id FROM "
    "webhook_attempts)"};

class Receiver final : public net::HttpHandler {
 public:
  Task<net::HttpResponse> handle(net::HttpRequest request) override {
    if (request.headers.has("X-Vendor-Signature") && !request.body.empty()) ++received_;
    co_return net::HttpResponse{.body = "{}"};
  }
  int received() const { return received_; }

 private:
  std::atomic<int> received_{0};
};

// Counts what the dispatcher has made of its sends.
class Outcomes final : public Metrics {
 public:
  explicit Outcomes(int expected) : expected_(expected) {}
  void count(std::string_view counter, Labels, double) noexcept override {
    if (counter != "presetbridge_webhook_sends_total") return;
    if (++made_ >= expected_) {
      const std::lock_guard lock(mutex_);
      all_.notify_all();
    }
  }
  void set(std::string_view, double, Labels) noexcept override {}
  void observe(std::string_view, double, Labels) noexcept override {}
  bool wait(std::chrono::seconds most) {
    std::unique_lock lock(mutex_);
    return all_.wait_for(lock, most, [this] { return made_ >= expected_; });
  }

 private:
  const int expected_;
  std::atomic<int> made_{0};
  std::mutex mutex_;
  std::condition_variable all_;
};

void write_events(storage::Database& database, IdSource& ids, const crypto::ServiceCipher& cipher,
                  Random& random, const Options& options, const std::string& url) {
  const AccountId account{1};
  database.write([&](storage::Tx& tx) {
    insert_account(tx, account, "bench");
    std::vector<SubscriptionId> subscriptions;
    for (int i = 0; i < options.subscriptions; ++i) {
      const auto id = ids.make<SubscriptionId>();
      const auto secret =
          cipher.encrypt({storage::kSubscriptionSecret, id.value}, crypto::generate_webhook_secret(random));
      tx.exec(kInsertSubscription, id, account, url, storage::Blob(secret), tx.now());
      subscriptions.push_back(id);
    }
    for (int i = 0; i < options.events; ++i) {
      const auto event = ids.make<EventId>();
      const std::string uuid = "00000000-0000-4000-8000-" + std::to_string(100'000'000'000 + i);
      insert_events(
          tx,
          std::array{storage::EventRow{
              event, account, DeliveryId{1 + i}, 1, "delivery.completed", uuid,
              R"({"id":")" + uuid +
                  R"(","type":"delivery.completed","createdAt":"2026-11-21T10:00:00.000Z","integrationId":"int_1",)"
                  R"("deliveryId":"del_1","delivery":{"orderId":"1001","eventId":"oev_1","status":"completed",)"
                  R"("message":"All files were shared with the customer.","sequence":3}})",
              tx.now()}});
      insert_dispatches(
          tx, std::array{storage::DispatchRow{
                  ids.next(), subscriptions[static_cast<std::size_t>(i % options.subscriptions)], event,
                  tx.now()}});
    }
  });
}

// Of this process, receiver included: what a loaded machine does not change.
double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int run(const Options& options) {
  const net::SystemClock clock;
  crypto::SystemRandom random;
  NullLog log;
  IdSource ids(clock, 0);
  const storage::testing::TemporaryDirectory directory;
  auto database = storage::open_sqlite({.path = directory.file("bench.db")}, clock);
  if (!database) throw std::runtime_error(database.error().message);
  if (auto migrated = storage::migrate(**database); !migrated)
    throw std::runtime_error(migrated.error().message);
  std::vector<crypto::ServiceKey> keys;
  keys.push_back(crypto::generate_service_key(random));
  const crypto::ServiceCipher cipher(std::move(keys), random);

  net::Runtime runtime(2);
  Receiver receiver;
  net::HttpServer server(runtime, receiver, random, log, {});
  if (auto listening = server.listen(); !listening) throw std::runtime_error(listening.error().message);
  write_events(**database, ids, cipher, random, options,
               "http://127.0.0.1:" + std::to_string(server.port()) + "/hook");

  Outcomes outcomes(options.events);
  net::SystemResolver resolver;
  net::CurlClient client(runtime, 0, resolver, {.calls_per_host = 256});
  storage::AsyncDatabase async_db(**database, log);
  services::WebhookDispatcher dispatcher(
      {runtime.scheduler(0), clock, ids, log, outcomes, async_db, client, cipher}, {.sandbox = true});
  runtime.start();
  const double cpu_before = cpu_seconds();
  const auto begin = Steady::now();
  runtime.run_on(0, [&] { dispatcher.start(); });
  const bool all = outcomes.wait(std::chrono::seconds(120));
  std::mutex mutex;
  std::condition_variable ended;
  bool stopped = false;
  runtime.run_on(0, [&] {
    dispatcher.stop([&] {
      const std::lock_guard lock(mutex);
      stopped = true;
      ended.notify_all();
    });
  });
  {
    std::unique_lock lock(mutex);
    ended.wait(lock, [&] { return stopped; });  // everything is recorded
  }
  const double seconds = std::chrono::duration<double>(Steady::now() - begin).count();
  const double cpu = (cpu_seconds() - cpu_before) * 1e6 / options.events;
  client.stop();
  server.stop(Millis{1'000});
  async_db.shutdown();
  runtime.stop(Millis{1'000});

  std::int64_t recorded = 0;
  (*database)->read([&](storage::Tx& tx) {
    recorded = tx.one(kCountRecorded, [](const storage::Row& r) { return r.int64(0); }).value();
  });
  if (!all || recorded != options.events || receiver.received() < options.events) {
    std::fprintf(stderr, "outbound: of %d events %d were received and %lld recorded\n", options.events,
                 receiver.received(), static_cast<long long>(recorded));
    return 1;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double per_second = options.events / seconds;
  const double rss = static_cast<double>(usage.ru_maxrss) / 1024;
  const auto stats = async_db.stats();
  std::printf(options.json ? "{\"sentPerSecond\":%.0f,\"peakRssMiB\":%.1f,\"cpuMicrosPerSend\":%.1f,"
                             "\"events\":%d,\"commits\":%llu}\n"
                           : "%.0f webhooks sent and recorded a second, %.1f MiB at most, %.1f us of CPU "
                             "each with the receiver's"
                             " (%d events, %llu commits)\n",
              per_second, rss, cpu, options.events, static_cast<unsigned long long>(stats.commits));
  return 0;
}

int number(const char* text) {
  const long value = text == nullptr ? 0 : std::strtol(text, nullptr, 10);
  if (value < 1 || value > 10'000'000) throw std::invalid_argument("a number from 1 to 10000000 is needed");
  return static_cast<int>(value);
}

}  // namespace
}  // namespace presetbridge

int main(int argc, char** argv) {
  try {
    presetbridge::Options options;
    for (int i = 1; i < argc; ++i) {
      const std::string_view arg = argv[i];
      if (arg == "--json") {
        options.json = true;
      } else if (arg == "--events") {
        options.events = presetbridge::number(argv[++i]);
      } else if (arg == "--subscriptions") {
        options.subscriptions = presetbridge::number(argv[++i]);
      } else {
        std::fprintf(stderr, "usage: outbound_bench [--json] [--events N] [--subscriptions N]\n");
        return 2;
      }
    }
    return presetbridge::run(options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "outbound: %s\n", e.what());
    return 1;
  }
}
