#include "api/delivery_json.h"

#include <gtest/gtest.h>

namespace presetbridge::api {
namespace {

namespace json = boost::json;

json::value size_of(std::optional<domain::OrderExcess> excess) {
  services::DeliveryView view;
  view.size = excess;
  return view_json(view, "https://bridge.example/p#token").at("size");
}

TEST(DeliveryJson, ShowsHowMuchAnOrderHasThatIsTooLarge) {
  EXPECT_EQ(size_of({{.lines = 312, .limit = 250}}),
            (json::object{{"products", 312}, {"files", nullptr}, {"limit", 250}}));
  EXPECT_EQ(size_of({{.files = 501, .limit = 500}}),
            (json::object{{"products", nullptr}, {"files", 501}, {"limit", 500}}));
  EXPECT_EQ(size_of(std::nullopt), nullptr);
}

}  // namespace
}  // namespace presetbridge::api
