#include "domain/order_summary.h"

#include <gtest/gtest.h>

namespace presetbridge::domain {
namespace {

TEST(OrderSummary, ReturnsWhatListsShowOfTheState) {
  OrderState order{
      .seen = true, .order_number = "#1001", .email = "a@b", .username = "ann", .lines = {{}, {}}};
  order.test = true;
  order.refunds = {{"r", {}}};
  const auto summary = summarise(order);
  EXPECT_EQ(summary.number + " " + summary.username + " " + summary.email, "#1001 ann a@b");
  EXPECT_EQ(summary.lines, 2);
  for (const auto mark : {OrderMark::test, OrderMark::refunded}) EXPECT_TRUE(summary.marks.has(mark));
  for (const auto mark : {OrderMark::cancelled, OrderMark::erased, OrderMark::unseen, OrderMark::too_large})
    EXPECT_FALSE(summary.marks.has(mark));
  EXPECT_EQ(OrderMarks(summary.marks.stored()), summary.marks);
}

TEST(OrderSummary, ARefundOfAPartIsMarkedWhereItIsKnownToBeOne) {
  OrderState order{.seen = true, .lines = {{.line_id = "1"}, {.line_id = "2"}}, .lines_known = true};
  const auto in_part = [&] { return summarise(order).marks.has(OrderMark::refunded_in_part); };
  EXPECT_FALSE(in_part());
  order.refunds = {{"r1", {{"1", 1}}}};
  EXPECT_TRUE(in_part());
  order.refunds.push_back({"r2", {}});
  EXPECT_TRUE(in_part()) << "a refund of the whole would make the order one that is refunded";
  order.refunds.back().lines = {{"2", 1}};
  EXPECT_FALSE(in_part()) << "all is refunded";
  order.refunds.pop_back();
  ASSERT_TRUE(in_part());
  order.lines_known = false;
  EXPECT_FALSE(in_part()) << "the order itself has not come";
  order.lines_known = true;
  order.reported = Payment::refunded;
  EXPECT_FALSE(in_part());
}

TEST(OrderSummary, MarksStandWhereTheyAlwaysStood) {
  OrderMarks marks;
  marks.set(OrderMark::erased, true);
  EXPECT_EQ(marks.stored(), 8);
}

TEST(OrderSummary, ANumberIsSearchedWithoutItsSignAndInEitherCase) {
  EXPECT_EQ(order_number_key(" #TC-1001 "), "tc-1001");
  EXPECT_EQ(order_number_key("#"), "");
  EXPECT_EQ(order_number_key(std::string(100, 'x')).size(), 64u);
  EXPECT_EQ(order_number_key(std::string(63, 'x') + "\xC3\xA9").size(), 63u) << "no half of a character";
}

TEST(OrderSummary, EachNameOfAnOutcomeReadsAsItsValue) {
  for (const auto name : kOrderOutcomeNames) EXPECT_EQ(to_string(parse_order_outcome(name).value()), name);
  EXPECT_FALSE(parse_order_outcome("lost"));
  EXPECT_EQ(read_order_outcome("inactive"), OrderOutcome::inactive);
  EXPECT_EQ(read_order_outcome("lost"), OrderOutcome::stopped);
}

TEST(OrderSummary, EachOutcomeSaysWhyItIsSo) {
  OrderSummary order{.lines = 3};
  EXPECT_EQ(outcome_in_words(OrderOutcome::delivery, 0, order),
            "The files that the order's lines are mapped to are delivered.");
  EXPECT_EQ(outcome_in_words(OrderOutcome::delivery, 1, order),
            "1 of the order's 3 lines has no mapping and is not delivered.");
  EXPECT_EQ(outcome_in_words(OrderOutcome::no_mapped_items, 3, order),
            "3 of the order's 3 lines have no mapping, so nothing is delivered.");
  EXPECT_EQ(outcome_in_words(OrderOutcome::no_mapped_items, 1, {.lines = 1}),
            "The order's one line has no mapping, so nothing is delivered.");
  EXPECT_EQ(outcome_in_words(OrderOutcome::no_mapped_items, 0, order),
            "The mappings say to ignore every line of the order.");
  EXPECT_EQ(outcome_in_words(OrderOutcome::stopped, 0, order), "The order is refunded.");
  order.marks.set(OrderMark::cancelled, true);
  EXPECT_EQ(outcome_in_words(OrderOutcome::stopped, 0, order), "The store cancelled the order.");
  order.marks.set(OrderMark::unseen, true);
  EXPECT_EQ(outcome_in_words(OrderOutcome::stopped, 0, order),
            "Only a cancellation, a refund or a risk notice has come, and not the order itself.");
  order.marks.set(OrderMark::erased, true);
  EXPECT_EQ(outcome_in_words(OrderOutcome::awaiting_payment, 0, order),
            "The buyer's personal data was removed: nothing is delivered.");
}

}  // namespace
}  // namespace presetbridge::domain
