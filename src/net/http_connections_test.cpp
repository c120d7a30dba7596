// The connections of the HTTP server: deadlines, shares, descriptors, and the drain at the end.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>

#include "net/http_server_testing.h"

namespace presetbridge::net {
namespace {

using net::testing::TestSocket;
using ::testing::HasSubstr;
using testing::HttpServerTest;
using ::testing::StartsWith;

// The time between the connect of an idle connection and the test's first bytes on it.
constexpr Millis kLongerThanAPause{1'000};

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

// While it lives, this process can open no more files than the free numbers below `next_free`.
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

}  // namespace
}  // namespace presetbridge::net
