#include "net/resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace presetbridge::net {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

constexpr std::chrono::seconds kPatience{20};  // only a test that fails takes so long

std::future<Addresses> begin(Resolver& resolver, const std::string& host, const std::string& owner = {}) {
  auto promise = std::make_shared<std::promise<Addresses>>();
  resolver.resolve(host, owner, [promise](Addresses found) { promise->set_value(std::move(found)); });
  return promise->get_future();
}

Addresses answer_of(std::future<Addresses> future) {
  if (future.wait_for(kPatience) == std::future_status::ready) return future.get();
  ADD_FAILURE() << "no answer";
  return {};
}

Addresses resolve(Resolver& resolver, const std::string& host, const std::string& owner = {}) {
  return answer_of(begin(resolver, host, owner));
}

// A name server that is silent, or has no address, for the names that a test says.
class NameServer {
 public:
  void silence(const std::string& host) {
    const std::scoped_lock lock(mutex_);
    silent_.insert(host);
  }
  void set_gone(const std::string& host, bool gone) {
    const std::scoped_lock lock(mutex_);
    if (gone) {
      gone_.insert(host);
    } else {
      gone_.erase(host);
    }
  }
  // How often the name was asked for.
  int asked(const std::string& host) {
    const std::scoped_lock lock(mutex_);
    return asked_[host];
  }
  void wait_until_asked(const std::string& host, int times) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kPatience, [&] { return asked_[host] >= times; })) << host;
  }
  // Answers all silent names with nothing.
  void end() {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  Addresses look_up(const std::string& host) {
    std::unique_lock lock(mutex_);
    ++asked_[host];
    changed_.notify_all();
    if (silent_.contains(host)) {
      changed_.wait(lock, [this] { return ended_; });
      return {};
    }
    if (gone_.contains(host)) return {};
    return {IpAddress::v4({192, 0, 2, 1})};
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::set<std::string> silent_;
  std::set<std::string> gone_;
  std::map<std::string, int> asked_;
};

class FairResolver : public ::testing::Test {
 protected:
  ~FairResolver() override { names_->end(); }
  SystemResolver& start(SystemResolverOptions options = {}) {
    options.look_up = [names = names_](const std::string& host) { return names->look_up(host); };
    return resolver_.emplace(std::move(options));
  }
  // Asks for silent names of the owner; the first is being looked up when the others begin to wait.
  void ask_silent(const std::string& owner, const std::string& prefix, int count) {
    const int before = names_->asked(prefix + "0");
    for (int i = 0; i < count; ++i) {
      names_->silence(prefix + std::to_string(i));
      begin(*resolver_, prefix + std::to_string(i), owner);
      if (i == 0) names_->wait_until_asked(prefix + "0", before + 1);
    }
  }

  // Threads of the resolver outlive it.
  std::shared_ptr<NameServer> names_ = std::make_shared<NameServer>();
  std::optional<SystemResolver> resolver_;
};

TEST(SystemResolver, FindsLoopback) {
  SystemResolver resolver;
  EXPECT_THAT(resolve(resolver, "localhost"), Contains(IpAddress::v4({127, 0, 0, 1})));
}

TEST(SystemResolver, GivesAKnownAnswerAgainWithoutAThread) {
  SystemResolver resolver({.threads = 1});
  const Addresses first = resolve(resolver, "localhost");
  Addresses again;
  resolver.resolve("localhost", "", [&](Addresses found) { again = std::move(found); });
  EXPECT_EQ(again, first);
}

TEST(SystemResolver, ANameThatCannotBeOneHasNoAddress) {
  SystemResolver resolver;
  EXPECT_THAT(resolve(resolver, "not a name"), IsEmpty());
  EXPECT_THAT(resolve(resolver, ""), IsEmpty());
}

TEST(SystemResolver, NamesBeyondTheQueueAreAnsweredWithNothingAtOnce) {
  SystemResolver resolver({.queued = 0});
  bool answered = false;
  resolver.resolve("localhost", "", [&](Addresses found) {
    answered = true;
    EXPECT_THAT(found, IsEmpty());
  });
  EXPECT_TRUE(answered);
}

TEST(SystemResolver, NamesWithoutAnAnswerDelayNoKnownOnes) {
  std::promise<void> end;
  const auto ended = end.get_future().share();
  const auto look_up = [ended](const std::string& host) {
    if (host.starts_with("silent")) ended.wait();
    return Addresses{IpAddress::v4({192, 0, 2, 1})};
  };
  SystemResolver resolver({.threads = 4, .keep = Millis{0}, .look_up = look_up});
  EXPECT_FALSE(resolve(resolver, "receiver.example").empty());
  for (int i = 0; i < 20; ++i) resolver.resolve("silent" + std::to_string(i), "", [](Addresses) {});
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(resolve(resolver, "receiver.example").empty());
  end.set_value();
  EXPECT_FALSE(resolve(resolver, "another.example").empty()) << "once their time is over";
}

TEST(SystemResolver, ManyCallersOfOneNameAreAllAnswered) {
  SystemResolver resolver;
  std::vector<std::future<Addresses>> answers;
  for (int i = 0; i < 100; ++i) {
    auto promise = std::make_shared<std::promise<Addresses>>();
    answers.push_back(promise->get_future());
    resolver.resolve("localhost", "", [promise](Addresses found) { promise->set_value(std::move(found)); });
  }
  for (auto& answer : answers) EXPECT_FALSE(answer.get().empty());
}

TEST_F(FairResolver, AnOwnerOfSilentNamesDelaysNoNewNameOfAnother) {
  auto& resolver = start();
  ask_silent("a", "silent", 20);
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(resolve(resolver, "new" + std::to_string(i), "b").empty());
  EXPECT_EQ(names_->asked("silent1"), 0) << "an owner has one of eight threads";
}

TEST_F(FairResolver, AnOwnerOfKnownNamesThatAreSilentNowDelaysNoKnownNameOfAnother) {
  auto& resolver = start({.keep = Millis{0}});
  EXPECT_FALSE(resolve(resolver, "receiver.example", "b").empty());
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(resolve(resolver, "name" + std::to_string(i), "a").empty());
  ask_silent("a", "name", 20);
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(resolve(resolver, "receiver.example", "b").empty());
  EXPECT_EQ(names_->asked("name1"), 1) << "an owner has one of eight threads";
}

TEST_F(FairResolver, ANameOfSeveralOwnersTakesTheFirstTurnOfThemAndIsAskedForOnce) {
  auto& resolver = start();
  ask_silent("a", "silent", 20);
  auto first = begin(resolver, "both.example", "a");
  EXPECT_FALSE(resolve(resolver, "both.example", "b").empty());
  EXPECT_FALSE(answer_of(std::move(first)).empty());
  names_->end();
  EXPECT_FALSE(resolve(resolver, "last.example", "a").empty());
  EXPECT_EQ(names_->asked("both.example"), 1);
}

TEST_F(FairResolver, TheServicesOwnNamesDoNotWaitForEachOther) {
  auto& resolver = start();
  ask_silent("", "silent", 3);
  EXPECT_FALSE(resolve(resolver, "platform.example").empty());
}

TEST_F(FairResolver, AnOwnerHasAnEighthOfTheNamesThatWait) {
  auto& resolver = start({.queued = 16});
  ask_silent("a", "silent", 3);
  EXPECT_THAT(resolve(resolver, "fourth.example", "a"), IsEmpty()) << "two wait";
  EXPECT_FALSE(resolve(resolver, "other.example", "b").empty());
  EXPECT_EQ(names_->asked("fourth.example"), 0);
}

TEST_F(FairResolver, AKnownNameWhoseLookUpFailedOnceStaysKnown) {
  auto& resolver = start({.keep = Millis{0}});
  EXPECT_FALSE(resolve(resolver, "receiver.example", "b").empty());
  names_->set_gone("receiver.example", true);
  EXPECT_THAT(resolve(resolver, "receiver.example", "b"), IsEmpty()) << "old addresses are not used again";
  names_->set_gone("receiver.example", false);
  ask_silent("", "silent", 20);
  EXPECT_FALSE(resolve(resolver, "receiver.example", "b").empty());
}

TEST_F(FairResolver, AKnownNameWhoseLookUpsFailTwiceInARowIsKnownNoMore) {
  auto& resolver = start({.queued = 8, .keep = Millis{0}});
  EXPECT_FALSE(resolve(resolver, "receiver.example", "b").empty());
  names_->set_gone("receiver.example", true);
  EXPECT_THAT(resolve(resolver, "receiver.example", "b"), IsEmpty());
  EXPECT_THAT(resolve(resolver, "receiver.example", "b"), IsEmpty());
  names_->set_gone("receiver.example", false);
  ask_silent("b", "silent", 2);
  EXPECT_THAT(resolve(resolver, "receiver.example", "b"), IsEmpty()) << "its owner's line is full";
  EXPECT_EQ(names_->asked("receiver.example"), 3);
}

TEST_F(FairResolver, AnOwnerOfManyNamesDisplacesItsOwnOldest) {
  auto& resolver = start({.max_stored = 16});
  EXPECT_FALSE(resolve(resolver, "receiver.example", "b").empty());
  for (int i = 0; i < 40; ++i) EXPECT_FALSE(resolve(resolver, "name" + std::to_string(i), "a").empty());
  for (const auto* host : {"receiver.example", "name38", "name39"}) {
    EXPECT_FALSE(resolve(resolver, host, "c").empty());
    EXPECT_EQ(names_->asked(host), 1) << host;
  }
  EXPECT_FALSE(resolve(resolver, "name37", "c").empty());
  EXPECT_EQ(names_->asked("name37"), 2) << "two are an eighth";
}

TEST_F(FairResolver, WithoutRoomTheOldestNameGoes) {
  auto& resolver = start({.max_stored = 16});
  for (int i = 0; i < 17; ++i) {
    const auto name = std::to_string(i);
    EXPECT_FALSE(resolve(resolver, name, "owner" + name).empty());
  }
  for (int i = 16; i > 0; --i) {
    EXPECT_FALSE(resolve(resolver, std::to_string(i), "c").empty());
    EXPECT_EQ(names_->asked(std::to_string(i)), 1) << i;
  }
  EXPECT_FALSE(resolve(resolver, "0", "c").empty());
  EXPECT_EQ(names_->asked("0"), 2);
}

}  // namespace
}  // namespace presetbridge::net
