// The credential agent as a process of its own, against the real cloudsim program.
#include "cloud/credential_agent.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "cloud/agent_client.h"
#include "cloud/cloud_login.h"
#include "crypto/random.h"
#include "crypto/vault_keys.h"
#include "simulator_process.h"

namespace presetbridge::cloudsim {
namespace {

using cloud::CloudError;
using Kind = CloudError::Kind;

class CredentialAgentTest : public SimulatorTest {
 protected:
  CredentialAgentTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "agent-test-XXXXXX").string();
    directory = ::mkdtemp(pattern.data());
    auto made = crypto::create_vault_key_files(private_file(), directory / "vault.pub", random);
    if (!made) throw std::runtime_error(made.error().message);
    public_key.emplace(*made);
    sim("POST", "/sim/merchants", {{"email", "shop@sim.test"}, {"password", planted}, {"userId", "m-1"}});
  }
  ~CredentialAgentTest() override { std::filesystem::remove_all(directory); }

  std::filesystem::path private_file() const { return directory / "vault.key"; }

  cloud::AgentProcessOptions process_options() {
    cloud::AgentOptions options;
    options.cloud.base_url = simulator.url();
    options.cloud.timeout = Millis{10'000};
    options.key_file = private_file();
    cloud::AgentProcessOptions process;
    process.arguments = {"cloudsim_test", "credential-agent"};
    for (auto& argument : cloud::agent_arguments(options)) process.arguments.push_back(argument);
    process.respawn_min = Millis{50};
    return process;
  }
  crypto::Bytes seal(const std::string& password, std::int64_t version = 1) {
    const auto text = cloud::encode_cloud_login("shop@sim.test", password);
    return public_key->seal(random, {account, version}, text->reveal());
  }
  auto login(cloud::AgentProcess& agent, crypto::Bytes sealed, std::int64_t version = 1) {
    return await(agent.login(scheduler(), account, version, std::move(sealed)));
  }

  const std::string planted = "planted-p\xc3\xa4ss\"word\\";
  const AccountId account{77};
  crypto::SystemRandom random;
  std::filesystem::path directory;
  std::optional<crypto::VaultPublicKey> public_key;
  NullLog log;
};

TEST_F(CredentialAgentTest, LogsInWithTheSealedPassword) {
  cloud::AgentProcess agent(log, process_options());
  const auto session = login(agent, seal(planted));
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(session->user_id, "m-1");
  EXPECT_FALSE(session->token.empty());
  EXPECT_GT(session->expires_at, clock.now());
  EXPECT_EQ(sim("GET", "/sim/counts").at("logins").at("accepted"), 1);
}

TEST_F(CredentialAgentTest, LogsInWithAPasswordThatAClientJustSent) {
  cloud::AgentProcess agent(log, process_options());
  EXPECT_TRUE(await(agent.login_with(scheduler(), "shop@sim.test", crypto::SecretString(planted))));
  const auto wrong = await(agent.login_with(scheduler(), "shop@sim.test", crypto::SecretString("other")));
  EXPECT_EQ(wrong.error().kind, Kind::login_refused);
}

TEST_F(CredentialAgentTest, DistinguishesAWrongPasswordFromAnAlteredRecord) {
  cloud::AgentProcess agent(log, process_options());
  EXPECT_EQ(login(agent, seal("wrong")).error().kind, Kind::login_refused);
  auto altered = seal(planted);
  altered[altered.size() / 2] ^= std::byte{1};
  EXPECT_EQ(login(agent, altered).error().kind, Kind::credentials_unreadable);
  EXPECT_EQ(login(agent, seal(planted, 1), 2).error().kind, Kind::credentials_unreadable);
  EXPECT_EQ(sim("GET", "/sim/counts").at("logins").at("refused"), 1);
}

TEST_F(CredentialAgentTest, OpensRecordsOfAKeyThatWasRotatedInWhileItRan) {
  cloud::AgentProcess agent(log, process_options());
  ASSERT_TRUE(login(agent, seal(planted)));
  const auto old_record = seal(planted);
  auto rotated = crypto::add_vault_key(private_file(), directory / "vault.pub", random);
  ASSERT_TRUE(rotated);
  public_key.emplace(*rotated);
  EXPECT_TRUE(login(agent, seal(planted)));
  EXPECT_TRUE(login(agent, old_record));
}

TEST_F(CredentialAgentTest, PassesThePlatformsTroubleOn) {
  cloud::AgentProcess agent(log, process_options());
  script("login", {{"fault", "too_many_requests"}, {"retryAfterS", 9}});
  const auto limited = login(agent, seal(planted)).error();
  EXPECT_EQ(limited.kind, Kind::rate_limited);
  EXPECT_EQ(limited.retry_after, Millis{9'000});
  script("login", {{"fault", "server_error"}});
  EXPECT_EQ(login(agent, seal(planted)).error().kind, Kind::unavailable);
}

TEST_F(CredentialAgentTest, AKilledAgentAnswersWhatItWasAskedAndComesBack) {
  cloud::AgentProcess agent(log, process_options());
  ASSERT_TRUE(login(agent, seal(planted)));
  const int first = agent.pid();
  ASSERT_GT(first, 0);
  // The login below is with the platform, and stays there, when its agent dies: the kill follows its arrival.
  script("login", {{"fault", "none"}, {"latencyMs", 60'000}});
  std::promise<cloud::CloudResult<cloud::Session>> held;
  scheduler().post([&] {
    spawn(agent.login(scheduler(), account, 1, seal(planted)),
          [&](Outcome<cloud::CloudResult<cloud::Session>> outcome) {
            held.set_value(std::move(*outcome.value));
          });
  });
  while (sim("GET", "/sim/calls").at("calls").as_array().size() < 2) {
  }
  ::kill(first, SIGKILL);
  auto answer = held.get_future();
  ASSERT_EQ(answer.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  EXPECT_EQ(answer.get().error().kind, Kind::unavailable);

  cloud::CloudResult<cloud::Session> again = login(agent, seal(planted));
  while (!again && agent.pid() == 0) again = login(agent, seal(planted));
  if (!again) again = login(agent, seal(planted));
  EXPECT_TRUE(again);
  EXPECT_NE(agent.pid(), first);
}

TEST_F(CredentialAgentTest, ALoginThatTakesTooLongIsAnsweredAtItsDeadline) {
  auto options = process_options();
  options.answer_deadline = Millis{200};
  cloud::AgentProcess agent(log, options);
  script("login", {{"fault", "none"}, {"latencyMs", 60'000}});
  EXPECT_EQ(login(agent, seal(planted)).error().kind, Kind::unavailable);
}

TEST_F(CredentialAgentTest, ManyLoginsRunAtOnce) {
  cloud::AgentProcess agent(log, process_options());
  constexpr int latency_ms = 1'000;  // far more than the machine adds
  sim("PUT", "/sim/faults",
      {{"endpoint", "login"}, {"latencyMinMs", latency_ms}, {"latencyMaxMs", latency_ms}});
  constexpr int count = 32;
  std::atomic<int> good{0};
  std::atomic<int> ended{0};
  std::promise<void> all;
  const auto started = clock.now();
  scheduler().post([&] {
    for (int i = 0; i < count; ++i) {
      spawn(agent.login(scheduler(), account, 1, seal(planted)),
            [&](Outcome<cloud::CloudResult<cloud::Session>> outcome) {
              if (outcome.value && *outcome.value) ++good;
              if (++ended == count) all.set_value();
            });
    }
  });
  ASSERT_EQ(all.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_EQ(good, count);
  EXPECT_LT(clock.now() - started, Millis{latency_ms * count / 4});
}

TEST_F(CredentialAgentTest, AStoppedClientAnswersEverythingAndLeavesNoProcess) {
  cloud::AgentProcess agent(log, process_options());
  const int pid = agent.pid();
  agent.stop();
  agent.stop();
  EXPECT_EQ(login(agent, seal(planted)).error().kind, Kind::unavailable);
  EXPECT_EQ(agent.pid(), 0);
  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST_F(CredentialAgentTest, AnAgentWithoutItsKeysLeavesLoginsUnavailable) {
  std::filesystem::remove(private_file());
  cloud::AgentProcess agent(log, process_options());
  EXPECT_EQ(login(agent, seal(planted)).error().kind, Kind::unavailable);
}

TEST_F(CredentialAgentTest, TheProcessHasNoEnvironmentNoForeignDescriptorAndCannotBeDumped) {
  const auto ours = directory / "ours";
  const int descriptor = ::open(ours.c_str(), O_CREAT | O_RDWR, 0600);  // not close-on-exec
  ASSERT_GE(descriptor, 0);
  cloud::AgentProcess agent(log, process_options());
  ASSERT_TRUE(login(agent, seal(planted)));
  const std::filesystem::path proc = "/proc/" + std::to_string(agent.pid());
  if (::geteuid() == 0) {  // a process that cannot be dumped shows these to root alone
    std::ifstream environment(proc / "environ");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(environment), {}), "");
    int open = 0;
    for (const auto& entry : std::filesystem::directory_iterator(proc / "fd")) {
      EXPECT_NE(std::filesystem::read_symlink(entry), ours);
      ++open;
    }
    EXPECT_GE(open, 4);
  }
  ::close(descriptor);
  std::ifstream limits(proc / "limits");
  std::string line;
  bool seen = false;
  while (std::getline(limits, line)) {
    if (!line.starts_with("Max core file size")) continue;
    seen = true;
    EXPECT_NE(line.find(" 0  "), std::string::npos) << line;
  }
  EXPECT_TRUE(seen);
  struct stat owner{};
  ASSERT_EQ(::stat((proc / "mem").c_str(), &owner), 0);
  EXPECT_EQ(owner.st_uid, 0U);  // what the kernel does to the files of a process that cannot be dumped
}

}  // namespace
}  // namespace presetbridge::cloudsim
