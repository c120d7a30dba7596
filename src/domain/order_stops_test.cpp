// The stops of an order, the trash among them, and the events that end them (spec 2.11).
#include <gtest/gtest.h>

#include "domain/order.h"
#include "domain/order_testing.h"

namespace presetbridge::domain {
namespace {

using testing::after;
using testing::deleted;
using testing::deliverable;
using testing::kStart;
using testing::order;
using testing::paid;
using namespace std::chrono_literals;

TEST(OrderMerge, ANewerPaidEventUndoesAStop) {
  EXPECT_TRUE(deliverable(after({order(kStart, Payment::cancelled), order(kStart + 1h)})));
}

TEST(OrderMerge, OnEqualTimesStopBeatsDeliverAndDeliverBeatsAwaiting) {
  for (const auto& [weak, strong] :
       std::vector<std::pair<Payment, Payment>>{{Payment::deliver, Payment::refunded},
                                                {Payment::deliver, Payment::cancelled},
                                                {Payment::awaiting_payment, Payment::deliver},
                                                {Payment::awaiting_payment, Payment::cancelled}}) {
    EXPECT_EQ(after({order(kStart, weak), order(kStart, strong)}).payment(), strong);
    EXPECT_EQ(after({order(kStart, strong), order(kStart, weak)}).payment(), strong);
  }
}

TEST(OrderMerge, WithoutTimesStopBeatsDeliverAndElseTheLaterArrivalHolds) {
  const auto never = std::nullopt;
  EXPECT_TRUE(after({order(never), order(never, Payment::cancelled)}).cancelled());
  EXPECT_TRUE(after({order(never, Payment::cancelled), order(never)}).cancelled());
  EXPECT_TRUE(after({order(kStart, Payment::cancelled), order(never)}).cancelled());
  EXPECT_TRUE(after({order(never, Payment::cancelled), order(kStart)}).cancelled());
  EXPECT_EQ(after({order(never, Payment::awaiting_payment), order(never)}).payment(), Payment::deliver);
  EXPECT_EQ(after({order(never), order(never, Payment::awaiting_payment)}).payment(),
            Payment::awaiting_payment);
}

TEST(OrderMerge, AStopOfAnUnknownOrderIsATombstoneThatTheOrderMeets) {
  const MergeResult tombstone = merge(std::nullopt, deleted());
  EXPECT_TRUE(tombstone.change.created);
  EXPECT_FALSE(tombstone.change.first_seen);
  EXPECT_FALSE(deliverable(tombstone.state));
  const MergeResult met = merge(tombstone.state, order(kStart));
  EXPECT_TRUE(met.change.first_seen);
  EXPECT_FALSE(met.change.created);
  EXPECT_FALSE(deliverable(met.state));
  EXPECT_EQ(met.state.stop_reason(), "order_cancelled");
  EXPECT_EQ(met.state.lines.size(), 1u);
}

TEST(OrderMerge, ATimedDeletionIsUndoneByANewerOrderOnly) {
  EXPECT_TRUE(after({deleted(kStart + 1h), order(kStart)}).cancelled());
  EXPECT_TRUE(deliverable(after({deleted(kStart), order(kStart + 1h)})));
}

TEST(OrderMerge, AnApprovalAfterAStopEndsWhatThatTakesBackUntilTheOrderIsStoppedAnew) {
  OrderState state = after({order(kStart, Payment::refunded)});
  state.approve();
  EXPECT_FALSE(state.stop_revokes());
  EXPECT_EQ(decode_order_state(encode(state)).value(), state);
  OrderEvent trash = order(kStart + 1h, Payment::cancelled);
  trash.trashed = true;
  const MergeResult trashed = merge(state, trash);
  EXPECT_TRUE(trashed.change.payment);
  EXPECT_FALSE(trashed.change.revokes);
  EXPECT_FALSE(trashed.state.stop_revokes());
  const MergeResult restored = merge(trashed.state, order(kStart + 2h, Payment::refunded));
  EXPECT_TRUE(restored.change.payment);
  EXPECT_FALSE(restored.change.revokes);
  const MergeResult anew = merge(restored.state, order(kStart + 3h, Payment::cancelled));
  EXPECT_TRUE(anew.change.revokes);
  EXPECT_TRUE(anew.state.stop_revokes());
}

OrderEvent trashed(std::optional<Timestamp> at) {
  OrderEvent e = order(at, Payment::cancelled);
  e.provider = Provider::provider_b;
  e.trashed = true;
  return e;
}

TEST(OrderMerge, TheTrashStopsWithoutTakingBackAndIsLiftedByALaterEvent) {
  const OrderState state = after({order(kStart), trashed(kStart + 1h)});
  EXPECT_TRUE(state.cancelled());
  EXPECT_FALSE(state.stop_revokes());
  EXPECT_EQ(state.stop_reason(), "order_cancelled");
  EXPECT_TRUE(merge(state, order(kStart)).state.cancelled()) << "older";
  EXPECT_TRUE(merge(state, order(kStart + 1h)).state.cancelled()) << "a tie";
  EXPECT_TRUE(deliverable(merge(state, order(kStart + 2h)).state));
  EXPECT_TRUE(deliverable(after({order(kStart + 2h), trashed(kStart + 1h)})));
  EXPECT_TRUE(after({order(kStart, Payment::refunded), trashed(kStart + 1h)}).stop_revokes());
}

TEST(OrderMerge, ADeletionCountsAsOfItsArrivalAndARestorationLiftsIt) {
  OrderEvent gone = deleted();
  gone.trashed = true;
  gone.received_at = kStart + 1h;
  const OrderState state = after({order(kStart), gone});
  EXPECT_TRUE(state.cancelled());
  EXPECT_TRUE(merge(state, order(kStart + 30min)).state.cancelled()) << "told before it";
  EXPECT_TRUE(deliverable(merge(state, order(kStart + 2h)).state));
  OrderEvent restored = order(kStart);
  restored.restored = true;
  EXPECT_TRUE(deliverable(merge(state, restored).state));
  EXPECT_TRUE(after({gone, order(kStart)}).cancelled()) << "the tombstone";
}

TEST(OrderMerge, ARestorationLiftsTheTrashOfBeforeItByTheStoresTimes) {
  OrderEvent restored = order(kStart + 2h);
  restored.restored = true;
  EXPECT_TRUE(deliverable(after({order(kStart), trashed(kStart + 1h), restored})));
  EXPECT_TRUE(deliverable(after({order(kStart), trashed(kStart + 2h), restored}))) << "the same second";
  const OrderState newer = after({order(kStart), trashed(kStart + 3h), restored});
  EXPECT_TRUE(newer.cancelled()) << "it came late";
  EXPECT_EQ(decode_order_state(encode(newer)), newer);
  restored.updated_at.reset();
  EXPECT_TRUE(deliverable(merge(newer, restored).state)) << "without a time it counts as of its arrival";
}

TEST(OrderMerge, SaysWhenThePaymentChangesAndWhenThatTakesBackWhatWasShared) {
  constexpr auto kPaid = Payment::deliver;
  constexpr auto kUnpaid = Payment::awaiting_payment;
  constexpr auto kRefunded = Payment::refunded;
  constexpr auto kCancelled = Payment::cancelled;
  const auto at = [](int hour, Payment payment) { return order(kStart + std::chrono::hours(hour), payment); };
  const auto trash = [&](int hour) {
    OrderEvent e = at(hour, kCancelled);
    e.trashed = true;
    return e;
  };
  enum Change { nothing, changes, revokes };
  struct Case {
    const char* name;
    std::vector<OrderEvent> before;
    OrderEvent event;
    Change expected;
  };
  const std::vector<Case> cases = {
      {"the same again", {at(0, kPaid)}, at(0, kPaid), nothing},
      {"withdrawn", {at(0, kPaid)}, at(1, kUnpaid), changes},
      {"paid at last", {at(0, kUnpaid)}, at(1, kPaid), changes},
      {"cancelled", {at(0, kPaid)}, at(1, kCancelled), revokes},
      {"refunded", {at(0, kPaid)}, at(1, kRefunded), revokes},
      {"refunded before it was paid", {at(0, kUnpaid)}, at(1, kRefunded), revokes},
      {"cancelled before", {at(1, kPaid)}, at(0, kCancelled), nothing},
      {"cancelled again", {at(0, kCancelled)}, at(1, kCancelled), nothing},
      {"refunded, then cancelled", {at(0, kRefunded)}, at(1, kCancelled), revokes},
      {"paid again", {at(0, kCancelled)}, at(1, kPaid), changes},
      {"stopped without a time", {at(0, kPaid)}, deleted(), revokes},
      {"paid after that", {at(0, kPaid), deleted()}, at(1, kPaid), nothing},
      {"trashed", {at(0, kPaid)}, trash(1), changes},
      {"trashed after it was cancelled", {at(0, kCancelled)}, trash(1), nothing},
      {"trashed after it was refunded", {at(0, kRefunded)}, trash(1), changes},
      {"out of the trash", {at(0, kPaid), trash(1)}, at(2, kPaid), changes},
      {"out of the trash, refunded as before", {at(0, kRefunded), trash(1)}, at(2, kRefunded), changes},
      {"out of the trash, cancelled", {at(0, kPaid), trash(1)}, at(2, kCancelled), revokes},
  };
  for (const auto& [name, before, event, expected] : cases) {
    const OrderChange change = merge(after(before), event).change;
    EXPECT_EQ(change.payment, expected != nothing) << name;
    EXPECT_EQ(change.revokes, expected == revokes) << name;
  }
}

}  // namespace
}  // namespace presetbridge::domain
