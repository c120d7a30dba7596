#include "services/intake/store_tally.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "services/stores/integrations.h"
#include "services/stores/products.h"
#include "services/testing.h"

namespace presetbridge::services {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::World;

// A database whose writes fail while it is away.
class Unsteady final : public storage::Database {
 public:
  Unsteady(std::unique_ptr<storage::Database> database, const bool& away)
      : database_(std::move(database)), away_(away) {}
  Durability commit(const storage::TxFn& fn) override {
    if (away_) throw storage::DbError(storage::DbError::Kind::unavailable, "planted");
    return database_->commit(fn);
  }
  void sync() override { database_->sync(); }
  void read(const storage::TxFn& fn) override { database_->read(fn); }
  std::string_view engine() const override { return database_->engine(); }

 private:
  const std::unique_ptr<storage::Database> database_;
  const bool& away_;
};

class StoreTallyTest : public ::testing::Test {
 protected:
  std::shared_ptr<const IntegrationSnapshot> snapshot(IntegrationId id) {
    return world.await(world.directory.find(world.scheduler, id)).value();
  }
  // As the webhook's handler does.
  Accepted send(domain::OrderEvent event, std::string_view topic = "", std::optional<IntegrationId> to = {}) {
    const IntegrationId id = to.value_or(world.integration);
    const auto what = seen(event, {.topic = topic});
    auto answer = world.accept(id, std::move(event));
    tally.accepted(snapshot(id), what, answer);
    return answer;
  }
  void flush() { world.await(flushed(tally)); }
  static Task<int> flushed(StoreTally& tally) {
    co_await tally.flush();
    co_return 0;
  }
  storage::StoreActivity activity(std::optional<IntegrationId> of = {}) {
    const std::array ids{of.value_or(world.integration)};
    return world.write([&](storage::Tx& tx) {
      return std::move(find_store_activity(tx, ids, tx.now() - std::chrono::hours{24}).front());
    });
  }
  std::map<std::string, std::int64_t> counts(std::optional<IntegrationId> of = {}) {
    std::map<std::string, std::int64_t> counts;
    for (const auto& hour : activity(of).hours) counts[hour.what] = hour.events;
    return counts;
  }
  ProductPage products(ProductFilter filter = {}, storage::PageRequest page = {}) {
    return world.await(catalogue.list(world.scheduler, world.merchant(), world.integration, filter, page))
        .value();
  }
  std::vector<std::string> skus(ProductFilter filter = {}) {
    std::vector<std::string> found;
    for (const auto& view : products(std::move(filter)).page.rows) found.push_back(view.row.sku);
    return found;
  }
  void map(std::vector<std::string> wanted_skus) {
    std::vector<WantedMapping> wanted;
    for (auto& sku : wanted_skus) wanted.push_back({.match_value = sku, .file_id = "f-" + sku});
    ASSERT_TRUE(world.await(
        stores.replace_mappings(world.scheduler, world.merchant(), world.integration, {}, wanted)));
  }

  bool away = false;
  World world{World::unlimited(), 1'000, [this](std::unique_ptr<storage::Database> database) {
                return std::make_unique<Unsteady>(std::move(database), away);
              }};
  StoreTally tally{world.scheduler, world.async_db,
                   world.ids,       world.database.clock,
                   world.log,       {.most_products = 40, .most_products_of_store = 30, .batch = 7}};
  Products catalogue{world.async_db};
  Integrations stores{world.async_db, world.ids, world.random, world.cipher, world.directory, [] {}};
};

TEST_F(StoreTallyTest, CountsWhatWasAcceptedAndWhatWasRefused) {
  auto first = testing::later(world, "1", {"sku-1"}, 0);
  send(first, "orders/create");
  send(first, "orders/paid");  // the same again
  send(testing::later(world, "2", {"nothing"}, 0), "orders/create");
  tally.refused(world.integration, "INVALID_SIGNATURE");
  tally.refused(world.integration, "INVALID_SIGNATURE");
  EXPECT_THAT(counts(), IsEmpty()) << "no request writes";
  flush();
  EXPECT_THAT(counts(), ElementsAre(std::pair("INVALID_SIGNATURE", 2), std::pair("accepted", 3),
                                    std::pair("delivery", 1), std::pair("order", 2)));
  EXPECT_EQ(activity().last_order_at, world.database.clock.now());
  EXPECT_THAT(activity().topics, ElementsAre("orders/create", "orders/paid"));
  flush();
  EXPECT_EQ(counts()["accepted"], 3) << "what is written is not written again";
}

TEST_F(StoreTallyTest, TheAddressOfAnArchivedStoreIsNotStored) {
  const storage::StoreOrigin origin{world.integration, "https://shop.example/", world.database.clock.now()};
  const auto stored = [&] {
    return world.write([&](storage::Tx& tx) {
      note_store_origins(tx, std::array{origin});
      return find_store_origin(tx, world.integration).has_value();
    });
  };
  world.write([&](storage::Tx& tx) {
    tx.exec({"UPDATE integrations SET archived_at = 1 WHERE id = $1"}, world.integration);
  });
  EXPECT_FALSE(stored());
  world.write([&](storage::Tx& tx) {
    tx.exec({"UPDATE integrations SET archived_at = NULL WHERE id = $1"}, world.integration);
  });
  EXPECT_TRUE(stored());
}

TEST_F(StoreTallyTest, EachStoreHasItsOwnNumbers) {
  const auto other = world.add_tenant("m-2");
  send(world.order("1", "Ann", {"sku-1"}));
  send(world.order("1", "Ann", {"sku-1"}), "", other.integration);
  tally.refused(other.integration, "INVALID_PAYLOAD");
  flush();
  EXPECT_EQ(counts().count("INVALID_PAYLOAD"), 0U);
  EXPECT_EQ(counts(other.integration)["INVALID_PAYLOAD"], 1);
  EXPECT_EQ(counts(other.integration)["order"], 1);
}

TEST_F(StoreTallyTest, WhatCannotBeWrittenIsWrittenLater) {
  send(world.order("1", "Ann", {"sku-1"}));
  away = true;
  flush();
  flush();
  away = false;
  EXPECT_THAT(counts(), IsEmpty());
  send(world.order("2", "Ann", {"sku-1"}));
  flush();
  EXPECT_EQ(counts()["accepted"], 2);
  ASSERT_THAT(skus(), ElementsAre("sku-1"));
  EXPECT_EQ(products().page.rows.front().row.sold, 2);
}

TEST_F(StoreTallyTest, WhatIsRefusedByADatabaseThatIsThereHoldsNothingUp) {
  send(world.order("1", "Ann", {"sku-1"}));
  world.write([](storage::Tx& tx) { tx.exec_script("ALTER TABLE store_products RENAME TO gone;"); });
  flush();
  world.write([](storage::Tx& tx) { tx.exec_script("ALTER TABLE gone RENAME TO store_products;"); });
  EXPECT_TRUE(world.log.text.contains("what stores have sent could not be written what=products"));
  EXPECT_EQ(counts()["accepted"], 1);
  send(world.order("2", "Ann", {"sku-2"}));
  flush();
  EXPECT_THAT(skus(), ElementsAre("sku-2"));
}

// A header may hold any bytes, and PostgreSQL takes UTF-8 alone.
TEST_F(StoreTallyTest, WhatIsNoTopicIsNotKept) {
  for (const std::string& topic : {std::string("orders/\xFF"), std::string("a b"), std::string(101, 'a')})
    send(testing::later(world, "1", {"sku-1"}, 0), topic);
  flush();
  EXPECT_THAT(activity().topics, IsEmpty());
  EXPECT_EQ(counts()["accepted"], 3);
}

TEST_F(StoreTallyTest, AStopWritesWhatWasGathered) {
  tally.start();
  send(world.order("1", "Ann", {"sku-1"}));
  bool stopped = false;
  tally.stop([&] { stopped = true; });
  world.scheduler.run();
  EXPECT_TRUE(stopped);
  EXPECT_EQ(counts()["accepted"], 1);
}

TEST_F(StoreTallyTest, WritesEachFewSeconds) {
  tally.start();
  send(world.order("1", "Ann", {"sku-1"}));
  world.settle(Millis{1'000});
  EXPECT_THAT(counts(), IsEmpty());
  world.settle(Millis{1'500});
  EXPECT_EQ(counts()["accepted"], 1);
  tally.stop([] {});
  world.scheduler.run();
}

TEST_F(StoreTallyTest, AProductIsSoldOnceAnOrderHoweverOftenTheStoreReportsIt) {
  auto event = testing::later(world, "1", {"sku-1", "new"}, 0);
  event.lines[1].quantity = 3;
  event.lines[1].title = "Warm Clean";
  send(event);
  event.updated_at = *event.updated_at + Millis{60'000};
  event.email = "other@example.com";
  send(event);
  flush();
  const auto page = products();
  ASSERT_EQ(page.page.rows.size(), 2U);
  const auto& added = page.page.rows[0].row.sku == "new" ? page.page.rows[0] : page.page.rows[1];
  EXPECT_EQ(added.row.sold, 3);
  EXPECT_EQ(added.row.title, "Warm Clean");
  EXPECT_FALSE(added.row.mapped);
  EXPECT_EQ(added.skipped_orders, 1);
}

TEST_F(StoreTallyTest, ASampleOrderNamesNoProducts) {
  auto sample = testing::later(world, "1", {"sample"}, 0);
  sample.sample = sample.test = true;
  send(sample);
  auto test = testing::later(world, "2", {"tested"}, 0);
  test.test = true;
  send(test);
  flush();
  ASSERT_THAT(skus(), ElementsAre("tested"));
  EXPECT_EQ(products().page.rows.front().row.sold, 0) << "named, and not sold";
}

TEST_F(StoreTallyTest, ProductsShowWhatServesThem) {
  send(world.order("1", "Ann", {"sku-1", "new"}));
  flush();
  EXPECT_THAT(skus({.mapped = true}), ElementsAre("sku-1"));
  EXPECT_THAT(skus({.mapped = false}), ElementsAre("new"));
  EXPECT_EQ(activity().unmapped_products, 1);
  ASSERT_EQ(products({.mapped = true}).page.rows.front().mapped_by.size(), 1U);
  EXPECT_EQ(products({.mapped = true}).page.rows.front().mapped_by.front().file_id, "file-1");
  map({"new"});
  EXPECT_THAT(skus({.mapped = true}), ElementsAre("new"));
  EXPECT_EQ(activity().unmapped_products, 1) << "sku-1 now";
}

// A product that is matched by its title and has another title since (spec 2.10): it delivers nothing, and the
// store must not count as one whose products all have a preset. Both orders may come before they are written.
TEST_F(StoreTallyTest, AProductThatItsTitleNoLongerMatchesIsNotMapped) {
  ASSERT_TRUE(world.await(stores.replace_mappings(
      world.scheduler, world.merchant(), world.integration, {},
      std::vector<WantedMapping>{
          {.type = domain::MatchType::title, .match_value = "Warm", .file_id = "f-warm"}})));
  const auto order = [&](std::string id, std::string title) {
    auto event = world.order(std::move(id), "Ann", {""});
    event.lines[0].variant_id = "901";
    event.lines[0].title = std::move(title);
    send(event);
  };
  order("1", "Warm");
  flush();
  EXPECT_EQ(activity().unmapped_products, 0);
  order("2", "Warmer");
  flush();
  EXPECT_EQ(activity().unmapped_products, 1);
  order("3", "Warm");
  flush();
  EXPECT_EQ(activity().unmapped_products, 0);
  order("4", "Warm");
  order("5", "Warmer");
  flush();
  EXPECT_EQ(activity().unmapped_products, 1);
}

// A save of mappings beside the write of products: each alone would leave what was so before.
TEST_F(StoreTallyTest, AProductWhoseMappingCameMeanwhileIsMapped) {
  send(world.order("1", "Ann", {"new"}));
  map({"new"});
  flush();
  EXPECT_EQ(activity().unmapped_products, 0);
}

TEST_F(StoreTallyTest, WhatWasLeftUndoneIsDoneWhenTheListIsRead) {
  send(world.order("1", "Ann", {"sku-1"}));
  flush();
  world.write([](storage::Tx& tx) { tx.exec_script("UPDATE store_products SET mapped = 0;"); });
  ASSERT_EQ(activity().unmapped_products, 1);
  EXPECT_THAT(skus({.mapped = true}), ElementsAre("sku-1"));
  EXPECT_EQ(activity().unmapped_products, 0);
}

TEST_F(StoreTallyTest, ProductsAreFoundByAnyOfTheirNames) {
  auto event = world.order("1", "Ann", {"AB-1", "xy"});
  event.lines[0].title = "Warm &amp; Clean";
  event.lines[1].product_id = "778";
  send(event);
  flush();
  EXPECT_THAT(skus({.text = "warm & CLEAN"}), ElementsAre("AB-1"));
  EXPECT_THAT(skus({.text = "ab-"}), ElementsAre("AB-1"));
  EXPECT_THAT(skus({.text = "77"}), ElementsAre("xy"));
  EXPECT_THAT(skus({.text = "none"}), IsEmpty());
}

TEST_F(StoreTallyTest, ProductsArePaged) {
  for (int i = 0; i < 5; ++i) send(world.order(std::to_string(i), "Ann", {"p-" + std::to_string(i)}));
  flush();
  std::vector<std::string> all;
  storage::PageRequest page{.limit = 2};
  while (true) {
    const auto found = products({}, page);
    for (const auto& view : found.page.rows) all.push_back(view.row.sku);
    if (!found.page.next) break;
    page.before = *found.page.next;
  }
  std::ranges::sort(all);
  EXPECT_THAT(all, ElementsAre("p-0", "p-1", "p-2", "p-3", "p-4"));
}

TEST_F(StoreTallyTest, WhatIsGatheredHasABound) {
  std::vector<std::string> many;
  for (int i = 0; i < 35; ++i) many.push_back("p-" + std::to_string(i));
  send(world.order("1", "Ann", many));
  flush();
  EXPECT_EQ(products({}, {.limit = 100}).page.rows.size(), 30U);
  EXPECT_TRUE(world.log.text.contains("more came from stores than is counted"));
  send(world.order("2", "Ann", many));
  flush();
  EXPECT_EQ(products({}, {.limit = 100}).page.rows.front().row.last_seen_at, world.database.clock.now());
}

TEST_F(StoreTallyTest, ProductsOfAStoreHaveABoundAndTheOldestLeave) {
  const auto rows_of = [&](int first, int count, Timestamp at) {
    std::vector<storage::ProductRow> rows;
    for (int i = first; i < first + count; ++i) {
      rows.push_back({.integration = world.integration,
                      .key = "sku:" + std::to_string(100'000 + i),
                      .id = world.ids.next(),
                      .sku = std::to_string(i),
                      .first_seen_at = at,
                      .last_seen_at = at});
    }
    return rows;
  };
  const auto now = world.database.clock.now();
  world.write([&](storage::Tx& tx) { put_products(tx, rows_of(0, 5'000, now)); });
  world.write([&](storage::Tx& tx) { put_products(tx, rows_of(1, 4'999, now + Millis{1})); });
  world.write([&](storage::Tx& tx) { put_products(tx, rows_of(5'000, 1, now)); });
  const auto kept =
      world.write([&](storage::Tx& tx) { return find_products(tx, world.integration, "", 10'000); });
  EXPECT_EQ(kept.size(), 5'000U);
  EXPECT_EQ(kept.front().sku, "1") << "0 was seen longest ago";
}

TEST_F(StoreTallyTest, AStoreHasABoundOfTopics) {
  for (int i = 0; i < 40; ++i) {
    send(testing::later(world, "1", {"sku-1"}, 0), "topic/" + std::to_string(i));
    flush();
  }
  EXPECT_EQ(activity().topics.size(), 32U);
}

TEST_F(StoreTallyTest, AnothersStoreHasNoProducts) {
  const auto other = world.add_tenant("m-2");
  const auto found =
      world.await(catalogue.list(world.scheduler, world.merchant(), other.integration, ProductFilter{}, {}));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "NOT_FOUND");
}

// Lines without a name cannot be distinguished, and the order is taken all the same.
TEST_F(StoreTallyTest, ALineWithoutANameIsNoProduct) {
  send(world.order("1", "Ann", {""}));
  flush();
  EXPECT_THAT(skus(), IsEmpty());
  EXPECT_EQ(counts()["accepted"], 1);
}

}  // namespace
}  // namespace presetbridge::services
