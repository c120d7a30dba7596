#include "services/live/live_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing.h"
#include "services/live/buyer_changes.h"
#include "storage/testing.h"

namespace presetbridge::services {
namespace {

using storage::Tx;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr AccountId kShop{5};
constexpr Millis kAWhile{300};

// Reads a stream as a server does, one chunk after the other.
struct Follower {
  std::shared_ptr<net::BodyStream> stream;
  std::string text;
  bool over = false;
  std::string take() { return std::exchange(text, {}); }
};
Task<void> read_all(std::shared_ptr<Follower> to) {
  while (auto chunk = co_await to->stream->next()) to->text += *chunk;
  to->over = true;
  to->stream.reset();
}

class LiveChangesTest : public ::testing::Test {
 protected:
  ~LiveChangesTest() override {
    for (auto& one : followers_) {
      if (one->stream) one->stream->end(net::BodyStream::End::stopping);
    }
    bool stopped = false;
    if (live_) live_->stop([&] { stopped = true; });
    scheduler_.advance(Millis{100});
    EXPECT_EQ(stopped, live_.has_value());
    for (auto& one : followers_) EXPECT_TRUE(one->over);
  }

  void start(LiveChanges::Options options = {}) {
    live_.emplace(LiveChanges::Deps{scheduler_, async_db_, ids_, db_.clock, log_, metrics_}, options);
    live_->start();
    pass(kAWhile);
  }
  void pass(Millis time) { scheduler_.advance(time); }

  std::shared_ptr<Follower> follow(std::string last_event_id = {}, Millis for_so_long = Millis{3'600'000},
                                   AccountId account = kShop) {
    auto follower = std::make_shared<Follower>();
    spawn(live_->open(scheduler_, {.account = account,
                                   .last_event_id = std::move(last_event_id),
                                   .until = db_.clock.now() + for_so_long,
                                   .slot = budget_.take({}).value()}),
          [follower](auto outcome) {
            ASSERT_FALSE(outcome.exception);
            ASSERT_TRUE(outcome.value->has_value()) << outcome.value->error().message;
            follower->stream = std::move(**outcome.value);
            spawn(read_all(follower), [](Outcome<void> end) { EXPECT_FALSE(end.exception); });
          });
    pass(kAWhile);
    followers_.push_back(follower);
    return follower;
  }
  void leave(Follower& follower) {
    follower.stream->end(net::BodyStream::End::closed);
    pass(kAWhile);
  }
  // Changes by this node, which gets the news of its commits.
  void change(int times = 1, AccountId account = kShop) {
    for (int i = 0; i < times; ++i) {
      spawn(async_db_.write(scheduler_,
                            [account](Tx& tx) {
                              tx.changes().push_back(changed(storage::ChangeKind::credits, account));
                            }),
            [](auto outcome) { EXPECT_TRUE(outcome.value->has_value()); });
    }
    pass(kAWhile);
  }
  // As many things in one transaction.
  void change_many(int things) {
    spawn(
        async_db_.write(scheduler_,
                        [things](Tx& tx) {
                          for (int id = 1; id <= things; ++id)
                            tx.changes().push_back(changed(storage::ChangeKind::bulk, kShop, BulkJobId{id}));
                        }),
        [](auto outcome) { EXPECT_TRUE(outcome.value->has_value()); });
    pass(kAWhile);
  }
  // By another one.
  void change_elsewhere(AccountId account = kShop) {
    db_->write([&](Tx& tx) { tx.changes().push_back(changed(storage::ChangeKind::cloud, account)); });
  }
  static std::string last_id_of(const std::string& text) {
    const auto at = text.rfind("id: ") + 4;
    return text.substr(at, text.find('\n', at) - at);
  }
  static int count(const std::string& text, const std::string& event) {
    int times = 0;
    for (auto at = text.find("event: " + event); at != std::string::npos;
         at = text.find("event: " + event, at + 1))
      ++times;
    return times;
  }

  storage::testing::SuiteDatabase db_;
  presetbridge::testing::VirtualScheduler scheduler_{db_.clock};
  presetbridge::testing::RecordingLog log_;
  presetbridge::testing::CountingMetrics metrics_;
  IdSource ids_{db_.clock, 1};
  storage::AsyncDatabase async_db_{
      *db_, log_, {.max_units = 1, .inline_execution = true, .on_news = [this](const storage::News& news) {
                     if (live_) live_->report(news.changes);
                   }}};
  SharedSlots budget_{100};
  std::vector<std::shared_ptr<Follower>> followers_;
  std::optional<LiveChanges> live_;
};

TEST_F(LiveChangesTest, AReaderHearsOfWhatIsChangedAfterItsHello) {
  start();
  change();
  const auto reader = follow();
  const auto hello = reader->take();
  EXPECT_THAT(hello, StartsWith("id: "));
  EXPECT_THAT(hello, EndsWith("-0\nevent: hello\ndata: {\"resumed\":false}\n\n"));
  change(2);
  const auto text = reader->take();
  EXPECT_EQ(count(text, "credits"), 2);
  EXPECT_THAT(text, HasSubstr("-1\nevent: credits\ndata: {}\n\n"));
  EXPECT_THAT(last_id_of(text), EndsWith("-2"));
  change(1, AccountId{6});
  EXPECT_EQ(reader->take(), "");
}

TEST_F(LiveChangesTest, WhoIsSilentIsSentACommentAndEndsWithItsToken) {
  start();
  const auto reader = follow({}, Millis{50'000});
  reader->take();
  pass(Millis{20'000});
  EXPECT_EQ(reader->take(), ":\n\n");
  pass(Millis{20'000});
  EXPECT_EQ(reader->take(), ":\n\n");
  EXPECT_FALSE(reader->over);
  pass(Millis{10'000});
  EXPECT_EQ(reader->take(), "");
  EXPECT_TRUE(reader->over);
  EXPECT_EQ(budget_.used(), 0);
}

TEST_F(LiveChangesTest, AReaderAsksAgainAfterAMinuteWhateverItsToken) {
  start();
  const auto reader = follow({}, std::chrono::hours{1});
  const auto id = last_id_of(reader->take());
  pass(LiveChanges::kLongestReading - 2 * kAWhile);
  EXPECT_FALSE(reader->over);
  pass(2 * kAWhile);
  EXPECT_TRUE(reader->over);
  change();
  EXPECT_EQ(count(follow(id)->take(), "credits"), 1);
}

TEST_F(LiveChangesTest, WhoComesBackGoesOnWhereItWas) {
  start();
  const auto first = follow();
  change(3);
  const auto last = last_id_of(first->text);
  leave(*first);
  EXPECT_TRUE(first->over);
  change_many(1'000);  // more than are read at once, and than a node keeps
  const auto again = follow(last);
  const auto text = again->take();
  EXPECT_THAT(text, StartsWith("event: hello\ndata: {\"resumed\":true}\n\nid: "));
  EXPECT_EQ(count(text, "bulk"), 1'000);
  EXPECT_EQ(count(text, "reset"), 0);
  EXPECT_THAT(last_id_of(text), EndsWith("-1003"));
  change();
  EXPECT_THAT(last_id_of(again->take()), EndsWith("-1004"));
}

TEST_F(LiveChangesTest, AnIdThatIsNotTheAccountsIsAnsweredByReset) {
  start();
  const auto other = follow({}, Millis{3'600'000}, AccountId{6});
  const auto foreign = last_id_of(other->take());
  const auto own = follow();
  change(2);
  const auto known = last_id_of(own->text);
  const auto generation = known.substr(0, known.find('-'));
  for (const auto& id : {foreign, generation + "-3", generation + "-x", std::string("-"), std::string("7")}) {
    const auto reader = follow(id);
    EXPECT_EQ(reader->take(),
              "event: hello\ndata: {\"resumed\":false}\n\nid: " + known + "\nevent: reset\ndata: {}\n\n")
        << id;
  }
  EXPECT_EQ(metrics_.counted["presetbridge_live_resets_total"], 5);
}

TEST_F(LiveChangesTest, WhatOtherNodesChangeIsReportedAfterTheNextPoll) {
  start({.others_write = true});
  const auto reader = follow();
  reader->take();
  change_elsewhere();
  change_elsewhere();
  EXPECT_EQ(reader->take(), "");
  pass(kAWhile);
  EXPECT_EQ(count(reader->text, "cloud"), 2);
  EXPECT_THAT(last_id_of(reader->take()), EndsWith("-2"));
  // Of what the others did before its own changes it hears before.
  change_elsewhere();
  change();
  const auto text = reader->take();
  EXPECT_THAT(text, HasSubstr("-4\nevent: credits\n"));
  EXPECT_THAT(text, HasSubstr("-3\nevent: cloud\ndata: {}\n\nid: "));
}

TEST_F(LiveChangesTest, AReaderWhoWasAheadElsewhereHearsNothingTwice) {
  start({.others_write = true, .poll = Millis{60'000}});
  const auto here = follow();
  change_elsewhere();
  const auto id = last_id_of(here->take());
  const auto ahead = follow(id.substr(0, id.find('-')) + "-1");
  EXPECT_EQ(ahead->take(), "event: hello\ndata: {\"resumed\":true}\n\n");
  pass(Millis{61'000});
  EXPECT_EQ(count(ahead->take(), "cloud"), 0);
  EXPECT_EQ(count(here->take(), "cloud"), 1);
}

TEST_F(LiveChangesTest, WhatIsNotKeptAnyMoreIsAReset) {
  start({.retention = std::chrono::minutes{2}});
  auto reader = follow();
  change();
  const auto seen = last_id_of(reader->take());
  change(2);
  for (int minute = 0; minute < 3; ++minute) {
    pass(LiveChanges::kLongestReading - kAWhile);
    reader = follow();
  }
  change();
  const auto newest = last_id_of(reader->take());
  const auto late = follow(seen);
  EXPECT_THAT(late->take(), EndsWith("{\"resumed\":true}\n\nid: " + newest + "\nevent: reset\ndata: {}\n\n"));
  change();
  EXPECT_EQ(count(late->take(), "credits"), 1);
}

TEST_F(LiveChangesTest, AnAccountIsWatchedAsLongAsSomebodyReadsAndAWhileLonger) {
  const auto watched = [&] {
    bool is = false;
    db_->read([&](Tx& tx) { is = find_watches(tx, std::array{kShop}).front().has_value(); });
    return is;
  };
  start({.retention = std::chrono::minutes{1}});
  auto reader = follow();
  for (int minute = 0; minute < 5; ++minute) {
    pass(LiveChanges::kLongestReading - kAWhile);
    reader = follow(last_id_of(reader->take()));
  }
  EXPECT_TRUE(watched());
  leave(*reader);
  pass(std::chrono::minutes{1});
  EXPECT_TRUE(watched());
  pass(std::chrono::minutes{2});
  EXPECT_FALSE(watched());
}

TEST_F(LiveChangesTest, AWatchThatIsLostBeginsAnewWithAReset) {
  start({.others_write = true});
  const auto reader = follow();
  change(2);
  const auto before = last_id_of(reader->take());
  db_->write([](Tx& tx) { delete_ended_watches(tx, tx.now() + std::chrono::hours{1}, 10); });
  change_elsewhere();
  pass(kAWhile);
  const auto text = reader->take();
  EXPECT_EQ(count(text, "reset"), 1);
  EXPECT_NE(last_id_of(text).substr(0, before.find('-')), before.substr(0, before.find('-')));
  change();
  EXPECT_THAT(last_id_of(reader->take()), EndsWith("-1"));
}

TEST_F(LiveChangesTest, AReaderThatDoesNotReadCostsTheOthersNothing) {
  start();
  const auto swift = follow();
  swift->take();
  std::shared_ptr<net::BodyStream> slow;
  spawn(live_->open(scheduler_, {.account = kShop,
                                 .last_event_id = {},
                                 .until = db_.clock.now() + Millis{3'600'000},
                                 .slot = budget_.take({}).value()}),
        [&](auto outcome) { slow = std::move(**outcome.value); });
  pass(kAWhile);
  change_many(3'000);
  EXPECT_EQ(count(swift->take(), "bulk"), 3'000);
  // It goes on from the database.
  std::string text;
  for (int chunks = 0; count(text, "bulk") < 3'000; ++chunks) {
    ASSERT_LT(chunks, 1'000);
    std::optional<std::string> chunk;
    spawn(slow->next(), [&](auto outcome) { chunk = std::move(*outcome.value); });
    pass(Millis{1});
    ASSERT_TRUE(chunk);
    EXPECT_LE(chunk->size(), kLiveChunkBytes);
    text += *chunk;
  }
  EXPECT_EQ(count(text, "reset"), 0);
  slow->end(net::BodyStream::End::slow);
  EXPECT_EQ(metrics_.counted["presetbridge_live_readers_dropped_total"], 1);
}

TEST(SharedSlots, GivesSlotsAsLongAsEachShareHasSome) {
  SharedSlots budget(3);
  const auto slot = [&](const char* account, const char* network) {
    return budget.take({{account, 2}, {network, 2}});
  };
  auto first = slot("a", "n");
  auto second = slot("a", "m");
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(slot("a", "o")) << "the account has its share";
  auto third = slot("b", "n");
  EXPECT_TRUE(third);
  EXPECT_FALSE(slot("c", "o")) << "there are no more";
  third.reset();
  EXPECT_TRUE(slot("b", "n")) << "what was given back";
  second.reset();
  first.reset();
  EXPECT_EQ(budget.used(), 0);
}

}  // namespace
}  // namespace presetbridge::services
