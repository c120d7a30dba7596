#include "services/presets/presets.h"

#include <gtest/gtest.h>

#include "crypto/opaque_token.h"
#include "services/testing.h"

namespace presetbridge::services {
namespace {

using testing::World;

// Lists files for sessions that last, each answer when it is let go.
class ListingCloud : public testing::FakeCloud {
 public:
  using FakeCloud::FakeCloud;
  Task<cloud::CloudResult<cloud::FilePage>> list_files(Executor& executor, cloud::Session session,
                                                       std::string, int) override {
    asked.push_back(session.token);
    co_await suspend<int>(executor, [this](auto resume) {
      waiting.push_back([resume = std::move(resume)]() mutable { resume(0); });
    });
    if (ended.contains(session.token)) co_return error(cloud::CloudError::Kind::session_refused);
    if (away) co_return error(cloud::CloudError::Kind::unavailable);
    co_return cloud::FilePage{.files = {{.id = "f-1", .name = "One"}}};
  }
  void let_go() {
    auto all = std::move(waiting);
    waiting.clear();
    for (auto& resume : all) resume();
  }
  std::vector<std::string> asked;
  std::vector<std::move_only_function<void()>> waiting;
  std::set<std::string> ended;
  bool away = false;
};

// A new session with each login.
class NumberingAgent final : public cloud::CredentialAgent {
 public:
  explicit NumberingAgent(const Clock& clock) : clock_(clock) {}
  Millis login_deadline() const override { return Millis{20'000}; }
  Task<cloud::CloudResult<cloud::Session>> login(Executor&, AccountId, std::int64_t, crypto::Bytes) override {
    co_return session();
  }
  Task<cloud::CloudResult<cloud::Session>> login_with(Executor&, std::string, crypto::SecretString) override {
    co_return session();
  }

 private:
  cloud::Session session() {
    return {"s-" + std::to_string(++logins_), "m-1", "merchant", clock_.now() + std::chrono::hours{1}};
  }
  const Clock& clock_;
  int logins_ = 0;
};

class PresetsTest : public ::testing::Test {
 protected:
  PresetsTest() {
    key_ = world_.merchant();
    key_.key = world_.ids.make<ApiKeyId>();
  }
  std::string open_session() {
    return world_.await(logins_.login(world_.scheduler, key_, "m@example.com", crypto::SecretString("p")))
        .value()
        .token;
  }
  // Asks, and says later what came. Without a token by the login in the vault.
  std::shared_ptr<std::string> ask(std::optional<std::string> token) {
    auto answer = std::make_shared<std::string>("nothing yet");
    spawn(presets_.list(world_.scheduler, token ? key_ : world_.merchant(), token, {}, false),
          [answer](Outcome<Expected<PresetPage>> outcome) {
            const auto& page = *outcome.value;
            *answer = page ? std::to_string(page->files.size()) + " files" : page.error().code;
          });
    world_.scheduler.run();
    return answer;
  }
  void let_go() {
    cloud_.let_go();
    world_.scheduler.run();
  }

  World world_;
  ListingCloud cloud_{world_.database.clock};
  NumberingAgent agent_{world_.database.clock};
  testing::FakeAgent people_{world_.database.clock};  // world_.agent is the worker's
  LoginGuard guard_{world_.async_db, world_.ids, [] { return std::string(32, 'k'); }};
  CloudLogins logins_{world_.async_db, world_.ids, world_.random, world_.cipher, agent_, guard_};
  CloudSessions sessions_{world_.scheduler, *world_.sessions};
  OwnStoredLogins stored_{world_.async_db, cloud_, people_, sessions_, logins_, world_.database.clock};
  Presets presets_{world_.async_db, stored_, logins_, world_.database.clock};
  identity::Principal key_;
};

TEST_F(PresetsTest, AnEndedSessionIsAnsweredAsSuchAndTheOthersReadForThemselves) {
  const auto first = open_session();
  const auto second = open_session();
  const auto third = open_session();
  cloud_.ended = {"s-1"};
  const auto a = ask(first);
  const auto b = ask(second);
  const auto c = ask(third);
  EXPECT_EQ(cloud_.asked, std::vector<std::string>{"s-1"}) << "one reads, the others wait";
  let_go();
  EXPECT_EQ(*a, "UNAUTHORIZED");
  EXPECT_EQ(*b, "nothing yet");
  EXPECT_EQ(cloud_.asked.size(), 2u) << "one of the others reads for both";
  let_go();
  EXPECT_EQ(*b, "1 files");
  EXPECT_EQ(*c, "1 files");
  EXPECT_EQ(cloud_.asked.size(), 2u);
}

TEST_F(PresetsTest, SessionsThatHaveAllEndedAreEachAnsweredAsSuch) {
  const auto first = open_session();
  const auto second = open_session();
  cloud_.ended = {"s-1", "s-2"};
  const auto a = ask(first);
  const auto b = ask(second);
  let_go();
  let_go();
  EXPECT_EQ(*a, "UNAUTHORIZED");
  EXPECT_EQ(*b, "UNAUTHORIZED");
  EXPECT_EQ(cloud_.asked.size(), 2u);
}

TEST_F(PresetsTest, TheLoginThatAPersonWaitsForIsNotInTheWorkersLine) {
  const auto answer = ask(std::nullopt);
  let_go();
  EXPECT_EQ(*answer, "1 files");
  EXPECT_EQ(people_.logins, 1);
  EXPECT_EQ(world_.agent.logins, 0);
}

TEST_F(PresetsTest, ALoginThatTheCacheForgetsWhileItIsMadeIsMadeAgain) {
  people_.during = [&] {
    world_.scheduler.post([&] {
      if (people_.logins == 1) world_.sessions->invalidate(world_.account);
    });
  };
  const auto answer = ask(std::nullopt);
  let_go();
  EXPECT_EQ(*answer, "1 files");
  EXPECT_EQ(people_.logins, 2);
}

TEST_F(PresetsTest, ALoginThatIsReplacedWhileItsFilesAreReadIsFollowedByTheOther) {
  const auto answer = ask(std::nullopt);
  ASSERT_EQ(cloud_.asked.size(), 1u);
  world_.write([&](storage::Tx& tx) {
    auto standing = find_standing(tx, world_.account).value();
    standing.version += 1;
    update_standing(tx, world_.account, standing);
    put_credentials(tx,
                    {.account = world_.account, .version = 2, .masked_email = "m***@x", .saved_at = tx.now()},
                    std::vector<std::byte>(8));
  });
  cloud_.ended = {cloud_.asked.front()};
  let_go();
  cloud_.ended.clear();
  let_go();
  EXPECT_EQ(*answer, "1 files");
  EXPECT_EQ(cloud_.asked.size(), 2u);
}

TEST_F(PresetsTest, ALoginThatIsRefusedIsAnsweredAsSuch) {
  people_.refuse = true;
  EXPECT_EQ(*ask(std::nullopt), "CREDENTIALS_MISSING");
  EXPECT_EQ(people_.logins, 1);
}

TEST_F(PresetsTest, APlatformThatIsAwayIsAwayForAllWhoAsk) {
  const auto first = open_session();
  const auto second = open_session();
  cloud_.away = true;
  const auto a = ask(first);
  const auto b = ask(second);
  let_go();
  EXPECT_EQ(*a, "CLOUD_UNAVAILABLE");
  EXPECT_EQ(*b, "CLOUD_UNAVAILABLE");
  EXPECT_EQ(cloud_.asked.size(), 1u);
}

}  // namespace
}  // namespace presetbridge::services
