#include "net/http_server.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "base/testing.h"
#include "net/loopback_testing.h"

namespace presetbridge::net {
namespace {

using net::testing::TestSocket;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

// The time between the connect of an idle connection and the test's first bytes on it.
constexpr Millis kLongerThanAPause{1'000};

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

TEST_F(HttpServerTest, AnswersARequest) {
  start();
  const std::string answer =
      exchange("POST /a/b?c=d HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Type: text/plain\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_THAT(answer, ::testing::EndsWith("\r\n\r\nPOST /a/b?c=d hello from 127.0.0.1"));
}

TEST_F(HttpServerTest, ReadsARequestThatComesByteByByte) {
  start();
  const auto socket = connect();
  for (const char c :
       std::string_view("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc")) {
    socket.send({&c, 1});
  }
  EXPECT_THAT(socket.read_to_end(), HasSubstr("POST /a? abc"));
}

TEST_F(HttpServerTest, KeepsTheConnectionAndAnswersPipelinedRequestsInOrder) {
  start();
  const auto socket = connect();
  socket.send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(socket.read_until("from 127.0.0.1"), HasSubstr("GET /1"));
  socket.send(
      "POST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab"
      "POST /3 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nc\r\n0\r\n\r\n"
      "GET /4 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string answers = socket.read_to_end();
  const auto second = answers.find("POST /2? ab");
  const auto third = answers.find("POST /3? c");
  const auto fourth = answers.find("GET /4?");
  EXPECT_LT(second, third);
  EXPECT_LT(third, fourth);
  EXPECT_NE(fourth, answers.npos);
}

TEST_F(HttpServerTest, EveryAnswerCarriesTheRequestsId) {
  start();
  const auto id_for = [&](const std::string& field) {
    const std::string answer =
        exchange("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + field + "\r\n");
    const std::size_t at = answer.find("X-Request-Id: ") + 14;
    return answer.substr(at, answer.find("\r\n", at) - at);
  };
  EXPECT_EQ(id_for("X-Request-Id: my.own_id-1\r\n"), "my.own_id-1");
  EXPECT_THAT(id_for(""), MatchesRegex("[0-9a-f]{32}"));
  EXPECT_NE(id_for(""), id_for(""));
  EXPECT_THAT(id_for("X-Request-Id: not ours\r\n"), MatchesRegex("[0-9a-f]{32}"));
  EXPECT_THAT(id_for("X-Request-Id: " + std::string(65, 'a') + "\r\n"), MatchesRegex("[0-9a-f]{32}"));
}

TEST_F(HttpServerTest, ReadsAChunkedBodyAndUsesNothingOfItsTrailer) {
  start();
  const std::string answer = exchange(
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
      "5;ext=1\r\nhello\r\n6\r\n world\r\n0\r\nX-Request-Id: trailer\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("hello world from"));
  EXPECT_THAT(answer, Not(HasSubstr("trailer")));
}

TEST_F(HttpServerTest, HeadTellsTheLengthAndSendsNoBody) {
  start();
  const std::string answer = exchange("HEAD /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Length: 24\r\n"));
  EXPECT_THAT(answer, ::testing::EndsWith("\r\n\r\n"));
}

TEST_F(HttpServerTest, NoContentHasNeitherBodyNorLength) {
  start();
  const std::string answer = exchange("GET /empty HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 204 No Content\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("Content-Length")));
  EXPECT_THAT(answer, ::testing::EndsWith("\r\n\r\n"));
}

TEST_F(HttpServerTest, OldClientsAreAnsweredAndTheirConnectionClosedUnlessTheyAskToKeepIt) {
  start();
  EXPECT_THAT(exchange("GET /a HTTP/1.0\r\n\r\n"), HasSubstr("Connection: close\r\n"));
  const auto socket = connect();
  socket.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_THAT(socket.read_until("from 127.0.0.1"), HasSubstr("Connection: keep-alive\r\n"));
  socket.send("GET /b HTTP/1.0\r\n\r\n");
  EXPECT_THAT(socket.read_to_end(), HasSubstr("GET /b"));
}

TEST_F(HttpServerTest, TellsAWaitingClientToSendItsBody) {
  start();
  const auto socket = connect();
  socket.send(
      "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\nConnection: "
      "close\r\n\r\n");
  EXPECT_EQ(socket.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  socket.send("abc");
  EXPECT_THAT(socket.read_to_end(), HasSubstr("POST /a? abc"));
}

TEST_F(HttpServerTest, DoesNotAskForABodyThatIsTooLarge) {
  start({.body_bytes = 10});
  EXPECT_THAT(exchange("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n"),
              StartsWith("HTTP/1.1 200 OK"));
}

TEST_F(HttpServerTest, ReadsABodyUpToItsLimit) {
  start({.body_bytes = 10});
  EXPECT_THAT(
      exchange("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nConnection: close\r\n\r\n0123456789"),
      HasSubstr(" 0123456789 from"));
  EXPECT_THAT(exchange("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                       "5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n"),
              HasSubstr(" 0123456789 from"));
}

TEST_F(HttpServerTest, HandsOverABodyOverItsLimitAsTooLargeAndCloses) {
  start({.body_bytes = 10});
  for (const char* request :
       {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551615\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n6\r\n567890\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n01234567890"}) {
    const std::string answer = exchange(request);
    EXPECT_THAT(answer, HasSubstr(" too large from")) << request;
    EXPECT_THAT(answer, HasSubstr("Connection: close\r\n")) << request;
  }
}

TEST_F(HttpServerTest, AClientThatSendsAllOfAnOversizedBodyStillGetsTheAnswer) {
  start({.body_bytes = 10});
  const auto socket = connect();
  socket.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000\r\n\r\n");
  socket.send(std::string(4'000'000, 'x'));
  socket.finish_sending();
  EXPECT_THAT(socket.read_to_end(), HasSubstr(" too large from"));
}

struct Malformed {
  const char* what;
  std::string request;
  int status = 400;
};

TEST_F(HttpServerTest, RefusesWhatIsNotWellFormedWithAnErrorBodyAndCloses) {
  start({.header_bytes = 1'000, .header_fields = 20});
  const std::string post = "POST / HTTP/1.1\r\nHost: x\r\n";
  std::string many_fields = post;
  for (int i = 0; i < 20; ++i) many_fields += "A: b\r\n";
  const Malformed all[] = {
      {"not HTTP", "\x16\x03\x01\x02\r\n\r\n"},
      {"no version", "GET /\r\nHost: x\r\n\r\n"},
      {"two spaces", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"a control character in the target", "GET /\x01 HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"bare line feeds", "GET / HTTP/1.1\nHost: x\n\n"},
      {"no path", "GET example.com HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"a tunnel", "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"an asterisk", "GET * HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"no Host", "GET / HTTP/1.1\r\n\r\n"},
      {"two Hosts", post + "Host: y\r\n\r\n"},
      {"a space before the colon", post + "A : b\r\n\r\n"},
      {"a field without a colon", post + "A\r\n\r\n"},
      {"a NUL in a value", post + std::string("A: b\0c\r\n\r\n", 10)},
      {"both Content-Length and Transfer-Encoding",
       post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {"both, in the other order", post + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n"},
      {"two lengths", post + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"},
      {"two equal lengths", post + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc"},
      {"a list of lengths", post + "Content-Length: 3, 3\r\n\r\nabc"},
      {"a signed length", post + "Content-Length: +3\r\n\r\nabc"},
      {"a negative length", post + "Content-Length: -1\r\n\r\n"},
      {"a length that is no number", post + "Content-Length: 0x3\r\n\r\nabc"},
      {"a length over 64 bits", post + "Content-Length: 18446744073709551616\r\n\r\n"},
      {"an empty length", post + "Content-Length:\r\n\r\n"},
      {"two encodings", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {"an old client's encoding", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {"a chunk size that is no number", post + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n"},
      {"a negative chunk size", post + "Transfer-Encoding: chunked\r\n\r\n-1\r\n"},
      {"a chunk longer than it says", post + "Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n"},
      {"another encoding", post + "Transfer-Encoding: gzip\r\n\r\n", 501},
      {"chunked within another encoding", post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501},
      {"an encoding that only looks like chunked", post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
       501},
      {"another expectation", post + "Expect: a pony\r\n\r\n", 417},
      {"another version", "GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505},
      {"HTTP/2's preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"a version before versions", "GET / HTTP/0.9\r\nHost: x\r\n\r\n", 505},
      {"a version of two digits", "GET / HTTP/1.10\r\nHost: x\r\n\r\n"},
      {"a version in lower case", "GET / http/1.1\r\nHost: x\r\n\r\n"},
      {"a later version without Host", "GET / HTTP/1.2\r\n\r\n"},
      {"a folded field", post + "A: b\r\n c\r\n\r\n"},
      {"a field folded with a tab", post + "A: b\r\n\tc\r\n\r\n"},
      {"a field folded twice", post + "A: b\r\n \r\n c\r\nB: d\r\n\r\n"},
      {"a folded field without a value", post + "A:\r\n b\r\n\r\n"},
      {"white space before the first field", "GET / HTTP/1.1\r\n Host: x\r\n\r\n"},
      {"a folded trailer", post + "Transfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n c\r\n\r\n"},
      {"five empty lines", "\r\n\r\n\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"an empty line without carriage return", "\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"too many fields", many_fields + "\r\n", 431},
      {"too long a header", post + "A: " + std::string(1'000, 'a') + "\r\n\r\n", 431},
      {"a header without end", post + "A: " + std::string(5'000, 'a'), 431},
      {"a target without end", "GET /" + std::string(5'000, 'a'), 431},
      {"a chunk's extension without end",
       post + "Transfer-Encoding: chunked\r\n\r\n1;" + std::string(5'000, 'a'), 431},
      {"a trailer without end", post + "Transfer-Encoding: chunked\r\n\r\n0\r\nA: " + std::string(5'000, 'a'),
       431},
  };
  for (const auto& [what, request, status] : all) {
    const std::string answer = exchange(request);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + std::to_string(status) + ' ')) << what;
    EXPECT_THAT(answer, HasSubstr("\r\n\r\n{\"error\":{\"code\":\"")) << what;
    EXPECT_THAT(answer, HasSubstr("\r\nX-Request-Id: ")) << what;
    EXPECT_THAT(answer, HasSubstr("\r\nConnection: close\r\n")) << what;
    EXPECT_THAT(answer.substr(5), Not(HasSubstr("HTTP/1.1 ")))
        << what << ": nothing after it may be taken for a request";
  }
}

TEST_F(HttpServerTest, AcceptsTheAbsoluteFormOfATarget) {
  start();
  EXPECT_THAT(exchange("GET http://example.com/a?b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
              HasSubstr("GET /a?b "));
  EXPECT_THAT(exchange("GET http://example.com HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
              HasSubstr("GET /? "));
  for (const auto* target : {"*", "http://example.com", "https://example.com:443"}) {
    EXPECT_THAT(
        exchange(std::string("OPTIONS ") + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
        HasSubstr("OPTIONS *? "))
        << target;
  }
  EXPECT_THAT(exchange("OPTIONS http://example.com/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
              HasSubstr("OPTIONS /? "));
}

TEST_F(HttpServerTest, AnswersALaterVersionOneAsItsOwn) {
  start();
  for (const char minor : std::string_view("129")) {
    const auto socket = connect();
    const std::string request = "POST /a HTTP/1." + std::string(1, minor) + "\r\nHost: x\r\n";
    socket.send(request + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n");
    const auto answer = socket.read_until("from 127.0.0.1");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 ")) << minor;
    EXPECT_THAT(answer, HasSubstr("POST /a? ab"));
    socket.send(request + "Content-Length: 1\r\nConnection: close\r\n\r\nc");
    EXPECT_THAT(socket.read_to_end(), HasSubstr("POST /a? c")) << "the connection stays";
  }
}

// Bytes that old clients send behind a body.
TEST_F(HttpServerTest, SkipsAFewEmptyLinesBeforeARequest) {
  start();
  const std::string request = "GET /a HTTP/1.1\r\nHost: x\r\n";
  EXPECT_THAT(exchange("\r\n" + request + "Connection: close\r\n\r\n"), HasSubstr("GET /a? "));
  const auto socket = connect();
  for (const char c : "\r\n\r\n\r\n\r\n" + request + "\r\n\r\n\r\n" + request + "Connection: close\r\n\r\n")
    socket.send({&c, 1});
  const auto answers = socket.read_to_end();
  EXPECT_NE(answers.find("GET /a? "), answers.rfind("GET /a? ")) << answers;
}

TEST_F(HttpServerTest, AConnectionWithOnlyEmptyLinesIsIdle) {
  start({.header_deadline = Millis{40}, .idle_deadline = kLongerThanAPause});
  EXPECT_EQ(exchange("\r\n"), "");
  const auto socket = connect();
  socket.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n\r\n");
  EXPECT_THAT(socket.read_to_end(), ::testing::EndsWith("from 127.0.0.1"));
  EXPECT_THAT(exchange("\r"), StartsWith("HTTP/1.1 408 ")) << "half a line is the beginning of something";
}

TEST_F(HttpServerTest, DrainingClosesAConnectionWithOnlyEmptyLines) {
  start();
  const auto socket = connect();
  socket.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n\r\n");
  EXPECT_THAT(socket.read_until("from 127.0.0.1"), HasSubstr("200"));
  server_->stop(Millis{5'000});
  EXPECT_EQ(socket.read_to_end(), "");
  server_.reset();
}

TEST_F(HttpServerTest, ASlowHeaderIsAnswered408) {
  start({.header_deadline = Millis{40}});
  EXPECT_THAT(exchange("GET / HTTP/1.1\r\nHost:"), StartsWith("HTTP/1.1 408 "));
}

TEST_F(HttpServerTest, ASlowBodyIsAnswered408) {
  start({.body_deadline = Millis{40}});
  EXPECT_THAT(exchange("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc"),
              StartsWith("HTTP/1.1 408 "));
}

TEST_F(HttpServerTest, AnIdleConnectionIsClosedWithoutAWord) {
  start({.idle_deadline = kLongerThanAPause});
  EXPECT_EQ(exchange(""), "");
  const auto socket = connect();
  socket.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(socket.read_to_end(), ::testing::EndsWith("from 127.0.0.1"));
}

TEST_F(HttpServerTest, AClientThatDoesNotReadIsGivenUp) {
  start({.write_deadline = Millis{40}});
  const auto socket = connect();
  socket.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
  handler_.release();
  wait_for_connections(1);
  wait_for_connections(0);
  EXPECT_LT(socket.read_to_end().size(), 64U * 1024 * 1024);
}

TEST_F(HttpServerTest, ConnectionsOverTheCapAreAnswered503WhereNoneIsIdle) {
  start({.connections = 2});
  const auto first = connect();
  first.send("GET /wait HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const auto second = connect();
  second.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  handler_.wait_until_held(2);
  const std::string answer = connect().read_to_end();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(answer, HasSubstr("\r\nRetry-After: 1\r\n"));
  EXPECT_THAT(answer, HasSubstr(R"({"error":{"code":"OVERLOADED")"));
  handler_.release();
  EXPECT_THAT(first.read_to_end(), StartsWith("HTTP/1.1 200 "));
  wait_for_connections(1);
  const auto third = connect();
  third.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(third.read_to_end(), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, TheConnectionThatIsIdleLongestGivesWayToANewOne) {
  start({.connections = 4});
  int exchanges = 0;
  const auto exchange_on = [&](const TestSocket& socket) {
    SCOPED_TRACE(++exchanges);
    socket.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(socket.read_until("from 127.0.0.1"), StartsWith("HTTP/1.1 200 "));
    wait_until_noted();
  };
  // They are dealt to two cores in turn.
  const auto first = connect();
  exchange_on(first);
  const auto second = connect();
  exchange_on(second);
  const auto third = connect();
  exchange_on(third);
  const auto busy = connect();
  busy.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  handler_.wait_until_held(1);
  exchange_on(second);
  exchange_on(first);  // so the third has been idle longest, then the second

  const auto newcomer = connect();
  exchange_on(newcomer);
  EXPECT_EQ(third.read_to_end(), "");
  wait_for_connections(4);
  const auto another = connect();
  exchange_on(another);
  EXPECT_EQ(second.read_to_end(), "");
  wait_for_connections(4);
  handler_.release();
  EXPECT_THAT(busy.read_until("from 127.0.0.1"), StartsWith("HTTP/1.1 200 "));
  exchange_on(first);
}

TEST_F(HttpServerTest, ANetworkHasItsShareOfConnectionsAndOthersAreNotTouched) {
  start({.connections = 100, .connections_per_network = 2});
  const auto hold = [&](std::uint8_t host, std::size_t held) {
    auto socket = TestSocket::connect_from(host, server_->port());
    socket.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
    handler_.wait_until_held(held);
    return socket;
  };
  const auto first = hold(2, 1);
  const auto second = hold(2, 2);
  const auto refused = TestSocket::connect_from(2, server_->port()).read_to_end();
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(refused, HasSubstr("\r\nRetry-After: 1\r\n"));
  const auto other = hold(3, 3);
  handler_.release();
  EXPECT_THAT(first.read_until("from 127.0.0.2"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(second.read_until("from 127.0.0.2"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(other.read_until("from 127.0.0.3"), StartsWith("HTTP/1.1 200 "));

  // Idle ones of the same network give way, and only those: the other's is older than the second.
  const auto third = TestSocket::connect_from(2, server_->port());
  third.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(third.read_until("from 127.0.0.2"), StartsWith("HTTP/1.1 200 "));
  wait_for_connections(3);
  other.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(other.read_to_end(), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, AClosedConnectionGivesItsNetworkThePlaceBack) {
  start({.connections = 100, .connections_per_network = 1});
  for (int i = 0; i < 20; ++i) {
    auto socket = TestSocket::connect_from(2, server_->port());
    socket.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    ASSERT_THAT(socket.read_to_end(), StartsWith("HTTP/1.1 200 ")) << i;
    wait_for_connections(0);
  }
}

TEST_F(HttpServerTest, PeersThatSpeakForOthersHaveNoShareOfTheirOwn) {
  start({.connections = 100,
         .connections_per_network = 1,
         .shared_networks = {*IpNetwork::parse("127.0.0.2")}});
  std::vector<TestSocket> sockets;
  for (std::size_t i = 0; i < 20; ++i) {
    sockets.push_back(TestSocket::connect_from(2, server_->port()));
    sockets.back().send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
    handler_.wait_until_held(i + 1);
  }
  handler_.release();
  for (const auto& socket : sockets) EXPECT_THAT(socket.read_until("from"), StartsWith("HTTP/1.1 200 "));
}

// Of this process: nothing more can be opened while it lives, but for what stands below `next_free`.
class NoFiles {
 public:
  explicit NoFiles(int next_free) {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit none{static_cast<rlim_t>(next_free), before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoFiles() { setrlimit(RLIMIT_NOFILE, &before_); }
  // The lowest descriptor that is free: all below are taken.
  static int next_free() {
    const int probe = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    EXPECT_GE(probe, 0);
    ::close(probe);
    return probe;
  }

 private:
  rlimit before_{};
};

TEST_F(HttpServerTest, WithoutAFileTheConnectionThatIsIdleLongestGivesWay) {
  start();
  const auto idle = connect();
  idle.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  idle.read_until("from 127.0.0.1");
  const auto newcomer = TestSocket::unconnected();
  const NoFiles none(NoFiles::next_free());
  newcomer.connect_to(server_->port());
  newcomer.send("GET /new HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(newcomer.read_until("from 127.0.0.1"), HasSubstr("GET /new"));
  EXPECT_EQ(idle.read_to_end(), "");
}

TEST_F(HttpServerTest, WhoTakesTheLastFileNeedNotGiveWayWhileNobodyWaits) {
  start();
  const auto last = TestSocket::unconnected();
  const NoFiles none(NoFiles::next_free() + 1);
  last.connect_to(server_->port());
  wait_for_connections(1);
  for (int i = 0; i < 10; ++i) wait_until_noted();
  last.send("GET /last HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(last.read_until("from 127.0.0.1"), HasSubstr("GET /last"));
  EXPECT_EQ(log_.lines(), 0);
}

TEST_F(HttpServerTest, WithoutAFileItWaitsSaysSoOnceAndGoesOnWhenThereIsOne) {
  start();
  const auto busy = connect();
  busy.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  handler_.wait_until_held(1);
  const auto newcomer = TestSocket::unconnected();
  const auto used = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return std::chrono::seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           std::chrono::microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  };
  {
    const NoFiles none(NoFiles::next_free());
    const auto before = used();
    newcomer.connect_to(server_->port());
    newcomer.send("GET /new HTTP/1.1\r\nHost: x\r\n\r\n");
    log_.wait_for(1);
    pollfd waiting{newcomer.descriptor(), POLLIN, 0};
    EXPECT_EQ(::poll(&waiting, 1, 500), 0) << "there is no file for it";
    EXPECT_LT(used() - before, std::chrono::milliseconds(250)) << "it spins";
  }
  EXPECT_THAT(newcomer.read_until("from 127.0.0.1"), HasSubstr("GET /new"));
  EXPECT_EQ(log_.lines(), 1);
  handler_.release();
  EXPECT_THAT(busy.read_until("from 127.0.0.1"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, AHandlerThatThrowsIsA500AndTheConnectionGoesOn) {
  start();
  const std::string answers = exchange(
      "GET /throw HTTP/1.1\r\nHost: x\r\nX-Request-Id: me\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nConnection: "
      "close\r\n\r\n");
  EXPECT_THAT(answers, StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(answers, HasSubstr("\r\nX-Request-Id: me\r\n"));
  EXPECT_THAT(answers, HasSubstr(R"({"error":{"code":"INTERNAL_ERROR")"));
  EXPECT_THAT(answers, Not(HasSubstr("planted")));
  EXPECT_THAT(answers, HasSubstr("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, AFieldThatWouldSplitTheAnswerIsA500) {
  start();
  const std::string answer = exchange("GET /split HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(answer, Not(HasSubstr("Set-Cookie")));
}

TEST_F(HttpServerTest, DropsAConnectionWithoutAnAnswerWhereTheHandlerAsksForThat) {
  start();
  EXPECT_EQ(exchange("GET /drop HTTP/1.1\r\nHost: x\r\n\r\n"), "");
}

TEST_F(HttpServerTest, AClientThatHangsUpInTheMiddleLeavesNothingBehind) {
  start();
  for (const char* part : {"", "GET", "GET / HTTP/1.1\r\nHost: x\r\n",
                           "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc"}) {
    connect().send(part);
    auto socket = connect();
    socket.send(part);
    socket.reset();
  }
  auto waiting = connect();
  waiting.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  handler_.wait_until_held(1);
  waiting.reset();
  handler_.release();
  wait_for_connections(0);
}

TEST_F(HttpServerTest, ServesAHundredConnectionsAtOnce) {
  start();
  std::vector<TestSocket> sockets;
  for (int i = 0; i < 100; ++i) sockets.push_back(connect());
  for (const auto& socket : sockets)
    socket.send("GET /wait HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  handler_.wait_until_held(100);
  handler_.release();
  for (const auto& socket : sockets) EXPECT_THAT(socket.read_to_end(), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, DrainingEndsRunningRequestsAndClosesIdleConnections) {
  start();
  const auto idle = connect();
  const auto busy = connect();
  busy.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  handler_.wait_until_held(1);
  wait_for_connections(2);
  std::thread stopping([this] { server_->stop(Millis{10'000}); });
  EXPECT_EQ(idle.read_to_end(), "");  // so the drain has begun
  handler_.release();
  const std::string answer = busy.read_to_end();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, HasSubstr("\r\nConnection: close\r\n"));
  stopping.join();
  EXPECT_EQ(server_->connections(), 0);
}

TEST_F(HttpServerTest, DrainingGivesUpAtItsDeadline) {
  start();
  const auto busy = connect();
  busy.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  handler_.wait_until_held(1);
  server_->stop(Millis{20});
  EXPECT_EQ(busy.read_to_end(), "");
  handler_.release();
  wait_for_connections(0);
}

TEST_F(HttpServerTest, SaysWhyItCannotListen) {
  start();
  HttpServer same(runtime_, handler_, random_, log_, {.port = server_->port()});
  EXPECT_EQ(same.listen().error().code, "LISTEN_FAILED");
  HttpServer named(runtime_, handler_, random_, log_, {.address = "localhost"});
  EXPECT_EQ(named.listen().error().code, "LISTEN_FAILED");
}

}  // namespace
}  // namespace presetbridge::net
