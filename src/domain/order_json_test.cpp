// The text in which the state of an order is kept.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "domain/order.h"
#include "domain/order_testing.h"

namespace presetbridge::domain {
namespace {

using testing::after;
using testing::kStart;
using testing::order;
using testing::some_history;
using namespace std::chrono_literals;

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
