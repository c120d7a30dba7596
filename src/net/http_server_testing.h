// A fixture with a server on loopback, whose handler answers by path and holds answers back.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/testing.h"
#include "net/http_server.h"
#include "net/loopback_testing.h"
#include "net/runtime.h"

namespace presetbridge::net::testing {

class LockedRandom final : public Random {
 public:
  void fill(std::span<std::byte> out) override {
    const std::scoped_lock lock(mutex_);
    random_.fill(out);
  }

 private:
  std::mutex mutex_;
  presetbridge::testing::SeededRandom random_;
};

// Answers by path.
class TestHandler final : public HttpHandler {
 public:
  Task<HttpResponse> handle(HttpRequest request) override {
    HttpResponse response;
    response.content_type = "text/plain";
    if (request.path == "/throw") throw std::runtime_error("planted");
    if (request.path == "/split") response.headers.add("Location", "x\r\nSet-Cookie: y");
    if (request.path == "/drop") response.drop_connection = true;
    if (request.path == "/large") response.body.assign(64 * 1024 * 1024, 'x');
    if (request.path == "/empty") response.status = 204;
    if (request.path == "/wait") {
      co_await suspend<bool>(*request.executor, [this](auto resume) { hold(std::move(resume)); });
    }
    if (response.body.empty()) {
      response.body = request.method + ' ' + request.path + '?' + request.query + ' ' +
                      (request.body_too_large ? "too large" : request.body) + " from " +
                      request.remote_address;
    }
    co_return response;
  }
  void wait_until_held(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(10), [&] { return held_.size() >= count; }));
  }
  void release() {
    const std::scoped_lock lock(mutex_);
    for (auto& resume : held_) resume(true);
    held_.clear();
  }

 private:
  void hold(std::function<void(bool)> resume) {
    const std::scoped_lock lock(mutex_);
    held_.push_back(std::move(resume));
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::function<void(bool)>> held_;
};

// Counts lines at warn and above.
class CountingLog final : public Log {
 public:
  void write(Severity severity, std::string_view, std::span<const LogField>) noexcept override {
    if (severity < Severity::warn) return;
    const std::scoped_lock lock(mutex_);
    ++lines_;
    changed_.notify_all();
  }
  int lines() {
    const std::scoped_lock lock(mutex_);
    return lines_;
  }
  void wait_for(int lines) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(10), [&] { return lines_ >= lines; }));
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int lines_ = 0;
};

class HttpServerTest : public ::testing::Test {
 protected:
  ~HttpServerTest() override {
    handler_.release();
    if (server_) server_->stop(Millis{5'000});
    runtime_.stop();
  }
  void start(HttpServerOptions options = {}) {
    server_.emplace(runtime_, handler_, random_, log_, std::move(options));
    const auto listening = server_->listen();
    ASSERT_TRUE(listening.has_value()) << listening.error().message;
    runtime_.start();
  }
  TestSocket connect() { return TestSocket::connect(server_->port()); }
  // Everything that comes back for `bytes`, until the server closes.
  std::string exchange(std::string_view bytes) {
    const auto socket = connect();
    socket.send(bytes);
    return socket.read_to_end();
  }
  // Waits until the cores have noted that what they answered is idle. An answer can be read before its core
  // has queued what follows it, so the first of the two can come before that, the second cannot.
  void wait_until_noted() {
    for (int turn = 0; turn < 2; ++turn) {
      for (int core = 0; core < runtime_.cores(); ++core) runtime_.run_on(core, [] {});
    }
  }
  void wait_for_connections(int count) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (server_->connections() != count && std::chrono::steady_clock::now() < give_up)
      std::this_thread::yield();
    EXPECT_EQ(server_->connections(), count);
  }

  Runtime runtime_{2};
  LockedRandom random_;
  CountingLog log_;
  TestHandler handler_;
  std::optional<HttpServer> server_;
};

}  // namespace presetbridge::net::testing
