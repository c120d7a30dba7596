#include "cloud/agent_desk.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <thread>

#include "base/testing.h"
#include "net/runtime.h"

namespace presetbridge::cloud {
namespace {

using Kind = CloudError::Kind;

class ThrowingHttp final : public net::HttpClient {
 public:
  Task<net::HttpResult> send(Executor&, net::OutgoingRequest) override {
    if (++calls % 2 == 0) throw Error{"INTERNAL_ERROR", "an error of ours", {}};
    throw std::runtime_error("out of everything");
    co_return net::HttpResult{};
  }
  int calls = 0;
};

// A desk that takes one login at a time, on a thread of its own, and the service's end of its socket.
class AgentDeskTest : public ::testing::Test {
 protected:
  AgentDeskTest() {
    runtime_.start();
    serving_ = std::thread([this] { ended_well_ = desk_.serve(); });
  }
  ~AgentDeskTest() override {
    hang_up();
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  void hang_up() {
    ::shutdown(ends_[0], SHUT_RDWR);
    if (serving_.joinable()) serving_.join();
    runtime_.stop();
  }
  AgentReply ask(AgentRequest request) {
    const auto packet = encode(request);
    EXPECT_EQ(::send(ends_[0], packet.data(), packet.size(), MSG_EOR | MSG_NOSIGNAL),
              static_cast<ssize_t>(packet.size()));
    std::array<std::byte, max_agent_packet> buffer;
    const auto size = ::recv(ends_[0], buffer.data(), buffer.size(), 0);
    return decode_agent_reply(
               crypto::ByteView(buffer).first(static_cast<std::size_t>(std::max<ssize_t>(size, 0))))
        .value();
  }

  static std::array<int, 2> make_ends() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
      throw std::runtime_error("no socket");
    const timeval deadline{.tv_sec = 30, .tv_usec = 0};
    ::setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline);
    return ends;
  }

  const std::array<int, 2> ends_ = make_ends();
  presetbridge::testing::ManualClock clock_;
  presetbridge::testing::RecordingLog log_;
  ThrowingHttp http_;
  net::Runtime runtime_{1};
  const AgentOptions options_{
      .cloud = {.base_url = "https://cloud.example"}, .key_file = "", .max_concurrent = 1};
  AgentDesk desk_{ends_[1], options_, std::nullopt, {runtime_.scheduler(0), http_, clock_, log_}};
  std::thread serving_;
  bool ended_well_ = false;
};

TEST_F(AgentDeskTest, ALoginThatThrowsIsAnsweredToldOfAndGivesItsPlaceBack) {
  for (std::uint64_t id = 1; id <= 3; ++id) {
    const auto reply = ask({id, CloudLogin{"m@example.com", crypto::SecretString("planted-password")}});
    EXPECT_EQ(reply.id, id);
    ASSERT_FALSE(reply.result);
    EXPECT_EQ(reply.result.error().kind, Kind::unavailable);
    EXPECT_EQ(reply.result.error().message, "The credential agent met a fault.") << id;
  }
  hang_up();
  EXPECT_EQ(http_.calls, 3);
  EXPECT_TRUE(ended_well_);
  EXPECT_EQ(log_.text,
            "a login in the credential agent met a fault error=out of everything\n"
            "a login in the credential agent met a fault error=an error of ours\n"
            "a login in the credential agent met a fault error=out of everything\n");
}

TEST_F(AgentDeskTest, WithoutAKeyNoStoredLoginOpensAndThePlatformIsNotAsked) {
  const auto reply = ask({1, SealedRecord{AccountId{7}, 2, crypto::Bytes(80)}});
  ASSERT_FALSE(reply.result);
  EXPECT_EQ(reply.result.error().kind, Kind::credentials_unreadable);
  hang_up();
  EXPECT_EQ(http_.calls, 0);
}

}  // namespace
}  // namespace presetbridge::cloud
