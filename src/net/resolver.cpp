#include "net/resolver.h"

#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

namespace presetbridge::net {

namespace {

Addresses look_up(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return {};
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(found, &freeaddrinfo);
  Addresses out;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    if (const auto address = IpAddress::from_sockaddr(*at->ai_addr)) out.push_back(*address);
  }
  return out;
}

}  // namespace

struct SystemResolver::State {
  using SteadyTime = std::chrono::steady_clock::time_point;
  struct Kept {
    Addresses addresses;
    SteadyTime until;
  };

  explicit State(SystemResolverOptions o) : options(o) {}
  void work();
  // The caller holds the mutex, here and below. Nothing: no name may be looked up now.
  std::optional<std::string> next();
  void keep(const std::string& host, const Addresses& addresses);

  const SystemResolverOptions options;
  std::mutex mutex;  // guards all below
  std::condition_variable wanted;
  bool stopped = false;
  // Names with an answer in `kept`, however old, and all others. Look-ups of the others take half of the threads at
  // most, so names that no server answers for do not delay known receivers.
  std::deque<std::string> known;
  std::deque<std::string> unknown;
  int looking_up_unknown = 0;
  std::unordered_map<std::string, std::vector<std::function<void(Addresses)>>>
      asking;  // queued or being looked up
  std::unordered_map<std::string, Kept> kept;
};

void SystemResolver::State::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    std::optional<std::string> taken;
    wanted.wait(lock, [&] { return stopped || (taken = next()); });
    if (stopped) return;
    const std::string& host = *taken;
    const bool was_known = kept.contains(host);
    looking_up_unknown += was_known ? 0 : 1;
    lock.unlock();
    const Addresses found = options.look_up ? options.look_up(host) : look_up(host);
    lock.lock();
    looking_up_unknown -= was_known ? 0 : 1;
    if (stopped) return;
    if (found.empty()) {
      kept.erase(host);
    } else {
      keep(host, found);
    }
    const auto callers = std::move(asking.extract(host).mapped());
    lock.unlock();
    for (const auto& done : callers) done(found);
    lock.lock();
  }
}

std::optional<std::string> SystemResolver::State::next() {
  const bool may_wait = looking_up_unknown < std::max(options.threads / 2, 1);
  auto& queue = known.empty() && may_wait ? unknown : known;
  if (queue.empty()) return std::nullopt;
  auto host = std::move(queue.front());
  queue.pop_front();
  return host;
}

void SystemResolver::State::keep(const std::string& host, const Addresses& addresses) {
  const auto now = std::chrono::steady_clock::now();
  if (kept.size() >= options.kept)
    std::erase_if(kept, [now](const auto& entry) { return entry.second.until <= now; });
  if (kept.size() >= options.kept) kept.clear();  // rather asked again than without bound
  kept[host] = {addresses, now + options.keep};
}

SystemResolver::SystemResolver(SystemResolverOptions options) : state_(std::make_shared<State>(options)) {
  for (int i = 0; i < options.threads; ++i) {
    // Detached, because getaddrinfo can hang longer than the program has time to end; the threads share the
    // state's ownership.
    std::thread([state = state_] { state->work(); }).detach();
  }
}

SystemResolver::~SystemResolver() {
  const std::scoped_lock lock(state_->mutex);
  state_->stopped = true;
  state_->asking.clear();
  state_->wanted.notify_all();
}

void SystemResolver::resolve(std::string host, std::function<void(Addresses)> done) {
  Addresses answer;
  {
    const std::scoped_lock lock(state_->mutex);
    const auto kept = state_->kept.find(host);
    const bool is_known = kept != state_->kept.end();
    auto& queue = is_known ? state_->known : state_->unknown;
    if (is_known && kept->second.until > std::chrono::steady_clock::now()) {
      answer = kept->second.addresses;
    } else if (const auto asked = state_->asking.find(host); asked != state_->asking.end()) {
      asked->second.push_back(std::move(done));
      return;
    } else if (queue.size() < static_cast<std::size_t>(state_->options.queued)) {
      state_->asking[host].push_back(std::move(done));
      queue.push_back(std::move(host));
      state_->wanted.notify_one();
      return;
    }
  }
  done(std::move(answer));
}

}  // namespace presetbridge::net
