// How much more an order has than is served, which is counted for people (spec 2.14, 3.1).
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "domain/mapping.h"
#include "domain/order.h"

namespace presetbridge::domain {
namespace {

using namespace std::chrono_literals;

constexpr OrderExcess kOfLines{.lines = 312, .limit = 250};

OrderEvent at(int minute, bool too_large, std::optional<OrderExcess> excess = {}) {
  OrderEvent event;
  event.provider = Provider::provider_a;
  event.order_id = "1";
  event.updated_at = Timestamp{} + std::chrono::minutes{minute};
  event.too_large = too_large;
  event.excess = excess;
  return event;
}

// 250 lines, each of which owes two files of its own.
OrderState wide() {
  OrderState order;
  order.seen = order.lines_known = true;
  for (int i = 0; i < 250; ++i)
    order.lines.push_back({.line_id = "L" + std::to_string(i), .sku = "sku-" + std::to_string(i)});
  return order;
}
std::vector<Mapping> two_each(int skus) {
  std::vector<Mapping> all;
  for (int i = 0; i < 2 * skus; ++i) {
    all.push_back({.id = MappingId{i + 1},
                   .type = MatchType::sku,
                   .value = "sku-" + std::to_string(i / 2),
                   .action = MappingAction::deliver,
                   .file_id = "file-" + std::to_string(i),
                   .file_kind = "preset",
                   .file_name = "File"});
  }
  return all;
}

TEST(OrderExcess, OfLinesIsTheNewestEventsWhateverCameFirst) {
  const auto large = at(1, true, kOfLines);
  const auto first = merge(std::nullopt, large).state;
  EXPECT_EQ(first.excess, kOfLines);
  EXPECT_EQ(merge(first, at(2, false)).state.excess, std::nullopt);
  EXPECT_EQ(merge(merge(std::nullopt, at(2, false)).state, large).state.excess, std::nullopt);
  EXPECT_EQ(merge(first, at(2, true)).state.excess, std::nullopt) << "nobody counted the newest";
  EXPECT_EQ(merge(merge(std::nullopt, at(2, true)).state, large).state.excess, std::nullopt);
}

TEST(OrderExcess, IsStored) {
  for (const auto& excess : {kOfLines, OrderExcess{.files = 501, .limit = 500}}) {
    OrderState order;
    order.excess = excess;
    EXPECT_EQ(decode_order_state(encode(order)).value(), order);
  }
  EXPECT_FALSE(encode(OrderState{}).contains("excess"));
}

TEST(OrderExcess, OfFilesCountsEachOnceAndOnlyBeyondTheLimit) {
  auto mappings = two_each(250);
  auto order = wide();
  MappingIndex(mappings).note_excess(order, true);
  EXPECT_EQ(order.excess, std::nullopt) << "500 are served";
  for (const auto* const file : {"one-more", "file-0"}) {
    auto& mapping = mappings.emplace_back(mappings.front());
    mapping.id = MappingId{static_cast<std::int64_t>(mappings.size())};
    mapping.file_id = file;
  }
  const MappingIndex index(mappings);
  ASSERT_TRUE(index.map(order, MappingIndex::Lines::all).too_many);
  index.note_excess(order, true);
  EXPECT_EQ(order.excess, (OrderExcess{.files = 501, .limit = 500}));
}

TEST(OrderExcess, OfFilesEndsWithFewerMappings) {
  auto order = wide();
  order.excess = {.files = 600, .limit = 500};
  MappingIndex(two_each(1)).note_excess(order, false);
  EXPECT_EQ(order.excess, std::nullopt);
  const auto before = order = wide();
  MappingIndex(two_each(250)).note_excess(order, false);
  EXPECT_EQ(order, before) << "nothing is counted where there was nothing";
}

TEST(OrderExcess, OfLinesIsNotCountedAgainByFiles) {
  auto order = wide();
  order.too_large = true;
  order.excess = kOfLines;
  MappingIndex(two_each(250)).note_excess(order, true);
  EXPECT_EQ(order.excess, kOfLines);
}

// An event changes no count of files: it is counted when the lines are mapped.
TEST(OrderExcess, OfFilesOutlivesAnEvent) {
  auto order = wide();
  order.excess = {.files = 501, .limit = 500};
  EXPECT_EQ(merge(order, at(1, false)).state.excess, order.excess);
}

}  // namespace
}  // namespace presetbridge::domain
