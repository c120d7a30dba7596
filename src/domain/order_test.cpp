#include "domain/order.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

namespace presetbridge::domain {
namespace {

using namespace std::chrono_literals;
constexpr Timestamp kStart = from_unix_ms(1'790'000'000'000);
using Kind = OrderEvent::Kind;

// Whether the order by itself asks for its files to be shared: seen, paid, not of high risk, not erased.
bool deliverable(const OrderState& state) {
  return state.seen && state.payment() == Payment::deliver && !state.high_risk && !state.erased;
}

OrderEvent order(std::optional<Timestamp> at, Payment payment = Payment::deliver) {
  OrderEvent e;
  e.provider = Provider::provider_a;
  e.order_id = "1001";
  e.order_number = "17";
  e.email = "ann@example.com";
  e.username = e.raw_username = "ann";
  e.lines = {{.line_id = "11",
              .sku = "A",
              .product_id = {},
              .variant_id = {},
              .title = {},
              .quantity = 2,
              .current_quantity = {}}};
  e.payment = payment;
  e.updated_at = at;
  return e;
}

OrderEvent refund(std::string id, std::vector<RefundLine> lines) {
  OrderEvent e;
  e.kind = Kind::refund;
  e.provider = Provider::provider_a;
  e.order_id = "1001";
  e.refunds = {{.id = std::move(id), .lines = std::move(lines)}};
  return e;
}

OrderEvent deleted(std::optional<Timestamp> at = std::nullopt) {
  OrderEvent e;
  e.kind = Kind::stop;
  e.provider = Provider::provider_b;
  e.order_id = "1001";
  e.payment = Payment::cancelled;
  e.updated_at = at;
  return e;
}

OrderState after(const std::vector<OrderEvent>& events) {
  std::optional<OrderState> state;
  for (const OrderEvent& e : events) state = merge(state, e).state;
  return state.value_or(OrderState{});
}

std::int64_t paid(const OrderState& state) {
  return PaidQuantities(state).of(state.lines[0]);
}

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

TEST(OrderMerge, RefundsAddUpByTheirId) {
  const OrderState once = after({order(kStart), refund("r1", {{"11", 1}})});
  EXPECT_EQ(paid(once), 1);
  EXPECT_FALSE(merge(once, refund("r1", {{"11", 1}})).change.any());
  const MergeResult twice = merge(once, refund("r2", {{"11", 1}}));
  EXPECT_TRUE(twice.change.lines);
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

// Events of one order, each with its own time, of every kind that merges.
rc::Gen<std::vector<OrderEvent>> some_history() {
  const auto word = rc::gen::element<std::string>("", "ann", "bob", "cleo");
  return rc::gen::mapcat(rc::gen::inRange(1, 8), [word](int size) {
    return rc::gen::exec([word, size] {
      std::vector<OrderEvent> events;
      for (int i = 0; i < size; ++i) {
        OrderEvent e = order(kStart + std::chrono::seconds(i));
        e.kind =
            *rc::gen::element(Kind::order, Kind::order, Kind::order, Kind::refund, Kind::stop, Kind::risk);
        if (*rc::gen::inRange(0, 2) == 0 && e.kind == Kind::stop) e.updated_at = std::nullopt;
        e.payment = *rc::gen::element(Payment::deliver, Payment::awaiting_payment, Payment::refunded,
                                      Payment::cancelled);
        if (e.kind == Kind::stop) e.payment = *rc::gen::element(Payment::refunded, Payment::cancelled);
        e.username = *word;
        e.raw_username = e.username.empty() ? *word : e.username;
        e.email = *word;
        e.order_number = *word;
        e.high_risk = *rc::gen::arbitrary<bool>();
        e.test = *rc::gen::arbitrary<bool>();
        e.sample = *rc::gen::arbitrary<bool>();
        if (e.kind == Kind::order && *rc::gen::inRange(0, 4) == 0) {
          e.trashed = true;
          e.payment = Payment::cancelled;
        }
        e.lines[0].quantity = *rc::gen::inRange(0, 5);
        e.too_large = *rc::gen::inRange(0, 4) == 0;
        e.lines_given = *rc::gen::inRange(0, 4) > 0;
        if (e.too_large || !e.lines_given) e.lines.clear();
        if (e.kind == Kind::refund) e.updated_at = std::nullopt;
        if (*rc::gen::arbitrary<bool>()) {
          e.refunds = {{.id = *rc::gen::element<std::string>("r1", "r2", "r3"),
                        .lines = {{"11", *rc::gen::inRange(-1, 3)}}}};
        }
        events.push_back(std::move(e));
      }
      return events;
    });
  });
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

TEST(OrderMerge, TellsAChangeExactlyWhenTheStateChanges) {
  EXPECT_TRUE(rc::check([] {
    std::optional<OrderState> state;
    for (const OrderEvent& e : *some_history()) {
      const MergeResult next = merge(state, e);
      RC_ASSERT(next.change.any() == (!state || next.state != *state));
      state = next.state;
    }
  }));
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

TEST(OrderState, IsReadBackFromItsText) {
  EXPECT_TRUE(rc::check([] {
    OrderState state = after(*some_history());
    if (*rc::gen::inRange(0, 5) == 0) state.erase();
    for (OrderLine& line : state.lines) {
      line.title = "caf\xC3\xA9 \"\\\n";
      line.variant_id = "18446744073709551616";
      if (*rc::gen::arbitrary<bool>()) line.current_quantity = 0;
      line.mapped = static_cast<OrderLine::Mapped>(*rc::gen::inRange(0, 5));
    }
    const auto copy = decode_order_state(encode(state));
    RC_ASSERT(copy.has_value());
    RC_ASSERT(*copy == state);
  }));
}

TEST(OrderState, AsAnEarlierProgramWroteItHasTheLinesOfItsNewestEvent) {
  const auto state = decode_order_state(
      R"({"v":1,"told":"deliver","seen":true,"number":"17","updatedAt":1790000000000,"lines":[{"id":"11","sku":"A"}]})");
  ASSERT_TRUE(state);
  OrderEvent older = order(kStart - 1h);
  older.order_number = "16";
  older.lines[0].sku = "B";
  const OrderState later = merge(*state, older).state;
  EXPECT_EQ(later.lines, state->lines);
  EXPECT_EQ(later.order_number, "17");
}

TEST(OrderState, TextThatItDidNotWriteIsAnError) {
  const std::string good = encode(after({order(kStart)}));
  ASSERT_TRUE(decode_order_state(good));
  for (const std::string text :
       {"", "[]", "{}", "{\"v\":2,\"told\":\"deliver\"}", "{\"v\":1,\"told\":\"gift\"}",
        "{\"v\":1,\"told\":\"deliver\",\"lines\":[{}]}", "{\"v\":1,\"told\":\"deliver\",\"seen\":1}"}) {
    const auto refused = decode_order_state(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, "INTERNAL_ERROR");
  }
}

}  // namespace
}  // namespace presetbridge::domain
