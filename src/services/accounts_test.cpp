#include "services/accounts.h"

#include <gtest/gtest.h>

#include <functional>

#include "identity/testing.h"
#include "storage/identity_store.h"

namespace presetbridge::services {
namespace {

// Calls `then` once, when it is next asked.
class InterruptedClock final : public Clock {
 public:
  explicit InterruptedClock(const Clock& clock) : clock_(clock) {}
  Timestamp now() const override {
    if (auto next = std::exchange(then, {})) next();
    return clock_.now();
  }
  mutable std::function<void()> then;

 private:
  const Clock& clock_;
};

TEST(Accounts, TwoFirstRequestsOfOneIdentityAreOfOneAccount) {
  identity::testing::World world;
  if (world.db->engine() == "sqlite") GTEST_SKIP() << "its writes are made one after the other";
  InterruptedClock clock(world.clock());
  IdSource ids(clock, 2);
  Accounts accounts(world.commits, ids, identity::Signup::open);
  const identity::VerifiedToken token{.iss = "https://issuer.example", .sub = "s", .email = "a@example.com"};
  // After the look of the one, another node's transaction founds the account.
  const AccountId founded{world.ids.next()};
  const UserId user{world.ids.next()};
  clock.then = [&] {
    clock.then = [&] {
      world.db->write([&](storage::Tx& tx) {
        storage::insert_account(tx, founded, "Account");
        ASSERT_TRUE(storage::insert_identity(tx, token.iss, token.sub, {founded, user, "owner"}));
      });
    };
  };
  std::optional<Expected<identity::Principal>> got;
  spawn(accounts.principal_of(world.scheduler, token), [&](auto outcome) { got = std::move(outcome.value); });
  for (int i = 0; i < 100 && !got; ++i) world.scheduler.run();
  ASSERT_TRUE(got && *got) << (got ? (*got).error().code : "no answer");
  EXPECT_EQ((*got)->account, founded);
  EXPECT_FALSE(clock.then) << "it came between";
}

}  // namespace
}  // namespace presetbridge::services
