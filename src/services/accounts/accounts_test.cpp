#include "services/accounts/accounts.h"

#include <gtest/gtest.h>

#include <functional>

#include "identity/testing.h"
#include "storage/stores/identity_store.h"

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

class AccountsTest : public ::testing::Test {
 protected:
  identity::VerifiedToken token(std::string sub) const {
    return {.iss = "https://issuer.example",
            .sub = std::move(sub),
            .email = "a@example.com",
            .expires_at = world_.db.clock.now() + std::chrono::hours{1}};
  }

  identity::testing::World world_;
  InterruptedClock clock_{world_.clock()};
  IdSource ids_{clock_, 2};
  Accounts accounts_{world_.async_db, ids_, identity::Signup::open};
};

TEST_F(AccountsTest, TwoFirstRequestsOfOneIdentityAreOfOneAccount) {
  std::vector<AccountId> got;
  const auto ask = [&] {
    spawn(accounts_.principal_of(world_.scheduler, token("s")),
          [&](auto outcome) { got.push_back(outcome.value->value().account); });
  };
  // Both read before either is founded.
  world_.async_db.submit_first_read([](storage::Tx&) {},
                                    [&](const std::exception_ptr&, storage::Completions&) {
                                      ask();
                                      ask();
                                    });
  world_.scheduler.run();
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0], got[1]);
}

// With SQLite, whose writes are made one after the other, none comes between.
TEST_F(AccountsTest, AnAccountThatAnotherNodeFoundsInBetweenIsFound) {
  const AccountId founded{world_.ids.next()};
  const UserId user{world_.ids.next()};
  const auto found_there = [&] {
    world_.db->write([&](storage::Tx& tx) {
      storage::insert_account(tx, founded, "Account");
      ASSERT_TRUE(storage::insert_identity(tx, token("s").iss, "s", {founded, user, "owner"}));
    });
  };
  if (world_.db->engine() == "postgres") {
    // The second id is made after the read of the founding transaction.
    clock_.then = [&] { clock_.then = found_there; };
  } else {
    found_there();
  }
  const auto got = world_.await(accounts_.principal_of(world_.scheduler, token("s")));
  ASSERT_TRUE(got) << got.error().code;
  EXPECT_EQ(got->account, founded);
  EXPECT_FALSE(clock_.then);
}

}  // namespace
}  // namespace presetbridge::services
