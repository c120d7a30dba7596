#include "webhooks.h"

#include <algorithm>
#include <chrono>

#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "net/address_guard.h"
#include "simulator_parts/faults.h"

namespace presetbridge::paysim {
namespace {

constexpr Millis kLongestHold{2'000};
constexpr Millis kLongestSleep{60'000};
constexpr Millis kAnswerDeadline{10'000};

}  // namespace

std::string stripe_signature(std::string_view body, const std::vector<std::string>& secrets, Timestamp now) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  std::string payload = std::to_string(seconds);
  std::string header = "t=" + payload;
  payload.append(".").append(body);
  for (const auto& secret : secrets) {
    header += ",v1=" + crypto::hex_encode(crypto::hmac_sha256(secret, payload));
  }
  return header;
}

std::vector<Millis> default_retries() {
  std::vector<Millis> result;
  for (const int seconds : {1, 2, 4, 8, 15, 30, 60, 60, 60, 60}) result.emplace_back(seconds * 1'000);
  return result;
}

std::string problem_of_endpoint(std::string_view url) {
  const auto checked = net::check_url(url, net::AddressPolicy::sandbox_receivers);
  if (!checked) return "The endpoint's URL cannot be used: " + checked.error().message;
  // To loopback, by address and by name, and to nowhere else: that policy takes plain http to loopback alone.
  if (checked->https || (!checked->literal && checked->host != "localhost")) {
    return "The endpoint is reached by http on loopback: http://127.0.0.1:PORT/...";
  }
  return "";
}

WebhookSender::WebhookSender(Scheduler& scheduler, const Clock& clock, net::HttpClient& http, Log& log,
                             std::uint64_t seed, WebhookOptions options)
    : scheduler_(scheduler),
      clock_(clock),
      http_(http),
      seed_(seed),
      options_(std::move(options)),
      tasks_(scheduler, {log, "sending webhooks failed"}) {
  tasks_.start_loop(run(), "webhooks");
}

void WebhookSender::configure(WebhookOptions options) {
  options_ = std::move(options);
  tasks_.wake();
}

void WebhookSender::clear() {
  waiting_.clear();
  held_.clear();
  pending_.clear();
  deliveries_ = 0;
  counts_ = {};
  ++era_;
}

bool WebhookSender::begin(const Event& event) {
  if (deliveries_ >= most_waiting) {
    ++counts_.overflow;
    return false;
  }
  ++deliveries_;
  ++pending_[event.id];
  return true;
}

void WebhookSender::end(const Event& event) {
  --deliveries_;
  const auto found = pending_.find(event.id);
  if (--found->second == 0) pending_.erase(found);
}

bool WebhookSender::pending(const Event& event) const {
  return pending_.contains(event.id);
}

std::uint64_t WebhookSender::draw() {
  return simulator_parts::mix(simulator_parts::mix(seed_) ^ ++draws_);
}
bool WebhookSender::chance(double probability) {
  return probability > 0 && simulator_parts::fraction(draw()) < probability;
}

void WebhookSender::put(Delivery delivery, Millis delay) {
  waiting_.emplace(clock_.now() + delay, std::move(delivery));
  tasks_.wake();
}

void WebhookSender::resend(const std::shared_ptr<const Event>& event) {
  if (options_.url.empty()) return;
  if (!begin(*event)) return;
  put({.event = event, .behind = {}}, Millis{0});
}

void WebhookSender::send(const std::shared_ptr<const Event>& event) {
  if (options_.url.empty()) return;
  if (!options_.types.empty() && std::ranges::find(options_.types, event->type) == options_.types.end()) {
    return;
  }
  const auto& faults = options_.faults;
  if (chance(faults.drop)) {
    ++counts_.dropped;
    return;
  }
  const int times = chance(faults.duplicate) ? 2 : 1;
  for (int i = 0; i < times; ++i) {
    if (!begin(*event)) return;
    Delivery delivery{.event = event, .behind = {}};
    if (chance(faults.reorder)) {
      held_.emplace_back(clock_.now() + kLongestHold, std::move(delivery));
      tasks_.wake();
      continue;
    }
    for (auto& [until, held] : held_) {
      if (held.event != event) delivery.behind.push_back(std::move(held));
    }
    std::erase_if(held_, [](const auto& held) { return held.second.event == nullptr; });
    const auto spread =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, (faults.delay_max - faults.delay_min).count()));
    const Millis delay = faults.delay_min + Millis{static_cast<std::int64_t>(draw() % (spread + 1))};
    put(std::move(delivery), delay);
  }
}

// Starts what is due, and tells when there is more to do.
Timestamp WebhookSender::start_due() {
  const Timestamp now = clock_.now();
  for (auto& [until, held] : held_) {
    if (until <= now) waiting_.emplace(now, std::move(held));
  }
  std::erase_if(held_, [](const auto& held) { return held.second.event == nullptr; });
  while (!waiting_.empty() && waiting_.begin()->first <= now && flying_ < most_at_once) {
    Delivery delivery = std::move(waiting_.extract(waiting_.begin()).mapped());
    ++flying_;
    tasks_.start_job(attempt(std::move(delivery)), "webhook");
  }
  Timestamp next = now + kLongestSleep;
  if (!waiting_.empty() && flying_ < most_at_once) next = std::min(next, waiting_.begin()->first);
  for (const auto& [until, held] : held_) next = std::min(next, until);
  return next;
}

Task<void> WebhookSender::run() {
  while (!tasks_.stopping()) {
    const Timestamp next = start_due();
    co_await tasks_.wait(std::max(next - clock_.now(), Millis{0}));
  }
}

Task<void> WebhookSender::attempt(Delivery delivery) {
  const std::uint64_t era = era_;
  net::OutgoingRequest request;
  request.url = options_.url;
  request.policy = net::AddressPolicy::sandbox_receivers;
  request.deadline = kAnswerDeadline;
  request.body = delivery.event->body;
  request.headers = {{"Content-Type", "application/json; charset=utf-8"},
                     {"Stripe-Signature", stripe_signature(request.body, options_.secrets, clock_.now())}};
  const bool lost = chance(options_.faults.lose_answer);
  const auto result = co_await http_.send(scheduler_, std::move(request));
  --flying_;
  tasks_.wake();
  if (era != era_) co_return;
  const auto* answer = result.answer();
  const bool taken = !lost && answer && answer->status >= 200 && answer->status < 300;
  ++counts_.attempts;
  ++(taken ? counts_.taken : counts_.refused);
  for (auto& one : std::exchange(delivery.behind, {})) put(std::move(one), Millis{0});
  ++delivery.attempts;
  if (!taken && delivery.attempts <= options_.retry_after.size()) {
    const Millis pause = options_.retry_after[delivery.attempts - 1];
    put(std::move(delivery), pause);
    co_return;
  }
  if (!taken) ++counts_.given_up;
  end(*delivery.event);
}

}  // namespace presetbridge::paysim
