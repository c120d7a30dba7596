#include "services/payments/refunds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/payments/payments_testing.h"
#include "storage/stores/audit_store.h"

namespace presetbridge::services {
namespace {

using storage::Database;
using storage::DbError;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Fate = testing::FakeProcessor::Fate;
using Status = payments::Refund::Status;

// Its transactions fail while `failing`, before they begin: as those of a process that was killed.
class DyingDatabase final : public Database {
 public:
  explicit DyingDatabase(std::unique_ptr<Database> inner) : inner_(std::move(inner)) {}
  std::function<bool()> failing;

  Durability commit(const storage::TxFn& fn) override {
    if (failing && failing()) throw DbError(DbError::Kind::unavailable, "planted");
    return inner_->commit(fn);
  }
  void sync() override { inner_->sync(); }
  void read(const storage::TxFn& fn) override { inner_->read(fn); }
  std::string_view engine() const override { return inner_->engine(); }

 private:
  std::unique_ptr<Database> inner_;
};

class RefundsTest : public ::testing::Test {
 protected:
  RefundsTest()
      : world_([this](std::unique_ptr<Database> inner) {
          auto dying = std::make_unique<DyingDatabase>(std::move(inner));
          database_ = dying.get();
          return dying;
        }) {
    const auto bought = world_.buy();
    purchase_ = bought.id;
    session_ = bought.session;
    world_.processor.pay(session_);
  }

  Expected<Refunds::GivenBack> give_back(std::optional<std::int64_t> total = {}) {
    return world_.await(refunds_.give_back(world_.scheduler, {purchase_, total, "ann"}));
  }
  // The code of what is not done; "none" where it had gone back before; else "succeeded" or "pending".
  std::string outcome(std::optional<std::int64_t> total = {}) {
    const auto done = give_back(total);
    if (!done) return done.error().code;
    if (!done->refund) return "none";
    return done->refund->status == Status::pending ? "pending" : "succeeded";
  }
  void at_refund(Fate fate) {
    world_.processor.before = [fate](const auto& call) { return call == "refund" ? fate : Fate::answer; };
  }
  std::int64_t back() { return world_.processor.given_back(); }
  // Oldest first.
  std::vector<std::string> audit_lines() {
    std::vector<std::string> lines;
    world_.db->read([&](storage::Tx& tx) {
      for (const auto& row : list_audit(tx, world_.me.account, {}, {.target = to_string(purchase_)}).rows) {
        if (row.action != "purchase.opened") lines.insert(lines.begin(), row.action + " " + row.detail);
      }
    });
    return lines;
  }

  DyingDatabase* database_ = nullptr;
  testing::PaymentsWorld world_;
  Refunds refunds_{world_.async_db, world_.ids, world_.settlement};
  PurchaseId purchase_;
  std::string session_;
};

TEST_F(RefundsTest, GiveBackAPartAndTheRest) {
  const auto part = give_back(190);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->refund->amount, 190);
  EXPECT_EQ(part->purchase.standing.refunded, 190);
  EXPECT_EQ(outcome(190), "none") << "the same command twice gives back once";
  EXPECT_EQ(back(), 190);
  EXPECT_EQ(outcome(0), "VALIDATION_FAILED");
  EXPECT_THAT(give_back(1'901).error().message, HasSubstr(": 1900 in the smallest unit of eur."));
  EXPECT_THAT(give_back(189).error().message, HasSubstr("More than that has gone back already: 190 in"));
  EXPECT_EQ(give_back()->purchase.standing.refunded, 1'900);
  EXPECT_EQ(outcome(1'900), "none");
  const auto again = give_back();
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->refund);
  ASSERT_TRUE(again->last);
  EXPECT_EQ(again->last->actor_name, "ann");
  EXPECT_EQ(again->last->detail, "1710 eur");
  EXPECT_EQ(back(), 1'900);
  EXPECT_THAT(audit_lines(), ElementsAre("purchase.refund_asked 190 eur", "purchase.refunded 190 eur",
                                         "purchase.refund_asked 1710 eur", "purchase.refunded 1710 eur"));
}

TEST_F(RefundsTest, TheSameAgainAfterItFailedLaterIsAnotherRefund) {
  EXPECT_EQ(outcome(500), "succeeded");
  world_.processor.fail_refund(0);
  EXPECT_EQ(back(), 0);
  EXPECT_EQ(give_back(500)->purchase.standing.refunded, 500);
  EXPECT_EQ(back(), 500);
  EXPECT_EQ(outcome(1'000), "succeeded") << "a second part of the same size";
  EXPECT_EQ(back(), 1'000);
}

TEST_F(RefundsTest, WhatIsPendingOrFailsAtOnceTheyReport) {
  world_.processor.refund_status = Status::failed;
  const auto failed = give_back(500);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, "CONFLICT");
  EXPECT_THAT(failed.error().message, HasSubstr("nothing went back"));
  world_.processor.refund_status = Status::pending;
  EXPECT_EQ(outcome(500), "pending");
  EXPECT_THAT(audit_lines(),
              ElementsAre("purchase.refund_asked 500 eur", "purchase.refund_failed 500 eur: failed",
                          "purchase.refund_asked 500 eur", "purchase.refunded 500 eur, pending"));
}

TEST_F(RefundsTest, WhatWasRefusedIsAskedAnew) {
  at_refund(Fate::refuse);
  EXPECT_EQ(outcome(500), "CONFLICT");
  EXPECT_THAT(audit_lines(),
              ElementsAre("purchase.refund_asked 500 eur", "purchase.refund_failed 500 eur: refused"));
  at_refund(Fate::answer);
  EXPECT_EQ(outcome(500), "succeeded");
  EXPECT_EQ(back(), 500);
}

TEST_F(RefundsTest, WhatWasNotAnsweredGoesBackOnce) {
  for (const auto fate : {Fate::away, Fate::lose_answer, Fate::nonsense}) {
    const auto total = back() + 100;
    at_refund(fate);
    EXPECT_EQ(outcome(total), "PAYMENTS_UNAVAILABLE");
    EXPECT_EQ(audit_lines().back(), "purchase.refund_asked 100 eur");
    at_refund(Fate::answer);
    EXPECT_EQ(outcome(total), "succeeded");
    EXPECT_EQ(back(), total);
    EXPECT_EQ(audit_lines().back(), "purchase.refunded 100 eur");
  }
}

TEST_F(RefundsTest, WhatWasNotAnsweredGoesBackOnceAlsoWhenItsKeyIsForgotten) {
  at_refund(Fate::lose_answer);
  EXPECT_EQ(outcome(500), "PAYMENTS_UNAVAILABLE");
  EXPECT_EQ(back(), 500);
  world_.processor.refund_keys.clear();
  at_refund(Fate::answer);
  EXPECT_EQ(outcome(500), "succeeded");
  EXPECT_EQ(back(), 500);
  EXPECT_EQ(outcome(), "succeeded") << "the rest";
  EXPECT_EQ(back(), 1'900);
}

TEST_F(RefundsTest, AllThatIsLeftIsReportedOnceItsAnswerWasLost) {
  at_refund(Fate::lose_answer);
  EXPECT_EQ(outcome(), "PAYMENTS_UNAVAILABLE");
  at_refund(Fate::answer);
  const auto again = give_back();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->refund->amount, 1'900);
  EXPECT_EQ(back(), 1'900);
}

TEST_F(RefundsTest, WhatFailedUnseenIsTriedAgain) {
  at_refund(Fate::lose_answer);
  EXPECT_EQ(outcome(500), "PAYMENTS_UNAVAILABLE");
  world_.processor.fail_refund(0);
  at_refund(Fate::answer);
  EXPECT_EQ(outcome(500), "succeeded");
  EXPECT_EQ(back(), 500);
  EXPECT_THAT(audit_lines(),
              ElementsAre("purchase.refund_asked 500 eur", "purchase.refund_failed 500 eur: failed",
                          "purchase.refund_asked 500 eur", "purchase.refunded 500 eur"));
}

TEST_F(RefundsTest, AnotherAmountWaitsUntilItIsKnownWhatBecameOfTheFirst) {
  at_refund(Fate::away);
  EXPECT_EQ(outcome(500), "PAYMENTS_UNAVAILABLE");
  at_refund(Fate::answer);
  const auto other = give_back(300);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, "CONFLICT");
  EXPECT_THAT(other.error().message, HasSubstr("500 eur"));
  EXPECT_EQ(back(), 0);
  world_.db.clock.advance(std::chrono::minutes{10});
  EXPECT_EQ(outcome(300), "succeeded");
  EXPECT_EQ(back(), 300);
  EXPECT_THAT(audit_lines(),
              ElementsAre("purchase.refund_asked 500 eur", "purchase.refund_failed 500 eur: not done",
                          "purchase.refund_asked 300 eur", "purchase.refunded 300 eur"));
  at_refund(Fate::lose_answer);
  EXPECT_EQ(outcome(500), "PAYMENTS_UNAVAILABLE");
  at_refund(Fate::answer);
  EXPECT_EQ(outcome(600), "succeeded") << "the other went back, as the processor tells";
  EXPECT_EQ(back(), 600);
}

TEST_F(RefundsTest, AProcessThatDiesAfterTheCallGivesBackOnce) {
  // From the answer on nothing is written any more.
  bool died = false;
  world_.processor.before = [&](const auto& call) {
    died = died || call == "refund";
    return Fate::answer;
  };
  database_->failing = [&] { return died; };
  EXPECT_FALSE(give_back(500));
  EXPECT_EQ(back(), 500);
  EXPECT_THAT(audit_lines(), ElementsAre("purchase.refund_asked 500 eur"));
  database_->failing = {};
  EXPECT_EQ(outcome(500), "succeeded");
  EXPECT_EQ(back(), 500);
  EXPECT_THAT(audit_lines(), ElementsAre("purchase.refund_asked 500 eur", "purchase.refunded 500 eur"));
}

TEST_F(RefundsTest, AskedForTheSameAtOnceTheyGiveBackOnce) {
  world_.processor.before = [](const auto& call) { return call == "refund" ? Fate::hold : Fate::answer; };
  int done = 0;
  for (int i = 0; i < 3; ++i)
    spawn(refunds_.give_back(world_.scheduler, {purchase_, 500, "ann"}),
          [&](auto outcome) { done += outcome.value && outcome.value->has_value() ? 1 : 0; });
  world_.scheduler.run();
  world_.processor.release_all();
  world_.scheduler.run();
  EXPECT_EQ(done, 3);
  EXPECT_EQ(back(), 500);
  EXPECT_THAT(audit_lines(), ElementsAre("purchase.refund_asked 500 eur", "purchase.refunded 500 eur"));
}

TEST_F(RefundsTest, WhatWentBackIsReportedAlsoWhereThePurchaseCannotBeAskedAbout) {
  bool asked = false;
  world_.processor.before = [&](const auto& call) {
    asked = asked || call == "refund";
    return call == "look_up" && asked ? Fate::away : Fate::answer;
  };
  EXPECT_EQ(outcome(500), "succeeded");
  EXPECT_EQ(audit_lines().back(), "purchase.refunded 500 eur");
}

TEST_F(RefundsTest, ALongLogHidesNoTry) {
  at_refund(Fate::lose_answer);
  EXPECT_EQ(outcome(500), "PAYMENTS_UNAVAILABLE");
  world_.db->write([&](storage::Tx& tx) {
    for (int i = 0; i < 2 * storage::kAuditScanLimit; ++i)
      insert_audit(tx, world_.ids,
                   {.account = world_.me.account,
                    .actor = "system",
                    .action = "key.made",
                    .target = {},
                    .detail = {}});
  });
  world_.db.clock.advance(std::chrono::hours{1});
  at_refund(Fate::answer);
  EXPECT_EQ(outcome(500), "succeeded");
  EXPECT_EQ(back(), 500);
}

}  // namespace
}  // namespace presetbridge::services
