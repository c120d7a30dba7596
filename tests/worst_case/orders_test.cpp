// Orders as large as they are accepted.
#include "worst_case_testing.h"

namespace presetbridge::worst_case {
namespace {

// A line may owe kOfKey files, and each of them remembers it: so much text of a new delivery's items.
constexpr std::int64_t kLinesOfItems = std::int64_t{kLines} * kOfKey * (kLineIdBytes + 3);
constexpr auto kBytes = static_cast<std::int64_t>(kBody);
// Rows of an order beside its items: order, payload, delivery, customer, event, send, and three that wake.
constexpr std::int64_t kBeside = 10;

// What is done to every file of a delivery once, and no more.
constexpr Bound kAction{.rows_written = 2 * kFiles + 20,
                        .largest_transaction = 2 * kFiles + 20,
                        .statements = 60,
                        .rows_read = 6 * kFiles + 100,
                        .bytes_written = 2 * kLinesOfItems + kBytes,
                        .bytes_read = 4 * kLinesOfItems + 4 * kBytes,
                        .allocations = 300 * (kLines + kFiles),
                        .branches = 10'000'000};

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
  // With what finds it by each of them.
  expect("new order: 250 lines, 500 files", work,
         {.rows_written = 2 * kFiles + kBeside + 5,
          .largest_transaction = 2 * kFiles + kBeside + 5,
          .statements = 25,
          .rows_read = kFiles + 20,
          .bytes_written = kLinesOfItems + 2 * kBytes,
          .bytes_read = 2 * kBytes,
          .allocations = 100 * (kLines + kFiles),
          .branches = 30'000'000});
}

TEST_F(Orders, TheSameAgain) {
  accept_largest();
  const auto body = json::serialize(order("1", kKeys));
  const auto work = measure([&] { hook("orders/updated", body); });
  expect("the same order again", work,
         {.rows_written = 4,
          .largest_transaction = 4,
          .statements = 10,
          .rows_read = 10,
          .bytes_written = kBytes,
          .bytes_read = kBytes,
          .allocations = 100 * (kLines + kFiles),
          .branches = 10'000'000});
}

TEST_F(Orders, AStoreThatIsKnown) {
  accept_largest();
  world_.settle(Millis{2'001});
  const auto work =
      measure([&] { world_.await(world_.directory.find(world_.scheduler, world_.integration)).value(); });
  expect("a store's settings and 500 mappings, two seconds old", work,
         {.statements = 1, .rows_read = 1, .bytes_read = 0, .allocations = 40, .branches = 200});
}

TEST_F(Orders, ALaterEventThatChangesEveryLine) {
  accept_largest();
  const auto body = json::serialize(order("1", kKeys, 1, "another title "));
  const auto work = measure([&] { hook("orders/updated", body); });
  expect("an order of 500 files, every line changed", work, kAction);
}

TEST_F(Orders, ARetry) {
  const auto id = accept_largest();
  expect("POST …/retry: 500 files, another username", measure([&] {
           EXPECT_EQ(send("POST", "/api/deliveries/" + to_string(id) + "/retry",
                          json::object{{"targetUsername", "Bob"}})
                         .status,
                     200);
         }),
         kAction);
}

}  // namespace
}  // namespace presetbridge::worst_case
