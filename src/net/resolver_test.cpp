#include "net/resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <vector>

namespace presetbridge::net {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

Addresses resolve(Resolver& resolver, const std::string& host) {
  auto promise = std::make_shared<std::promise<Addresses>>();
  resolver.resolve(host, [promise](Addresses found) { promise->set_value(std::move(found)); });
  return promise->get_future().get();
}

TEST(SystemResolver, FindsLoopback) {
  SystemResolver resolver;
  EXPECT_THAT(resolve(resolver, "localhost"), Contains(IpAddress::v4({127, 0, 0, 1})));
}

TEST(SystemResolver, GivesAKnownAnswerAgainWithoutAThread) {
  SystemResolver resolver({.threads = 1});
  const Addresses first = resolve(resolver, "localhost");
  Addresses again;
  resolver.resolve("localhost", [&](Addresses found) { again = std::move(found); });
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
  resolver.resolve("localhost", [&](Addresses found) {
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
  for (int i = 0; i < 20; ++i) resolver.resolve("silent" + std::to_string(i), [](Addresses) {});
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
    resolver.resolve("localhost", [promise](Addresses found) { promise->set_value(std::move(found)); });
  }
  for (auto& answer : answers) EXPECT_FALSE(answer.get().empty());
}

}  // namespace
}  // namespace presetbridge::net
