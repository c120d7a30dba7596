#include "services/vault/worker_calls.h"

#include <gtest/gtest.h>

#include "services/testing.h"

namespace presetbridge::services {
namespace {

using cloud::CloudError;
using testing::World;

// Answers as a test sets, when the test lets it.
class FakeLogins final : public StoredLogins {
 public:
  Task<Expected<PresetFiles>> files_of_login(Executor& executor, AccountId account,
                                             std::int64_t version) override {
    asked.push_back("login " + std::to_string(account.value) + " " + std::to_string(version));
    co_await turn(executor);
    co_return files;
  }
  Task<Expected<PresetFiles>> files_of_session(Executor& executor, crypto::Bytes token_hash) override {
    asked.push_back("session " + std::string(crypto::text_of(token_hash)));
    co_await turn(executor);
    co_return files;
  }
  Task<Expected<CheckedLogin>> check_login(Executor& executor, AccountId account,
                                           std::int64_t version) override {
    asked.push_back("check " + std::to_string(account.value) + " " + std::to_string(version));
    co_await turn(executor);
    co_return login;
  }
  void let_go() {
    auto all = std::move(waiting);
    waiting.clear();
    for (auto& resume : all) resume();
  }

  Expected<PresetFiles> files = std::make_shared<std::vector<cloud::CloudFile>>();
  Expected<CheckedLogin> login = CheckedLogin(cloud::CloudUser{"u-1", "Ann"});
  bool hold = false;
  std::vector<std::string> asked;
  std::vector<std::move_only_function<void()>> waiting;

 private:
  Task<void> turn(Executor& executor) {
    co_await suspend<int>(executor, [this](auto resume) {
      if (!hold) return resume(0);
      waiting.push_back([resume]() mutable { resume(0); });
    });
  }
};

class WorkerCallsTest : public ::testing::Test {
 protected:
  WorkerCallsTest() { server_->start(); }
  ~WorkerCallsTest() override {
    stored_.let_go();
    asked_.stop();
    stop_server();
    world_.scheduler.advance(Millis{2'000});
  }
  void stop_server() {
    if (!std::exchange(server_stopping_, true)) server_->stop([this] { server_stopped_ = true; });
  }
  template <class T>
  std::shared_ptr<std::optional<Expected<T>>> begin(Task<Expected<T>> task) {
    auto answer = std::make_shared<std::optional<Expected<T>>>();
    spawn(std::move(task), [answer](Outcome<Expected<T>> outcome) { *answer = std::move(outcome.value); });
    world_.scheduler.run();
    return answer;
  }
  std::int64_t rows() {
    std::int64_t count = 0;
    static constexpr storage::Sql select{"SELECT count(*) FROM worker_calls"};
    world_.write(
        [&](storage::Tx& tx) { tx.query(select, [&](const storage::Row& r) { count = r.int64(0); }); });
    return count;
  }

  World world_;
  FakeLogins stored_;
  bool wake_ups_arrive_ = true;
  AskedStoredLogins asked_{world_.scheduler, world_.async_db, world_.ids, world_.database.clock, [this] {
                             if (wake_ups_arrive_) server_->wake();
                           }};
  std::unique_ptr<WorkerCallServer> server_ =
      std::make_unique<WorkerCallServer>(world_.scheduler, world_.async_db, stored_, world_.log, [this] {
        if (wake_ups_arrive_) asked_.wake();
      });
  bool server_stopping_ = false;
  bool server_stopped_ = false;
};

TEST_F(WorkerCallsTest, WhatAWorkerFindsComesOverAsItIsAndLeavesNothing) {
  stored_.files = std::make_shared<std::vector<cloud::CloudFile>>(
      std::vector<cloud::CloudFile>{{"f-1", "preset", "One \"1\""}, {"f-ü", "", std::string("a\0b", 3)}});
  const auto files = begin(asked_.files_of_login(world_.scheduler, AccountId{7}, 3));
  ASSERT_TRUE(*files && **files) << "no time has passed";
  ASSERT_EQ((***files)->size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& got = (***files)->at(i);
    const auto& sent = (*stored_.files)->at(i);
    EXPECT_EQ(std::tie(got.id, got.kind, got.name), std::tie(sent.id, sent.kind, sent.name));
  }
  const std::string hash("\0\xff hash", 7);
  const auto of_session = begin(asked_.files_of_session(
      world_.scheduler, {std::as_bytes(std::span(hash)).begin(), std::as_bytes(std::span(hash)).end()}));
  ASSERT_TRUE(*of_session && **of_session);
  const auto user = begin(asked_.check_login(world_.scheduler, AccountId{7}, 4));
  ASSERT_TRUE(*user && **user && ***user);
  EXPECT_EQ((****user).username, "Ann");
  EXPECT_EQ(stored_.asked, (std::vector<std::string>{"login 7 3", "session " + hash, "check 7 4"}));
  EXPECT_EQ(rows(), 0);
}

TEST_F(WorkerCallsTest, WhyItFoundNothingComesOverToo) {
  for (const auto kind : {CloudError::Kind::login_refused, CloudError::Kind::credentials_unreadable,
                          CloudError::Kind::session_refused, CloudError::Kind::unavailable}) {
    stored_.login = CheckedLogin(std::unexpected(CloudError{kind, "planted", false, {}}));
    const auto login = begin(asked_.check_login(world_.scheduler, AccountId{7}, 1));
    ASSERT_TRUE(*login && **login && !***login);
    EXPECT_EQ((**login)->error().kind, kind);
  }
  for (const auto* code : {"CREDENTIALS_MISSING", "UNAUTHORIZED", "CLOUD_UNAVAILABLE"}) {
    stored_.files = fail(code, "Because.");
    const auto files = begin(asked_.files_of_login(world_.scheduler, AccountId{7}, 1));
    ASSERT_TRUE(*files && !**files);
    EXPECT_EQ((**files).error(), (Error{code, "Because.", {}}));
  }
}

TEST_F(WorkerCallsTest, ALostWakeUpCostsTheTimeToTheNextPoll) {
  wake_ups_arrive_ = false;
  const auto login = begin(asked_.check_login(world_.scheduler, AccountId{7}, 1));
  EXPECT_FALSE(*login);
  world_.scheduler.advance(Millis{2'000});
  EXPECT_TRUE(*login && **login);
}

TEST_F(WorkerCallsTest, WhereNoWorkerAnswersThatIsReportedInTime) {
  stop_server();
  world_.scheduler.run();
  const auto files = begin(asked_.files_of_login(world_.scheduler, AccountId{7}, 1));
  world_.scheduler.advance(AskedStoredLogins::patience - Millis{1});
  EXPECT_FALSE(*files);
  EXPECT_EQ(rows(), 1);
  world_.scheduler.advance(Millis{1});
  ASSERT_TRUE(*files && !**files);
  EXPECT_EQ((**files).error().code, "WORKER_UNAVAILABLE");
  EXPECT_EQ(rows(), 0);
}

TEST_F(WorkerCallsTest, ACallThatNobodyWaitsForAnyMoreIsNotMadeAndGoes) {
  world_.write([&](storage::Tx& tx) {
    insert_worker_call(tx, {.id = 1, .account = AccountId{7}, .login_version = 1, .expires_at = tx.now()});
  });
  world_.scheduler.advance(Millis{1'000});
  EXPECT_EQ(rows(), 0);
  EXPECT_TRUE(stored_.asked.empty());
}

TEST_F(WorkerCallsTest, MoreThanOneServerTakesAtOnceWaitTheirTurn) {
  stored_.hold = true;
  std::vector<std::shared_ptr<std::optional<Expected<CheckedLogin>>>> all;
  for (int i = 0; i < WorkerCallServer::most_at_once + 3; ++i)
    all.push_back(begin(asked_.check_login(world_.scheduler, AccountId{7}, i)));
  EXPECT_EQ(stored_.asked.size(), static_cast<std::size_t>(WorkerCallServer::most_at_once));
  stored_.let_go();
  world_.scheduler.run();
  EXPECT_EQ(stored_.asked.size(), all.size());
  stored_.let_go();
  world_.scheduler.run();
  for (const auto& one : all) EXPECT_TRUE(*one && **one);
}

TEST_F(WorkerCallsTest, WhenANodeStopsWhoeverWaitsIsNotifiedAndWhatIsAtWorkEnds) {
  stored_.hold = true;
  const auto login = begin(asked_.check_login(world_.scheduler, AccountId{7}, 1));
  ASSERT_EQ(stored_.waiting.size(), 1u);
  asked_.stop();
  world_.scheduler.run();
  ASSERT_TRUE(*login && !**login);
  EXPECT_EQ((**login).error().code, "WORKER_UNAVAILABLE");
  const auto late = begin(asked_.check_login(world_.scheduler, AccountId{7}, 1));
  EXPECT_TRUE(*late && !**late);

  stop_server();
  world_.scheduler.run();
  EXPECT_FALSE(server_stopped_);
  stored_.let_go();
  world_.scheduler.run();
  EXPECT_TRUE(server_stopped_);
}

TEST(WorkerCallAnswers, WhatIsNoneIsAFault) {
  for (const auto* text : {"", "{", "[]", "{}", "null", R"({"files":7})", R"({"files":[["a","b"]]})",
                           R"({"files":[{"id":"a"}]})", R"({"user":["a"]})", R"({"failure":7})",
                           R"({"error":{"code":1}})", R"({"error":"no"})"}) {
    const auto files = decode_files(text);
    const auto login = decode_login(text);
    EXPECT_TRUE(!files && files.error().code == "INTERNAL_ERROR") << text;
    EXPECT_TRUE(!login && login.error().code == "INTERNAL_ERROR") << text;
  }
  const auto unknown = decode_login(R"({"failure":"of a later version"})");
  ASSERT_TRUE(unknown && !*unknown);
  EXPECT_EQ(unknown->error().kind, CloudError::Kind::unavailable);
}

TEST(WorkerCallAnswers, AListTooLongForARowIsCut) {
  auto files = std::make_shared<std::vector<cloud::CloudFile>>();
  for (int i = 0; i < 100; ++i) files->push_back({std::to_string(i), "", std::string(100'000, 'x')});
  const auto read = decode_files(encode_answer(Expected<PresetFiles>(files)));
  ASSERT_TRUE(read);
  EXPECT_EQ((*read)->size(), 83u);
}

}  // namespace
}  // namespace presetbridge::services
