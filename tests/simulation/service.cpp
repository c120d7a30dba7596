#include "service.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "services/vault/vault_testing.h"
#include "storage/stores/bulk_store.h"
#include "storage/stores/item_store.h"

namespace presetbridge::simulation {
namespace {

using services::WorkerOptions;
using Fate = services::testing::FakeCloud::Fate;
using namespace std::chrono_literals;

constexpr std::int64_t kCredits = 4;  // at the beginning

// Days in which little happens.
WorkerOptions slow() {
  return {.jobs_per_minute = 0, .poll = 30min, .maintenance = 30min};
}
bool is_write(const std::string& call) {
  return call == "request" || call == "share" || call == "withdraw" || call == "revoke";
}
bool stops_writes(Weather weather) {
  return weather == Weather::all_fail || weather == Weather::writes_fail || weather == Weather::requests_lost;
}
bool stops_reads(Weather weather) {
  return weather == Weather::all_fail || weather == Weather::reads_fail || weather == Weather::too_many;
}

}  // namespace

Service::Service(Sharing sharing, Asking asking)
    : world_(slow(), kCredits, power_.wrap()),
      keys_(world_, power_),
      asking_(std::move(asking)),
      integrations_(world_.async_db, world_.ids, world_.random, world_.cipher, world_.directory,
                    [this] { wake(); }),
      jobs_(world_.async_db, world_.ids,
            [this] {
              if (bulk_worker_) bulk_worker_->wake();
            }),
      bulk_deliveries_(world_.async_db, world_.actions, jobs_),
      bulk_reprocess_(world_.async_db, world_.changes, world_.directory, jobs_),
      orders_(world_.async_db, world_.changes, world_.directory, [this] { wake(); }),
      outbound_(world_) {
  power_.use(world_.database.path(), world_.database.clock, [this] {
    outbound_.power_failed();
    for (const auto& [at, user, file] : begun_) {
      if (at == now()) lost_shares.emplace_back(user, file);
    }
  });
  outbound_.hears = [this] { return !power_.failed(); };
  world_.cloud.auto_accept = false;
  world_.cloud.unknown_users = {"Nobody"};
  world_.cloud.before = [this](const std::string& call, const std::string& subject) {
    return fate(call, subject);
  };
  world_.cloud.sharing = [this, sharing = std::move(sharing)](const std::string& user,
                                                              const std::string& file) {
    std::erase_if(begun_, [&](const auto& begun) { return std::get<0>(begun) != now(); });
    begun_.emplace_back(now(), user, file);
    sharing(user, file, weather_ == Weather::fair && !power_.failed());
  };
}

Service::~Service() {
  power_.restore();
  power_.fail_at(0);
  world_.cloud.before = nullptr;
  world_.cloud.sharing = nullptr;
}

// ---------------------------------------------------------------- time and processes

void Service::advance(Millis by) {
  constexpr Millis kNotice = 10s;
  while (by > Millis{0}) {
    const auto part = power_.will_fail() ? std::min(by, kNotice) : by;
    world_.scheduler.advance(part);
    if (power_.failed()) restart();
    by -= part;
  }
}

void Service::crash() {
  outbound_.stop();
  keys_.restart();
  world_.crash(slow());
  outbound_.start();
}

void Service::restart() {
  // The process is dead: what it has under way ends without a word, before the next one begins.
  bool stopped = false;
  world_.worker->stop([&] { stopped = true; });
  outbound_.stop();
  for (int i = 0; i < 600 && !stopped; ++i) {
    world_.cloud.release();
    world_.scheduler.advance(1s);
  }
  if (!stopped) throw std::logic_error("the worker does not end");
  world_.worker.reset();
  world_.sessions.reset();
  power_.restore();
  keys_.restart();
  world_.start_worker(slow());
  outbound_.start();
}

void Service::start_bulk() {
  std::vector<services::BulkAction*> actions{&bulk_reprocess_};
  for (auto* const action : bulk_deliveries_.actions()) actions.push_back(action);
  bulk_worker_ = std::make_unique<services::BulkWorker>(world_.scheduler, world_.async_db, world_.log,
                                                        std::move(actions), [this] { wake(); });
  bulk_worker_->start();
}

void Service::stop_bulk() {
  bool stopped = false;
  bulk_worker_->stop([&] { stopped = true; });
  world_.scheduler.run();
  for (int i = 0; i < 100 && !stopped; ++i) world_.scheduler.advance(1s);
  if (!stopped) throw std::logic_error("the jobs on many do not end");
  bulk_worker_.reset();
}

// ---------------------------------------------------------------- what is asked of the service

Expected<services::Accepted> Service::accept(domain::OrderEvent event) {
  event.received_at = now();
  auto accepted = world_.await(world_.reception.take(
      world_.scheduler, [&]() -> Task<Expected<std::optional<services::Reception::Ready>>> {
        auto store = co_await world_.directory.find(world_.scheduler, world_.integration);
        if (!store) co_return std::unexpected(store.error());
        co_return services::Reception::Ready{{store.value(), event, {}, {}}, {}};
      }));
  if (!accepted) return std::unexpected(accepted.error());
  return std::move(accepted->value());
}

Expected<services::Accepted> Service::place(domain::OrderEvent event) {
  return world_.await(world_.reception.place(
      world_.scheduler,
      {.by = *keys_.admitted(), .integration = world_.integration, .event = std::move(event), .body = "{}"}));
}

void Service::erase(const std::vector<std::string>& orders) {
  const Power::Pause pause(power_);
  domain::OrderEvent request{.kind = domain::OrderEvent::Kind::customer_redact,
                             .provider = domain::Provider::provider_a,
                             .order_ids = orders};
  request.received_at = now();
  const auto erased = world_.await(world_.reception.take(
      world_.scheduler, [&]() -> Task<Expected<std::optional<services::Reception::Ready>>> {
        auto store = co_await world_.directory.find(world_.scheduler, world_.integration);
        co_return services::Reception::Ready{{store.value(), request, {}, {}}, {}};
      }));
  if (!erased) throw std::logic_error("a buyer was not erased: " + erased.error().message);
}

std::string Service::personal_texts(OrderId order) {
  static constexpr storage::Sql kOrder{"SELECT state FROM orders WHERE id = $1"};
  static constexpr storage::Sql kDelivery{
      "SELECT message || ' ' || coalesce(target_username, '') || ' ' || coalesce(raw_username, '') || ' ' ||"
      " coalesce(customer_email, '') || ' ' || coalesce(pending_username, '') || ' ' ||"
      " coalesce(offered_username, '') FROM deliveries WHERE id = $1"};
  static constexpr storage::Sql kItems{"SELECT username FROM delivery_items WHERE delivery_id = $1"};
  static constexpr storage::Sql kTimeline{
      "SELECT message || ' ' || coalesce(data, '') FROM delivery_timeline WHERE delivery_id = $1"};
  static constexpr storage::Sql kEvents{"SELECT body FROM outbound_events WHERE delivery_id = $1"};
  std::string text;
  world_.database->read([&](storage::Tx& tx) {
    for (const auto* const sql : {&kOrder, &kDelivery, &kItems, &kTimeline})
      tx.query(*sql, order, [&](const storage::Row& r) { text += r.string(0) + "\n"; });
    tx.query(kEvents, order, [&](const storage::Row& r) {
      const auto body = r.bytes(0);
      text.append(reinterpret_cast<const char*>(body.data()), body.size()).append("\n");
    });
  });
  return text;
}

void Service::save_mappings(const std::map<std::string, std::vector<std::string>>& by_sku) {
  const Power::Pause pause(power_);
  std::vector<services::WantedMapping> wanted;
  for (const auto& [sku, files] : by_sku) {
    if (files.empty()) wanted.push_back({.match_value = sku, .action = domain::MappingAction::ignore});
    for (const auto& file : files)
      wanted.push_back({.match_value = sku, .file_id = file, .kind = "preset", .file_name = file});
  }
  world_
      .await(integrations_.replace_mappings(world_.scheduler, world_.merchant(), world_.integration,
                                            std::nullopt, wanted))
      .value();
}

void Service::save_settings(bool hold_all, bool auto_revoke) {
  const Power::Pause pause(power_);
  services::IntegrationChange change;
  change.hold_all = hold_all;
  change.auto_revoke = auto_revoke;
  world_.await(integrations_.change(world_.scheduler, world_.merchant(), world_.integration, change)).value();
}

void Service::save_login(const std::string& merchant) {
  const Power::Pause pause(power_);
  services::testing::VaultOfWorld(world_).save(merchant);
}

void Service::grant(std::int64_t credits) {
  const Power::Pause pause(power_);
  world_.grant(credits);
}

void Service::set_mood(const Command& command) {
  const Power::Pause pause(power_);
  if (!outbound_.set_mood(command)) throw std::logic_error("the subscription was not changed");
}

std::int64_t Service::bulk(services::DeliveryActions::BulkAction action, storage::DeliveryFilter filter) {
  const Power::Pause pause(power_);
  services::DeliveriesChosen chosen;
  chosen.filter = std::move(filter);
  return done_by(world_
                     .await(bulk_deliveries_.ask(world_.scheduler, merchant(), std::move(chosen),
                                                 std::move(action), false))
                     .value()
                     .job);
}

std::int64_t Service::reprocess_all() {
  const Power::Pause pause(power_);
  return done_by(world_.await(bulk_reprocess_.ask(world_.scheduler, merchant(), {}, false)).value().job);
}

std::int64_t Service::done_by(const storage::BulkJobRow& job) {
  // It polls each few seconds, and days are long.
  start_bulk();
  for (int i = 0; i < 1'000; ++i) {
    const auto row = world_.await(jobs_.get(world_.scheduler, merchant(), job.id)).value();
    if (!row.fault.empty()) throw std::logic_error("a job on many ended: " + row.fault);
    if (row.finished_at) {
      stop_bulk();
      return row.done;
    }
    world_.scheduler.run();
  }
  throw std::logic_error("a job on many does not end");
}

// ---------------------------------------------------------------- what happens around it

bool Service::intends(const std::string& call, const std::string& subject) {
  static constexpr storage::Sql kShare{
      "SELECT id FROM delivery_items WHERE file_id = $1 AND user_id = $2 AND status = 'sharing'"};
  static constexpr storage::Sql kRevoke{
      "SELECT id FROM delivery_items WHERE file_id = $1 AND status = 'revoking' AND revocation_begun = 1"};
  static constexpr storage::Sql kRequest{
      "SELECT id FROM customers WHERE cloud_user_id = $1 AND friendship = 'requesting'"};
  const Power::Inspection check(power_);
  bool found = false;
  const auto note = [&](const storage::Row&) { found = true; };
  world_.database->read([&](storage::Tx& tx) {
    if (call == "share") {
      tx.query(kShare, subject, begun_.empty() ? std::string() : std::get<1>(begun_.back()), note);
    } else {
      tx.query(call == "revoke" ? kRevoke : kRequest, subject, note);
    }
  });
  return found;
}

Fate Service::fate(const std::string& call, const std::string& subject) {
  const bool write = is_write(call);
  if (call == "request" && !power_.failed()) asking_(subject);
  if (write && power_.failed()) {
    // The process is dead. A call that it was about to make stands on what was synced, or is a fault.
    if (wrong_.empty() && !intends(call, subject))
      wrong_ = fmt::format("a call begins ({}), and what it stands on was not synced", call);
    return Fate::lose_request;
  }
  switch (weather_) {
    case Weather::fair:
      return Fate::answer;
    case Weather::slow:
      // Answered a second later, whatever the weather is then.
      answers_.push_back(world_.scheduler.schedule(1s, [this] { world_.cloud.release(); }));
      return Fate::hold;
    case Weather::all_fail:
      return Fate::fail;
    case Weather::writes_fail:
      return write ? Fate::fail : Fate::answer;
    case Weather::reads_fail:
      return write ? Fate::answer : Fate::fail;
    case Weather::answers_lost:
      return write ? Fate::lose_answer : Fate::answer;
    case Weather::requests_lost:
      return write ? Fate::lose_request : Fate::answer;
    case Weather::too_many:
      return Fate::rate_limit;
  }
  return Fate::answer;
}

void Service::set_weather(Weather weather) {
  if (weather != Weather::slow) world_.cloud.release();
  if (weather != Weather::fair && weather != Weather::slow && !trouble_since_) trouble_since_ = now();
  if (stops_reads(weather_) && !stops_reads(weather)) reads_well_since_ = now();
  if (stops_reads(weather)) reads_well_since_ = Timestamp::max();
  weather_ = weather;
  if (!stops_writes(weather)) writes_fail_since_.reset();
  if (stops_writes(weather) && !writes_fail_since_) writes_fail_since_ = now();
}

void Service::set_file(const std::string& file, bool is_there) {
  if (is_there) {
    world_.cloud.unknown_files.erase(file);
  } else {
    world_.cloud.unknown_files.insert(file);
  }
}

void Service::answer(const std::string& user, Friend says) {
  using cloud::FriendshipState;
  const auto state = world_.cloud.friendships[user];
  if (says == Friend::friends) {
    if (state != FriendshipState::blocked) world_.cloud.accept(user);
  } else if (state == FriendshipState::requested) {
    world_.cloud.change(user,
                        says == Friend::declined ? FriendshipState::declined : FriendshipState::blocked);
  }
}

static Friend friend_of(cloud::FriendshipState state) {
  switch (state) {
    case cloud::FriendshipState::requested:
      return Friend::requested;
    case cloud::FriendshipState::friends:
      return Friend::friends;
    case cloud::FriendshipState::declined:
      return Friend::declined;
    case cloud::FriendshipState::blocked:
      return Friend::blocked;
    default:
      return Friend::none;
  }
}

Facts Service::facts() {
  Facts facts{.now = now()};
  for (const auto& [user, state] : world_.cloud.friendships) facts.friends[user] = friend_of(state);
  for (const auto& [what, share] : world_.cloud.shares) facts.has.insert(what);
  const Power::Pause pause(power_);
  facts.credits = world_.balance().available();
  facts.held = world_.balance().held;
  facts.trouble_since = trouble_since_;
  facts.writes_fail_since = writes_fail_since_;
  facts.reads_well_since = reads_well_since_;
  facts.missing = world_.cloud.unknown_files;
  return facts;
}

Service::Rows Service::read(const std::vector<DeliveryId>& ids) {
  Rows rows;
  world_.database->read([&](storage::Tx& tx) {
    rows.deliveries = find_deliveries(tx, ids);
    rows.items = find_items(tx, ids);
  });
  return rows;
}

}  // namespace presetbridge::simulation
