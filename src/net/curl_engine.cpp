#include "net/curl_engine.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <system_error>
#include <utility>

namespace presetbridge::net {

namespace {

constexpr int kMostTimerRounds = 64;  // of libcurl asking to be called at once; then others have their turn

}  // namespace

CurlEngine::CurlEngine(Runtime::Core& core, Resolver& resolver, CurlClientOptions options)
    : core_(core),
      resolver_(resolver),
      options_(std::move(options)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      sockets_(core.io),
      timer_(core.io),
      queue_(options_.calls, options_.calls_per_host) {
  if (epoll_ < 0) throw std::system_error(errno, std::generic_category(), "epoll_create1");
  sockets_.assign(epoll_);
  if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) throw std::runtime_error("libcurl cannot start");
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    lane.engine = this;
    lane.index = i;
    lane.multi.reset(curl_multi_init());
    if (!lane.multi) throw std::bad_alloc();
    CURLM* multi = lane.multi.get();
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &CurlEngine::on_socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, &lane);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &CurlEngine::on_timer);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, &lane);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS,
                      static_cast<long>(std::min(options_.idle_connections, options_.calls)));
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
  }
}

CurlEngine::~CurlEngine() {
  spare_.clear();
  for (auto& lane : lanes_) lane.multi.reset();
  curl_global_cleanup();
}

void CurlEngine::submit(CurlCall& call) {
  call.begun = std::chrono::steady_clock::now();
  call.deadline = call.begun + call.request.deadline;
  {
    const std::scoped_lock lock(mutex_);
    if (!stopped_) {
      submitted_.push_back(&call);
      return wake();
    }
  }
  call.fail(HttpFailure::Kind::aborted, "the client has stopped");
  call.executor.post([waiter = call.waiter] { waiter.resume(); });
}

void CurlEngine::wake() {
  if (std::exchange(woken_, true)) return;
  core_.post([self = shared_from_this()] { self->turn(); });
}

void CurlEngine::turn() {
  if (stopped_) return;
  now_ = std::chrono::steady_clock::now();
  read_sockets();
  take_submitted();
  take_resolved();
  expire();
  reap();
  launch_next();
  run_timers();
  // Calls that ended have made room for others.
  reap();
  launch_next();
  flush();
  arm_timer();
}

void CurlEngine::take_submitted() {
  std::vector<CurlCall*> calls;
  {
    const std::scoped_lock lock(mutex_);
    woken_ = false;
    calls.swap(submitted_);
  }
  for (auto* call : calls) begin(*call);
}

void CurlEngine::begin(CurlCall& call) {
  call.id = ++last_id_;
  calls_.emplace(call.id, &call);
  if (auto failure = call.check()) {
    call.result.outcome = std::move(*failure);
    return finish(call);
  }
  deadlines_.emplace(call.deadline, call.id);
  if (call.url.literal) return admit(call, {*call.url.literal});
  auto take = [weak = weak_from_this(), id = call.id](Addresses addresses) {
    const auto self = weak.lock();
    if (!self) return;
    const std::scoped_lock lock(self->mutex_);
    if (self->stopped_) return;
    self->resolved_.push_back({id, std::move(addresses)});
    self->wake();
  };
  resolver_.resolve(call.url.host, call.request.owner, std::move(take));
}

void CurlEngine::take_resolved() {
  std::vector<Resolved> all;
  {
    const std::scoped_lock lock(mutex_);
    all.swap(resolved_);
  }
  for (auto& [id, addresses] : all) {
    if (const auto at = calls_.find(id); at != calls_.end()) admit(*at->second, std::move(addresses));
  }
}

void CurlEngine::admit(CurlCall& call, Addresses addresses) {
  const bool found = !addresses.empty();
  std::erase_if(addresses,
                [&](const auto& a) { return !address_allowed(call.request.policy, call.url.https, a); });
  if (addresses.empty()) {
    if (found) {
      call.fail(HttpFailure::Kind::denied, "the host has no address that may be called");
    } else {
      call.fail(HttpFailure::Kind::unresolved, "the host's name has no address");
    }
    return finish(call);
  }
  if (queue_.waiting() >= static_cast<std::size_t>(options_.waiting_calls)) {
    call.fail(HttpFailure::Kind::connect, "too many calls wait");
    return finish(call);
  }
  if (!call.url.literal) call.addresses = std::move(addresses);
  call.stage = CurlCall::Stage::queued;
  queue_.wait(call.host_key, call.id);
}

void CurlEngine::expire() {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now_) {
    CurlCall& call = *calls_.at(deadlines_.begin()->second);
    if (call.stage == CurlCall::Stage::resolving) {
      call.fail(HttpFailure::Kind::unresolved, "the host's name was not resolved in time");
    } else {
      call.fail(HttpFailure::Kind::connect, "the call's turn did not come in time");
    }
    finish(call);
  }
}

void CurlEngine::launch_next() {
  while (const auto id = queue_.next()) launch(*calls_.at(*id));
}

void CurlEngine::launch(CurlCall& call) {
  deadlines_.erase({call.deadline, call.id});
  call.stage = CurlCall::Stage::running;
  CurlEasy easy;
  if (spare_.empty()) {
    easy.reset(curl_easy_init());
    if (!easy) throw std::bad_alloc();
  } else {
    easy = std::move(spare_.back());
    spare_.pop_back();
  }
  const auto remaining = std::chrono::ceil<Millis>(call.deadline - now_);
  call.prepare(std::move(easy), call.addresses, remaining, options_);
  curl_multi_add_handle(lane(call.request.policy).multi.get(), call.easy.get());
}

CurlEngine::Lane& CurlEngine::lane(AddressPolicy policy) {
  return lanes_[static_cast<std::size_t>(policy)];
}

void CurlEngine::watch_sockets() {
  sockets_.async_wait(asio::posix::descriptor_base::wait_read, [self = shared_from_this()](error_code error) {
    if (error) return;
    self->turn();
    if (!self->stopped_) self->watch_sockets();
  });
}

void CurlEngine::read_sockets() {
  std::array<epoll_event, 256> events;
  const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const auto& event = events[static_cast<std::size_t>(i)];
    // An error or hang-up shows when the call reads or writes.
    const bool broken = (event.events & (EPOLLERR | EPOLLHUP)) != 0;
    const int what = ((event.events & EPOLLIN) != 0 || broken ? CURL_CSELECT_IN : 0) |
                     ((event.events & EPOLLOUT) != 0 || broken ? CURL_CSELECT_OUT : 0);
    int running = 0;
    curl_multi_socket_action(lanes_[event.data.u64 >> 32].multi.get(),
                             static_cast<curl_socket_t>(event.data.u64 & 0xffffffff), what, &running);
  }
}

int CurlEngine::on_socket(CURL*, curl_socket_t socket, int what, void* data, void* known) {
  const auto& lane = *static_cast<Lane*>(data);
  const int epoll = lane.engine->epoll_;
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(epoll, EPOLL_CTL_DEL, socket, nullptr);
    return 0;
  }
  epoll_event event{};
  event.events = ((what & CURL_POLL_IN) != 0 ? EPOLLIN : 0U) | ((what & CURL_POLL_OUT) != 0 ? EPOLLOUT : 0U);
  event.data.u64 = lane.index << 32 | static_cast<std::uint32_t>(socket);
  // libcurl may have closed the descriptor, and got the same number again, without a word.
  const int first = known != nullptr ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (epoll_ctl(epoll, first, socket, &event) != 0) {
    if (errno == ENOENT) epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event);
    if (errno == EEXIST) epoll_ctl(epoll, EPOLL_CTL_MOD, socket, &event);
  }
  if (known == nullptr) curl_multi_assign(lane.multi.get(), socket, data);
  return 0;
}

int CurlEngine::on_timer(CURLM*, long timeout_ms, void* data) {
  auto& lane = *static_cast<Lane*>(data);
  lane.due = timeout_ms < 0 ? SteadyTime::max() : lane.engine->now_ + Millis{timeout_ms};
  return 0;
}

void CurlEngine::run_timers() {
  for (auto& lane : lanes_) {
    for (int round = 0; lane.due <= now_ && round < kMostTimerRounds; ++round) {
      lane.due = SteadyTime::max();
      int running = 0;
      curl_multi_socket_action(lane.multi.get(), CURL_SOCKET_TIMEOUT, 0, &running);
    }
  }
}

void CurlEngine::reap() {
  for (auto& lane : lanes_) {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(lane.multi.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      char* data = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &data);
      auto& call = *reinterpret_cast<CurlCall*>(data);
      call.conclude(message->data.result);
      finish(call);
    }
  }
}

void CurlEngine::finish(CurlCall& call) {
  switch (call.stage) {
    case CurlCall::Stage::resolving:
      deadlines_.erase({call.deadline, call.id});
      break;
    case CurlCall::Stage::queued:
      deadlines_.erase({call.deadline, call.id});
      queue_.gave_up(call.host_key, call.id);
      break;
    case CurlCall::Stage::running:
      curl_multi_remove_handle(lane(call.request.policy).multi.get(), call.easy.get());
      if (spare_.size() < static_cast<std::size_t>(options_.idle_connections)) {
        curl_easy_reset(call.easy.get());
        spare_.push_back(std::move(call.easy));
      } else {
        call.easy.reset();
      }
      queue_.ended(call.host_key);
      break;
  }
  calls_.erase(call.id);
  call.result.duration = std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - call.begun);
  finished_.push_back(&call);
}

// One post for each executor, however many of its calls ended.
void CurlEngine::flush() {
  if (finished_.empty()) return;
  std::map<Executor*, std::vector<CurlCall*>> by_executor;
  for (auto* call : finished_) by_executor[&call->executor].push_back(call);
  finished_.clear();
  for (auto& [executor, calls] : by_executor) {
    executor->post([ended = std::move(calls)] {
      for (auto* call : ended) call->waiter.resume();
    });
  }
}

void CurlEngine::arm_timer() {
  SteadyTime next = deadlines_.empty() ? SteadyTime::max() : deadlines_.begin()->first;
  for (const auto& lane : lanes_) next = std::min(next, lane.due);
  // A timer that is early only makes an idle turn, and moving it costs more: it stays unless it would be
  // late.
  if (next >= armed_ || stopped_) return;
  armed_ = next;
  timer_.expires_at(next);
  timer_.async_wait([self = shared_from_this()](error_code error) {
    if (error) return;
    self->armed_ = SteadyTime::max();
    self->turn();
  });
}

void CurlEngine::start() {
  core_.post([self = shared_from_this()] {
    if (!self->stopped_) self->watch_sockets();
  });
}

void CurlEngine::shut_down() {
  std::vector<CurlCall*> never_begun;
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(stopped_, true)) return;
    never_begun.swap(submitted_);
    resolved_.clear();
  }
  for (auto* call : never_begun) {
    call->id = ++last_id_;
    calls_.emplace(call->id, call);
  }
  while (!calls_.empty()) {
    CurlCall& call = *calls_.begin()->second;
    call.fail(HttpFailure::Kind::aborted, "the client stops");
    finish(call);
  }
  flush();
  spare_.clear();
  for (auto& lane : lanes_)
    lane.multi.reset();  // takes its sockets out of the epoll descriptor, so before that closes
  timer_.cancel();
  error_code ignored;
  sockets_.close(ignored);
}

}  // namespace presetbridge::net
