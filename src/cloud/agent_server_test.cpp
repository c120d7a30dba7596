#include "cloud/agent_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "base/testing.h"
#include "crypto/random.h"
#include "crypto/vault_keys.h"
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

// An agent that takes one login at a time, on a thread of its own, and the service's end of its socket.
class AgentServerTest : public ::testing::Test {
 protected:
  AgentServerTest()
      : AgentServerTest({.cloud = {.base_url = "https://cloud.example"}, .key_file = "", .max_concurrent = 1},
                        std::nullopt) {}
  AgentServerTest(AgentOptions options, std::optional<crypto::VaultKeyring> keys)
      : options_(std::move(options)),
        server_(ends_[1], options_, std::move(keys), {runtime_.scheduler(0), cloud_, log_}) {
    runtime_.start();
    serving_ = std::thread([this] { ended_well_ = server_.serve(); });
  }
  ~AgentServerTest() override {
    hang_up();
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  void hang_up() {
    ::shutdown(ends_[0], SHUT_RDWR);
    if (serving_.joinable()) serving_.join();
    runtime_.stop();
  }
  static const CloudResult<Session>& session_of(const AgentReply& reply) {
    return std::get<CloudResult<Session>>(reply.result);
  }
  AgentReply ask(AgentRequest request) {
    const auto packet = encode(request);
    EXPECT_EQ(::send(ends_[0], packet.data(), packet.size(), MSG_EOR | MSG_NOSIGNAL),
              static_cast<ssize_t>(packet.size()));
    std::array<std::byte, kMaxAgentPacket> buffer;
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
  const AgentOptions options_;
  HttpCloud cloud_{http_, clock_, options_.cloud};
  AgentServer server_;
  std::thread serving_;
  bool ended_well_ = false;
};

TEST_F(AgentServerTest, ALoginThatThrowsIsAnsweredLoggedAndFreesItsSlot) {
  for (std::uint64_t id = 1; id <= 3; ++id) {
    const auto reply = ask({id, CloudLogin{"m@example.com", crypto::SecretString("planted-password")}});
    EXPECT_EQ(reply.id, id);
    ASSERT_FALSE(session_of(reply));
    EXPECT_EQ(session_of(reply).error().kind, Kind::unavailable);
    EXPECT_EQ(session_of(reply).error().message, "The credential agent met a fault.") << id;
  }
  hang_up();
  EXPECT_EQ(http_.calls, 3);
  EXPECT_TRUE(ended_well_);
  EXPECT_EQ(log_.text,
            "a login in the credential agent met a fault error=out of everything\n"
            "a login in the credential agent met a fault error=an error of ours\n"
            "a login in the credential agent met a fault error=out of everything\n");
}

TEST_F(AgentServerTest, WithoutAKeyNoStoredLoginOpensAndThePlatformIsNotAsked) {
  const auto reply = ask({1, SealedRecord{AccountId{7}, 2, crypto::Bytes(80)}});
  ASSERT_FALSE(session_of(reply));
  EXPECT_EQ(session_of(reply).error().kind, Kind::credentials_unreadable);
  hang_up();
  EXPECT_EQ(http_.calls, 0);
}

// With the key files of a vault that are turned while it works.
class TurnedVaultTest : public AgentServerTest {
 protected:
  static std::string make_files() {
    std::string folder = (std::filesystem::temp_directory_path() / "presetbridge-agent-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder");
    crypto::SystemRandom random;
    if (!crypto::create_vault_key_files(folder + "/vault.key", folder + "/vault.pub", random))
      throw std::runtime_error("no keys");
    return folder;
  }
  TurnedVaultTest() : TurnedVaultTest(make_files()) {}
  explicit TurnedVaultTest(const std::string& folder)
      : AgentServerTest(AgentOptions{.cloud = {.base_url = "https://cloud.example"},
                                     .key_file = folder + "/vault.key",
                                     .max_concurrent = 1},
                        std::move(*crypto::read_vault_private_keys(folder + "/vault.key"))),
        folder_(folder) {}
  ~TurnedVaultTest() override {
    hang_up();
    std::filesystem::remove_all(folder_);
  }
  std::vector<crypto::VaultPublicKey> keys() const {
    return *crypto::read_vault_public_keys(folder_ + "/vault.pub");
  }
  const std::string folder_;
  crypto::SystemRandom random_;
};

TEST_F(TurnedVaultTest, ALoginIsSealedToAKeyThatWasAddedSinceAndToNoOtherThanItsOwn) {
  const crypto::RecordPlace place{AccountId{7}, 2};
  const auto old = keys().front();
  const SealedRecord record{place.account, place.version, old.seal(random_, place, "a login")};
  const auto added = crypto::add_vault_key(folder_ + "/vault.key", folder_ + "/vault.pub", random_);
  ASSERT_TRUE(added);

  const auto reply = ask({1, ResealRequest{record, added->id()}});
  ASSERT_TRUE(std::holds_alternative<ResealedRecord>(reply.result));
  const auto& fresh = std::get<ResealedRecord>(reply.result).record;
  EXPECT_EQ(crypto::sealed_record_key_id(fresh), added->id());
  const auto ring = crypto::read_vault_private_keys(folder_ + "/vault.key");
  EXPECT_EQ(ring->open(place, fresh)->reveal(), "a login");

  const auto strange = crypto::VaultPrivateKey::generate(random_).public_key();
  EXPECT_EQ(session_of(ask({2, ResealRequest{record, strange.id()}})).error().kind,
            Kind::credentials_unreadable);
  auto moved = record;
  moved.version = 3;
  EXPECT_EQ(session_of(ask({3, ResealRequest{moved, added->id()}})).error().kind,
            Kind::credentials_unreadable);
}

TEST_F(TurnedVaultTest, ItReportsTheKeysThatTheFileHasNow) {
  const auto held = [&] { return std::get<HeldKeys>(ask({1, HeldKeysRequest{}}).result).ids; };
  const auto first = keys().front().id();
  EXPECT_EQ(held(), std::vector{first});
  const auto added = crypto::add_vault_key(folder_ + "/vault.key", folder_ + "/vault.pub", random_);
  EXPECT_EQ(held(), (std::vector{added->id(), first}));
  ASSERT_EQ(crypto::drop_vault_keys_behind(folder_ + "/vault.key", folder_ + "/vault.pub", added->id()), 1);
  EXPECT_EQ(held(), std::vector{added->id()});
  std::filesystem::remove(folder_ + "/vault.key");
  EXPECT_EQ(session_of(ask({2, HeldKeysRequest{}})).error().kind, Kind::unavailable);
}

}  // namespace
}  // namespace presetbridge::cloud
