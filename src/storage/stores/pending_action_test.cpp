// Pending actions of deliveries, in rows that older programs write too (docs/development.md, Migrations).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "storage/stores/delivery_store.h"
#include "storage/testing.h"

namespace presetbridge::storage {
namespace {

using domain::Actor;
using domain::PendingAction;
using domain::PendingActionKind;
using domain::ReviewReason;
using domain::ReviewReasons;

constexpr DeliveryId kDelivery{10};
// The kinds that programs know which were made before reviews had reasons.
constexpr std::array<std::string_view, 9> kKnownBefore = {
    "refresh", "retry",     "cloud_account_changed", "payment_withdrawn", "high_risk", "reopen", "stop",
    "erase",   "invalidate"};

class PendingActionTest : public ::testing::TestWithParam<testing::Engine> {
 protected:
  PendingActionTest() {
    DeliveryRow row{.id = kDelivery, .account = AccountId{1}, .integration = IntegrationId{2}};
    row.pending = full_;
    write([&](Tx& tx) { insert_deliveries(tx, std::span(&row, 1)); });
  }
  template <class F>
  void write(F f) {
    db_->write([&](Tx& tx) { f(tx); });
  }
  PendingAction stored() {
    PendingAction pending;
    write([&](Tx& tx) { pending = find_delivery(tx, kDelivery).value().pending; });
    return pending;
  }
  void put(const PendingAction& pending) {
    write([&](Tx& tx) {
      auto row = lock_delivery(tx, kDelivery).value();
      row.pending = pending;
      update_delivery(tx, row);
    });
  }
  std::string action() {
    std::string text;
    write([&](Tx& tx) {
      text =
          tx.one({"SELECT pending_action FROM deliveries"}, [](const Row& r) { return r.string(0); }).value();
    });
    return text;
  }
  static ReviewReasons reasons(std::initializer_list<ReviewReason> all) {
    ReviewReasons set;
    for (const auto reason : all) set.add(reason);
    return set;
  }

  const PendingAction full_{.kind = PendingActionKind::stop,
                            .reason = "order_cancelled",
                            .actor = Actor::order(),
                            .name = {"bob", Actor::user(UserId{7}), Timestamp{Millis{5'000}}},
                            .reviews = ReviewReason::held};
  testing::MigratedDatabase db_{GetParam()};
};

TEST_P(PendingActionTest, IsReadAsItWasWritten) {
  EXPECT_EQ(stored(), full_) << "of a new row";
  auto other = full_;
  other.name = {"cid", Actor::order(), {}};
  other.reviews = reasons({ReviewReason::high_risk, ReviewReason::too_large, ReviewReason::held});
  put(other);
  EXPECT_EQ(stored(), other);
  put({});
  EXPECT_EQ(stored(), PendingAction{});
}

TEST_P(PendingActionTest, IsAlwaysOfAKindThatTheProgramBeforeKnows) {
  for (std::size_t kind = 1; kind < domain::kPendingActionKindNames.size(); ++kind) {
    for (std::size_t reason = 0; reason < domain::kReviewReasonNames.size(); ++reason) {
      PendingAction pending{
          .kind = static_cast<PendingActionKind>(kind), .reason = {}, .actor = Actor::order()};
      if (pending.kind >= PendingActionKind::review) pending.reviews = static_cast<ReviewReason>(reason);
      put(pending);
      EXPECT_NE(std::ranges::find(kKnownBefore, action()), kKnownBefore.end()) << action();
      EXPECT_EQ(stored(), pending);
    }
  }
}

TEST_P(PendingActionTest, WhatAProgramOfBeforeWroteSinceIsReadByItsOwnColumns) {
  write([](Tx& tx) { tx.exec({"UPDATE deliveries SET pending_username = 'dan', version = version + 1"}); });
  EXPECT_EQ(stored(), (PendingAction{.kind = PendingActionKind::stop,
                                     .reason = "order_cancelled",
                                     .actor = Actor::order(),
                                     .name = {"dan", Actor::order(), {}}}));
  put(domain::pending_review(reasons({ReviewReason::too_large, ReviewReason::held})));
  write(
      [](Tx& tx) { tx.exec({"UPDATE deliveries SET pending_action = 'high_risk', version = version + 1"}); });
  EXPECT_EQ(stored(), domain::pending_review(ReviewReason::high_risk));
  write([](Tx& tx) {
    tx.exec({"UPDATE deliveries SET pending_action = NULL, pending_actor = NULL, version = version + 1"});
  });
  EXPECT_EQ(stored(), PendingAction{});
}

TEST_P(PendingActionTest, ReviewsThatProgramsOfBeforeAskedForAreRead) {
  const auto asked = [&](std::string_view text) {
    write([&](Tx& tx) {
      tx.exec({"UPDATE deliveries SET pending_action = $1, pending_reason = NULL, pending_username = NULL,"
               " version = version + 1"},
              text);
    });
    return stored();
  };
  EXPECT_EQ(asked("hold"), domain::pending_review(ReviewReason::held));
  EXPECT_EQ(asked("too_large"), domain::pending_review(ReviewReason::too_large));
  EXPECT_EQ(asked("payment_withdrawn"), domain::pending_review(ReviewReason::payment_withdrawn));
  EXPECT_THROW(asked("no such kind"), DbError);
}

INSTANTIATE_TEST_SUITE_P(Engines, PendingActionTest, ::testing::ValuesIn(testing::kEngines),
                         [](const auto& info) { return testing::engine_name(info); });

}  // namespace
}  // namespace presetbridge::storage
