#include "app/service/service.h"

#include <chrono>
#include <future>
#include <utility>

#include "app/config/mail_options.h"
#include "app/metrics/metric_families.h"
#include "app/process/open_files.h"
#include "app/service/parts.h"

namespace presetbridge::app {
namespace {

// For what was cut off to be recorded. With the longest drain time all of a stop stays under the ten seconds
// of spec 12.3.
constexpr Millis kLastCalls{300};

}  // namespace

Service::Parts::Parts(Config the_config, Foundation foundation,
                      std::vector<identity::ExternalIssuerOptions> the_issuers,
                      std::optional<PaymentKeys> payment_keys, std::optional<net::SmtpOptions> smtp,
                      JsonLog& the_log, std::function<void()> the_end)
    : config(std::move(the_config)),
      directory(std::move(foundation.directory)),
      lock(std::move(foundation.lock)),
      node(std::move(foundation.node)),
      node_number(foundation.node_number),
      database_clock(std::move(foundation.open.clock)),
      log(the_log),
      database(std::move(foundation.open.database)),
      vault_key(foundation.vault_key),
      cipher(std::move(foundation.service_keys), random),
      payments(config, std::move(payment_keys),
               {async_db, changes, runtime, dispatcher_core, resolver, clock, log, metrics, failed_requests,
                node, [this] { work_came(); }},
               [this] { return config.base_url.empty() ? url() : config.base_url; }),
      mail({runtime.scheduler(dispatcher_core), async_db, issuer, passwords, links.keys(), ids, clock, log,
            metrics, [this] { mail_came(); },
            [this] { return config.base_url.empty() ? url() : config.base_url; }},
           !config.mail_url.empty(), std::move(smtp)),
      sign_in_parts({config, issuer, keys, disabled, failed_sign_ins, failed_requests, async_db, reading_http,
                     cipher, ids, random, clock, log},
                    std::move(the_issuers), mail.routes()),
      on_fault(std::move(the_end)) {}

// Runs on the first core; `what` names the part in the log if it ends by a fault.
template <class One>
Expected<void> Service::Parts::start_one(One& one, std::string_view what) {
  Scheduler& core = runtime.scheduler(0);
  std::promise<Expected<void>> ended;
  core.post([&one, &core, &ended, what] {
    spawn(one.start(core), [&ended, what](Outcome<Expected<void>> outcome) {
      ended.set_value(outcome.value ? std::move(*outcome.value)
                                    : fail("INTERNAL_ERROR", std::string(what) + " could not start."));
    });
  });
  return ended.get_future().get();
}

void Service::Parts::add_components() {
  background.add(0, census, "the count for the metrics did not end");
  live_parts.add_to(background, 0);
  key_parts.add_to(background, 0);
  counting.add(0, store_tally, "the count of what stores send did not end");
  if (has_role(config, "worker")) {
    background.add(worker_core, credential_checks, "the checks of logins did not end");
    if (shared()) background.add(worker_core, worker_calls, "the answers to other nodes did not end");
  }
  if (has_role(config, "dispatcher")) {
    background.add(dispatcher_core, dispatcher, "the webhook dispatcher did not end");
    background.add(dispatcher_core, housekeeping, "housekeeping did not end");
    background.add(dispatcher_core, shop_erasure, "the erasure of shops did not end");
    background.add(dispatcher_core, order_parts, "the jobs on many orders did not end");
    background.add(dispatcher_core, payments, "the questions about purchases did not end");
    background.add(dispatcher_core, mail, "the sending of mails did not end");
    background.add(dispatcher_core, subscription_watch, "the watch over subscriptions did not end");
  }
}

Expected<void> Service::Parts::start() {
  if (auto listening = server.listen(); !listening) return std::unexpected(listening.error());
  auto channel = AdminChannel::open(directory.admin_channel, url(), random);
  if (!channel) return std::unexpected(channel.error());
  admin_channel.emplace(std::move(*channel));
  add_routes();
  runtime.start();
  started = true;
  show_families(metrics);
  for (auto* one : {&issuer, &operators_issuer}) {
    if (auto done = start_one(*one, "The built-in issuer"); !done) return done;
  }
  if (auto done = start_one(links, "The keys of buyers' links"); !done) return done;
  if (shared()) {
    runtime.run_on(0, [this] { own_number.start(); });
    other_nodes.emplace(storage::WakeupsOptions{.url = config.database_url}, log,
                        [this] { other_node_notified(); });
  }
  add_components();
  background.start();
  counting.start();
  if (has_role(config, "worker")) runtime.run_on(worker_core, [this] { worker.start(); });
  working = true;
  front.open(handlers);
  return {};
}

void Service::Parts::stop(Millis gone, const std::function<void(const char*)>& at) {
  if (std::exchange(stopped, true)) return;
  // A wall clock that is set meanwhile makes no time.
  using Steady = std::chrono::steady_clock;
  const auto drained_by = Steady::now() + std::chrono::seconds(config.shutdown_drain_seconds) - gone;
  const auto until = [](Steady::time_point when) {
    return std::max(std::chrono::duration_cast<Millis>(when - Steady::now()), Millis{0});
  };
  const auto left = [&] { return until(drained_by); };
  at("letting go of work");
  admin_channel.reset();
  if (other_nodes) other_nodes->stop();
  Signal worker_ended;
  if (working) runtime.run_on(worker_core, [&] { worker.stop([&worker_ended] { worker_ended.give(); }); });
  background.stop();
  outbound_http.stop();  // what is cut off is sent again later, with the same id (spec 10.5)
  at("finishing requests");
  server.stop(left());
  counting.stop();
  at("finishing jobs");
  if (working && !worker_ended.wait_for(left()))
    log.warn("calls of the cloud platform are cut off; their outcomes are looked up after the next start");
  at("cutting off calls");
  if (started) runtime.run_on(worker_core, [this] { asked_logins.stop(); });
  cloud_http.stop();
  reading_http.stop();
  payments.cut_off();
  mail.cut_off();
  at("ending the credential agent");
  agent.stop();
  at("recording what was cut off");
  if (working) {
    const auto recorded_by = Steady::now() + kLastCalls;
    if (!worker_ended.wait_for(until(recorded_by))) log.error("the delivery worker did not end");
    for (auto* components : {&background, &counting}) {
      for (const char* problem : components->wait([&] { return until(recorded_by); })) log.error(problem);
    }
  }
  at("ending the password threads");
  passwords.stop();
  if (working && shared()) {
    Signal renewals_ended;
    runtime.run_on(0, [&] { own_number.stop([&renewals_ended] { renewals_ended.give(); }); });
    if (!renewals_ended.wait_for(kLastCalls)) log.warn("the renewal of the node's number did not end");
  }
  at("committing what waits");
  database->give_up();
  async_db.shutdown();
  at("ending the event loops");
  if (started) runtime.stop(kLastCalls);
  at("leaving the other nodes");
  other_nodes.reset();
  if (shared()) give_number_back(*database, node_number, node);  // nothing makes ids any more
}

Service::Service(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Service::~Service() {
  parts_->stop(Millis{0}, [](const char*) {});
}

Expected<std::unique_ptr<Service>> Service::start(Config config, bool replace_lost_database, JsonLog& log,
                                                  std::function<void()> on_fault) {
  if (auto fits = fit_open_files(config, thread_count(config), log); !fits)
    return std::unexpected(fits.error());
  auto issuers = external_issuers(config.identity_external, data_directory(config).folder);
  if (!issuers) return std::unexpected(issuers.error());
  auto foundation = lay_foundation(config, log, replace_lost_database);
  if (!foundation) return std::unexpected(foundation.error());
  auto payment_keys = read_payment_keys(config, foundation->directory);
  std::optional<net::SmtpOptions> smtp;
  auto sound = check_issuer(config, *foundation->open.database);
  if (!config.mail_url.empty() && has_role(config, "dispatcher")) {
    auto options = mail_options(config, foundation->directory);
    if (!options) sound = std::unexpected(options.error());
    if (options) smtp = std::move(*options);
  }
  if (!payment_keys) sound = std::unexpected(payment_keys.error());
  if (!sound) {
    if (!config.database_url.empty())
      give_number_back(*foundation->open.database, foundation->node_number, foundation->node);
    return std::unexpected(sound.error());
  }
  const bool first = foundation->first;
  auto parts = std::make_unique<Parts>(std::move(config), std::move(*foundation), std::move(*issuers),
                                       std::move(*payment_keys), std::move(smtp), log, std::move(on_fault));
  std::unique_ptr<Service> service(new Service(std::move(parts)));
  if (auto started = service->parts_->start(); !started) return std::unexpected(started.error());
  if (first) log.info("the database was empty: a new deployment begins");
  return service;
}

std::string Service::url() const {
  return parts_->url();
}

void Service::stop(Millis gone, const std::function<void(const char*)>& at) {
  parts_->stop(gone, at);
}

}  // namespace presetbridge::app
