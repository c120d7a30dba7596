// Orders as large as they are accepted.
#include "worst_case_testing.h"

namespace presetbridge::worst_case {
namespace {

// A line may owe kOfKey files, and each of them remembers it: so much text of a new delivery's items.
constexpr std::int64_t kLinesOfItems = std::int64_t{kLines} * kOfKey * (kIdBytes + 3);
// Rows of an order beside its items: order, payload, delivery, customer, event, send, and three that wake.
constexpr std::int64_t kBeside = 10;

class Orders : public WorstCase {
 protected:
  // As many files as a delivery may owe, each of them owed by a fifth of the lines.
  static constexpr int kKeys = kFiles / kOfKey;
  DeliveryId accept_largest() {
    EXPECT_EQ(map(kKeys, kOfKey).status, 200);
    const auto answer = hook("orders/create", order("1", kKeys));
    return parse_id<DeliveryKind>(answer.at("deliveryId").as_string()).value();
  }
};

TEST_F(Orders, ANewOrder) {
  ASSERT_EQ(map(kKeys, kOfKey).status, 200);
  const auto body = json::serialize(order("1", kKeys));
  json::object answer;
  const auto work = measure([&] { answer = hook("orders/create", body); });
  EXPECT_EQ(answer.at("status"), "queued");
  ASSERT_EQ(world_.items(*parse_id<DeliveryKind>(answer.at("deliveryId").as_string())).size(), 500U);
  expect("new order: 250 lines, 500 files", work,
         {.rows_written = kFiles + kBeside,
          .largest_transaction = kFiles + kBeside,
          .statements = 40,
          .rows_read = kMappings + 20,
          .bytes_written = kLinesOfItems + 2 * static_cast<std::int64_t>(kBody),
          .bytes_read = 2 * static_cast<std::int64_t>(kBody),
          .allocations = 150'000,
          .branches = 40'000'000});
}

TEST_F(Orders, TheSameAgain) {
  accept_largest();
  const auto body = json::serialize(order("1", kKeys));
  const auto work = measure([&] { hook("orders/updated", body); });
  expect("the same order again", work,
         {.rows_written = 4,
          .largest_transaction = 4,
          .statements = 20,
          .rows_read = kMappings + 20,
          .bytes_written = 2 * static_cast<std::int64_t>(kBody),
          .bytes_read = 3 * static_cast<std::int64_t>(kBody),
          .allocations = 60'000,
          .branches = 60'000'000});
}

TEST_F(Orders, AReadAfterTwoSecondsReadsTheVersionAlone) {
  accept_largest();
  world_.scheduler.advance(Millis{2'001});
  const auto work =
      measure([&] { world_.await(world_.directory.find(world_.scheduler, world_.integration)).value(); });
  expect("a store's settings, two seconds old", work,
         {.statements = 1, .rows_read = 1, .bytes_read = 0, .allocations = 40, .branches = 100});
}

}  // namespace
}  // namespace presetbridge::worst_case
