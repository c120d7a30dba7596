#include "keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "storage/stores/integration_store.h"

namespace presetbridge::simulation {
namespace {

using namespace std::chrono_literals;

constexpr Millis kHour = 1h;
constexpr Millis kOverlap = 6h;
constexpr std::int64_t kLimit = 3;  // requests an hour, of a new key

}  // namespace

Keys::Keys(services::testing::World& world, Power& power)
    : world_(world), power_(power), other_store_(world.ids.make<IntegrationId>()) {
  world_.write([&](storage::Tx& tx) {
    insert_integration(
        tx, {.id = other_store_,
             .account = world_.account,
             .name = "Another store",
             .encrypted_secret = world_.cipher.encrypt({"integrations.secret", other_store_.value}, "secret"),
             .secret_preview = "…ret",
             .created_at = tx.now()});
  });
  restart();
  const auto made = world_.await(
      service_->create(world_.scheduler, world_.merchant(), {.name = "program", .expires_at = {}}));
  keys_.push_back({.id = made.value().key.id, .secret = made.value().secret, .limit = kLimit});
}

void Keys::restart() {
  service_ = std::make_unique<services::ApiKeys>(
      world_.async_db, world_.ids, world_.random, world_.database.clock, world_.log,
      services::ApiKeys::Options{.rate_limit = kLimit, .rate_window = kHour});
}

// Mostly the newest one.
std::size_t Keys::choose(std::uint32_t which) const {
  return which % 3 == 0 ? which / 3 % keys_.size() : keys_.size() - 1;
}

std::int64_t Keys::used(const Key& key) const {
  return std::ranges::count_if(key.requests, [&](Timestamp at) { return at > now() - kHour; });
}

std::string Keys::rotate(std::size_t at, Millis overlap) {
  const auto made =
      world_.await(service_->rotate(world_.scheduler, world_.merchant(), keys_[at].id, overlap));
  auto& old = keys_[at];
  if (!made) return is_in_force(old) && !old.rotated ? "a key in force was not rotated" : "";
  if (!is_in_force(old)) return "a key was rotated that is not in force";
  old.rotated = true;
  Key fresh{.id = made->key.id,
            .secret = made->secret,
            .limit = old.limit,
            .expires_at = old.expires_at,
            .other_store = old.other_store};
  if (overlap == Millis{0}) {
    old.active = false;
  } else {
    const auto end = now() + overlap;
    old.expires_at = old.expires_at ? std::min(*old.expires_at, end) : end;
  }
  keys_.push_back(std::move(fresh));
  return {};
}

std::string Keys::change(const Command& c) {
  const Power::Pause pause(power_);
  const auto at = choose(c.m);
  auto& key = keys_[at];
  services::ApiKeyChange change;
  switch (static_cast<KeyChange>(c.n % kKeyChanges)) {
    case KeyChange::deactivate:
      change.active = key.active = false;
      break;
    case KeyChange::reactivate:
      change.active = key.active = true;
      break;
    case KeyChange::rotate:
      return rotate(at, Millis{0});
    case KeyChange::rotate_slowly:
      return rotate(at, kOverlap);
    case KeyChange::other_store:
      change.integrations = identity::IntegrationScope({other_store_});
      key.other_store = true;
      break;
    case KeyChange::all_stores:
      change.integrations = identity::IntegrationScope();
      key.other_store = false;
      break;
    case KeyChange::raise_limit:
      world_.await(service_->set_rate_limit(world_.scheduler, key.id, ++key.limit)).value();
      return {};
  }
  const auto changed =
      world_.await(service_->change(world_.scheduler, world_.merchant(), key.id, std::move(change)));
  return changed ? "" : "a key was not changed: " + changed.error().message;
}

std::string Keys::ask(std::uint32_t which) {
  const Power::Pause pause(power_);
  last_ = choose(which);
  auto& key = keys_[last_];
  const auto check = world_.await(service_->admit(world_.scheduler, key.secret));
  admitted_ = check.principal ? std::optional(*check.principal) : std::nullopt;
  const std::string answer = check.principal ? "" : check.principal.error().code;
  const std::string expected = !is_in_force(key)        ? "FORBIDDEN"
                               : used(key) >= key.limit ? "RATE_LIMIT_EXCEEDED"
                                                        : "";
  if (answer != expected)
    return fmt::format("a request with key {} is answered '{}', and should be '{}'", last_, answer, expected);
  if (!admitted_) return {};
  key.requests.push_back(now());
  if (admitted_->key != key.id || admitted_->account != world_.account ||
      admitted_->sees(world_.integration) == key.other_store || !admitted_->sees(other_store_))
    return fmt::format("a request with key {} has other rights than the key", last_);
  if (!check.rate || check.rate->limit != key.limit || check.rate->remaining != key.limit - used(key))
    return fmt::format("a request with key {} shows a wrong rest of its limit", last_);
  return {};
}

std::string Keys::judge() {
  const Power::Pause pause(power_);
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const auto& key = keys_[i];
    const auto row = world_.await(service_->get(world_.scheduler, world_.merchant(), key.id)).value();
    const auto wrong = [&](const char* what, auto is, auto should) {
      return fmt::format("key {} has {} {}, and should have {}", i, is, what, should);
    };
    if (row.active != key.active || row.expires_at != key.expires_at || row.rate_limit != key.limit ||
        row.integrations.all() == key.other_store)
      return fmt::format("key {} is not as it was made", i);
    if (row.requests != std::ssize(key.requests)) return wrong("requests", row.requests, key.requests.size());
    if (row.used_this_hour != used(key)) return wrong("requests this hour", row.used_this_hour, used(key));
    if (row.deliveries != key.deliveries) return wrong("deliveries", row.deliveries, key.deliveries);
  }
  // spec 6.4: the sums by hour and key are those of a scan of all deliveries.
  const auto sums = world_.write([](storage::Tx& tx) { return services::testing::sum_activity(tx); });
  return sums.stored == sums.counted ? "" : "the statistics are not those of the deliveries";
}

}  // namespace presetbridge::simulation
