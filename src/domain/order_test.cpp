#include "domain/order.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "domain/order_testing.h"

namespace presetbridge::domain {
namespace {

using testing::after;
using testing::deliverable;
using testing::kStart;
using testing::order;
using testing::paid;
using testing::refund;
using testing::some_history;
using Kind = OrderEvent::Kind;
using namespace std::chrono_literals;

TEST(OrderMerge, ANewOrderIsStoredAsReported) {
  const auto [state, change] = merge(std::nullopt, order(kStart));
  EXPECT_TRUE(change.created);
  EXPECT_TRUE(change.first_seen);
  EXPECT_TRUE(change.lines);
  EXPECT_TRUE(change.username);
  EXPECT_FALSE(change.payment);
  EXPECT_TRUE(deliverable(state));
  EXPECT_EQ(state.username, "ann");
  EXPECT_EQ(state.order_number, "17");
  EXPECT_EQ(paid(state), 2);
}

TEST(OrderMerge, TheSameEventAgainChangesNothing) {
  const OrderState state = after({order(kStart)});
  const MergeResult again = merge(state, order(kStart));
  EXPECT_EQ(again.state, state);
  EXPECT_FALSE(again.change.any());
}

TEST(OrderMerge, AMissingUsernameIsFilledInEvenByAnOlderEvent) {
  OrderEvent bare = order(kStart + 1h);
  bare.username.clear();
  bare.raw_username.clear();
  const OrderState state = after({bare});
  const MergeResult filled = merge(state, order(kStart));
  EXPECT_TRUE(filled.change.username);
  EXPECT_EQ(filled.state.username, "ann");
  EXPECT_EQ(filled.state.updated_at, kStart + 1h);
}

TEST(OrderMerge, ALaterUsernameReplacesAndAnOlderOneDoesNot) {
  OrderEvent later = order(kStart + 1h);
  later.username = later.raw_username = "ann2";
  EXPECT_EQ(after({order(kStart), later}).username, "ann2");
  EXPECT_EQ(after({later, order(kStart)}).username, "ann2");
}

TEST(OrderMerge, AnUnusableNameIsShownUntilThereIsAUsefulOne) {
  OrderEvent odd = order(kStart + 1h);
  odd.username.clear();
  odd.raw_username = "???";
  EXPECT_EQ(after({odd}).raw_username, "???");
  EXPECT_EQ(after({odd, order(kStart)}).raw_username, "ann");
  EXPECT_EQ(after({order(kStart), odd}).raw_username, "ann");
}

TEST(OrderMerge, AnOlderEventNeverUndoes) {
  const OrderState state = after({order(kStart + 1h, Payment::cancelled)});
  const MergeResult late = merge(state, order(kStart));
  EXPECT_EQ(late.state.payment(), Payment::cancelled);
  EXPECT_FALSE(late.change.any());
  EXPECT_EQ(after({order(kStart), order(kStart + 1h, Payment::cancelled)}), state);
}

TEST(OrderMerge, RefundsAddUpByTheirId) {
  const OrderState once = after({order(kStart), refund("r1", {{"11", 1}})});
  EXPECT_EQ(paid(once), 1);
  EXPECT_FALSE(merge(once, refund("r1", {{"11", 1}})).change.any());
  const MergeResult twice = merge(once, refund("r2", {{"11", 1}}));
  EXPECT_TRUE(twice.change.lines);
  EXPECT_TRUE(twice.change.refunds);
  EXPECT_FALSE(merge(once, order(kStart + 1h, Payment::cancelled)).change.refunds);
  EXPECT_EQ(paid(twice.state), 0);
  EXPECT_EQ(after({refund("r2", {{"11", 1}}), refund("r1", {{"11", 1}}), order(kStart)}), twice.state);
}

TEST(OrderMerge, ARefundThatNamesNoLinesOnlyFlags) {
  const OrderState state = after({order(kStart), refund("r1", {})});
  EXPECT_TRUE(state.refunded());
  EXPECT_TRUE(deliverable(state));
  EXPECT_EQ(paid(state), 2);
}

TEST(OrderMerge, TheCurrentQuantityIsAnUpperBound) {
  OrderEvent e = order(kStart);
  e.lines[0].current_quantity = 1;
  OrderState state = after({e});
  EXPECT_EQ(paid(state), 1);
  state = after({e, refund("r1", {{"11", 5}})});
  EXPECT_EQ(paid(state), 0);
}

TEST(OrderMerge, HighRiskIsHeldFromWhicheverSideItComes) {
  OrderEvent risk;
  risk.kind = Kind::risk;
  risk.order_id = "1001";
  risk.high_risk = true;
  EXPECT_FALSE(deliverable(after({order(kStart), risk})));
  EXPECT_FALSE(deliverable(after({risk, order(kStart)})));
  OrderEvent cleared = risk;
  cleared.high_risk = false;
  EXPECT_TRUE(deliverable(after({order(kStart), risk, cleared})));
}

TEST(OrderMerge, TheClearanceOfOneAssessorLeavesTheHighRiskOfAnother) {
  OrderEvent high;
  high.kind = Kind::risk;
  high.order_id = "1001";
  high.high_risk = true;
  high.risk_source = "a";
  high.updated_at = kStart;
  OrderEvent low = high;
  low.high_risk = false;
  low.risk_source = "b";
  low.updated_at = kStart + std::chrono::seconds{1};
  EXPECT_FALSE(deliverable(after({order(kStart), high, low})));
  EXPECT_FALSE(deliverable(after({order(kStart), low, high})));
  low.risk_source = "a";
  EXPECT_TRUE(deliverable(after({order(kStart), high, low})));
  const auto state = after({order(kStart), high, low});
  EXPECT_EQ(decode_order_state(encode(state)).value(), state);
}

TEST(OrderMerge, HoweverManyAssessNoHighRiskIsForgotten) {
  OrderEvent risk;
  risk.kind = Kind::risk;
  risk.order_id = "1001";
  risk.updated_at = kStart;
  auto state = after({order(kStart)});
  for (int i = 0; i < 100; ++i) {
    risk.risk_source = std::to_string(i);
    risk.high_risk = i == 50;
    *risk.updated_at += 1s;
    state = merge(state, risk).state;
  }
  EXPECT_LE(state.risks.size(), kMostRiskSources + 1);
  EXPECT_TRUE(state.high_risk);
  EXPECT_FALSE(deliverable(state));
}

TEST(OrderMerge, AnApprovedHighRiskCoversNoOtherAssessorsHighRisk) {
  OrderEvent risk;
  risk.kind = Kind::risk;
  risk.order_id = "1001";
  risk.high_risk = true;
  risk.risk_source = "a";
  risk.updated_at = kStart;
  auto state = after({order(kStart), risk});
  state.approve();
  EXPECT_TRUE(state.unapproved().none());
  risk.risk_source = "b";
  const auto other = merge(state, risk);
  EXPECT_TRUE(other.change.risk);
  EXPECT_TRUE(other.state.unapproved().has(ReviewReason::high_risk));
  EXPECT_EQ(decode_order_state(encode(other.state)).value(), other.state);
  risk.high_risk = false;
  *risk.updated_at += 1s;
  EXPECT_TRUE(merge(other.state, risk).state.unapproved().none()) << "what was approved stays approved";
}

TEST(OrderMerge, AnyNewerAssessmentReplacesOneWithoutASource) {
  OrderEvent risk;
  risk.kind = Kind::risk;
  risk.order_id = "1001";
  risk.high_risk = true;
  risk.updated_at = kStart;
  OrderEvent named = risk;
  named.high_risk = false;
  named.risk_source = "a";
  named.updated_at = kStart + 1s;
  EXPECT_FALSE(after({order(kStart), risk, named}).high_risk);
  EXPECT_FALSE(after({order(kStart), named, risk}).high_risk);
}

TEST(OrderMerge, AGenericRepeatChangesNothing) {
  OrderEvent first = order(std::nullopt);
  first.provider = Provider::generic;
  OrderEvent other = first;
  other.username = "bob";
  other.lines.clear();
  const OrderState state = after({first});
  const MergeResult again = merge(state, other);
  EXPECT_EQ(again.state, state);
  EXPECT_FALSE(again.change.any());
}

TEST(OrderMerge, EventsAboutNoSingleOrderChangeNothing) {
  OrderEvent e = order(kStart);
  for (const Kind kind :
       {Kind::customer_redact, Kind::shop_redact, Kind::data_request, Kind::ignored_topic}) {
    e.kind = kind;
    EXPECT_FALSE(merge(std::nullopt, e).change.any());
  }
}

TEST(OrderMerge, ErasedDataDoesNotComeBack) {
  OrderState state = after({order(kStart)});
  state.erase();
  const OrderState later = merge(state, order(kStart + 1h)).state;
  EXPECT_TRUE(later.email.empty());
  EXPECT_TRUE(later.username.empty());
  EXPECT_TRUE(later.raw_username.empty());
  EXPECT_FALSE(deliverable(later));
}

TEST(OrderMerge, EveryLineHasAnIdOfItsOwn) {
  OrderEvent e = order(kStart);
  e.lines.assign(4, e.lines[0]);
  e.lines[0].line_id = "#3";
  e.lines[1].line_id = "";
  e.lines[2].line_id = "#3";
  e.lines[3].line_id = "";
  const OrderState state = after({e});
  EXPECT_EQ(state.lines[0].line_id, "#3");
  EXPECT_EQ(state.lines[1].line_id, "#2");
  EXPECT_EQ(state.lines[2].line_id, "#3'");
  EXPECT_EQ(state.lines[3].line_id, "#4");
}

TEST(OrderMerge, AnApprovalCoversTheSizeThatItSaw) {
  OrderEvent large = order(kStart);
  large.too_large = true;
  OrderState state = after({large});
  EXPECT_EQ(state.unapproved(), ReviewReasons(ReviewReason::too_large));
  state.approve();
  EXPECT_TRUE(state.unapproved().none());
  EXPECT_EQ(decode_order_state(encode(state)).value(), state);
  OrderEvent unread = refund("r1", {{"11", 1}});
  unread.too_many_refund_lines = true;
  EXPECT_TRUE(merge(state, unread).state.unapproved().has(ReviewReason::too_large));
}

TEST(OrderMerge, AnEventWithoutLinesOrNumberLeavesThoseThatAreKnown) {
  OrderState state = after({order(kStart)});
  state.lines[0].mapped = OrderLine::Mapped::owes;
  OrderEvent bare = order(kStart + 1h, Payment::cancelled);
  bare.lines_given = false;
  bare.lines.clear();
  bare.order_number.clear();
  const MergeResult later = merge(state, bare);
  EXPECT_EQ(later.state.lines, state.lines);
  EXPECT_EQ(later.state.order_number, "17");
  EXPECT_FALSE(later.change.lines);
  EXPECT_TRUE(later.change.payment);
  EXPECT_EQ(after({bare, order(kStart)}), after({order(kStart), bare})) << "an older event fills them in";
  OrderEvent emptied = order(kStart + 2h);
  emptied.lines.clear();
  EXPECT_TRUE(merge(later.state, emptied).state.lines.empty()) << "each line was taken out of the order";
  EXPECT_TRUE(after({emptied, order(kStart)}).lines.empty());
}

TEST(OrderMerge, AnEventThatIsTooLargeLeavesTheLinesThatAreKnown) {
  OrderState state = after({order(kStart)});
  state.lines[0].mapped = OrderLine::Mapped::owes;
  OrderEvent large = order(kStart + 1h);
  large.too_large = true;
  large.lines.clear();
  const MergeResult grown = merge(state, large);
  EXPECT_TRUE(grown.change.lines);
  EXPECT_TRUE(grown.state.too_large);
  EXPECT_EQ(grown.state.lines, state.lines);
  EXPECT_EQ(decode_order_state(encode(grown.state)).value(), grown.state);
  OrderEvent bare = order(kStart + 2h);
  bare.lines_given = false;
  bare.lines.clear();
  EXPECT_TRUE(merge(grown.state, bare).state.too_large) << "it does not say anything else";
  const OrderState back = merge(grown.state, order(kStart + 3h)).state;
  EXPECT_FALSE(back.too_large);
  EXPECT_EQ(back.lines, state.lines);
  OrderEvent edited = order(kStart + 30min);
  edited.lines[0].sku = "B";
  EXPECT_EQ(after({order(kStart), large, edited}), after({order(kStart), edited, large}));
}

TEST(OrderMerge, TooManyRefundLinesFlagTheOrderAndAreNeverReadAsRefunded) {
  OrderState state = after({order(kStart)});
  std::vector<RefundLine> lines;
  for (int i = 0; i < 250; ++i) lines.push_back({std::to_string(i + 100), 1});
  for (std::size_t i = 0; i < kMaxRefundLines / 250; ++i)
    state = merge(state, refund("r" + std::to_string(i), lines)).state;
  EXPECT_FALSE(state.too_many_refunds);
  const MergeResult more = merge(state, refund("one more", {{"11", 2}}));
  EXPECT_TRUE(more.change.lines);
  EXPECT_TRUE(more.state.too_many_refunds);
  EXPECT_EQ(more.state.unapproved(), ReviewReasons(ReviewReason::too_large));
  EXPECT_FALSE(more.state.stopped());
  EXPECT_EQ(paid(more.state), 2);
  EXPECT_EQ(more.state.refunds.size(), state.refunds.size());
  OrderEvent unread = refund("r", {});
  unread.refunds.clear();
  unread.too_many_refund_lines = true;
  EXPECT_TRUE(after({order(kStart), unread}).too_many_refunds);
}

TEST(OrderMerge, ALineKeepsWhatItsMappingsMadeOfItWhileItIsTheSameProduct) {
  OrderState state = after({order(kStart)});
  state.lines[0].mapped = OrderLine::Mapped::owes;
  OrderEvent later = order(kStart + 1h);
  later.lines[0].quantity = 7;
  later.lines.push_back({.line_id = "12", .sku = "B"});
  const OrderState edited = merge(state, later).state;
  EXPECT_EQ(edited.lines[0].mapped, OrderLine::Mapped::owes);
  EXPECT_EQ(edited.lines[1].mapped, OrderLine::Mapped::not_yet);
  later.updated_at = kStart + 2h;
  later.lines[0].sku = "C";
  EXPECT_EQ(merge(edited, later).state.lines[0].mapped, OrderLine::Mapped::not_yet);
}

TEST(OrderMerge, NewsAreLinesPaymentRefundsRiskAndNames) {
  const OrderState state = after({order(kStart)});
  OrderEvent same = order(kStart + 1h);
  same.email = "other@example.com";
  EXPECT_TRUE(merge(state, same).change.any());
  EXPECT_FALSE(merge(state, same).change.news());
  same.username = same.raw_username = "bob";
  EXPECT_TRUE(merge(state, same).change.news());
  EXPECT_TRUE(merge(state, refund("r", {})).change.news());
  EXPECT_TRUE(merge(state, order(kStart + 1h, Payment::awaiting_payment)).change.news());
}

TEST(OrderMerge, ALineWithALongIdIsFoundByItsRefunds) {
  OrderEvent e = order(kStart);
  e.lines.resize(1);
  e.lines[0].line_id = "6f0a4a0e-4f2b-4a40-9d0c-8f3b1f2e7a11";
  ASSERT_GT(e.lines[0].line_id.size(), kMaxLineIdBytes);
  const auto state = after({e, refund("r", {{e.lines[0].line_id, e.lines[0].quantity}})});
  EXPECT_LE(state.lines[0].line_id.size(), kMaxLineIdBytes);
  EXPECT_EQ(PaidQuantities(state).of(state.lines[0]), 0);
  e.lines[0].line_id.back() = '2';
  EXPECT_NE(after({e}).lines[0].line_id, state.lines[0].line_id);
}

TEST(OrderMerge, EventsEndInTheSameStateInWhateverOrderAndHoweverOftenTheyArrive) {
  EXPECT_TRUE(rc::check([] {
    const std::vector<OrderEvent> events = *some_history();
    std::vector<OrderEvent> shuffled;
    std::vector<std::size_t> order_of(events.size());
    for (std::size_t i = 0; i < order_of.size(); ++i) order_of[i] = i;
    for (std::size_t i = order_of.size(); i > 1; --i) {
      std::swap(order_of[i - 1], order_of[*rc::gen::inRange<std::size_t>(0, i)]);
    }
    for (const std::size_t i : order_of) shuffled.push_back(events[i]);
    RC_ASSERT(after(shuffled) == after(events));
    std::vector<OrderEvent> twice = events;
    twice.insert(twice.end(), shuffled.begin(), shuffled.end());
    RC_ASSERT(after(twice) == after(events));
  }));
}

TEST(OrderMerge, ReportsAChangeExactlyWhenTheStateChanges) {
  EXPECT_TRUE(rc::check([] {
    std::optional<OrderState> state;
    for (const OrderEvent& e : *some_history()) {
      const MergeResult next = merge(state, e);
      RC_ASSERT(next.change.any() == (!state || next.state != *state));
      state = next.state;
    }
  }));
}

}  // namespace
}  // namespace presetbridge::domain
