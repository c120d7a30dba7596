// Task<T>: a lazy coroutine that is awaited once, or started with spawn(). It knows no executor: it runs on
// the thread that resumes it. Bridges to callbacks (storage, cloud, timers) go through suspend(), which
// resumes on the executor it is given.
//
// Rules: no capturing lambdas as coroutines; coroutine parameters by value, or references to what outlives
// the task; no lock is held across a co_await; state is read again after it.
#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/executor.h"

namespace presetbridge {

template <class T>
class Task;

namespace task_detail {

struct FinalAwaiter {
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return self.promise().continuation;
  }
  void await_resume() const noexcept {}
};

struct PromiseBase {
  std::coroutine_handle<> continuation = std::noop_coroutine();
  std::exception_ptr exception;
  std::suspend_always initial_suspend() const noexcept { return {}; }
  FinalAwaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { exception = std::current_exception(); }
};

template <class T>
struct Promise : PromiseBase {
  std::optional<T> value;
  Task<T> get_return_object() noexcept;
  template <class U>
  void return_value(U&& v) {
    value.emplace(std::forward<U>(v));
  }
  T take() {
    if (exception) std::rethrow_exception(exception);
    return std::move(*value);
  }
};

template <>
struct Promise<void> : PromiseBase {
  Task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void take() const {
    if (exception) std::rethrow_exception(exception);
  }
};

}  // namespace task_detail

template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = task_detail::Promise<T>;
  using value_type = T;

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  auto operator co_await() && noexcept {
    struct Awaiter {
      std::coroutine_handle<promise_type> handle;
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
        handle.promise().continuation = caller;
        return handle;
      }
      T await_resume() { return handle.promise().take(); }
    };
    return Awaiter{handle_};
  }

 private:
  friend promise_type;
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

namespace task_detail {

template <class T>
Task<T> Promise<T>::get_return_object() noexcept {
  return Task<T>{std::coroutine_handle<Promise>::from_promise(*this)};
}
inline Task<void> Promise<void>::get_return_object() noexcept {
  return Task<void>{std::coroutine_handle<Promise>::from_promise(*this)};
}

// A coroutine that owns itself: started at once, destroyed at its end.
struct Detached {
  struct promise_type {
    Detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
};

}  // namespace task_detail

// The end of a spawned task: its value, or the exception that left it.
template <class T>
struct Outcome {
  std::exception_ptr exception;
  std::optional<T> value;
};
template <>
struct Outcome<void> {
  std::exception_ptr exception;
};

// Starts `task` now, on this thread; `done(Outcome<T>)` runs once, on the thread where the task ends.
template <class T, class Done>
void spawn(Task<T> task, Done done) {
  [](Task<T> owned, Done finish) -> task_detail::Detached {
    Outcome<T> outcome;
    try {
      if constexpr (std::is_void_v<T>) {
        co_await std::move(owned);
      } else {
        outcome.value.emplace(co_await std::move(owned));
      }
    } catch (...) {
      outcome.exception = std::current_exception();
    }
    finish(std::move(outcome));
  }(std::move(task), std::move(done));
}

// suspend<T>(executor, start): calls start(resume) where `resume` is a copyable function of one T; whoever
// gets it calls it exactly once, on any thread; the coroutine goes on with that value as a callback of
// `executor`. A `resume` that is never called leaks the coroutine: every port promises to complete, with an
// error at shutdown.
template <class T, class Start>
auto suspend(Executor& executor, Start start) {
  struct Awaiter {
    Executor& executor;
    Start start;
    std::optional<T> value;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> caller) {
      // `start` may complete and resume, so destroy this awaiter, before it returns: nothing of *this is used
      // after it.
      Start local = std::move(start);
      local([this, caller, &resume_on = executor](T result) {
        value.emplace(std::move(result));
        resume_on.post([caller] { caller.resume(); });
      });
    }
    T await_resume() { return std::move(*value); }
  };
  return Awaiter{executor, std::move(start), std::nullopt};
}

}  // namespace presetbridge
