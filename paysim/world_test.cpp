#include "world.h"

#include <gtest/gtest.h>

#include "base/testing.h"
#include "stripe_error.h"
#include "testing.h"

namespace presetbridge::paysim {
namespace {

const Timestamp start = from_unix_ms(1'790'000'000'000);

class ProcessorWorld : public ::testing::Test {
 protected:
  presetbridge::testing::SeededRandom random;
  World world{random, "2026-10-28.endive", {.sessions = 50, .session_bytes = 1'000, .events = 20}};

  Session& session(std::int64_t amount = 1'000) {
    return world.create_session(pack(start, amount), 1, start);
  }
  Charge& paid(std::int64_t amount = 1'000) {
    auto& one = session(amount);
    world.pay(one, Method::card, false, start);
    return *one.attempts.back();
  }
  std::vector<std::string> told() {
    std::vector<std::string> types;
    for (const auto& event : world.take_new_events()) types.push_back(event->type);
    return types;
  }
  const Book& book() { return world.books().at("usd"); }
  using Types = std::vector<std::string>;
};

TEST_F(ProcessorWorld, ASessionIsPaidOnceWhoeverPaysItAgain) {
  auto& one = session();
  world.pay(one, Method::card, false, start);
  EXPECT_THROW(world.pay(one, Method::card, false, start), StripeError);
  EXPECT_THROW(world.pay(one, Method::card, true, start), StripeError);
  EXPECT_THROW(world.decline(one, start), StripeError);
  EXPECT_THROW(world.expire(one, start), StripeError);
  EXPECT_EQ(book().taken, 1'000);
  EXPECT_EQ(told(), Types{"checkout.session.completed"});
}

TEST_F(ProcessorWorld, ASessionExpiresAtItsTimeAndNotBefore) {
  auto& one = session();
  EXPECT_EQ(world.next_due(), start + std::chrono::hours{24});
  world.settle(start + std::chrono::hours{24} - Millis{1});
  EXPECT_EQ(one.status, SessionStatus::open);
  EXPECT_THROW(world.pay(one, Method::card, false, start + std::chrono::hours{24}), StripeError);
  EXPECT_EQ(one.status, SessionStatus::expired);
  EXPECT_EQ(told(), Types{"checkout.session.expired"});
  EXPECT_EQ(world.next_due(), std::nullopt);
  world.settle(start + std::chrono::hours{48});
  EXPECT_EQ(told(), Types{});
}

TEST_F(ProcessorWorld, APaidSessionDoesNotExpire) {
  auto& charge = paid();
  told();
  world.settle(start + std::chrono::hours{48});
  EXPECT_EQ(charge.intent->session->status, SessionStatus::complete);
  EXPECT_EQ(told(), Types{});
}

TEST_F(ProcessorWorld, ALatePaymentOfAnExpiredSessionIsTaken) {
  auto& one = session();
  world.expire(one, start);
  world.pay(one, Method::card, true, start);
  EXPECT_TRUE(one.paid);
  EXPECT_EQ(told(), (Types{"checkout.session.expired", "checkout.session.completed"}));
}

TEST_F(ProcessorWorld, MoneyOfALaterPaymentCountsWhenItComes) {
  auto& one = session();
  world.pay(one, Method::later, false, start);
  EXPECT_EQ(one.status, SessionStatus::complete);
  EXPECT_FALSE(one.paid);
  EXPECT_TRUE(world.books().empty());
  EXPECT_THROW(world.refund(*one.attempts.back(), {}, {}, {}, false, start), StripeError);
  world.settle_payment(one, true, start);
  EXPECT_TRUE(one.paid);
  EXPECT_EQ(book().taken, 1'000);
  EXPECT_THROW(world.settle_payment(one, false, start), StripeError);
}

TEST_F(ProcessorWorld, ADeclinedCardMayBeFollowedByAGoodOne) {
  auto& one = session();
  world.decline(one, start);
  world.pay(one, Method::card, false, start);
  ASSERT_EQ(one.attempts.size(), 2U);
  EXPECT_EQ(one.attempts[0]->intent, one.attempts[1]->intent);
  EXPECT_EQ(book().taken, 1'000);
}

TEST_F(ProcessorWorld, RefundsNeverExceedTheCharge) {
  auto& charge = paid();
  world.refund(charge, 400, {}, {}, false, start);
  EXPECT_THROW(world.refund(charge, 601, {}, {}, false, start), StripeError);
  auto& rest = world.refund(charge, {}, {}, {}, true, start);
  EXPECT_EQ(rest.amount, 600);
  EXPECT_EQ(book().net(), 0);
  world.settle_refund(rest, true, start);
  EXPECT_EQ(rest.status, RefundStatus::succeeded);
  world.settle_refund(rest, false, start);  // the bank sends it back after all
  EXPECT_EQ(charge.refunded, 400);
  EXPECT_EQ(book().net(), 600);
  EXPECT_THROW(world.settle_refund(rest, false, start), StripeError);
}

TEST_F(ProcessorWorld, ADisputeTakesTheMoneyUntilItIsWon) {
  auto& charge = paid();
  world.refund(charge, 300, {}, {}, false, start);
  auto& dispute = world.dispute(charge, {}, "fraudulent", false, start);
  EXPECT_EQ(book().net(), -300);  // as a bank takes back what was refunded too
  EXPECT_THROW(world.refund(charge, {}, {}, {}, false, start), StripeError);
  world.close(dispute, true, start);
  EXPECT_EQ(book().net(), 700);
  world.refund(charge, {}, {}, {}, false, start);
  EXPECT_EQ(book().net(), 0);
}

TEST_F(ProcessorWorld, AnInquiryTakesNothingUntilItBecomesADispute) {
  auto& charge = paid();
  told();
  auto& dispute = world.dispute(charge, 500, "general", true, start);
  EXPECT_EQ(book().withdrawn, 0);
  EXPECT_EQ(told(), Types{"charge.dispute.created"});
  world.escalate(dispute, start);
  EXPECT_EQ(book().withdrawn, 500);
  EXPECT_THROW(world.escalate(dispute, start), StripeError);
  world.close(dispute, false, start);
  EXPECT_EQ(told(),
            (Types{"charge.dispute.funds_withdrawn", "charge.dispute.updated", "charge.dispute.closed"}));
  EXPECT_EQ(book().net(), 500);
}

// What the books say is what the charges, refunds and disputes say, whatever happened.
TEST_F(ProcessorWorld, TheBooksAreTheSumOfWhatHappened) {
  std::vector<Charge*> charges;
  for (int i = 0; i < 40; ++i) charges.push_back(&paid(100 + i));
  for (int i = 0; i < 2'000; ++i) {
    auto& charge = *charges[random.u64() % charges.size()];
    try {
      switch (random.u64() % 5) {
        case 0:
          world.refund(charge, 1 + static_cast<std::int64_t>(random.u64() % 60), {}, {},
                       random.u64() % 2 == 0, start);
          break;
        case 1:
          world.dispute(charge, {}, "general", random.u64() % 2 == 0, start);
          break;
        case 2:
          if (!charge.refunds.empty())
            world.settle_refund(*charge.refunds.back(), random.u64() % 2 == 0, start);
          break;
        case 3:
          if (!charge.disputes.empty()) world.escalate(*charge.disputes.back(), start);
          break;
        default:
          if (!charge.disputes.empty()) world.close(*charge.disputes.back(), random.u64() % 2 == 0, start);
      }
    } catch (const StripeError&) {  // refused: nothing may have happened
    }
  }
  std::int64_t net = 0;
  for (const auto* charge : charges) {
    net += charge->amount - charge->refunded;
    std::int64_t refunded = 0;
    for (const auto* refund : charge->refunds)
      refunded += refund->status == RefundStatus::failed ? 0 : refund->amount;
    EXPECT_EQ(refunded, charge->refunded);
    EXPECT_LE(refunded, charge->amount);
    for (const auto* dispute : charge->disputes) {
      if (!dispute->withdrawal.empty()) net -= dispute->amount;
      if (!dispute->reinstatement.empty()) net += dispute->amount;
    }
  }
  EXPECT_EQ(book().net(), net);
  EXPECT_GT(book().refunded, 0);
  EXPECT_GT(book().reinstated, 0);
}

TEST_F(ProcessorWorld, ItsRoomIsLimited) {
  EXPECT_THROW(world.create_session(pack(start), 1'001, start), StripeError);
  for (int i = 0; i < 50; ++i) session();
  EXPECT_THROW(session(), StripeError);
  auto& one = world.sessions().front();
  for (int i = 0; i < 100; ++i) world.decline(one, start);
  EXPECT_THROW(world.decline(one, start), StripeError);
  for (auto& each : world.sessions()) world.expire(each, start);
  EXPECT_EQ(world.events().size(), 20U);
  EXPECT_NE(world.events().back()->body.find(world.sessions().back().id), std::string::npos);
}

}  // namespace
}  // namespace presetbridge::paysim
