#include "net/resolver.h"

#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

#include "net/call_queue.h"

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

// The share of one owner (spec 8.6).
template <class Count>
Count eighth(Count all) {
  return std::max(all / 8, Count{1});
}

}  // namespace

struct SystemResolver::State {
  using SteadyTime = std::chrono::steady_clock::time_point;
  using Done = std::function<void(Addresses)>;
  struct Answer {
    Addresses addresses;
    SteadyTime until;
    std::string owner;
    bool failed = false;  // the last look-up, which came after `until`, gave no address
  };
  struct Place {  // of a name in the line of one owner
    std::string host;
    std::string owner;
    CallQueue* queue;
  };
  struct Asked {  // a name that waits or is being looked up
    CallQueue* queue;
    std::map<std::string, CallId> places;  // by owner; none: it is being looked up
    std::vector<Done> callers;
  };

  explicit State(SystemResolverOptions o) : options(std::move(o)) {}
  void work();
  // The caller holds the mutex, here and below. False: too many names wait, and `done` is still the caller's.
  bool ask(const std::string& host, const std::string& owner, Done& done);
  // Nothing: no name may be looked up now.
  std::optional<Place> next();
  void remember(const Place& place, const Addresses& found);
  void make_room(const std::string& owner);

  const SystemResolverOptions options;
  std::mutex mutex;  // guards all below
  std::condition_variable wanted;
  bool stopped = false;
  // Names with an answer in `answers`, however old, and all others. Look-ups of the others take half of the
  // threads at most, so names that no server answers for do not delay known receivers.
  CallQueue known{options.threads, eighth(options.threads)};
  CallQueue unknown{std::max(options.threads / 2, 1), eighth(options.threads)};
  CallId last_place = 0;
  std::unordered_map<CallId, Place> places;
  std::unordered_map<std::string, Asked> asking;
  std::unordered_map<std::string, Answer> answers;
};

void SystemResolver::State::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    std::optional<Place> place;
    wanted.wait(lock, [&] { return stopped || (place = next()); });
    if (stopped) return;
    lock.unlock();
    const Addresses found = options.look_up ? options.look_up(place->host) : look_up(place->host);
    lock.lock();
    if (stopped) return;
    place->queue->ended(place->owner);
    remember(*place, found);
    const auto callers = std::move(asking.extract(place->host).mapped().callers);
    lock.unlock();
    for (const auto& done : callers) done(found);
    lock.lock();
  }
}

bool SystemResolver::State::ask(const std::string& host, const std::string& owner, Done& done) {
  auto asked = asking.find(host);
  const bool is_new = asked == asking.end();
  auto& queue = !is_new ? *asked->second.queue : answers.contains(host) ? known : unknown;
  const auto most = static_cast<std::size_t>(options.queued);
  const bool has_room = queue.waiting() < most && queue.waiting(owner) < eighth(most);
  if (is_new) {
    if (!has_room) return false;
    asked = asking.try_emplace(host, Asked{&queue, {}, {}}).first;
  }
  auto& [_, in_lines, callers] = asked->second;
  callers.push_back(std::move(done));
  if (is_new || (has_room && !in_lines.empty() && !in_lines.contains(owner))) {
    const CallId id = ++last_place;
    places.try_emplace(id, Place{host, owner, &queue});
    in_lines.emplace(owner, id);
    queue.wait(owner, id);
    wanted.notify_one();
  }
  return true;
}

std::optional<SystemResolver::State::Place> SystemResolver::State::next() {
  auto id = known.next();
  if (!id) id = unknown.next();
  if (!id) return std::nullopt;
  Place place = places.extract(*id).mapped();
  auto& in_lines = asking.at(place.host).places;
  for (const auto& [owner, other] : in_lines) {
    if (other == *id) continue;
    place.queue->gave_up(owner, other);
    places.erase(other);
  }
  in_lines.clear();
  return place;
}

void SystemResolver::State::remember(const Place& place, const Addresses& found) {
  if (found.empty()) {
    const auto before = answers.find(place.host);
    if (before != answers.end() && std::exchange(before->second.failed, true)) answers.erase(before);
    return;
  }
  answers.erase(place.host);
  make_room(place.owner);
  answers.emplace(place.host, Answer{found, std::chrono::steady_clock::now() + options.keep, place.owner});
}

void SystemResolver::State::make_room(const std::string& owner) {
  const auto is_own = [&owner](const auto& entry) { return entry.second.owner == owner; };
  const bool has_share =
      std::cmp_greater_equal(std::ranges::count_if(answers, is_own), eighth(options.max_stored));
  if (!has_share && answers.size() < options.max_stored) return;
  auto oldest = answers.end();
  for (auto at = answers.begin(); at != answers.end(); ++at) {
    if (has_share && !is_own(*at)) continue;
    if (oldest == answers.end() || at->second.until < oldest->second.until) oldest = at;
  }
  if (oldest != answers.end()) answers.erase(oldest);
}

SystemResolver::SystemResolver(SystemResolverOptions options)
    : state_(std::make_shared<State>(std::move(options))) {
  for (int i = 0; i < state_->options.threads; ++i) {
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

void SystemResolver::resolve(std::string host, std::string owner, std::function<void(Addresses)> done) {
  if (owner.empty()) owner = host;
  Addresses answer;
  {
    const std::scoped_lock lock(state_->mutex);
    const auto stored = state_->answers.find(host);
    if (stored != state_->answers.end() && stored->second.until > std::chrono::steady_clock::now()) {
      answer = stored->second.addresses;
    } else if (state_->ask(host, owner, done)) {
      return;
    }
  }
  done(std::move(answer));
}

}  // namespace presetbridge::net
