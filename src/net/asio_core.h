// Private to net/: a core of the runtime as Asio sees it, and the awaitable form of Asio's operations.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <coroutine>
#include <optional>
#include <thread>
#include <utility>

#include "net/runtime.h"

namespace presetbridge::net {

namespace asio = boost::asio;
using boost::system::error_code;
using IoExecutor = asio::io_context::executor_type;
using SteadyTime = std::chrono::steady_clock::time_point;
// Bound to the concrete executor: no type erasure on the hot path.
using TcpSocket = asio::basic_stream_socket<asio::ip::tcp, IoExecutor>;
using TcpAcceptor = asio::basic_socket_acceptor<asio::ip::tcp, IoExecutor>;
using SteadyTimer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                               asio::wait_traits<std::chrono::steady_clock>, IoExecutor>;

struct Runtime::Core final : Scheduler {
  void post(Callback callback) override;
  std::unique_ptr<Timer> schedule(Millis delay, Callback callback) override;

  asio::io_context io{1};  // the hint: one thread runs it
  std::optional<asio::executor_work_guard<IoExecutor>> work{io.get_executor()};
  std::thread thread;
};

// The result of an operation of Asio.
template <class Value>
struct IoResult {
  error_code error;
  Value value{};
};

// co_await io<Value>([&](auto done) { socket.async_x(..., std::move(done)); }): starts the operation and goes
// on, on the thread of its io_context, with its result. Operations of Asio never complete inside their start.
template <class Value, class Start>
auto io(Start start) {
  struct Awaiter {
    Start start;
    IoResult<Value> result;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> caller) {
      start([this, caller](error_code error, Value value = {}) {
        result.error = error;
        result.value = std::move(value);
        caller.resume();
      });
    }
    IoResult<Value> await_resume() { return std::move(result); }
  };
  return Awaiter{std::move(start), {}};
}

}  // namespace presetbridge::net
