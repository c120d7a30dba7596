#include "cloud/session_cache.h"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <vector>

#include "base/testing.h"

namespace presetbridge::cloud {
namespace {

using Kind = CloudError::Kind;

// Keeps each login until the test ends it.
class HeldAgent final : public CredentialAgent {
 public:
  Millis login_deadline() const override { return Millis{20'000}; }
  Task<CloudResult<Session>> login(Executor& executor, AccountId account, std::int64_t version,
                                   crypto::Bytes) override {
    asked.emplace_back(account, version);
    if (std::exchange(throws, false)) throw std::runtime_error("out of everything");
    co_return co_await suspend<CloudResult<Session>>(
        executor, [this](auto resume) { waiting.emplace_back(std::move(resume)); });
  }
  Task<CloudResult<Session>> login_with(Executor&, std::string, crypto::SecretString) override {
    co_return std::unexpected(CloudError{Kind::rejected, "not of this test", false, std::nullopt});
  }
  void hurry(AccountId account) override {
    EXPECT_FALSE(waiting.empty()) << "what was not asked for yet cannot be hurried";
    hurried.push_back(account);
  }
  bool throws = false;  // the next login
  std::vector<std::pair<AccountId, std::int64_t>> asked;
  std::vector<std::function<void(CloudResult<Session>)>> waiting;
  std::vector<AccountId> hurried;
};

class SessionCacheTest : public ::testing::Test {
 protected:
  using Slot = std::shared_ptr<std::optional<CloudResult<Session>>>;
  Slot ask(std::int64_t account = 1, std::int64_t version = 1) {
    auto slot = std::make_shared<std::optional<CloudResult<Session>>>();
    spawn(cache.session(AccountId{account}, {version, {}}),
          [slot](Outcome<CloudResult<Session>> outcome) { *slot = std::move(outcome.value); });
    scheduler.run();
    return slot;
  }
  // Logins that a test leaves under way end with it.
  ~SessionCacheTest() override {
    for (std::size_t i = 0; i < agent.waiting.size(); ++i) end_login(i, "late");
  }
  void end_login(std::size_t which, CloudResult<Session> result) {
    if (auto resume = std::exchange(agent.waiting.at(which), nullptr)) resume(std::move(result));
    scheduler.run();
  }
  void end_login(std::size_t which, const std::string& token, Millis life = Millis{3'600'000},
                 const std::string& user = "m-1") {
    end_login(which, Session{token, user, "shop", clock.now() + life});
  }
  std::string former(const std::string& user) {
    const auto session = cache.former(AccountId{1}, user);
    return session ? session->token : "";
  }

  presetbridge::testing::ManualClock clock;
  presetbridge::testing::VirtualScheduler scheduler{clock};
  HeldAgent agent;
  SessionCache cache{scheduler, clock, agent, {Millis{60'000}, Millis{1'800'000}, 2}};
};

TEST_F(SessionCacheTest, LogsInOnceForAllWhoAskAtOneTimeAndLater) {
  const auto a = ask();
  const auto b = ask();
  EXPECT_FALSE(*a);
  EXPECT_EQ(agent.asked.size(), 1U);
  end_login(0, "t1");
  ASSERT_TRUE(*a && *b);
  EXPECT_EQ((*a)->value().token, "t1");
  EXPECT_EQ((*b)->value().token, "t1");
  EXPECT_EQ((*ask())->value().token, "t1");
  EXPECT_EQ(agent.asked.size(), 1U);
}

TEST_F(SessionCacheTest, APersonsLoginIsMadeByTheirAgentAndTheWorkersIsHurriedForThem) {
  HeldAgent persons;
  const auto ask_as_person = [&](std::int64_t account) {
    auto slot = std::make_shared<std::optional<CloudResult<Session>>>();
    spawn(cache.session(AccountId{account}, {1, {}}, persons),
          [slot](Outcome<CloudResult<Session>> outcome) { *slot = std::move(outcome.value); });
    return slot;
  };
  // The worker's login is not asked for yet when the person comes.
  spawn(cache.session(AccountId{1}, {1, {}}), [](const Outcome<CloudResult<Session>>&) {});
  const auto joined = ask_as_person(1);
  scheduler.run();
  EXPECT_EQ(agent.asked.size(), 1U);
  EXPECT_EQ(agent.hurried, std::vector{AccountId{1}});
  EXPECT_TRUE(persons.asked.empty()) << "nobody logs in twice";
  end_login(0, "t1");
  ASSERT_TRUE(*joined);
  EXPECT_EQ((*joined)->value().token, "t1");

  const auto own = ask_as_person(2);
  scheduler.run();
  const auto workers = ask(2);
  ASSERT_EQ(persons.asked.size(), 1U);
  EXPECT_EQ(agent.asked.size(), 1U);
  persons.waiting.front()(Session{"t2", "m-2", "shop", clock.now() + Millis{3'600'000}});
  scheduler.run();
  ASSERT_TRUE(*own && *workers);
  EXPECT_EQ((*own)->value().token, "t2");
  EXPECT_EQ((*workers)->value().token, "t2");
  EXPECT_EQ(agent.hurried.size(), 1U);
}

TEST_F(SessionCacheTest, LogsInAgainBeforeTheSessionEnds) {
  ask();
  end_login(0, "t1", Millis{600'000});
  clock.advance(Millis{539'999});
  EXPECT_TRUE(*ask());
  clock.advance(Millis{1});
  EXPECT_FALSE(*ask());
  EXPECT_EQ(agent.asked.size(), 2U);
}

TEST_F(SessionCacheTest, UsesNoSessionLongerThanTheMaximalAge) {
  ask();
  end_login(0, "t1", Millis{360'000'000});
  clock.advance(Millis{1'800'000});
  EXPECT_FALSE(*ask());
}

TEST_F(SessionCacheTest, ASessionThatIsBornTooShortIsGivenOnceAndNotKept) {
  const auto a = ask();
  end_login(0, "t1", Millis{1'000});
  EXPECT_EQ((*a)->value().token, "t1");
  EXPECT_FALSE(*ask());
}

TEST_F(SessionCacheTest, KeepsNoFailure) {
  const auto a = ask();
  end_login(0, std::unexpected(CloudError{Kind::login_refused, "no", false, std::nullopt}));
  EXPECT_EQ((*a)->error().kind, Kind::login_refused);
  EXPECT_FALSE(*ask());
  EXPECT_EQ(agent.asked.size(), 2U);
}

TEST_F(SessionCacheTest, AnotherVersionOfTheCredentialsLogsInAnewAndTheOldLoginIsNotHandedOut) {
  const auto old = ask(1, 1);
  const auto fresh = ask(1, 2);
  EXPECT_EQ(agent.asked.size(), 2U);
  end_login(0, "old");
  EXPECT_EQ((*old)->error().kind, Kind::session_refused);
  EXPECT_FALSE(*fresh);
  end_login(1, "new");
  EXPECT_EQ((*fresh)->value().token, "new");
  EXPECT_EQ((*ask(1, 2))->value().token, "new");
}

TEST_F(SessionCacheTest, DeletedCredentialsEndTheCachedSessionAndTheLoginUnderWay) {
  ask(1);
  end_login(0, "t1");
  cache.invalidate(AccountId{1});
  const auto again = ask(1);
  EXPECT_FALSE(*again);
  cache.invalidate(AccountId{1});
  end_login(1, "t2");
  EXPECT_EQ((*again)->error().kind, Kind::session_refused);
}

TEST_F(SessionCacheTest, ARefusedTokenDropsOnlyItsOwnSession) {
  ask();
  end_login(0, "t1");
  cache.invalidate(AccountId{1}, "t0");
  EXPECT_TRUE(*ask());
  cache.invalidate(AccountId{1}, "t1");
  EXPECT_FALSE(*ask());
}

TEST_F(SessionCacheTest, ALoginThatThrowsIsAnsweredToAllWhoWaitAndTheNextOneLogsInAnew) {
  agent.throws = true;
  const auto first = std::make_shared<std::optional<CloudResult<Session>>>();
  spawn(cache.session(AccountId{1}, {1, {}}),
        [first](Outcome<CloudResult<Session>> outcome) { *first = std::move(outcome.value); });
  const auto second = ask();
  ASSERT_TRUE(*first && *second) << "nobody waits for ever";
  EXPECT_EQ((*first)->error().kind, Kind::unavailable);
  EXPECT_EQ((*second)->error().kind, Kind::unavailable);
  const auto next = ask();
  EXPECT_EQ(agent.asked.size(), 2U);
  end_login(0, "t1");
  ASSERT_TRUE(*next);
  EXPECT_EQ((*next)->value().token, "t1");
}

TEST_F(SessionCacheTest, TheSessionOfALoginThatWasReplacedIsKeptUntilItsEndAsAFormerOne) {
  ask(1, 1);
  end_login(0, "old");
  EXPECT_EQ(former("m-1"), "") << "it is the present one";
  cache.retire(AccountId{1});
  EXPECT_EQ(former("m-1"), "old");
  EXPECT_FALSE(cache.cached(AccountId{1}, 1));
  EXPECT_FALSE(cache.cached(AccountId{1}, 2));
  ask(1, 2);
  end_login(1, "new", Millis{3'600'000}, "m-2");
  EXPECT_EQ(former("m-1"), "old");
  EXPECT_EQ(former("m-2"), "");
  clock.advance(Millis{1'799'999});
  EXPECT_EQ(former("m-1"), "old");
  clock.advance(Millis{1});
  EXPECT_EQ(former("m-1"), "") << "no longer than any session is used";
}

TEST_F(SessionCacheTest, ACacheThatWasNotNotifiedSeesTheChangeByTheNextVersion) {
  ask(1, 1);
  end_login(0, "old");
  ask(1, 2);
  end_login(1, "new", Millis{3'600'000}, "m-2");
  EXPECT_EQ(former("m-1"), "old");
  ask(1, 4);  // version 3 may have been a deletion
  end_login(2, "newest", Millis{3'600'000}, "m-3");
  EXPECT_EQ(former("m-2"), "");
}

TEST_F(SessionCacheTest, DeletedCredentialsEndFormerSessionsToo) {
  ask(1, 1);
  end_login(0, "old");
  cache.retire(AccountId{1});
  cache.invalidate(AccountId{2});
  EXPECT_EQ(former("m-1"), "old");
  cache.invalidate(AccountId{1});
  EXPECT_EQ(former("m-1"), "");
}

TEST_F(SessionCacheTest, AFormerSessionGoesWhenItIsRefusedAndWhenItsUserIsThePresentOneAgain) {
  ask(1, 1);
  end_login(0, "t1");
  cache.retire(AccountId{1});
  cache.invalidate(AccountId{1}, "t0");
  EXPECT_EQ(former("m-1"), "t1");
  cache.invalidate(AccountId{1}, "t1");
  EXPECT_EQ(former("m-1"), "");
  ask(1, 2);
  end_login(1, "t2", Millis{3'600'000}, "m-2");
  cache.retire(AccountId{1});
  ask(1, 3);
  end_login(2, "t3", Millis{3'600'000}, "m-2");
  EXPECT_EQ(former("m-2"), "");
}

TEST_F(SessionCacheTest, HoldsNoMoreFormerSessionsThanItsLimit) {
  for (std::int64_t account = 1; account <= 3; ++account) {
    ask(account);
    end_login(static_cast<std::size_t>(account - 1), "t" + std::to_string(account));
    cache.retire(AccountId{account});
  }
  int kept = 0;
  for (std::int64_t account = 1; account <= 3; ++account)
    kept += cache.former(AccountId{account}, "m-1") ? 1 : 0;
  EXPECT_EQ(kept, 2);
}

TEST_F(SessionCacheTest, HoldsNoMoreThanItsLimit) {
  for (std::int64_t account = 1; account <= 3; ++account) {
    ask(account);
    end_login(static_cast<std::size_t>(account - 1), "t" + std::to_string(account));
  }
  int cached = 0;
  for (std::int64_t account = 1; account <= 3; ++account) {
    const auto before = agent.asked.size();
    if (*ask(account)) ++cached;
    EXPECT_LE(agent.asked.size(), before + 1);
  }
  EXPECT_LE(cached, 2);
  EXPECT_GE(cached, 1);
}

}  // namespace
}  // namespace presetbridge::cloud
