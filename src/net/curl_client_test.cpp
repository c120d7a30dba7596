#include "net/curl_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <future>
#include <map>
#include <mutex>

#include "net/loopback_testing.h"

namespace presetbridge::net {
namespace {

using net::testing::TestListener;
using net::testing::TestSocket;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using Kind = HttpFailure::Kind;

// Resolves the names that a test adds, on a thread of its own; never answers for "silent.test".
class TestResolver final : public Resolver {
 public:
  void resolve(std::string host, std::string owner, std::function<void(Addresses)> done) override {
    last_owner = std::move(owner);
    if (host == "silent.test") return;
    Addresses found;
    if (const auto at = names.find(host); at != names.end()) found = at->second;
    std::thread([done = std::move(done), found = std::move(found)]() mutable {
      done(std::move(found));
    }).join();
  }
  std::map<std::string, Addresses> names;
  std::string last_owner;
};

class CurlClientTest : public ::testing::Test {
 protected:
  CurlClientTest() { runtime_.start(); }
  ~CurlClientTest() override {
    if (client_) client_->stop();
    runtime_.stop();
  }
  CurlClient& client(CurlClientOptions options = {}) {
    if (!client_) client_.emplace(runtime_, 0, resolver_, std::move(options));
    return *client_;
  }
  std::future<HttpResult> begin(OutgoingRequest request) {
    auto& to = client();
    auto promise = std::make_shared<std::promise<HttpResult>>();
    auto result = promise->get_future();
    auto& executor = runtime_.scheduler(1);
    executor.post([&to, &executor, promise, request = std::move(request)]() mutable {
      spawn(to.send(executor, std::move(request)), [promise](Outcome<HttpResult> outcome) {
        if (outcome.exception) {
          promise->set_exception(outcome.exception);
        } else {
          promise->set_value(std::move(*outcome.value));
        }
      });
    });
    return result;
  }
  HttpResult send(OutgoingRequest request) { return begin(std::move(request)).get(); }
  static OutgoingRequest to(std::uint16_t port, std::string path = "/") {
    return {.url = "http://127.0.0.1:" + std::to_string(port) + path,
            .body = "{}",
            .policy = AddressPolicy::configured};
  }
  static std::optional<Kind> failure(const HttpResult& result) {
    if (const auto* failed = result.failure()) return failed->kind;
    return std::nullopt;
  }
  // Sends a request to a server that answers with exactly these bytes and closes.
  HttpResult answered_with(std::string_view bytes, OutgoingRequest request = {}) {
    const TestListener listener;
    OutgoingRequest addressed = to(listener.port());
    addressed.method = request.method;
    addressed.body = request.body;
    addressed.max_answer_bytes = request.max_answer_bytes;
    auto result = begin(std::move(addressed));
    const auto server = listener.accept();
    server.read_until("\r\n\r\n" + request.body);
    server.send(bytes);
    server.finish_sending();
    return result.get();
  }

  Runtime runtime_{2};
  TestResolver resolver_;
  std::optional<CurlClient> client_;
};

TEST_F(CurlClientTest, SendsTheRequestAsItIsAndReadsTheAnswer) {
  const TestListener listener;
  OutgoingRequest request = to(listener.port(), "/hook?a=b");
  request.headers = {{"X-Vendor-Event", "delivery.completed"}, {"X-Empty", ""}};
  request.body = "{\"a\":1}";
  auto result = begin(std::move(request));
  const auto server = listener.accept();
  const std::string sent = server.read_until("{\"a\":1}");
  EXPECT_THAT(sent, ::testing::StartsWith("POST /hook?a=b HTTP/1.1\r\n"));
  EXPECT_THAT(sent, HasSubstr("\r\nX-Vendor-Event: delivery.completed\r\n"));
  EXPECT_THAT(sent, HasSubstr("\r\nX-Empty:\r\n"));
  EXPECT_THAT(sent, HasSubstr("\r\nContent-Length: 7\r\n"));
  EXPECT_THAT(sent, HasSubstr("\r\nUser-Agent: presetbridge\r\n"));
  EXPECT_THAT(sent, Not(HasSubstr("Content-Type")));
  EXPECT_THAT(sent, Not(HasSubstr("Expect")));
  server.send(
      "HTTP/1.1 100 Continue\r\nX-Interim: 1\r\n\r\nHTTP/1.1 201 Created\r\nX-One:  two \r\nContent-Length: "
      "4\r\n\r\ndone");
  const HttpResult got = result.get();
  ASSERT_NE(got.answer(), nullptr) << got.failure()->message;
  EXPECT_EQ(got.answer()->status, 201);
  EXPECT_EQ(got.answer()->body, "done");
  EXPECT_FALSE(got.answer()->truncated);
  EXPECT_THAT(got.answer()->headers, Contains(Pair("x-one", "two")));
  EXPECT_THAT(got.answer()->headers, Not(Contains(Pair("x-interim", "1"))));
}

TEST_F(CurlClientTest, EachMethodGoesOutAsItself) {
  for (const char* method : {"GET", "DELETE", "PUT", "PATCH", "POST"}) {
    const TestListener listener;
    OutgoingRequest request = to(listener.port());
    request.method = method;
    request.body = "";
    auto result = begin(std::move(request));
    const auto server = listener.accept();
    EXPECT_THAT(server.read_until("\r\n\r\n"),
                ::testing::StartsWith(std::string(method) + " / HTTP/1.1\r\n"));
    server.send("HTTP/1.1 204 No Content\r\n\r\n");
    EXPECT_EQ(result.get().answer()->status, 204);
  }
}

TEST_F(CurlClientTest, HeadExpectsNoBody) {
  const auto result = answered_with("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", {.method = "HEAD"});
  ASSERT_NE(result.answer(), nullptr) << result.failure()->message;
  EXPECT_EQ(result.answer()->status, 200);
}

TEST_F(CurlClientTest, AConnectionIsKeptForTheNextRequest) {
  const TestListener listener;
  auto first = begin(to(listener.port()));
  const auto server = listener.accept();
  for (int i = 0; i < 3; ++i) {
    server.read_until("{}");
    server.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(first.get().answer()->status, 200);
    if (i < 2) first = begin(to(listener.port()));
  }
  EXPECT_FALSE(listener.anyone_waits());
}

TEST_F(CurlClientTest, ARedirectIsAnAnswerAndIsNotFollowed) {
  const TestListener listener;
  const auto result =
      answered_with("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:" + std::to_string(listener.port()) +
                    "/\r\nContent-Length: 0\r\n\r\n");
  ASSERT_NE(result.answer(), nullptr);
  EXPECT_EQ(result.answer()->status, 302);
  EXPECT_FALSE(listener.anyone_waits());
}

TEST_F(CurlClientTest, AnAnswerIsReadUpToItsLimitAndStillSucceeds) {
  const auto result =
      answered_with("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + std::string(100'000, 'x'),
                    {.max_answer_bytes = 1'000});
  ASSERT_NE(result.answer(), nullptr) << result.failure()->message;
  EXPECT_EQ(result.answer()->status, 200);
  EXPECT_EQ(result.answer()->body, std::string(1'000, 'x'));
  EXPECT_TRUE(result.answer()->truncated);
}

TEST_F(CurlClientTest, AnAnswerOfExactlyTheLimitIsWhole) {
  const auto result =
      answered_with("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcd", {.max_answer_bytes = 4});
  ASSERT_NE(result.answer(), nullptr);
  EXPECT_EQ(result.answer()->body, "abcd");
  EXPECT_FALSE(result.answer()->truncated);
}

TEST_F(CurlClientTest, AConnectionThatBreaksBeforeAWholeAnswerIsLost) {
  for (const char* bytes : {"", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"}) {
    const auto result = answered_with(bytes);
    EXPECT_EQ(failure(result), Kind::lost) << bytes;
    EXPECT_TRUE(result.failure()->effect_unknown());
  }
}

TEST_F(CurlClientTest, WhatIsNoHttpAnswerIsLost) {
  for (const std::string& bytes :
       {std::string("SSH-2.0-OpenSSH\r\n\r\n"),
        "HTTP/1.1 200 OK\r\n" + std::string(70'000, 'a') + ": b\r\n\r\n", "HTTP/1.1 200 OK\r\n" + [] {
          std::string fields;
          for (int i = 0; i < 2'000; ++i) fields += "X-Field: " + std::string(50, 'a') + "\r\n";
          return fields;
        }() + "\r\n"}) {
    EXPECT_EQ(failure(answered_with(bytes)), Kind::lost) << bytes.substr(0, 40);
  }
}

TEST_F(CurlClientTest, ARequestIsNotRepeatedWhenItsKeptConnectionBreaks) {
  const TestListener listener;
  auto first = begin(to(listener.port()));
  auto server = listener.accept();
  server.read_until("{}");
  server.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(first.get().answer()->status, 200);
  auto second = begin(to(listener.port()));
  server.read_until("{}");  // it took the request, and dies
  server.close();
  const auto result = second.get();
  EXPECT_EQ(failure(result), Kind::lost);
  while (listener.anyone_waits()) {  // a new connection may have been made; no request came over it
    EXPECT_EQ(listener.accept().read_to_end(), "");
  }
}

TEST_F(CurlClientTest, AServerThatNeverAnswersIsATimeout) {
  const TestListener listener;
  OutgoingRequest request = to(listener.port());
  request.deadline = Millis{1'000};  // within which it is connected
  auto result = begin(std::move(request));
  const auto server = listener.accept();
  server.read_until("{}");
  const auto got = result.get();
  EXPECT_EQ(failure(got), Kind::timeout);
  EXPECT_GE(got.duration, Millis{1'000});
}

TEST_F(CurlClientTest, AServerThatStopsInTheMiddleOfItsAnswerIsATimeout) {
  const TestListener listener;
  OutgoingRequest request = to(listener.port());
  request.deadline = Millis{1'000};  // within which it is connected
  auto result = begin(std::move(request));
  const auto server = listener.accept();
  server.read_until("{}");
  server.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_EQ(failure(result.get()), Kind::timeout);
}

TEST_F(CurlClientTest, ARefusedConnectionHadNoEffect) {
  TestListener listener;
  const auto port = listener.port();
  listener.close();
  const auto result = send(to(port));
  EXPECT_EQ(failure(result), Kind::connect);
  EXPECT_FALSE(result.failure()->effect_unknown());
}

TEST_F(CurlClientTest, TheProxyOfTheEnvironmentIsNotUsed) {
  const TestListener proxy;
  const std::string url = "http://127.0.0.1:" + std::to_string(proxy.port());
  for (const char* name : {"http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"})
    ::setenv(name, url.c_str(), 1);
  ::unsetenv("no_proxy");
  const auto result = answered_with("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  for (const char* name : {"http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"})
    ::unsetenv(name);
  EXPECT_NE(result.answer(), nullptr);
  EXPECT_FALSE(proxy.anyone_waits());
}

TEST_F(CurlClientTest, APrivateAddressIsDeniedInEverySpelling) {
  const TestListener listener;
  const std::string port = std::to_string(listener.port());
  for (const char* host : {"127.0.0.1", "127.1", "0x7f.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]"}) {
    const auto result = send({.url = "https://" + std::string(host) + ':' + port + "/"});
    EXPECT_EQ(failure(result), Kind::denied) << host;
  }
  EXPECT_FALSE(listener.anyone_waits());
}

TEST_F(CurlClientTest, ANameIsDeniedForTheAddressesThatItHas) {
  const TestListener listener;
  const std::string port = std::to_string(listener.port());
  resolver_.names["inside.test"] = {IpAddress::v4({127, 0, 0, 1}), *IpAddress::parse("::1"),
                                    IpAddress::v4({10, 0, 0, 1})};
  resolver_.names["metadata.test"] = {IpAddress::v4({169, 254, 169, 254})};
  EXPECT_EQ(failure(send({.url = "https://inside.test:" + port + "/"})), Kind::denied);
  EXPECT_EQ(failure(send({.url = "https://metadata.test/"})), Kind::denied);
  EXPECT_EQ(failure(send({.url = "http://metadata.test/", .policy = AddressPolicy::sandbox_receivers})),
            Kind::denied);
  EXPECT_FALSE(listener.anyone_waits());
}

TEST_F(CurlClientTest, TheSandboxPolicyReachesLoopbackByName) {
  const TestListener listener;
  resolver_.names["receiver.test"] = {IpAddress::v4({10, 0, 0, 1}), IpAddress::v4({127, 0, 0, 1})};
  auto result = begin({.url = "http://receiver.test:" + std::to_string(listener.port()) + "/",
                       .body = "{}",
                       .policy = AddressPolicy::sandbox_receivers});
  const auto server = listener.accept();
  EXPECT_THAT(server.read_until("{}"), HasSubstr("\r\nHost: receiver.test:"));
  server.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  EXPECT_NE(result.get().answer(), nullptr);
}

TEST_F(CurlClientTest, AConnectionMadeUnderOnePolicyIsNotUsedUnderAnother) {
  const TestListener listener;
  resolver_.names["both.test"] = {IpAddress::v4({127, 0, 0, 1})};
  const std::string url = "http://both.test:" + std::to_string(listener.port()) + "/";
  auto trusted = begin({.url = url, .body = "{}", .policy = AddressPolicy::configured});
  const auto server = listener.accept();
  server.read_until("{}");
  server.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  EXPECT_NE(trusted.get().answer(), nullptr);
  resolver_.names["both.test"] = {IpAddress::v4({10, 0, 0, 1})};
  EXPECT_EQ(failure(send({.url = url, .policy = AddressPolicy::sandbox_receivers})), Kind::denied);
}

TEST_F(CurlClientTest, ANameWithoutAnAddressIsUnresolved) {
  EXPECT_EQ(failure(send({.url = "https://unknown.test/"})), Kind::unresolved);
}

TEST_F(CurlClientTest, TheResolverLearnsForWhomItLooksUp) {
  OutgoingRequest request{.url = "https://nowhere.test/", .owner = "acc_1"};
  EXPECT_EQ(failure(send(std::move(request))), Kind::unresolved);
  EXPECT_EQ(resolver_.last_owner, "acc_1");
}

TEST_F(CurlClientTest, AResolverThatIsSilentIsUnresolvedAtTheDeadline) {
  EXPECT_EQ(failure(send({.url = "https://silent.test/", .deadline = Millis{30}})), Kind::unresolved);
}

TEST_F(CurlClientTest, WhatCannotBeSentIsInvalid) {
  const TestListener listener;
  const auto invalid = [&](auto change) {
    OutgoingRequest request = to(listener.port());
    change(request);
    EXPECT_EQ(failure(send(std::move(request))), Kind::invalid);
  };
  invalid([](auto& r) { r.url = "not a url"; });
  invalid([](auto& r) { r.url = "ftp://127.0.0.1/"; });
  invalid([](auto& r) { r.url = "http://user:secret@127.0.0.1/"; });
  invalid([](auto& r) { r.url = "http://127.0.0.1/a\r\nb"; });
  invalid([](auto& r) { r.url = "http://example.com/", r.policy = AddressPolicy::public_https; });
  invalid([](auto& r) { r.method = "POST / HTTP/1.1\r\nX: y\r\n"; });
  invalid([](auto& r) { r.method = ""; });
  invalid([](auto& r) { r.method = "HEAD"; });
  for (const std::string& value :
       {std::string("a\rb"), std::string("a\nb"), std::string("a\0b", 3), std::string("a\r\nX: y")}) {
    invalid([&](auto& r) { r.headers = {{"X-Field", value}}; });
  }
  for (const char* name : {"", "a b", "a:b", "a\nb", "Content-Length", "transfer-encoding"}) {
    invalid([&](auto& r) { r.headers = {{name, "1"}}; });
  }
  EXPECT_FALSE(listener.anyone_waits());
}

TEST_F(CurlClientTest, CallsOverTheLimitOfAHostWaitForTheirTurn) {
  client({.calls_per_host = 1});
  const TestListener listener;
  auto first = begin(to(listener.port(), "/first"));
  const auto server = listener.accept();
  server.read_until("{}");
  OutgoingRequest hurried = to(listener.port(), "/hurried");
  hurried.deadline = Millis{30};
  EXPECT_EQ(failure(send(std::move(hurried))), Kind::connect) << "its turn never came: it had no effect";
  auto second = begin(to(listener.port(), "/second"));
  server.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  EXPECT_NE(first.get().answer(), nullptr);
  EXPECT_THAT(server.read_until("{}"), HasSubstr("POST /second "));
  server.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  EXPECT_NE(second.get().answer(), nullptr);
  EXPECT_FALSE(listener.anyone_waits());
}

TEST_F(CurlClientTest, CallsBeyondTheRoomToWaitFailAtOnce) {
  client({.calls = 1, .waiting_calls = 1});
  const TestListener listener;
  auto running = begin(to(listener.port()));
  const auto server = listener.accept();
  auto waiting = begin(to(listener.port()));
  EXPECT_EQ(failure(send(to(listener.port()))), Kind::connect);
  client().stop();
  EXPECT_EQ(failure(waiting.get()), Kind::aborted);
}

TEST_F(CurlClientTest, StoppingAbortsEveryCallAndEveryLaterOne) {
  const TestListener listener;
  auto running = begin(to(listener.port()));
  auto resolving = begin({.url = "https://silent.test/"});
  const auto server = listener.accept();
  server.read_until("{}");
  client().stop();
  EXPECT_EQ(failure(running.get()), Kind::aborted);
  EXPECT_EQ(failure(resolving.get()), Kind::aborted);
  EXPECT_EQ(failure(send(to(listener.port()))), Kind::aborted);
  EXPECT_EQ(server.read_to_end(), "");
}

TEST_F(CurlClientTest, AHundredCallsRunAtOnceAndEndOnTheirExecutor) {
  client({.calls_per_host = 100});
  const TestListener listener;
  std::vector<std::future<HttpResult>> results;
  for (int i = 0; i < 100; ++i) results.push_back(begin(to(listener.port(), "/" + std::to_string(i))));
  std::vector<TestSocket> servers;
  for (int i = 0; i < 100; ++i) servers.push_back(listener.accept());
  for (const auto& server : servers) {
    server.read_until("{}");
    server.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  }
  for (auto& result : results) EXPECT_EQ(result.get().answer()->body, "ok");
}

}  // namespace
}  // namespace presetbridge::net
