#include "services/delivery/delivery_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/testing.h"
#include "services/worker/item_steps.h"
#include "storage/tx_driver.h"

namespace presetbridge::services {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::World;

// Passes everything on and notes in `tables` which of them were read or written, in their order.
class RecordingDriver final : public storage::TxDriver {
 public:
  RecordingDriver(storage::Tx& tx, std::vector<std::string>& tables) : tx_(tx), tables_(tables) {}
  bool others_write() const override { return tx_.others_write(); }
  std::int64_t exec(const storage::Sql& sql, std::span<const storage::Param> params) override {
    note(sql);
    return tx_.exec_params(sql, params);
  }
  void query(const storage::Sql& sql, std::span<const storage::Param> params, const RowFn& fn) override {
    note(sql);
    tx_.query_params(sql, params, fn);
  }
  void exec_many(const storage::Sql& sql, std::size_t width, std::span<const storage::Param> flat) override {
    note(sql);
    tx_.exec_many(sql, width, flat);
  }
  std::vector<bool> insert_each(const storage::Sql& sql, std::size_t width,
                                std::span<const storage::Param> flat) override {
    note(sql);
    return tx_.insert_each(sql, width, flat);
  }
  std::int64_t update_each(const storage::Sql& sql, std::size_t width,
                           std::span<const storage::Param> flat) override {
    note(sql);
    return tx_.update_each(sql, width, flat);
  }
  void query_each(const storage::Sql& sql, std::size_t width, std::span<const storage::Param> flat,
                  const EachRowFn& fn) override {
    note(sql);
    tx_.query_each(sql, width, flat, fn);
  }
  void exec_script(std::string_view text) override { tx_.exec_script(text); }
  void lock_schema() override { tx_.lock_schema(); }

 private:
  void note(const storage::Sql& sql) {
    const std::string_view text = sql.text;
    for (const std::string_view before : {" FROM ", "UPDATE ", "INSERT INTO "}) {
      const auto at = text.find(before);
      if (at == std::string_view::npos) continue;
      const auto table = text.substr(at + before.size());
      const std::string name(table.substr(0, table.find_first_of(" (")));
      return tables_.push_back((text.starts_with("SELECT") ? "read " : "write ") + name);
    }
    tables_.emplace_back(text);
  }

  storage::Tx& tx_;
  std::vector<std::string>& tables_;
};

// Deliveries that no job has begun, each of a customer of its own.
struct Waiting {
  explicit Waiting(World& w) : world(w) {
    world.hold_queue();
    for (const char* name : {"ann", "bob", "cid"})
      deliveries.push_back(world.accept(world.order(name, name, {"sku-1"})).delivery.value());
    for (const auto id : deliveries) customers.push_back(world.delivery(id).customer);
  }
  // Runs `step(tx, set)` and saves.
  void with_set(const std::function<void(storage::Tx&, DeliverySet&)>& step) {
    world.write([&](storage::Tx& real) {
      tables.clear();
      RecordingDriver driver(real, tables);
      storage::Tx tx(driver, real.now());
      DeliverySet set(tx, world.changes, customers);
      step(tx, set);
      set.save();
    });
  }
  World& world;
  std::vector<DeliveryId> deliveries;
  std::vector<CustomerId> customers;
  std::vector<std::string> tables;  // that the step has read and written
};

TEST(DeliverySet, ReadsTheRowsOfAllCustomersWithOneStatementATable) {
  World world;
  Waiting waiting(world);
  waiting.with_set([&](storage::Tx&, DeliverySet& set) {
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(set.customer(waiting.customers[i]));
      EXPECT_THAT(set.open(waiting.customers[i]), ElementsAre(waiting.deliveries[i]));
      EXPECT_EQ(set.items(waiting.deliveries[i]).size(), 1U);
      EXPECT_THAT(set.items_of(waiting.customers[i]), IsEmpty());
      EXPECT_EQ(set.balance(world.account).available(), 1'000);
    }
    EXPECT_THAT(waiting.tables, ElementsAre("read customers", "read deliveries", "read delivery_items",
                                            "read delivery_items", "read accounts"));
  });
}

TEST(DeliverySet, WritesOnlyOrdersThatWereLocked) {
  World world;
  Waiting waiting(world);
  const auto [first, second] = std::pair(waiting.deliveries[0], waiting.deliveries[1]);
  const auto approved = [&](DeliveryId id) {
    return world.write(
        [&](storage::Tx& tx) { return state_of(find_order(tx, OrderId{id.value}).value()).approved_unpaid; });
  };
  waiting.with_set([&](storage::Tx&, DeliverySet& set) {
    set.lock_order(first);
    for (const auto id : {first, second}) set.order(id)->state.approved_unpaid = true;
    set.changed(*set.order(first));
    EXPECT_THROW(set.changed(*set.order(second)), std::logic_error);
    set.forget_orders();
    EXPECT_TRUE(set.order(first)->state.approved_unpaid);
    EXPECT_FALSE(set.order(second)->state.approved_unpaid) << "it is read again";
  });
  EXPECT_TRUE(approved(first));
  EXPECT_FALSE(approved(second));
}

TEST(DeliverySet, ReadsTheSettingsOfAllStoresWithOneStatement) {
  World world;
  Waiting waiting(world);
  waiting.with_set([&](storage::Tx&, DeliverySet& set) {
    for (std::size_t i = 0; i < 3; ++i) {
      set.open(waiting.customers[i]);
      revoke_if_ended(set, waiting.deliveries[i]);
    }
    EXPECT_THAT(waiting.tables, ElementsAre("read deliveries", "read integrations"));
  });
}

TEST(DeliverySet, ReadsSettingsAgainUnderTheLockOfAFurtherDelivery) {
  World world;
  Waiting waiting(world);
  const auto other = waiting.deliveries[2];
  waiting.customers.pop_back();
  waiting.with_set([&](storage::Tx& tx, DeliverySet& set) {
    const auto& row = *set.delivery(waiting.deliveries[0]);
    EXPECT_FALSE(set.order_settings(row).auto_revoke);
    tx.exec({"UPDATE integrations SET auto_revoke = 1 WHERE id = $1"}, row.integration);
    EXPECT_TRUE(set.order_settings(*set.delivery(other)).auto_revoke);
  });
}

// An intake that is adding or refunding an item holds that lock: what is read before it may be old.
TEST(DeliverySet, ReadsItemsUnderTheLockOfTheirDelivery) {
  World world;
  Waiting waiting(world);
  waiting.with_set([&](storage::Tx&, DeliverySet& set) {
    EXPECT_EQ(set.items(waiting.deliveries[0]).size(), 1U);
    EXPECT_THAT(waiting.tables, ElementsAre("read deliveries", "read delivery_items"));
  });
  waiting.with_set([&](storage::Tx&, DeliverySet& set) {
    set.items_of(waiting.customers[0]);
    EXPECT_THAT(waiting.tables, ElementsAre("read deliveries", "read delivery_items"));
  });
  // Of no customer of the set: locked by itself.
  waiting.with_set([&](storage::Tx& tx, DeliverySet&) {
    DeliverySet alone(tx, world.changes, {waiting.customers[1]});
    EXPECT_EQ(alone.items(waiting.deliveries[0]).size(), 1U);
    EXPECT_THAT(waiting.tables, ElementsAre("read deliveries", "read deliveries", "read delivery_items"));
  });
}

TEST(DeliverySet, WhatOneStepHasChangedTheNextOneSees) {
  World world;
  Waiting waiting(world);
  waiting.with_set([&](storage::Tx&, DeliverySet& set) {
    auto ann = *set.customer(waiting.customers[0]);
    EXPECT_FALSE(set.customer_of_user(world.cloud_account, "u-1"));
    ann.cloud_user_id = "u-1";
    set.put(ann);
    EXPECT_EQ(set.customer_of_user(world.cloud_account, "u-1")->id, ann.id);
    EXPECT_EQ(set.customer(ann.id)->cloud_user_id, "u-1");
    ann.cloud_user_id.clear();
    set.put(ann);
    EXPECT_FALSE(set.customer_of_user(world.cloud_account, "u-1"));

    set.set_balance(world.account, domain::hold(set.balance(world.account), 1).value());
    EXPECT_EQ(set.balance(world.account).held, 1);

    auto& item = *set.items(waiting.deliveries[0]).front();
    item.customer = ann.id;
    set.changed(item);
    EXPECT_THAT(set.items_of(ann.id), ElementsAre(&item)) << "the database knows nothing of it yet";

    auto& row = *set.delivery(waiting.deliveries[0]);
    set.apply(row, {.cause = domain::Cause::known_cause, .code = domain::ResolutionCode::username_missing});
    EXPECT_THAT(set.open(ann.id), IsEmpty());
  });
  EXPECT_EQ(world.status(waiting.deliveries[0]), "failed username_missing");
  EXPECT_EQ(world.items(waiting.deliveries[0]).front().customer, waiting.customers[0]);
  EXPECT_EQ(world.balance().held, 1);
}

TEST(DeliverySet, WhatIsSavedTheDatabaseReturnsAndTheRowsStay) {
  World world;
  Waiting waiting(world);
  waiting.with_set([&](storage::Tx& tx, DeliverySet& set) {
    set.set_balance(world.account, domain::hold(set.balance(world.account), 1).value());
    auto* const row = set.delivery(waiting.deliveries[0]);
    row->username = "anna";
    set.changed(*row);
    set.save();
    EXPECT_EQ(find_delivery(tx, waiting.deliveries[0])->username, "anna");
    EXPECT_EQ(find_balance(tx, world.account)->held, 1);
    EXPECT_EQ(set.delivery(waiting.deliveries[0]), row);
    row->username = "annika";
    set.changed(*row);
  });
  EXPECT_EQ(world.delivery(waiting.deliveries[0]).username, "annika");
}

TEST(DeliverySet, WhoIsQueuedIsReadAnew) {
  World world;
  Waiting waiting(world);
  waiting.with_set([&](storage::Tx&, DeliverySet& set) {
    auto ann = *set.customer(waiting.customers[0]);
    auto cleo = *set.customer(waiting.customers[2]);
    ann.cloud_user_id = "u-1";
    cleo.cloud_user_id = "u-3";
    set.put(ann);
    set.put(cleo);
    set.enqueue(cleo.id, domain::JobClass::share, set.now());
    EXPECT_EQ(set.customer(cleo.id)->job_class, domain::JobClass::share);
    EXPECT_EQ(set.customer(cleo.id)->cloud_user_id, "u-3") << "it was written before";
    EXPECT_EQ(set.customer_of_user(world.cloud_account, "u-1")->id, ann.id);
  });
}

TEST(DeliverySet, AnItemThatIsAddedIsSeenAndOneThatIsRemovedIsNot) {
  World world;
  Waiting waiting(world);
  const auto id = waiting.deliveries[0];
  waiting.with_set([&](storage::Tx&, DeliverySet& set) {
    const auto first = set.items_with_lines(id).front();
    EXPECT_NE(first->lines, "[]");
    auto another = *first;
    another.id = world.ids.make<ItemId>();
    another.file_id = "file-of-another";
    auto& added = set.add(another);
    auto third = another;
    third.id = world.ids.make<ItemId>();
    third.file_id = "file-that-goes";
    set.remove(set.add(third));
    EXPECT_EQ(set.items(id).size(), 2u);
    set.save();
    set.remove(added);
    EXPECT_THAT(set.items_with_lines(id), ElementsAre(first));
  });
  EXPECT_EQ(world.items(id).size(), 1u);
}

TEST(DeliverySet, ADeliveryThatGoesToAnotherCustomerIsOpenThere) {
  World world;
  Waiting waiting(world);
  waiting.with_set([&](storage::Tx&, DeliverySet& set) {
    auto& row = *set.delivery(waiting.deliveries[0]);
    row.customer = waiting.customers[1];
    set.changed(row);
    EXPECT_THAT(set.open(waiting.customers[0]), IsEmpty());
    EXPECT_THAT(set.open(waiting.customers[1]), ElementsAre(waiting.deliveries[0], waiting.deliveries[1]));
  });
}

}  // namespace
}  // namespace presetbridge::services
