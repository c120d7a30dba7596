#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "base/testing.h"
#include "base/wakeup.h"
#include "net/http_server.h"
#include "net/loopback_testing.h"

namespace presetbridge::net {
namespace {

using net::testing::TestSocket;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// Chunks that a test puts in come out of next().
class TestStream final : public BodyStream {
 public:
  explicit TestStream(Scheduler& scheduler) : wakeup_(scheduler) {}

  Task<std::optional<std::string>> next() override {
    for (;;) {
      if (auto chunk = take()) co_return chunk;
      if (over()) co_return std::nullopt;
      co_await wakeup_.wait(Millis{60'000});
    }
  }
  void end(End why) override {
    {
      const std::scoped_lock lock(mutex_);
      if (!ended_) ended_ = why;
    }
    changed_.notify_all();
    wakeup_.notify();
  }

  void put(std::string chunk) {
    {
      const std::scoped_lock lock(mutex_);
      chunks_.push_back(std::move(chunk));
    }
    wakeup_.notify();
  }
  void finish() {
    {
      const std::scoped_lock lock(mutex_);
      finished_ = true;
    }
    wakeup_.notify();
  }
  std::optional<End> wait_until_ended() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(10), [&] { return ended_.has_value(); });
    return ended_;
  }
  std::size_t waiting() {
    const std::scoped_lock lock(mutex_);
    return chunks_.size();
  }

 private:
  std::optional<std::string> take() {
    const std::scoped_lock lock(mutex_);
    if (ended_ || chunks_.empty()) return std::nullopt;
    auto chunk = std::move(chunks_.front());
    chunks_.pop_front();
    return chunk;
  }
  bool over() {
    const std::scoped_lock lock(mutex_);
    return ended_ || finished_;
  }

  Wakeup wakeup_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> chunks_;
  std::optional<End> ended_;
  bool finished_ = false;
};

// Answers each request with a stream of its own, which the test is handed.
class StreamHandler final : public HttpHandler {
 public:
  Task<HttpResponse> handle(HttpRequest request) override {
    HttpResponse response;
    response.content_type = "text/event-stream";
    auto stream = std::make_shared<TestStream>(*request.executor);
    response.stream = stream;
    const std::scoped_lock lock(mutex_);
    streams_.push_back(std::move(stream));
    changed_.notify_all();
    co_return response;
  }
  std::shared_ptr<TestStream> stream(std::size_t number) {
    std::unique_lock lock(mutex_);
    const bool there =
        changed_.wait_for(lock, std::chrono::seconds(10), [&] { return streams_.size() > number; });
    EXPECT_TRUE(there);
    return there ? streams_[number] : nullptr;
  }
  // They are destroyed where they live.
  void forget(Runtime& runtime) {
    for (int core = 0; core < runtime.cores(); ++core) runtime.run_on(core, [] {});
    const std::scoped_lock lock(mutex_);
    streams_.clear();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<TestStream>> streams_;
};

class SilentLog final : public Log {
 public:
  void write(Severity, std::string_view, std::span<const LogField>) noexcept override {}
};

class HttpStreamTest : public ::testing::Test {
 protected:
  ~HttpStreamTest() override {
    if (server_) server_->stop(Millis{5'000});
    runtime_.stop();
    handler_.forget(runtime_);
  }
  void start(HttpServerOptions options = {}) {
    server_.emplace(runtime_, handler_, random_, log_, std::move(options));
    ASSERT_TRUE(server_->listen().has_value());
    runtime_.start();
  }
  TestSocket ask(std::string_view request = "GET /events HTTP/1.1\r\nHost: a\r\n\r\n") {
    auto socket = TestSocket::connect(server_->port());
    socket.send(request);
    return socket;
  }
  void wait_for_connections(int count) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (server_->connections() != count && std::chrono::steady_clock::now() < give_up)
      std::this_thread::yield();
    EXPECT_EQ(server_->connections(), count);
  }

  Runtime runtime_{2};
  presetbridge::testing::SeededRandom random_;
  SilentLog log_;
  StreamHandler handler_;
  std::optional<HttpServer> server_;
};

TEST_F(HttpStreamTest, TextsGoOutAsTheyComeEachAChunk) {
  start();
  const auto socket = ask();
  const auto head = socket.read_until("\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("Transfer-Encoding: chunked\r\n"));
  EXPECT_THAT(head, HasSubstr("Content-Type: text/event-stream\r\n"));
  EXPECT_THAT(head, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("Content-Length")));
  const auto stream = handler_.stream(0);
  stream->put("first");
  EXPECT_EQ(socket.read_until("first\r\n"), "5\r\nfirst\r\n");
  stream->put("and the second");
  EXPECT_EQ(socket.read_until("second\r\n"), "e\r\nand the second\r\n");
  stream->finish();
  EXPECT_EQ(socket.read_to_end(), "0\r\n\r\n");
}

TEST_F(HttpStreamTest, ToHttp10ItIsSentAsItIs) {
  start();
  const auto socket = ask("GET /events HTTP/1.0\r\nHost: a\r\n\r\n");
  handler_.stream(0)->put("first");
  handler_.stream(0)->finish();
  const auto answer = socket.read_to_end();
  EXPECT_THAT(answer, Not(HasSubstr("chunked")));
  EXPECT_THAT(answer, EndsWith("\r\n\r\nfirst"));
}

TEST_F(HttpStreamTest, HeadGetsTheHeaderAlone) {
  start();
  const auto socket = ask("HEAD /events HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(socket.read_to_end(), EndsWith("\r\n\r\n"));
}

TEST_F(HttpStreamTest, AStreamEndsOnceItsClientIsGone) {
  start();
  auto socket = ask();
  const auto stream = handler_.stream(0);
  socket.close();
  EXPECT_EQ(stream->wait_until_ended(), BodyStream::End::closed);
  wait_for_connections(0);
}

TEST_F(HttpStreamTest, AClientThatDoesNotReadIsDroppedAndTheOthersAreNot) {
  start({.stream_write_deadline = Millis{200}, .stream_buffer_bytes = 4 * 1024});
  const auto slow = ask();
  const auto stream = handler_.stream(0);
  const auto other = ask();
  const std::string chunk(16 * 1024, 'x');
  for (int i = 0; i < 2'000; ++i) stream->put(chunk);
  EXPECT_EQ(stream->wait_until_ended(), BodyStream::End::slow);
  EXPECT_GT(stream->waiting(), 0U) << "what was not taken is not kept in memory of ours";
  wait_for_connections(1);
  handler_.stream(1)->put("still here");
  EXPECT_THAT(other.read_until("still here"), HasSubstr("still here"));
}

TEST_F(HttpStreamTest, AStopEndsStreamsCleanly) {
  start();
  const auto socket = ask();
  const auto stream = handler_.stream(0);
  stream->put("first");
  EXPECT_THAT(socket.read_until("first\r\n"), HasSubstr("first"));
  server_->stop(Millis{5'000});
  EXPECT_EQ(stream->wait_until_ended(), BodyStream::End::stopping);
  EXPECT_EQ(socket.read_to_end(), "0\r\n\r\n");
  EXPECT_EQ(server_->connections(), 0);
}

}  // namespace
}  // namespace presetbridge::net
