#include "net/http_server.h"

#include <gmock/gmock.h>

#include "net/http_server_testing.h"

namespace presetbridge::net {
namespace {

using ::testing::HasSubstr;
using testing::HttpServerTest;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

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

TEST_F(HttpServerTest, HeadReturnsTheLengthAndSendsNoBody) {
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

TEST_F(HttpServerTest, AsksAWaitingClientForItsBody) {
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

TEST_F(HttpServerTest, SaysWhyItCannotListen) {
  start();
  HttpServer same(runtime_, handler_, random_, log_, {.port = server_->port()});
  EXPECT_EQ(same.listen().error().code, "LISTEN_FAILED");
  HttpServer named(runtime_, handler_, random_, log_, {.address = "localhost"});
  EXPECT_EQ(named.listen().error().code, "LISTEN_FAILED");
}

}  // namespace
}  // namespace presetbridge::net
