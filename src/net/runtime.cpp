#include "net/runtime.h"

#include <signal.h>

#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <future>

#include "net/asio_core.h"

namespace presetbridge::net {

namespace {

class AsioTimer final : public Timer {
 public:
  AsioTimer(asio::io_context& io, Millis delay, Callback callback)
      : state_(std::make_shared<State>(io, std::move(callback))) {
    state_->timer.expires_after(std::max(delay, Millis{0}));
    state_->timer.async_wait([state = state_](error_code) {
      // An expired wait may be queued already when the timer is cancelled: the callback's absence decides,
      // not the error code.
      if (auto due = std::exchange(state->callback, nullptr)) due();
    });
  }
  ~AsioTimer() override {
    state_->callback = nullptr;
    state_->timer.cancel();
  }

 private:
  struct State {
    State(asio::io_context& io, Callback c) : timer(io), callback(std::move(c)) {}
    SteadyTimer timer;
    Callback callback;
  };
  std::shared_ptr<State> state_;
};

// Waits for signals as long as the process lives or the core is stopped.
struct Termination {
  Termination(asio::io_context& io, std::function<void(int)> c)
      : signals(io, SIGTERM, SIGINT), callback(std::move(c)) {}
  asio::signal_set signals;
  std::function<void(int)> callback;
};

void await_signal(std::shared_ptr<Termination> termination) {
  auto& signals = termination->signals;
  signals.async_wait([termination = std::move(termination)](error_code error, int signal) {
    if (error) return;
    termination->callback(signal);
    await_signal(termination);
  });
}

}  // namespace

Timestamp SystemClock::now() const {
  return std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now());
}

void Runtime::Core::post(Callback callback) {
  asio::post(io, [callback = std::move(callback)]() mutable { callback(); });
}

std::unique_ptr<Timer> Runtime::Core::schedule(Millis delay, Callback callback) {
  return std::make_unique<AsioTimer>(io, delay, std::move(callback));
}

Runtime::Runtime(int cores) {
  ::signal(SIGXFSZ, SIG_IGN);  // a file at its limit is an error of the write, as a full disk is
  // libcurl leaves signals alone (CURLOPT_NOSIGNAL), and TLS writes have no MSG_NOSIGNAL.
  ::signal(SIGPIPE, SIG_IGN);
  for (int i = 0; i < cores; ++i) cores_.push_back(std::make_unique<Core>());
}

Runtime::~Runtime() {
  stop(Millis{0});
}

Scheduler& Runtime::scheduler(int index) {
  return core(index);
}

void Runtime::start() {
  running_ = true;
  running_cores_ = cores();
  for (auto& c : cores_) {
    c->thread = std::thread([this, &io = c->io] {
      io.run();
      const std::scoped_lock lock(mutex_);
      --running_cores_;
      ended_.notify_one();
    });
  }
}

void Runtime::on_termination(std::function<void(int)> callback) {
  auto& io = core(0).io;
  auto termination = std::make_shared<Termination>(io, std::move(callback));
  stop_signals_ = [&io, weak = std::weak_ptr(termination)] {
    asio::post(io, [weak] {
      if (auto t = weak.lock()) t->signals.cancel();
    });
  };
  await_signal(std::move(termination));
}

void Runtime::stop(Millis drain) {
  if (!running_) return;
  if (stop_signals_) stop_signals_();
  for (auto& c : cores_) {
    asio::post(c->io, [&c] {
      c->work.reset();
    });  // after what is posted already; then run() ends when nothing is pending
  }
  {
    std::unique_lock lock(mutex_);
    ended_.wait_for(lock, drain, [this] { return running_cores_ == 0; });
  }
  for (auto& c : cores_) c->io.stop();
  for (auto& c : cores_) c->thread.join();
  running_ = false;
}

void Runtime::run_on(int index, const std::function<void()>& work) {
  if (!running_) return work();
  std::promise<void> done;
  core(index).post([&] {
    work();
    done.set_value();
  });
  done.get_future().wait();
}

}  // namespace presetbridge::net
