// How many signed orders a second are accepted durably (spec 2.5), beside the same server with storage off:
// the whole way from the socket to the fsync, with full rows (order, payload, delivery, item, customer). The
// server is a child process; the load generator, 64 connections with one order in flight each, is this one.
// Rounds with storage on and off alternate, over one database, and the ratio is that of their medians: single
// figures drift with the machine, ratios do not.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "api/api.h"
#include "api/handlers/webhook_handlers.h"
#include "app/process/logging.h"
#include "bench_database.h"
#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "crypto/random.h"
#include "crypto/webhook_signature.h"
#include "net/http_server.h"
#include "net/runtime.h"
#include "providers/profile.h"
#include "services/intake/reception.h"
#include "services/operation/news_log.h"
#include "storage/stores/account_store.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/credential_store.h"
#include "storage/stores/credit_store.h"

namespace presetbridge {
namespace {

using Steady = std::chrono::steady_clock;

struct Options {
  int connections = 64;
  int seconds = 4;  // a round
  int rounds = 3;   // of each sort
  int subscriptions = 0;
  int integrations = 1;  // one store, as on the small machine that the embedded engine is for
  int checkpoint_pages = storage::SqliteOptions{}.checkpoint_pages;
  bool realistic = false;  // provider_a orders of 10 KB instead of small generic ones
  bool json = false;
  std::string log_file = "/dev/null";  // of the server
  bench::DatabaseOptions database;
};

constexpr std::string_view kSecret = "bench-secret";

constexpr storage::Sql kInsertAccount{
    "INSERT INTO accounts (id, name, created_at, granted) VALUES ($1, 'Bench', 0, 1000000)"};
constexpr storage::Sql kInsertSubscription{
    "INSERT INTO webhook_subscriptions (id, account_id, url, encrypted_secret, event_types, integration_ids, "
    "created_at)"
    " VALUES ($1, $2, 'https://example.com/', $3, '', '', $4)"};

// ---------------------------------------------------------------- the server

// The stores that orders are sent to.
std::vector<IntegrationId> seed(storage::Database& database, IdSource& ids,
                                const crypto::ServiceCipher& cipher, const Options& options) {
  std::vector<IntegrationId> integrations;
  database.write([&](storage::Tx& tx) {
    integrations.clear();
    for (int n = 0; n < options.integrations; ++n) {
      const auto account = ids.make<AccountId>();
      tx.exec(kInsertAccount, account);
      const auto cloud =
          find_or_insert_cloud_account(tx, "merchant-" + std::to_string(n), "m", ids.make<CloudAccountId>());
      update_standing(tx, account, {storage::CredentialsStatus::valid, 1, cloud});
      storage::IntegrationRow row{
          .id = ids.make<IntegrationId>(),
          .account = account,
          .name = "Store",
          .provider = options.realistic ? domain::Provider::provider_a : domain::Provider::generic,
          .secret_preview = "…",
          .created_at = tx.now()};
      row.encrypted_secret = cipher.encrypt({"integrations.secret", row.id.value}, kSecret);
      insert_integration(tx, row);
      replace_mappings(tx, row.id,
                       {{{ids.make<MappingId>(), domain::MatchType::sku, "SKU-1",
                          domain::MappingAction::deliver, "file-1", "preset", "Plexi Lead"},
                         "SKU-1",
                         false}});
      for (int s = 0; s < options.subscriptions; ++s) {
        const auto subscription = ids.make<SubscriptionId>();
        tx.exec(kInsertSubscription, subscription, account,
                storage::Blob(cipher.encrypt({"webhook_subscriptions.secret", subscription.value}, kSecret)),
                tx.now());
      }
      integrations.push_back(row.id);
    }
  });
  return integrations;
}

// All that an order goes through before it is stored.
Task<api::Reply> read_only(services::Reception* reception, api::Call call) {
  const services::PostedOrder posted{
      .profile = *providers::find_profile(call.param("provider")),
      .integration = *parse_id<IntegrationKind>(call.param("integrationId")),
      .headers = [&](std::string_view name) { return call.request.headers.all(name); },
      .body = call.request.body};
  auto store = co_await reception->find_store(call.executor(), posted);
  if (!store) co_return std::unexpected(store.error());
  const auto ready = co_await reception->read(call.executor(), posted, std::move(*store));
  if (!ready) co_return std::unexpected(ready.error());
  co_return api::json_response(202, {{"status", "queued"}, {"orderId", (*ready)->order.event.order_id}});
}

// Serves until the control pipe closes; prints the port when it does.
[[noreturn]] void serve(const Options& options, bool store, const bench::BenchDatabase& place,
                        const crypto::ServiceCipher& cipher, crypto::SystemRandom& random, int ready,
                        int control) {
  net::SystemClock clock;
  app::JsonLog log(clock, Severity::info);
  NullMetrics metrics;
  log.start_thread();
  const services::NewsLog news_log(log, metrics);
  const auto database = place.open(clock, options.checkpoint_pages);
  IdSource ids(clock, 0);
  net::Runtime runtime(2);
  storage::AsyncDatabase async_db(*database, log,
                                  {.writers = options.database.postgres ? options.database.writers : 1,
                                   .max_units = options.database.postgres ? 1U : 256U,
                                   .on_news = [&](const storage::News& news) { news_log.write(news); }});
  services::DeliveryChanges changes(ids, random);
  services::DisabledAccounts disabled(async_db, ids, clock);
  services::IntegrationDirectory directory_of_integrations(async_db, cipher, clock, &disabled);
  services::Intake intake(async_db, changes, clock, [] {});
  identity::TokenVerifier tokens({}, clock);
  services::Accounts accounts(async_db, ids, identity::Signup::closed);
  services::ApiKeys api_keys(async_db, ids, random, clock, log, {});
  api::Authentication authentication(tokens, accounts, api_keys, disabled);
  net::NetworkBudget failures(clock, {}, {.failures = 300, .window = std::chrono::minutes{1}});
  api::Router router;
  services::Reception reception({directory_of_integrations, intake, async_db, clock, metrics}, {});
  if (store)
    api::add_webhook_routes(router, {reception, failures});
  else
    router.add("POST", "/api/webhooks/{provider}/{integrationId}", api::Access::open(),
               api::with(&reception, read_only));
  api::Api handler(router, authentication, failures, clock, log, metrics);
  net::HttpServer server(runtime, handler, random, log, {});
  runtime.start();
  if (!server.listen()) _exit(1);
  const std::uint16_t port = server.port();
  if (write(ready, &port, sizeof port) != sizeof port) _exit(1);
  char byte;
  while (read(control, &byte, 1) > 0) {
  }
  server.stop(Millis{2'000});
  async_db.shutdown();
  runtime.stop(Millis{1'000});
  _exit(0);
}

// ---------------------------------------------------------------- the load

std::string generic_body(std::int64_t n) {
  const std::string id = std::to_string(n);
  return R"({"orderId":"ORDER-)" + id + R"(","customerEmail":"buyer)" + id +
         R"(@example.com","targetUsername":"buyer)" + id +
         R"(","items":[{"sku":"SKU-1","productId":"7001","title":"Plexi Lead Preset","quantity":1},)"
         R"({"sku":"SHIRT-L","productId":"7002","title":"T-Shirt, large","quantity":2}]})";
}

// An order as a hosted shop sends it: some 10 KB, of which little is read.
std::string realistic_body(std::int64_t n) {
  static const std::string filler = [] {
    std::string lines;
    for (int i = 0; i < 8; ++i) {
      lines +=
          R"(,{"id":)" + std::to_string(13'000'000'000'000 + i) +
          R"(,"admin_graphql_api_id":"gid://shop/LineItem/13000000","attributed_staffs":[],"current_quantity":1,)"
          R"("fulfillable_quantity":1,"fulfillment_service":"manual","gift_card":false,"grams":0,"name":"Poster",)"
          R"("price":"12.00","price_set":{"shop_money":{"amount":"12.00","currency_code":"EUR"},"presentment_money":)"
          R"({"amount":"12.00","currency_code":"EUR"}},"product_exists":true,"product_id":820000000000123,)"
          R"("properties":[],"quantity":1,"requires_shipping":true,"sku":"POSTER-)" +
          std::to_string(i) +
          R"(","taxable":true,"title":"Poster","total_discount":"0.00","variant_id":440000000000123,"vendor":"Shop",)"
          R"("tax_lines":[{"channel_liable":false,"price":"1.92","rate":0.19,"title":"VAT"}],"discount_allocations":[]})";
    }
    return lines;
  }();
  const std::string id = std::to_string(5'000'000'000'000 + n);
  std::string body =
      R"({"id":)" + id + R"(,"order_number":)" + std::to_string(n) + R"(,"email":"buyer)" + id +
      R"(@example.com","financial_status":"paid","updated_at":"2026-11-21T10:06:23+01:00","note":null,)"
      R"("note_attributes":[{"name":"vendor_username","value":"buyer)" +
      id +
      R"("}],"line_items":[{"id":1,"sku":"SKU-1","product_id":1,"variant_id":2,"title":"Plexi","quantity":1})" +
      filler + R"(],"customer":{"id":1,"state":"enabled","tags":")";
  body.append(body.size() < 9'800 ? 9'800 - body.size() : 0, 'x');
  return body + "\"}}";
}

std::string request_for(const Options& options, const std::vector<IntegrationId>& integrations,
                        std::int64_t n) {
  const std::string body = options.realistic ? realistic_body(n) : generic_body(n);
  const auto mac = crypto::hmac_sha256(kSecret, body);
  const IntegrationId integration = integrations[static_cast<std::size_t>(n) % integrations.size()];
  std::string request = options.realistic ? "POST /api/webhooks/provider_a/" : "POST /api/webhooks/generic/";
  request += to_string(integration) + " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n";
  request += options.realistic
                 ? "X-Hosted-Topic: orders/paid\r\nX-Hosted-Hmac-Sha256: " + crypto::base64_encode(mac)
                 : "X-Webhook-Signature: sha256=" + crypto::hex_encode(mac);
  return request + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

struct Connection {
  int fd = -1;
  std::string out;
  std::size_t sent = 0;
  std::string in;
  Steady::time_point started;
};

struct Round {
  double per_second = 0;
  std::vector<std::uint32_t> latencies_us;
};

class Load {
 public:
  Load(const Options& options, const std::vector<IntegrationId>& integrations, std::uint16_t port)
      : options_(options), integrations_(integrations), epoll_(epoll_create1(0)) {
    connections_.resize(static_cast<std::size_t>(options.connections));
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      auto& c = connections_[i];
      c.fd = socket(AF_INET, SOCK_STREAM, 0);
      sockaddr_in to{.sin_family = AF_INET,
                     .sin_port = htons(port),
                     .sin_addr = {htonl(INADDR_LOOPBACK)},
                     .sin_zero = {}};
      if (connect(c.fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0)
        throw std::runtime_error("the server refuses");
      const int one = 1;
      setsockopt(c.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      fcntl(c.fd, F_SETFL, O_NONBLOCK);
      epoll_event event{.events = EPOLLIN, .data = {.u64 = i}};
      epoll_ctl(epoll_, EPOLL_CTL_ADD, c.fd, &event);
    }
  }
  ~Load() {
    for (auto& c : connections_) close(c.fd);
    close(epoll_);
  }

  Round run(std::int64_t& next, std::chrono::seconds time) {
    Round round;
    const auto begin = Steady::now();
    const auto end = begin + time;
    int open = 0;
    for (auto& c : connections_) {
      start(c, next++);
      ++open;
    }
    std::vector<epoll_event> events(connections_.size());
    while (open > 0) {
      const int n = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 5'000);
      if (n <= 0) throw std::runtime_error("the server does not answer");
      for (int e = 0; e < n; ++e) {
        auto& c = connections_[events[static_cast<std::size_t>(e)].data.u64];
        if (!receive(c)) continue;
        const auto now = Steady::now();
        round.latencies_us.push_back(static_cast<std::uint32_t>(
            std::chrono::duration_cast<std::chrono::microseconds>(now - c.started).count()));
        if (now < end) {
          start(c, next++);
        } else {
          --open;
        }
      }
    }
    round.per_second = static_cast<double>(round.latencies_us.size()) /
                       std::chrono::duration<double>(Steady::now() - begin).count();
    return round;
  }

 private:
  void start(Connection& c, std::int64_t n) {
    c.out = request_for(options_, integrations_, n);
    c.in.clear();
    c.started = Steady::now();
    c.sent = 0;
    while (c.sent < c.out.size()) {
      const auto w = write(c.fd, c.out.data() + c.sent, c.out.size() - c.sent);
      if (w < 0 && errno != EAGAIN) throw std::runtime_error("the connection broke");
      if (w > 0) c.sent += static_cast<std::size_t>(w);
    }
  }
  // Whether the answer is whole; it must be 202.
  static bool receive(Connection& c) {
    char buffer[8'192];
    const auto r = read(c.fd, buffer, sizeof buffer);
    if (r == 0 || (r < 0 && errno != EAGAIN)) throw std::runtime_error("the connection broke");
    if (r > 0) c.in.append(buffer, static_cast<std::size_t>(r));
    const auto head = c.in.find("\r\n\r\n");
    if (head == std::string::npos) return false;
    if (!c.in.starts_with("HTTP/1.1 202")) throw std::runtime_error("not accepted: " + c.in.substr(0, 500));
    const auto field = c.in.find("Content-Length: ");
    return c.in.size() >= head + 4 + std::strtoul(c.in.c_str() + field + 16, nullptr, 10);
  }

  const Options& options_;
  const std::vector<IntegrationId>& integrations_;
  const int epoll_;
  std::vector<Connection> connections_;
};

// ---------------------------------------------------------------- the comparison

class Server {
 public:
  Server(const Options& options, bool store, const bench::BenchDatabase& database,
         const crypto::ServiceCipher& cipher, crypto::SystemRandom& random) {
    int ready[2];
    int control[2];
    if (pipe(ready) != 0 || pipe(control) != 0) throw std::runtime_error("no pipe");
    pid_ = fork();
    if (pid_ == 0) {
      close(ready[0]);
      close(control[1]);
      // What a service logs goes to standard error.
      std::FILE* const told = fdopen(dup(STDERR_FILENO), "w");
      if (told == nullptr || std::freopen(options.log_file.c_str(), "a", stderr) == nullptr) _exit(1);
      try {
        serve(options, store, database, cipher, random, ready[1], control[0]);
      } catch (const std::exception& e) {
        std::fprintf(told, "the server: %s\n", e.what());
        std::fflush(told);
        _exit(1);
      }
    }
    close(ready[1]);
    close(control[0]);
    control_ = control[1];
    const auto n = read(ready[0], &port, sizeof port);
    close(ready[0]);
    if (n != sizeof port) throw std::runtime_error("the server did not start");
  }
  ~Server() { stop(); }
  // Its largest memory, in KiB.
  long stop() {
    if (control_ < 0) return 0;
    close(control_);
    control_ = -1;
    rusage used{};
    wait4(pid_, nullptr, 0, &used);
    return used.ru_maxrss;
  }
  std::uint16_t port = 0;

 private:
  pid_t pid_ = 0;
  int control_ = -1;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

Options read_options(int argc, char** argv) {
  Options options;
  bench::Arguments arguments(argc, argv);
  while (!arguments.done()) {
    const std::string name = arguments.word();
    if (name == "--json")
      options.json = true;
    else if (name == "--realistic")
      options.realistic = true;
    else if (name == "--connections")
      options.connections = arguments.number(1, 1'000);
    else if (name == "--seconds")
      options.seconds = arguments.number(1, 600);
    else if (name == "--rounds")
      options.rounds = arguments.number(1, 99);
    else if (name == "--subscriptions")
      options.subscriptions = arguments.number(0, 100);
    else if (name == "--integrations")
      options.integrations = arguments.number(1, 1'000);
    else if (name == "--log-file")
      options.log_file = arguments.word();
    else if (name == "--checkpoint-pages")
      options.checkpoint_pages = arguments.number(100, 1'000'000);
    else if (!options.database.take(name, arguments))
      throw std::runtime_error("unknown option " + name);
  }
  options.database.check();
  return options;
}

int main_of(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  crypto::initialise();
  net::SystemClock clock;
  crypto::SystemRandom random;
  std::vector<crypto::ServiceKey> keys;
  keys.push_back(crypto::generate_service_key(random));
  const crypto::ServiceCipher cipher(std::move(keys), random);
  const bench::BenchDatabase database(options.database);
  IdSource ids(clock, 0);
  const auto integrations = seed(*database.open(clock), ids, cipher, options);
  database.fill(clock);

  std::vector<double> on;
  std::vector<double> off;
  std::vector<std::uint32_t> latencies;
  std::int64_t next = 1;
  long peak = 0;
  constexpr std::chrono::seconds warm_up{1};  // caches, pages, the first checkpoint
  for (int r = 0; r < options.rounds; ++r) {
    for (const bool store : {true, false}) {
      Server server(options, store, database, cipher, random);
      {
        Load load(options, integrations, server.port);
        load.run(next, warm_up);
        auto round = load.run(next, std::chrono::seconds{options.seconds});
        (store ? on : off).push_back(round.per_second);
        if (store) latencies.insert(latencies.end(), round.latencies_us.begin(), round.latencies_us.end());
      }
      peak = std::max(peak, server.stop());
    }
  }
  std::optional<bench::IdleTransactionEffect> idle;
  if (options.database.idle_transaction > 0) {
    const Server server(options, true, database, cipher, random);
    Load load(options, integrations, server.port);
    load.run(next, warm_up);
    idle = bench::measure_idle_transaction(options.database, database, [&](int seconds) {
      return load.run(next, std::chrono::seconds{seconds}).per_second;
    });
  }
  std::ranges::sort(latencies);
  const auto at = [&](double q) {
    return latencies[static_cast<std::size_t>(q * static_cast<double>(latencies.size() - 1))] / 1'000.0;
  };
  const double ratio = median(on) / median(off);
  if (options.json) {
    fmt::print(
        R"({{"acceptedPerSecond":{:.0f},"storageOffPerSecond":{:.0f},"ratio":{:.3f},"p50Ms":{:.2f},"p99Ms":{:.2f},)"
        R"("connections":{},"subscriptions":{},"integrations":{},"payload":"{}",{},"peakRssMiB":{}}})"
        "\n",
        median(on), median(off), ratio, at(0.5), at(0.99), options.connections, options.subscriptions,
        options.integrations, options.realistic ? "provider_a 10 KB" : "generic", options.database.json(idle),
        peak / 1'024);
  } else {
    fmt::print(
        "accepted durably {:.0f}/s, storage off {:.0f}/s, ratio {:.3f}, p50 {:.2f} ms, p99 {:.2f} ms, peak "
        "{} MiB\n",
        median(on), median(off), ratio, at(0.5), at(0.99), peak / 1'024);
    if (idle) fmt::print("{}\n", idle->text());
  }
  return 0;
}

}  // namespace
}  // namespace presetbridge

int main(int argc, char** argv) {
  try {
    return presetbridge::main_of(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "accept_bench: %s\n", e.what());
    return 1;
  }
}
