#include "providers/provider_b/reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "providers/testing.h"

namespace presetbridge::providers {
namespace {

using domain::OrderEvent;
using domain::OrderLine;
using domain::Payment;
using domain::Refund;
using ::testing::ElementsAre;
using testing::golden;
using ::testing::IsEmpty;
using Event = OrderEvent::Kind;

Expected<OrderEvent> read(std::string_view body, std::string_view topic = {},
                          std::span<const std::string> fields = {}) {
  return testing::parse_with(domain::Provider::provider_b, body, topic, fields);
}
OrderEvent order(std::string_view members, std::span<const std::string> fields = {}) {
  return read(fmt::format("{{\"id\":1{}{}}}", members.empty() ? "" : ",", members), {}, fields).value();
}

TEST(PluginOrder, OfTheSeedIsRead) {
  const auto event = read(golden("provider_b_seed.json")).value();
  EXPECT_EQ(event.kind, Event::order);
  EXPECT_EQ(event.provider, domain::Provider::provider_b);
  EXPECT_EQ(event.order_id, "5120");
  EXPECT_EQ(event.order_number, "") << "its order_key opens the order's page";
  EXPECT_EQ(event.email, "kim@example.com");
  EXPECT_EQ(event.username, "kim_tones");
  EXPECT_EQ(event.payment, Payment::deliver);
  EXPECT_THAT(event.lines, ElementsAre(OrderLine{"", "PRESET-CLEAN-01", "93", "", "Clean Preset", 1, {}}));
}

TEST(PluginOrder, WithMixedMetaDataIsReadExactly) {
  const auto event = read(golden("provider_b_order.json"), "order.updated").value();
  EXPECT_EQ(event.order_id, "7700123");
  EXPECT_EQ(event.email, "joerg@example.net");
  EXPECT_EQ(event.username, "Jörg-Müller");
  EXPECT_EQ(event.raw_username, "https://cloud.example/users/Jörg-Müller/?tab=presets#top");
  EXPECT_EQ(event.payment, Payment::deliver);
  EXPECT_EQ(event.updated_at, parse_iso8601("2026-11-02T08:03:41Z"));
  EXPECT_THAT(event.lines,
              ElementsAre(OrderLine{"40311", "CAP-PLX-1", "812", "", "Plexi Crunch — Captures №1", 1, {}},
                          OrderLine{"40312", "PRE-AMB-7", "813", "9901", "Ambient Pads \"Nordlys\"", 2, {}},
                          OrderLine{"40313", "", "814", "", "澄んだクリーン", 1, {}},
                          OrderLine{"40314", "BND-METAL", "815", "9902", "Modern Metal Bundle 🎸", 1, {}},
                          OrderLine{"40315", "", "", "", "T-shirt (black)", 1, {}}));
  EXPECT_THAT(event.refunds, ElementsAre(Refund{"7700456", {}}, Refund{"7700457", {}}));
}

TEST(PluginOrder, DeliversByItsStatus) {
  EXPECT_EQ(order("").payment, Payment::deliver);
  const std::vector<std::pair<std::string, Payment>> known = {{"processing", Payment::deliver},
                                                              {"completed", Payment::deliver},
                                                              {"refunded", Payment::refunded},
                                                              {"cancelled", Payment::cancelled},
                                                              {"failed", Payment::cancelled},
                                                              {"trash", Payment::cancelled},
                                                              {"pending", Payment::awaiting_payment},
                                                              {"on-hold", Payment::awaiting_payment},
                                                              {"checkout-draft", Payment::awaiting_payment},
                                                              {"custom", Payment::awaiting_payment}};
  for (const auto& [status, payment] : known) {
    EXPECT_EQ(order(fmt::format("\"status\":\"{}\"", status)).payment, payment) << status;
  }
}

TEST(PluginOrder, HasTheNumberThatPeopleSee) {
  EXPECT_EQ(order(R"("number":"727","order_key":"wc_order_secret")").order_number, "727");
  EXPECT_EQ(order(R"("number":727)").order_number, "727");
  EXPECT_EQ(order(R"("order_key":"wc_order_secret")").order_number, "");
}

TEST(PluginOrder, InTheTrashIsCancelledAndSaysSo) {
  const auto trashed = order(R"("status":"trash")");
  EXPECT_EQ(trashed.payment, Payment::cancelled);
  EXPECT_TRUE(trashed.trashed);
  for (const auto status : {"cancelled", "failed", "processing", "refunded"}) {
    EXPECT_FALSE(order(fmt::format("\"status\":\"{}\"", status)).trashed) << status;
  }
}

TEST(PluginOrder, ThatIsRestoredSaysSo) {
  const auto restored = read(R"({"id":1,"status":"completed"})", "order.restored").value();
  EXPECT_EQ(restored.kind, Event::order);
  EXPECT_TRUE(restored.restored);
  EXPECT_FALSE(restored.trashed);
  EXPECT_FALSE(read(R"({"id":1,"status":"completed"})", "order.updated").value().restored);
  const auto again = read(R"({"id":1,"status":"trash"})", "order.restored").value();
  EXPECT_TRUE(again.trashed) << "it was thrown away again before the event was sent";
  EXPECT_FALSE(again.restored);
}

TEST(PluginOrder, ReadsALoneSurrogateAsTheReplacementCharacter) {
  const auto event = read(R"({"id":7,"line_items":[{"name":"Gift \ud83c"}],"\udc00":[]})");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->lines.at(0).title, "Gift \ufffd");
}

TEST(PluginOrder, ReadsWholeNumbersInAnyNotation) {
  const auto event =
      order(R"("line_items":[{"id":1.0,"product_id":278.0,"variation_id":0.0,"quantity":2.0}])");
  EXPECT_THAT(event.lines, ElementsAre(OrderLine{"1", "", "278", "", "", 2, {}}));
}

TEST(PluginOrder, OfMoreThanTwoThousandRefundsHasTooMany) {
  std::string refunds = R"({"id":1})";
  for (int i = 1; i < 2'000; ++i) refunds += fmt::format(R"(,{{"id":{}}})", i + 1);
  EXPECT_EQ(order("\"refunds\":[" + refunds + "]").refunds.size(), 2'000u);
  const auto event = order("\"refunds\":[" + refunds + R"(,{"id":0}])");
  EXPECT_TRUE(event.too_many_refund_lines);
  EXPECT_THAT(event.refunds, IsEmpty());
}

TEST(PluginOrder, ThatIsDeletedStops) {
  const auto event = read(golden("provider_b_deleted.json"), "order.deleted").value();
  EXPECT_EQ(event.kind, Event::stop);
  EXPECT_EQ(event.order_id, "7700123");
  EXPECT_EQ(event.payment, Payment::cancelled);
  EXPECT_TRUE(event.trashed);
}

TEST(PluginUsername, IgnoresMetaValuesThatAreNoStrings) {
  for (const auto value :
       {"7", "true", "null", "[\"kim\"]", "{\"name\":\"kim\"}", "1e400", "\"\"", "\"a\\u0000b\""}) {
    const auto event = order(fmt::format(R"("meta_data":[{{"key":"vendor_username","value":{}}}])", value));
    EXPECT_EQ(event.username, "") << value;
    EXPECT_EQ(event.raw_username, "") << value;
  }
  EXPECT_EQ(
      order(
          R"("meta_data":[{"key":7,"value":"a"},{"value":"b"},null,[],{"key":"vendor_username","value":"c"}])")
          .username,
      "c");
}

TEST(PluginUsername, MayStandInTheMetaDataOfALine) {
  const auto line = [](std::string_view meta) {
    return order(fmt::format(R"("line_items":[{{}},{{"meta_data":[{}]}}])", meta)).username;
  };
  EXPECT_EQ(line(R"({"key":"Color","value":"red"},{"key":"Vendor Username","value":"@a"})"), "a");
  EXPECT_EQ(line(R"({"key":"field_17","display_key":"Vendor username","value":"b","display_value":"x"})"),
            "b");
  EXPECT_EQ(line(R"({"key":"vendor_username","value":{"x":1}},{"key":"vendor_username","value":"c"})"), "c");
  EXPECT_EQ(line(R"({"key":"cloud_username","value":"d"})"), "");
}

TEST(PluginUsername, IsReadInOneOrderTheMerchantsNamesLast) {
  const std::vector<std::string> fields{"amp"};
  const auto line = [](std::string_view key) {
    return fmt::format(R"("line_items":[{{"meta_data":[{{"key":"{}","value":"line"}}]}}])", key);
  };
  const std::string own = R"("meta_data":[{"key":"amp","value":"own"}],)";
  EXPECT_EQ(order(line("amp"), fields).username, "line");
  EXPECT_EQ(order(own + line("amp"), fields).username, "own");
  EXPECT_EQ(order(own + line("vendor_username"), fields).username, "line");
  EXPECT_EQ(order(R"("meta_data":[{"key":"amp","value":"own"},{"key":"vendor_username","value":"order"}],)" +
                      line("vendor_username"),
                  fields)
                .username,
            "order");
}

TEST(PluginUsername, HasOneNameAndTheMerchantsOwn) {
  EXPECT_EQ(order(R"("meta_data":[{"key":"cloud_username","value":"a"}])").username, "");
  const std::vector<std::string> fields{"_billing_amp_name"};
  EXPECT_EQ(order(R"("meta_data":[{"key":"_billing_amp_name","value":"a"}])", fields).username, "a");
}

TEST(PluginOrder, MayLackEverythingButItsId) {
  const auto event = order(
      R"("billing":null,"meta_data":null,"line_items":[null,{"product_id":0,"variation_id":0,"quantity":"2"}],"refunds":null,"date_modified_gmt":null)");
  EXPECT_EQ(event.email, "");
  EXPECT_EQ(event.updated_at, std::nullopt);
  EXPECT_THAT(event.lines, ElementsAre(OrderLine{"", "", "", "", "", 2, {}}));
  EXPECT_THAT(event.refunds, IsEmpty());
}

TEST(PluginOrder, NeedsAnOrderIdThatIsNotZero) {
  for (const auto body :
       {"{}", R"({"id":0})", R"({"id":null})", R"({"id":1.5})", R"({"action":"x","arg":7})"}) {
    const auto event = read(body);
    ASSERT_FALSE(event) << body;
    EXPECT_EQ(event.error().code, "INVALID_PAYLOAD");
    EXPECT_EQ(event.error().details.at(0).field, "id");
  }
  EXPECT_FALSE(read("webhook_id=7"));
}

TEST(PluginOrder, ThatWasDeletedForGoodBeforeItsEventWasSentIsIgnored) {
  const auto* const error =
      R"({"code":"woocommerce_rest_shop_order_invalid_id","message":"Invalid ID.","data":{"status":404}})";
  for (const auto topic : {"", "order.created", "order.updated", "order.restored", "order.deleted"}) {
    const auto event = read(error, topic).value();
    EXPECT_EQ(event.kind, Event::ignored_topic) << topic;
    EXPECT_EQ(event.provider, domain::Provider::provider_b);
    EXPECT_EQ(event.order_id, "");
  }
  for (const auto body : {R"({"code":"x"})", R"({"message":"x"})", R"({"code":7,"message":"x"})",
                          R"({"code":"x","message":null})", R"({"id":0,"code":"x","message":"x"})",
                          R"({"id":null,"code":"x","message":"x"})"}) {
    EXPECT_FALSE(read(body)) << body;
  }
  EXPECT_EQ(read(R"({"id":1,"code":"x","message":"x"})").value().kind, Event::order);
}

// PHP writes a list as an object once one of its entries was removed.
TEST(PluginOrder, IsReadWhereItsListsAreObjects) {
  const auto event =
      order(R"("meta_data":{"0":{"key":"color","value":"red"},"2":{"key":"vendor_username","value":"kim"}},)"
            R"("line_items":{"0":{"id":1,"sku":"a"},"2":{"id":2,"sku":"b","quantity":3}},)"
            R"("refunds":{"1":{"id":9}})");
  EXPECT_EQ(event.username, "kim");
  EXPECT_TRUE(event.lines_given);
  EXPECT_THAT(event.lines,
              ElementsAre(OrderLine{"1", "a", "", "", "", 1, {}}, OrderLine{"2", "b", "", "", "", 3, {}}));
  EXPECT_THAT(event.refunds, ElementsAre(Refund{"9", {}}));
  EXPECT_EQ(order(R"("line_items":[{"meta_data":{"3":{"key":"vendor_username","value":"lee"}}}])").username,
            "lee");
  std::string lines = R"("0":{})";
  for (int i = 1; i < 251; ++i) lines += fmt::format(R"(,"{}":{{}})", i + 1);
  EXPECT_TRUE(order("\"line_items\":{" + lines + "}").too_large);
}

TEST(PluginOrder, IsTooLargeBeyondTwoHundredAndFiftyLines) {
  std::string lines = "{}";
  for (int i = 1; i < 251; ++i) lines += ",{}";
  const auto event = order("\"line_items\":[" + lines + "]");
  EXPECT_TRUE(event.too_large);
  EXPECT_EQ(event.excess, (domain::OrderExcess{.lines = 251, .limit = 250}));
  EXPECT_THAT(event.lines, IsEmpty());
}

TEST(PluginOrder, BeyondTheLimitOfValuesIsTooLarge) {
  std::string meta = "0";
  for (int i = 0; i < 60'000; ++i) meta += ",0";
  const auto event = order("\"meta_data\":[" + meta + "]");
  EXPECT_TRUE(event.too_large);
  EXPECT_EQ(event.excess, std::nullopt);
  std::string lines = "{}";
  for (int i = 1; i < 30'000; ++i) lines += ",{}";
  const auto cut = order("\"line_items\":[" + lines + "]");
  EXPECT_TRUE(cut.too_large);
  EXPECT_EQ(cut.excess, std::nullopt) << "there are more lines than were read";
}

TEST(PluginTopic, ThatIsUnknownIsIgnored) {
  for (const auto topic :
       {"product.updated", "customer.deleted", "action.woocommerce_add_to_cart", "coupon.created"}) {
    EXPECT_EQ(read("{}", topic).value().kind, Event::ignored_topic) << topic;
  }
  for (const auto topic : {"", "order.created", "order.updated", "order.restored"}) {
    EXPECT_EQ(read(R"({"id":1})", topic).value().kind, Event::order) << topic;
  }
}

}  // namespace
}  // namespace presetbridge::providers
