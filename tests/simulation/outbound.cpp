#include "outbound.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace presetbridge::simulation {
namespace {

using net::HttpAnswer;
using net::HttpFailure;
using net::HttpResult;
using namespace std::chrono_literals;

constexpr std::string_view kHost = "https://receiver-";

// Receiver 1 wants everything, so that every event is written; the second one these.
const std::vector<std::string> kSomeTypes{"delivery.completed", "delivery.failed", "order.unmapped"};

services::DispatcherOptions pace() {
  // Days in which little happens.
  return {.poll = 30min, .maintenance = 30min};
}

std::string header(const net::OutgoingRequest& request, std::string_view name) {
  const auto found = std::ranges::find(request.headers, name, &std::pair<std::string, std::string>::first);
  return found == request.headers.end() ? std::string() : found->second;
}

struct Behaviour {
  std::optional<int> status;
  HttpFailure::Kind failure = HttpFailure::Kind::timeout;
  Millis after{0};
};
Behaviour behaviour(Mood mood) {
  switch (mood) {
    case Mood::well:
      return {.status = 200};
    case Mood::slow:
      return {.status = 204, .after = 9s};
    case Mood::fails:
      return {.status = 500};
    case Mood::too_many:
      return {.status = 429};
    case Mood::silent:
      return {.status = {}, .failure = HttpFailure::Kind::timeout, .after = 15s};
    case Mood::away:
      return {.status = {}, .failure = HttpFailure::Kind::connect};
    case Mood::refuses:
      return {.status = 404};
    case Mood::gone:
      return {.status = 410};
  }
  return {.status = 200};
}

}  // namespace

// ---------------------------------------------------------------- receivers

std::string Receivers::url_of(std::size_t receiver) {
  return fmt::format("{}{}.example/events", kHost, receiver + 1);
}

Task<HttpResult> Receivers::send(Executor& executor, net::OutgoingRequest request) {
  const auto receiver = static_cast<std::size_t>(request.url.at(kHost.size()) - '1');
  const auto does = behaviour(moods.at(receiver));
  const auto at = attempts.size();
  attempts.push_back({.receiver = receiver,
                      .uuid = header(request, "webhook-id"),
                      .type = header(request, "X-Vendor-Event"),
                      .body = std::move(request.body),
                      .begun = clock_.now(),
                      .status = does.status});
  co_return co_await suspend<HttpResult>(executor, [this, at, does](auto resume) {
    const auto number = calls_.size();
    auto& call = *calls_.emplace_back(std::make_unique<Call>());
    call.attempt = at;
    call.resume = [resume, does](HttpResult aborted) {
      if (aborted.failure() != nullptr && aborted.failure()->kind == HttpFailure::Kind::aborted)
        return resume(aborted);
      if (!does.status) return resume({HttpFailure{does.failure, "did not work"}, does.after});
      resume({HttpAnswer{.status = *does.status, .headers = {}, .body = "ok"}, does.after});
    };
    call.timer = scheduler_.schedule(does.after, [this, number] { end(number, true); });
  });
}

void Receivers::end(std::size_t number, bool heard) {
  auto& call = *calls_[number];
  if (!call.resume) return;
  auto& attempt = attempts[call.attempt];
  attempt.over = true;
  attempt.heard = heard && hears();
  attempt.ended = clock_.now();
  const auto resume = std::exchange(call.resume, nullptr);
  resume(heard ? HttpResult{HttpAnswer{}, Millis{0}}
               : HttpResult{HttpFailure{HttpFailure::Kind::aborted, "the process ends"}, Millis{0}});
}

void Receivers::abort_all() {
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    calls_[i]->timer.reset();
    end(i, false);
  }
  calls_.clear();
}

// ---------------------------------------------------------------- subscriptions and the dispatcher

Outbound::Outbound(services::testing::World& world)
    : world_(world),
      service_(world.async_db, world.ids, world.random, world.cipher, net::AddressPolicy::public_https,
               [this] {
                 if (dispatcher_) dispatcher_->wake();
               }) {
  for (std::size_t i = 0; i < kReceivers; ++i) {
    services::NewSubscription wanted{.name = fmt::format("receiver {}", i + 1),
                                     .url = Receivers::url_of(i),
                                     .secret = {},
                                     .event_types = i == 0 ? std::vector<std::string>{} : kSomeTypes,
                                     .integrations = {}};
    auto made = world_.await(service_.create(world_.scheduler, world_.merchant(), std::move(wanted)));
    subscriptions_.push_back(made.value().subscription.row.id);
  }
  active_ = active();
  receivers_.hears = [this] { return hears(); };
  start();
}

Outbound::~Outbound() {
  if (dispatcher_) stop();
}

void Outbound::start() {
  dispatcher_ = std::make_unique<services::WebhookDispatcher>(
      services::DispatcherPorts{world_.scheduler, world_.database.clock, world_.ids, world_.log,
                                world_.metrics, world_.async_db, receivers_, world_.cipher},
      pace());
  dispatcher_->start();
}

void Outbound::stop() {
  bool stopped = false;
  dispatcher_->stop([&] { stopped = true; });
  receivers_.abort_all();
  for (int i = 0; i < 100 && !stopped; ++i) world_.scheduler.advance(1s);
  if (!stopped) throw std::logic_error("the dispatcher does not end");
  dispatcher_.reset();
}

void Outbound::power_failed() {
  const auto now = world_.database.clock.now();
  for (auto& attempt : receivers_.attempts)
    attempt.uncertain = attempt.uncertain || (attempt.heard && attempt.ended == now);
  model_.power_failed(now);
}

bool Outbound::set_mood(const Command& command) {
  const auto receiver = command.n % kReceivers;
  auto mood = mood_of(command);
  // The first one's events are those that are judged.
  if (receiver == 0 && mood == Mood::gone) mood = Mood::fails;
  receivers_.moods[receiver] = mood;
  if (mood != Mood::well || !model_.gone(receiver)) return true;
  services::SubscriptionChange change;
  change.active = true;
  if (!world_.await(
          service_.change(world_.scheduler, world_.merchant(), subscriptions_[receiver], std::move(change))))
    return false;
  model_.back(receiver);
  return true;
}

void Outbound::all_well() {
  std::ranges::fill(receivers_.moods, Mood::well);
}

std::set<std::size_t> Outbound::active() {
  static constexpr storage::Sql kRead{"SELECT id FROM webhook_subscriptions WHERE active = 1"};
  std::set<std::size_t> found;
  world_.database->read([&](storage::Tx& tx) {
    tx.query(kRead, [&](const storage::Row& r) {
      found.insert(static_cast<std::size_t>(std::ranges::find(subscriptions_, r.id<SubscriptionId>(0)) -
                                            subscriptions_.begin()));
    });
  });
  return found;
}

std::string Outbound::check(const std::function<std::string(std::int64_t)>& order_of) {
  static constexpr storage::Sql kEvents{
      "SELECT id, COALESCE(delivery_id, 0), sequence, type, uuid, body FROM outbound_events WHERE id > $1"
      " ORDER BY id"};
  static constexpr storage::Sql kDispatches{"SELECT subscription_id FROM webhook_sends WHERE event_id = $1"};
  said.clear();
  waiting.clear();
  std::vector<std::pair<Event, std::int64_t>> events;
  world_.database->read([&](storage::Tx& tx) {
    tx.query(kEvents, last_event_, [&](const storage::Row& r) {
      const auto body = r.bytes(5);
      events.push_back({{.id = r.int64(0),
                         .of_delivery = r.int64(1) != 0,
                         .sequence = r.int64(2),
                         .type = r.string(3),
                         .uuid = r.string(4),
                         .body = std::string(reinterpret_cast<const char*>(body.data()), body.size()),
                         .receivers = {}},
                        r.int64(1)});
    });
    for (auto& [event, delivery] : events) {
      tx.query(kDispatches, event.id, [&](const storage::Row& r) {
        event.receivers.insert(static_cast<std::size_t>(
            std::ranges::find(subscriptions_, r.id<SubscriptionId>(0)) - subscriptions_.begin()));
      });
    }
  });
  const auto before = events.empty() ? active_ : std::exchange(active_, active());
  for (const auto& [event, delivery] : events) {
    last_event_ = event.id;
    uuids_[event.id] = event.uuid;
    const auto order = event.of_delivery ? order_of(delivery) : std::string();
    if (event.type == "delivery.waiting_for_friendship") waiting.push_back(order);
    said.push_back(fmt::format("event {} {}of order {}", event.type,
                               event.sequence > 0 ? fmt::format("{} ", event.sequence) : std::string(),
                               order));
    if (auto wrong = model_.event(event, order); !wrong.empty())
      return fmt::format("order {}: {}", order, wrong);
    for (std::size_t i = 0; i < kReceivers; ++i) {
      const bool wants = i == 0 || std::ranges::find(kSomeTypes, event.type) != kSomeTypes.end();
      const bool is = event.receivers.contains(i);
      if (before.contains(i) != active_.contains(i) ? is && !wants : is != (wants && active_.contains(i)))
        return fmt::format("{} is {}for receiver {}", event.type, is ? "" : "not ", i + 1);
    }
  }
  // Those that had begun when they were seen last are over now, or go on.
  bool all_over = true;
  for (auto i = judged_; i < receivers_.attempts.size(); ++i) {
    const auto& attempt = receivers_.attempts[i];
    if (auto wrong = model_.attempt(attempt); !wrong.empty()) return wrong;
    all_over = all_over && attempt.over;
    if (all_over) judged_ = i + 1;
  }
  return {};
}

std::string Outbound::erased(DeliveryId delivery) {
  static constexpr storage::Sql kRead{
      "SELECT uuid, body FROM outbound_events WHERE delivery_id = $1 AND id <= $2 ORDER BY id"};
  std::string wrong;
  world_.database->read([&](storage::Tx& tx) {
    tx.query(kRead, delivery, last_event_, [&](const storage::Row& r) {
      const auto body = r.bytes(1);
      if (wrong.empty())
        wrong =
            model_.erased(r.string(0), std::string(reinterpret_cast<const char*>(body.data()), body.size()),
                          world_.database.clock.now());
    });
  });
  return wrong;
}

std::string Outbound::judge_all(bool all_over) {
  static constexpr storage::Sql kRead{
      "SELECT subscription_id, event_id, status, attempts FROM webhook_sends ORDER BY id"};
  active_ = active();
  std::string wrong;
  world_.database->read([&](storage::Tx& tx) {
    tx.query(kRead, [&](const storage::Row& r) {
      if (!wrong.empty()) return;
      const auto receiver = static_cast<std::size_t>(
          std::ranges::find(subscriptions_, r.id<SubscriptionId>(0)) - subscriptions_.begin());
      wrong = model_.dispatched(uuids_[r.int64(1)], receiver, {.status = r.string(2), .attempts = r.int64(3)},
                                active_.contains(receiver), all_over);
    });
  });
  return wrong;
}

}  // namespace presetbridge::simulation
