#include "cloud/agent_client.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/file_descriptor.h"
#include "cloud/agent_protocol.h"

namespace presetbridge::cloud {
namespace {

using Complete = std::move_only_function<void(AgentReply::Result)>;

// The grain of deadlines and restarts. Counted by a timerfd, so that this layer reads no clock.
constexpr Millis kTick{50};

CloudResult<Session> away(const char* message) {
  return std::unexpected(CloudError{CloudError::Kind::unavailable, message, false, std::nullopt});
}
CloudResult<Session> busy(const char* message) {
  return std::unexpected(CloudError{CloudError::Kind::busy, message, false, std::nullopt});
}

std::uint64_t ticks_of(Millis time) {
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(time / kTick), 1);
}

// The error for an answer that does not fit the request.
CloudError error_of(const AgentReply::Result& result) {
  const auto* session = std::get_if<CloudResult<Session>>(&result);
  if (session && !*session) return session->error();
  return {CloudError::Kind::unavailable, "The credential agent answered something else.", false, {}};
}
CloudResult<Session> session_of(AgentReply::Result result) {
  if (auto* session = std::get_if<CloudResult<Session>>(&result)) return std::move(*session);
  return std::unexpected(error_of(result));
}

struct Child {
  pid_t pid = 0;
  FileDescriptor socket;
};

// A child with nothing of ours but descriptor 3 and standard error; nothing if the system refuses.
std::optional<Child> start_child(const AgentProcessOptions& options) {
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0) return std::nullopt;
  Child child{0, FileDescriptor(pair[0])};
  const FileDescriptor theirs(pair[1]);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, theirs.get(), 3);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&files, 4);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);

  std::vector<std::string> arguments = options.arguments;
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::array<char*, 1> environment{nullptr};
  const int error = ::posix_spawn(&child.pid, options.program.c_str(), &files, &attributes, argv.data(),
                                  environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) return std::nullopt;
  return child;
}

}  // namespace

// Owns the process and the thread. `mutex_` guards what callers and the thread share; completions run without
// it.
class AgentProcess::Supervisor {
 public:
  Supervisor(Log& log, AgentProcessOptions options)
      : log_(log),
        options_(std::move(options)),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
        backoff_(options_.respawn_min) {
    const itimerspec every{.it_interval = {0, kTick.count() * 1'000'000},
                           .it_value = {0, kTick.count() * 1'000'000}};
    ::timerfd_settime(timer_.get(), 0, &every, nullptr);
    start();
    thread_ = std::thread([this] { run(); });
  }

  ~Supervisor() { stop(); }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof one);
    if (thread_.joinable()) thread_.join();
  }

  int pid() const {
    const std::lock_guard lock(mutex_);
    return child_ ? child_->pid : 0;
  }

  const AgentProcessOptions& options() const { return options_; }

  // Completes in any case, perhaps before it returns.
  void ask(AgentRequest request, Turn turn, Complete complete) {
    std::vector<Ended> ended;
    {
      const std::lock_guard lock(mutex_);
      auto& line = waiting_[static_cast<std::size_t>(turn)];
      if (stopping_) {
        ended.push_back({std::move(complete), away("The service is shutting down.")});
      } else if (!child_) {
        ended.push_back({std::move(complete), away("The credential agent is not running.")});
      } else if (line.size() >= options_.max_waiting) {
        ended.push_back({std::move(complete), busy("Too many cloud logins wait here.")});
      } else {
        line.push_back({std::move(request), std::move(complete), ticks_ + ticks_of(options_.max_wait)});
        fill_places(ended);
      }
    }
    end_all(ended);
  }

  // Puts the logins of this account that wait in the background among the others, by when they came.
  void hurry(AccountId account) {
    const std::lock_guard lock(mutex_);
    auto& [first, background] = waiting_;
    for (auto at = background.begin(); at != background.end();) {
      const auto* record = std::get_if<SealedRecord>(&at->request.what);
      if (record == nullptr || record->account != account) {
        ++at;
        continue;
      }
      const auto place = std::ranges::lower_bound(first, at->deadline_tick, {}, &Waiting::deadline_tick);
      first.insert(place, std::move(*at));
      at = background.erase(at);
    }
  }

 private:
  struct Waiting {
    AgentRequest request;
    Complete complete;
    std::uint64_t deadline_tick = 0;
  };
  struct Pending {
    Complete complete;
    std::uint64_t deadline_tick = 0;
  };
  struct Ended {
    Complete complete;
    CloudResult<Session> result;
  };

  // Without the mutex.
  static void end_all(std::vector<Ended>& all) {
    for (auto& [complete, result] : all) complete(std::move(result));
  }

  // Under the mutex. Gives the agent requests that wait, as many as have a place; adds to `ended` those that
  // it cannot be given.
  void fill_places(std::vector<Ended>& ended) {
    while (child_ && pending_.size() < options_.max_in_flight) {
      const auto line = std::ranges::find_if(waiting_, [](const auto& one) { return !one.empty(); });
      if (line == waiting_.end()) return;
      Waiting& next = line->front();
      next.request.id = ++last_id_;
      auto packet = encode(next.request);
      const bool fits = packet.size() <= kMaxAgentPacket;
      const auto sent = fits ? ::send(child_->socket.get(), packet.data(), packet.size(),
                                      MSG_DONTWAIT | MSG_NOSIGNAL | MSG_EOR)
                             : -1;
      const bool full = fits && sent < 0 && errno == EAGAIN;
      crypto::wipe(packet);
      if (full) return;  // the next tick finds room
      if (sent < 0) {
        ended.push_back({std::move(next.complete), away("The credential agent took no request.")});
      } else {
        pending_.emplace(last_id_,
                         Pending{std::move(next.complete), ticks_ + ticks_of(options_.answer_deadline)});
      }
      line->pop_front();
    }
  }

  void start() {
    auto child = start_child(options_);
    if (!child) log_.error("The credential agent could not be started");
    const std::lock_guard lock(mutex_);
    started_tick_ = ticks_;
    if (child) {
      child_ = std::move(child);
    } else {
      schedule_start();
    }
  }

  // Under the mutex.
  void schedule_start() {
    start_tick_ = ticks_ + ticks_of(backoff_);
    backoff_ = std::min(backoff_ * 2, options_.respawn_max);
  }

  void run() {
    while (true) {
      int socket = -1;
      {
        const std::lock_guard lock(mutex_);
        if (stopping_) break;
        if (child_) socket = child_->socket.get();
      }
      std::array<pollfd, 3> watched{
          {{wake_.get(), POLLIN, 0}, {timer_.get(), POLLIN, 0}, {socket, POLLIN, 0}}};
      if (::poll(watched.data(), watched.size(), -1) < 0) continue;  // EINTR
      if (watched[2].revents != 0) receive(socket);
      if (watched[1].revents != 0) pass_time();
    }
    bury("The service is shutting down.");
  }

  void receive(int socket) {
    std::array<std::byte, kMaxAgentPacket> buffer;
    const auto size = ::recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    std::optional<AgentReply> reply;
    if (size > 0 && static_cast<std::size_t>(size) <= buffer.size()) {
      reply = decode_agent_reply(crypto::ByteView(buffer).first(static_cast<std::size_t>(size)));
    }
    crypto::wipe(std::span(buffer));
    if (!reply) {
      restart();
      return;
    }
    Complete complete;
    std::vector<Ended> ended;
    {
      const std::lock_guard lock(mutex_);
      const auto found = pending_.find(reply->id);
      if (found == pending_.end()) return;  // it was too late
      complete = std::move(found->second.complete);
      pending_.erase(found);
      fill_places(ended);
    }
    complete(std::move(reply->result));
    end_all(ended);
  }

  void pass_time() {
    std::uint64_t passed = 0;
    if (::read(timer_.get(), &passed, sizeof passed) != sizeof passed) return;
    std::vector<Ended> ended;
    bool start_now = false;
    {
      const std::lock_guard lock(mutex_);
      ticks_ += passed;
      for (auto at = pending_.begin(); at != pending_.end();) {
        if (at->second.deadline_tick > ticks_) {
          ++at;
          continue;
        }
        ended.push_back({std::move(at->second.complete), away("The cloud login took too long.")});
        at = pending_.erase(at);
      }
      for (auto& line : waiting_) {
        for (; !line.empty() && line.front().deadline_tick <= ticks_; line.pop_front())
          ended.push_back(
              {std::move(line.front().complete), busy("No slot for the cloud login was free in time.")});
      }
      fill_places(ended);
      start_now = !child_ && ticks_ >= start_tick_;
    }
    end_all(ended);
    if (start_now) start();
  }

  // The agent closed its end or spoke nonsense: of no more use either way.
  void restart() {
    const int status = bury("The credential agent ended.");
    Millis wait{0};
    {
      const std::lock_guard lock(mutex_);
      const auto lived = kTick * static_cast<std::int64_t>(ticks_ - started_tick_);
      if (lived >= options_.respawn_max) backoff_ = options_.respawn_min;
      wait = backoff_;
      schedule_start();
    }
    log_.warn("The credential agent ended and will be started again",
              {{"exitCode", static_cast<std::int64_t>(WIFEXITED(status) ? WEXITSTATUS(status) : -1)},
               {"signal", static_cast<std::int64_t>(WIFSIGNALED(status) ? WTERMSIG(status) : 0)},
               {"waitMs", static_cast<std::int64_t>(wait.count())}});
  }

  // Kills what may be left, reaps it, and answers what it was asked or was to be asked. The exit status.
  int bury(const char* message) {
    std::optional<Child> dead;
    std::vector<Ended> orphans;
    {
      const std::lock_guard lock(mutex_);
      dead = std::exchange(child_, std::nullopt);
      for (auto& [id, pending] : pending_) orphans.push_back({std::move(pending.complete), away(message)});
      pending_.clear();
      for (auto& line : waiting_) {
        for (auto& one : line) orphans.push_back({std::move(one.complete), away(message)});
        line.clear();
      }
    }
    int status = 0;
    if (dead) {
      ::kill(dead->pid, SIGKILL);  // it holds nothing that it would have to save
      while (::waitpid(dead->pid, &status, 0) < 0 && errno == EINTR) {
      }
    }
    end_all(orphans);
    return status;
  }

  Log& log_;
  const AgentProcessOptions options_;
  const FileDescriptor wake_;
  const FileDescriptor timer_;
  mutable std::mutex mutex_;  // guards all below but thread_
  std::optional<Child> child_;
  std::map<std::uint64_t, Pending> pending_;    // what the agent has
  std::array<std::deque<Waiting>, 2> waiting_;  // for a place, oldest first: by Turn
  std::uint64_t last_id_ = 0;
  std::uint64_t ticks_ = 0;
  std::uint64_t started_tick_ = 0;
  std::uint64_t start_tick_ = 0;
  Millis backoff_;
  bool stopping_ = false;
  std::thread thread_;
};

AgentProcess::AgentProcess(Log& log, AgentProcessOptions options)
    : log_(log), supervisor_(std::make_unique<Supervisor>(log, std::move(options))) {}

AgentProcess::~AgentProcess() = default;

Millis AgentProcess::login_deadline() const {
  return supervisor_->options().max_wait + supervisor_->options().answer_deadline;
}

template <class What>
Task<AgentReply::Result> AgentProcess::ask(Executor& executor, Turn turn, What what) {
  co_return co_await suspend<AgentReply::Result>(executor, [&](auto resume) {
    supervisor_->ask(AgentRequest{0, std::move(what)}, turn, std::move(resume));
  });
}

Task<CloudResult<Session>> AgentProcess::login(Executor& executor, Turn turn, SealedRecord record) {
  const auto account = record.account;
  const auto version = record.version;
  auto session = session_of(co_await ask(executor, turn, std::move(record)));
  if (!session && session.error().kind == CloudError::Kind::credentials_unreadable) {
    log_.error("a stored login cannot be opened",
               {{"account", to_string(account)}, {"version", version}, {"reason", session.error().message}});
  }
  co_return session;
}

Task<CloudResult<Session>> AgentProcess::login(Executor& executor, AccountId account, std::int64_t version,
                                               crypto::Bytes sealed) {
  return login(executor, Turn::first, SealedRecord{account, version, std::move(sealed)});
}

Task<CloudResult<Session>> AgentProcess::login_with(Executor& executor, std::string email,
                                                    crypto::SecretString password) {
  co_return session_of(
      co_await ask(executor, Turn::first, CloudLogin{std::move(email), std::move(password)}));
}

Task<CloudResult<Session>> AgentProcess::Background::login(Executor& executor, AccountId account,
                                                           std::int64_t version, crypto::Bytes sealed) {
  return agent_.login(executor, Turn::background, SealedRecord{account, version, std::move(sealed)});
}

Task<CloudResult<Session>> AgentProcess::Background::login_with(Executor& executor, std::string email,
                                                                crypto::SecretString password) {
  co_return session_of(
      co_await agent_.ask(executor, Turn::background, CloudLogin{std::move(email), std::move(password)}));
}

void AgentProcess::Background::hurry(AccountId account) {
  agent_.supervisor_->hurry(account);
}

Task<CloudResult<crypto::Bytes>> AgentProcess::reseal(Executor& executor, AccountId account,
                                                      std::int64_t version, crypto::Bytes sealed,
                                                      crypto::VaultKeyId to) {
  auto answer = co_await ask(executor, Turn::first,
                             ResealRequest{SealedRecord{account, version, std::move(sealed)}, to});
  if (auto* resealed = std::get_if<ResealedRecord>(&answer)) co_return std::move(resealed->record);
  co_return std::unexpected(error_of(answer));
}

Task<CloudResult<std::vector<crypto::VaultKeyId>>> AgentProcess::held_keys(Executor& executor) {
  auto answer = co_await ask(executor, Turn::first, HeldKeysRequest{});
  if (auto* held = std::get_if<HeldKeys>(&answer)) co_return std::move(held->ids);
  co_return std::unexpected(error_of(answer));
}

void AgentProcess::stop() {
  supervisor_->stop();
}

int AgentProcess::pid() const {
  return supervisor_->pid();
}

}  // namespace presetbridge::cloud
