// The way to the agent, whose process is this program again: it serves in the first test below.
#include "cloud/agent_client.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "cloud/agent_server.h"
#include "crypto/secret.h"
#include "net/runtime.h"

namespace presetbridge::cloud {
namespace {

using Kind = CloudError::Kind;
using Login = std::future<CloudResult<Session>>;

constexpr std::size_t kPlacesInAgent = 4;

// Each user is the number of the login. One whose e-mail address is the path of a FIFO has its answer once a
// byte comes through it, and those after it wait.
class NumberingPlatform final : public CloudLogIn {
 public:
  Task<CloudResult<Session>> log_in(Executor&, CloudLogin login) override {
    if (login.email.starts_with('/')) std::ifstream(login.email).get();
    const auto number = std::to_string(++logins_);
    co_return Session{"token", number, "merchant " + number, from_unix_ms(1'900'000'000'000)};
  }

 private:
  int logins_ = 0;
};

// Descriptor 3 in an agent's process, else an end of a pair whose other end is closed.
int served_descriptor() {
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(3, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET) return 3;
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0)
    throw std::runtime_error("no socket");
  ::close(pair[0]);
  return pair[1];
}

// The processes of the tests below run this one.
TEST(AgentOfTests, ServesAsLongAsTheServiceIsThere) {
  NumberingPlatform platform;
  NullLog log;
  net::Runtime runtime(1);
  const AgentOptions options{
      .cloud = {.base_url = "https://cloud.example"}, .key_file = "", .max_concurrent = kPlacesInAgent};
  const int served = served_descriptor();
  AgentServer server(served, options, std::nullopt, {runtime.scheduler(0), platform, log});
  runtime.start();
  EXPECT_TRUE(server.serve());
  runtime.stop();
  ::close(served);
}

class AgentProcessTest : public ::testing::Test {
 protected:
  AgentProcessTest() {
    if (::mkfifo(fifo_.c_str(), 0600) != 0) throw std::runtime_error("no FIFO");
    // For reading too: neither end waits for the other to open it.
    gate_ = ::open(fifo_.c_str(), O_RDWR | O_CLOEXEC);
    runtime_.start();
  }
  ~AgentProcessTest() override {
    agent_.reset();
    runtime_.stop();
    ::close(gate_);
    std::filesystem::remove_all(folder_);
  }

  void start(AgentProcessOptions options) {
    options.arguments = {"cloud_test", "--gtest_filter=AgentOfTests.ServesAsLongAsTheServiceIsThere"};
    agent_ = std::make_unique<AgentProcess>(log_, std::move(options));
  }
  // The request is with the agent, or waits, when this returns.
  Login log_in(CredentialAgent& agent, const std::string& email = "m@example.com") {
    auto ended = std::make_shared<std::promise<CloudResult<Session>>>();
    spawn(agent.login_with(runtime_.scheduler(0), email, crypto::SecretString("a password")),
          [ended](Outcome<CloudResult<Session>> outcome) { ended->set_value(std::move(*outcome.value)); });
    return ended->get_future();
  }
  // A login that has a place until open_gate().
  Login log_in_at_gate() { return log_in(agent_->in_background(), fifo_); }
  void open_gate() const { ASSERT_EQ(::write(gate_, "x", 1), 1); }

  static std::string make_folder() {
    std::string folder = (std::filesystem::temp_directory_path() / "presetbridge-client-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder");
    return folder;
  }

  const std::string folder_ = make_folder();
  const std::string fifo_ = folder_ + "/gate";
  int gate_ = -1;
  NullLog log_;
  net::Runtime runtime_{1};
  std::unique_ptr<AgentProcess> agent_;
};

TEST_F(AgentProcessTest, ManyMoreLoginsThanPlacesAtOnceAllSucceed) {
  start({.max_in_flight = kPlacesInAgent, .max_wait = Millis{60'000}});
  std::vector<Login> logins;
  logins.push_back(log_in_at_gate());
  for (int i = 1; i < 100; ++i) logins.push_back(log_in(agent_->in_background()));
  open_gate();
  for (auto& login : logins) {
    const auto session = login.get();
    EXPECT_TRUE(session) << session.error().message;
  }
}

TEST_F(AgentProcessTest, ALoginThatFindsNoPlaceInTimeIsBusyAndNoTroubleOfThePlatform) {
  start({.max_in_flight = 1, .max_wait = Millis{100}});
  auto first = log_in_at_gate();
  const auto late = log_in(*agent_).get();
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, Kind::busy);
  EXPECT_EQ(late.error().message, "No slot for the cloud login was free in time.");
  open_gate();
  EXPECT_TRUE(first.get());
}

TEST_F(AgentProcessTest, APersonsLoginDoesNotWaitBehindThoseInTheBackground) {
  start({.max_in_flight = 1, .max_wait = Millis{60'000}});
  auto first = log_in_at_gate();
  std::vector<Login> others;
  for (int i = 0; i < 90; ++i) others.push_back(log_in(agent_->in_background()));
  auto persons = log_in(*agent_);
  open_gate();
  EXPECT_EQ(first.get().value().user_id, "1");
  EXPECT_EQ(persons.get().value().user_id, "2");
  for (std::size_t i = 0; i < others.size(); ++i)
    EXPECT_EQ(others[i].get().value().user_id, std::to_string(i + 3));
}

TEST_F(AgentProcessTest, ALoginInTheBackgroundThatAPersonWaitsForGoesBeforeTheRest) {
  start({.max_in_flight = 1, .max_wait = Millis{60'000}});
  std::mutex mutex;
  std::vector<std::string> ended;  // in this order
  std::vector<std::future<void>> all;
  const auto log = [&](std::string name, Task<CloudResult<Session>> login) {
    auto done = std::make_shared<std::promise<void>>();
    all.push_back(done->get_future());
    spawn(std::move(login), [&, name = std::move(name), done](const Outcome<CloudResult<Session>>&) {
      {
        const std::lock_guard lock(mutex);
        ended.push_back(name);
      }
      done->set_value();
    });
  };
  auto& background = agent_->in_background();
  auto& here = runtime_.scheduler(0);
  // The agent of this test opens no stored login; what counts is when it answers.
  const auto stored = [&](std::int64_t account) {
    return background.login(here, AccountId{account}, 1, crypto::Bytes(1));
  };
  auto first = log_in_at_gate();
  log("account 1", stored(1));
  log("account 2", stored(2));
  log("a person", agent_->login_with(here, "m@example.com", crypto::SecretString("a password")));
  log("account 3", stored(3));
  background.hurry(AccountId{2});
  background.hurry(AccountId{4});  // nothing of it waits
  open_gate();
  EXPECT_TRUE(first.get());
  for (auto& one : all) one.get();
  EXPECT_EQ(ended, (std::vector<std::string>{"account 2", "a person", "account 1", "account 3"}));
}

TEST_F(AgentProcessTest, LoginsBeyondThoseThatMayWaitAreBusyAtOnce) {
  start({.max_in_flight = 1, .max_waiting = 1, .max_wait = Millis{60'000}});
  auto first = log_in_at_gate();
  auto waiting = log_in(agent_->in_background());
  const auto beyond = log_in(agent_->in_background()).get();
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().kind, Kind::busy);
  auto persons = log_in(*agent_);
  open_gate();
  for (auto* login : {&first, &waiting, &persons}) EXPECT_TRUE(login->get());
}

TEST_F(AgentProcessTest, ThePlacesOfTheAgentItselfAreNoTroubleOfThePlatformEither) {
  start({.max_in_flight = kPlacesInAgent + 1});
  std::vector<Login> logins;
  logins.push_back(log_in_at_gate());
  for (std::size_t i = 1; i < kPlacesInAgent; ++i) logins.push_back(log_in(*agent_));
  const auto beyond = log_in(*agent_).get();
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().kind, Kind::busy);
  open_gate();
  for (auto& login : logins) EXPECT_TRUE(login.get());
}

TEST_F(AgentProcessTest, LoginsThatWaitAreAnsweredWhenTheServiceStops) {
  start({.max_in_flight = 1, .max_wait = Millis{60'000}});
  auto first = log_in_at_gate();
  auto waiting = log_in(*agent_);
  agent_->stop();
  for (auto* login : {&first, &waiting}) EXPECT_EQ(login->get().error().kind, Kind::unavailable);
}

}  // namespace
}  // namespace presetbridge::cloud
