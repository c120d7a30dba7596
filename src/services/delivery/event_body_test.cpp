// The events that receivers get of deliveries and of the account (spec 10.1, 10.2), from the real worker.
#include "services/delivery/event_body.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "services/intake/privacy.h"
#include "services/testing.h"
#include "storage/stores/subscription_store.h"

namespace presetbridge::services {
namespace {

namespace json = boost::json;
using testing::World;

class EventBody : public ::testing::Test {
 protected:
  explicit EventBody(std::int64_t credits = 1'000) : world_(World::unlimited(), credits) {
    world_.write([&](storage::Tx& tx) {
      storage::SubscriptionRow row;
      row.id = world_.ids.make<SubscriptionId>();
      row.account = world_.account;
      row.url = "https://shop.example/hook";
      row.encrypted_secret = std::vector<std::byte>(8);
      row.created_at = tx.now();
      insert_subscription(tx, row);
    });
  }
  std::vector<json::object> events() {
    std::vector<json::object> all;
    world_.write([&](storage::Tx& tx) {
      tx.query({"SELECT body FROM outbound_events ORDER BY id"}, [&](const storage::Row& r) {
        const auto body = r.bytes(0);
        all.push_back(json::parse({reinterpret_cast<const char*>(body.data()), body.size()}).as_object());
      });
    });
    return all;
  }
  json::object last(std::string_view type) {
    json::object found;
    for (auto& event : events()) {
      if (event.at("type").as_string() == type) found = std::move(event);
    }
    return found;
  }
  static std::vector<std::string> names(const json::object& object) {
    std::vector<std::string> names;
    for (const auto& [name, value] : object) names.emplace_back(name);
    return names;
  }

  World world_;
};

TEST_F(EventBody, TheSeedsFieldsComeFirstThenItemsWithTheUserWhoGetsThem) {
  world_.deliver(world_.order("1", "Ann", {"sku-1", "sku-2"}));
  const auto event = last("delivery.completed");
  EXPECT_EQ(names(event),
            (std::vector<std::string>{"id", "type", "createdAt", "integrationId", "deliveryId", "delivery"}));
  const auto& delivery = event.at("delivery").as_object();
  EXPECT_EQ(names(delivery), (std::vector<std::string>{"orderId", "eventId", "status", "message", "sequence",
                                                       "itemCount", "items"}));
  EXPECT_EQ(delivery.at("itemCount").as_int64(), 2);
  const auto& items = delivery.at("items").as_array();
  ASSERT_EQ(items.size(), 2U);
  const auto& item = items[0].as_object();
  EXPECT_EQ(names(item), (std::vector<std::string>{"id", "fileId", "name", "kind", "status", "username"}));
  EXPECT_EQ(item.at("fileId").as_string(), "file-1");
  EXPECT_EQ(item.at("name").as_string(), "File 1");
  EXPECT_EQ(item.at("status").as_string(), "shared");
  EXPECT_TRUE(item.at("username").is_string());
  // When it was queued nobody had looked the name up.
  const auto queued = last("delivery.queued");
  const auto& owed = queued.at("delivery").as_object().at("items").as_array().at(0).as_object();
  EXPECT_EQ(owed.at("status").as_string(), "owed");
  EXPECT_TRUE(owed.at("username").is_null());
}

TEST_F(EventBody, AFailureSaysWhatHappenedAndWhatToDo) {
  world_.deliver(world_.order("1", "", {"sku-1"}));
  const auto failed = last("delivery.failed").at("delivery").as_object();
  EXPECT_EQ(failed.at("resolutionCode").as_string(), "username_missing");
  const auto& text = domain::describe(domain::ResolutionCode::username_missing);
  EXPECT_EQ(failed.at("resolution"),
            (json::value{
                {"title", text.title}, {"whatHappened", text.what_happened}, {"whatToDo", text.what_to_do}}));
  EXPECT_EQ(failed.at("items").as_array().size(), 1U);
}

TEST_F(EventBody, NoMoreThanAHundredItemsAreListed) {
  std::vector<storage::ItemRow> rows(500);
  std::vector<const storage::ItemRow*> items;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].id = ItemId{static_cast<std::int64_t>(i + 1)};
    rows[i].name = std::string(3'000, 'n');
    items.push_back(&rows[i]);
  }
  const auto body = delivery_event_body("uuid", domain::EventType::delivery_completed, {}, items, {}, {});
  const auto delivery = json::parse(body).as_object().at("delivery").as_object();
  EXPECT_EQ(delivery.at("itemCount").as_int64(), 500);
  EXPECT_EQ(delivery.at("items").as_array().size(), kMostEventItems);
  EXPECT_LT(body.size(), 50'000U);
}

TEST_F(EventBody, TheBuyersLinkIsInTheBodyWhereThereIsOne) {
  const auto delivery_with = [](std::string_view url) {
    const auto body = delivery_event_body("uuid", domain::EventType::delivery_failed, {}, {}, url, {});
    return json::parse(body).as_object().at("delivery").as_object();
  };
  EXPECT_EQ(delivery_with("https://bridge.example/p#x").at("buyerUrl").as_string(),
            "https://bridge.example/p#x");
  EXPECT_FALSE(delivery_with("").contains("buyerUrl"));
}

TEST_F(EventBody, AnErasureTakesTheNameOutOfStoredEvents) {
  world_.deliver(world_.order("1", "Ann", {"sku-1"}));
  ASSERT_TRUE(json::serialize(last("delivery.completed")).contains("nn\""));
  world_.write([&](storage::Tx& tx) {
    const std::vector<storage::OrderKey> orders{{world_.integration, "1"}};
    erase_orders(tx, world_.changes, orders);
  });
  for (const auto& event : events()) {
    for (const auto& item : event.at("delivery").as_object().at("items").as_array())
      EXPECT_TRUE(item.as_object().at("username").is_null()) << json::serialize(event);
  }
  EXPECT_EQ(last("delivery.completed").at("delivery").as_object().at("orderId").as_string(), "1");
}

class CreditsLow : public EventBody {
 protected:
  CreditsLow() : EventBody(14) {}
  int notices() {
    int count = 0;
    for (const auto& event : events()) count += event.at("type").as_string() == "credits.low";
    return count;
  }
};

TEST_F(CreditsLow, IsNotifiedOnceWhenTheyFallToTheThresholdAndAgainAfterTheyRose) {
  world_.deliver(world_.order("1", "Ann", {"sku-1", "sku-2", "sku-3"}));
  EXPECT_EQ(notices(), 0) << "11 are left";
  world_.deliver(world_.order("2", "Bob", {"sku-1", "sku-2"}));
  ASSERT_EQ(notices(), 1);
  EXPECT_EQ(last("credits.low").at("credits").as_object().at("threshold").as_int64(), 10);
  world_.deliver(world_.order("3", "Cat", {"sku-1", "sku-2"}));
  EXPECT_EQ(notices(), 1);
  world_.grant(10);
  world_.deliver(world_.order("4", "Dan", {"sku-1", "sku-2", "sku-3", "sku-4", "sku-5", "sku-6", "sku-7"}));
  EXPECT_EQ(notices(), 2);
}

TEST_F(CreditsLow, AnAccountSetsItsOwnThreshold) {
  world_.write([&](storage::Tx& tx) { set_credits_low_at(tx, world_.account, 2); });
  world_.deliver(world_.order("1", "Ann", {"sku-1", "sku-2", "sku-3", "sku-4", "sku-5", "sku-6"}));
  EXPECT_EQ(notices(), 0);
  world_.deliver(world_.order("2", "Bob", {"sku-1", "sku-2", "sku-3", "sku-4", "sku-5", "sku-6"}));
  ASSERT_EQ(notices(), 1);
  const auto credits = last("credits.low").at("credits").as_object();
  EXPECT_EQ(credits.at("threshold").as_int64(), 2);
  EXPECT_LE(credits.at("available").as_int64(), 2);
}

}  // namespace
}  // namespace presetbridge::services
