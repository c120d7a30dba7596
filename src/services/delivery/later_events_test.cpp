// The effects of events that arrive late, or while the store is inactive, and of mappings that are saved
// while a job runs (spec 2.6, 2.11, 2.14, 3.6), as the merchant sees it.
#include <gtest/gtest.h>

#include "providers/parse.h"
#include "providers/profile.h"
#include "services/delivery/order_rules_testing.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/order_store.h"
#include "storage/stores/timeline_store.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using testing::later;
using testing::once;
using testing::World;
using Fate = testing::FakeCloud::Fate;

class LaterEvents : public testing::OrderRules {
 protected:
  void activate(bool active) {
    set_store([&](auto& row) { row.active = active; });
  }
  // The only file of that SKU from now on.
  void map(const std::string& sku, const std::string& file) {
    world.write([&](storage::Tx& tx) {
      auto row = *lock_integration(tx, world.integration);
      auto mappings = find_mappings(tx, world.integration);
      std::erase_if(mappings, [&](const auto& m) { return m.mapping.value == sku; });
      mappings.push_back({{world.ids.make<MappingId>(), domain::MatchType::sku, sku,
                           domain::MappingAction::deliver, file, "preset", "File " + file},
                          sku,
                          false});
      replace_mappings(tx, world.integration, mappings);
      update_integration(tx, row);
      add_account_task(tx, world.account, storage::AccountTaskKind::resume_mappings);
    });
    world.worker->wake();
  }
  domain::OrderEvent at(int minute, std::vector<std::string> skus = {"sku-1"},
                        domain::Payment payment = domain::Payment::deliver) {
    auto event = later(world, "1", std::move(skus), minute);
    event.payment = payment;
    return event;
  }
  // The event of a hosted shop with these members.
  static domain::OrderEvent hosted(int minute, const std::string& members) {
    const auto body = R"({"id":1,"updated_at":"2026-11-02T09:)" + std::to_string(10 + minute) +
                      R"(:00Z","email":")" + std::to_string(minute) + "@example.com\"" + members + "}";
    return providers::parse(
               providers::profile_of(domain::Provider::provider_a),
               {.body = body, .topic = "orders/updated", .test = false, .username_fields = {}, .limits = {}})
        .value();
  }
  bool has(const std::string& file) const { return world.cloud.shares.contains({"u-ann", file}); }
  void settle() { world.settle(std::chrono::minutes{2}); }
};

TEST_F(LaterEvents, AMappingSavedWhileTheMissingFileIsSharedReportsNoFailure) {
  bool held = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? once(held, Fate::hold) : Fate::answer;
  };
  world.cloud.unknown_files = {"file-1"};
  const auto id = world.deliver(at(0, {"sku-1", "sku-2"}));
  ASSERT_EQ(world.status(id), "processing");
  map("sku-1", "found");
  settle();  // its account task is done
  world.cloud.release();
  settle();
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("found"));
  EXPECT_TRUE(has("file-2"));
  EXPECT_EQ(world.delivery(id).sequence, 2) << "delivery.queued, delivery.completed";
}

TEST_F(LaterEvents, AMappingSavedForAnotherFileLeavesTheFailure) {
  bool held = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? once(held, Fate::hold) : Fate::answer;
  };
  world.cloud.unknown_files = {"file-1"};
  const auto id = world.deliver(at(0));
  map("sku-3", "other");
  settle();
  world.cloud.release();
  settle();
  EXPECT_EQ(world.status(id), "failed preset_not_found");
  EXPECT_EQ(world.delivery(id).sequence, 2) << "delivery.queued, delivery.failed";
}

TEST_F(LaterEvents, ARestorationThatArrivesLateLiftsNoNewerTrash) {
  world.cloud.auto_accept = false;
  const auto id = world.deliver(at(0));
  auto trash = at(3, {"sku-1"}, domain::Payment::cancelled);
  trash.provider = domain::Provider::provider_b;
  trash.trashed = true;
  world.accept(trash);
  ASSERT_EQ(world.status(id), "invalidated");
  auto restored = at(2);
  restored.provider = domain::Provider::provider_b;
  restored.restored = true;
  world.accept(restored);
  EXPECT_EQ(world.status(id), "invalidated");
  restored.updated_at = *restored.updated_at + std::chrono::minutes{2};
  world.accept(restored);
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
}

TEST_F(LaterEvents, ACancellationUnderAnOlderTrashTakesBackWhatWasShared) {
  set_store([](auto& row) { row.auto_revoke = true; });
  const auto id = world.deliver(at(0));
  auto trash = at(3, {"sku-1"}, domain::Payment::cancelled);
  trash.provider = domain::Provider::provider_b;
  trash.trashed = true;
  world.accept(trash);
  settle();
  ASSERT_TRUE(has("file-1")) << "the trash takes nothing back";
  auto late = at(2, {"sku-1"}, domain::Payment::cancelled);
  late.provider = domain::Provider::provider_b;
  EXPECT_FALSE(world.accept(late).duplicate);
  settle();
  EXPECT_FALSE(has("file-1"));
  EXPECT_EQ(world.items(id)[0].status, ItemStatus::revoked);
  late.updated_at = *late.updated_at + std::chrono::seconds{1};
  world.accept(late);
  settle();
  EXPECT_EQ(world.status(id), "completed");
}

TEST_F(LaterEvents, AnEventOfAShopThatLeavesFieldsOutLeavesTheOrderItsLinesAndItsNumber) {
  const std::string full =
      R"(,"name":"#1001","note":"vendor username: Ann","line_items":[{"id":11,"sku":"sku-1"},{"id":12,"sku":"new"}])";
  world.cloud.auto_accept = false;
  const auto id = world.deliver(hosted(0, full));
  ASSERT_EQ(world.status(id), "waiting_for_friendship");
  map("new", "file-9");
  int minute = 0;
  for (const std::string lines : {"", R"(,"line_items":null)", R"(,"line_items":"none")"}) {
    world.accept(hosted(++minute, lines));
    EXPECT_EQ(world.status(id), "waiting_for_friendship") << lines;
  }
  world.cloud.accept("u-ann");
  world.settle(std::chrono::hours{1});
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_TRUE(has("file-1"));
  world.accept(hosted(++minute, ""));
  world.accept(hosted(++minute, full));
  settle();
  EXPECT_FALSE(has("file-9")) << "the line was mapped before the mapping was made";
  const auto order = world.write([&](storage::Tx& tx) { return find_order(tx, OrderId{id.value}); });
  EXPECT_EQ(order->summary.number, "#1001");
  EXPECT_EQ(order->summary.lines, 2);
}

// ---------------------------------------------------------------- an inactive store

TEST_F(LaterEvents, AnInactiveStoreDeliversNothingMoreOfItsOrders) {
  const auto id = world.deliver(at(0));
  activate(false);
  world.accept(at(1, {"sku-1", "sku-2"}));
  settle();
  EXPECT_FALSE(has("file-2"));
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(world.items(id).size(), 1U);
  activate(true);
  world.accept(at(2, {"sku-1", "sku-2", "sku-3"}));
  settle();
  EXPECT_TRUE(has("file-2")) << "mapped when the store is active again";
  EXPECT_TRUE(has("file-3"));
}

TEST_F(LaterEvents, AnInactiveStoreQueuesNoOrderThatIsPaidAgainOrNamed) {
  world.cloud.auto_accept = false;
  const auto stopped = world.deliver(at(0));
  world.accept(at(1, {"sku-1"}, domain::Payment::cancelled));
  auto nameless = later(world, "2", {"sku-2"}, 0);
  nameless.username = nameless.raw_username = "";
  const auto missing = world.accept(nameless).delivery.value();
  const auto withdrawn = world.deliver(later(world, "3", {"sku-3"}, 0));
  auto unpaid = later(world, "3", {"sku-3"}, 1);
  unpaid.payment = domain::Payment::awaiting_payment;
  world.accept(unpaid);
  ASSERT_EQ(world.status(stopped), "invalidated");
  ASSERT_EQ(world.status(missing), "failed username_missing");
  ASSERT_EQ(world.status(withdrawn), "in_review");
  activate(false);
  world.accept(at(2));
  world.accept(later(world, "2", {"sku-2"}, 1));
  world.accept(later(world, "3", {"sku-3"}, 2));
  settle();
  EXPECT_EQ(world.status(stopped), "invalidated");
  EXPECT_EQ(world.status(missing), "failed username_missing");
  EXPECT_EQ(world.status(withdrawn), "in_review");
}

TEST_F(LaterEvents, APaymentThatReturnedWhileTheStoreWasInactiveEndsItsReviewOnceItsRulesActAgain) {
  world.cloud.auto_accept = false;
  const auto id = world.deliver(at(0));
  world.accept(at(1, {"sku-1"}, domain::Payment::awaiting_payment));
  ASSERT_EQ(world.status(id), "in_review");
  activate(false);
  world.accept(at(2));
  EXPECT_EQ(world.status(id), "in_review");
  activate(true);
  world.accept(at(3));
  settle();
  EXPECT_EQ(world.status(id), "waiting_for_friendship");
}

TEST_F(LaterEvents, AnInactiveStoreStillStopsWhatIsUnshared) {
  world.cloud.auto_accept = false;
  const auto cancelled = world.deliver(at(0));
  const auto refunded = world.deliver(later(world, "2", {"sku-1", "sku-2"}, 0));
  activate(false);
  world.accept(at(1, {"sku-1"}, domain::Payment::cancelled));
  domain::OrderEvent refund{
      .kind = domain::OrderEvent::Kind::refund, .provider = domain::Provider::provider_a, .order_id = "2"};
  refund.refunds = {{"r1", {{"L1", 1}}}};
  world.accept(refund);
  EXPECT_EQ(world.status(cancelled), "invalidated");
  EXPECT_EQ(world.items(refunded)[0].status, ItemStatus::dropped);
  EXPECT_EQ(world.items(refunded)[1].status, ItemStatus::owed);
}

// ---------------------------------------------------------------- messages

TEST_F(LaterEvents, TheTimelineNamesTheFileThatTakesThePlaceOfAnother) {
  const auto said = [&](DeliveryId id) {
    std::string all;
    for (const auto& entry : world.write([&](storage::Tx& tx) { return find_timeline(tx, id, 200); }))
      all += entry.message + "\n";
    return all;
  };
  world.cloud.unknown_files = {"file-1", "file-2"};
  const auto resumed = world.deliver(later(world, "1", {"sku-1"}, 0));
  const auto retried = world.deliver(later(world, "2", {"sku-2"}, 0));
  ASSERT_EQ(world.status(resumed), "failed preset_not_found");
  ASSERT_EQ(world.status(retried), "failed preset_not_found");
  map("sku-1", "file-8");
  settle();
  ASSERT_EQ(world.status(resumed), "completed");
  EXPECT_TRUE(said(resumed).contains("No longer owed: File 1. Owed instead: File file-8.")) << said(resumed);
  world.hold_queue();
  map("sku-2", "file-9");
  ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), retried, {})));
  settle();
  ASSERT_EQ(world.status(retried), "completed");
  EXPECT_TRUE(said(retried).contains("No longer owed: File 2. Owed instead: File file-9.")) << said(retried);
}

TEST_F(LaterEvents, TheTimelineShowsWhatIsNoLongerOwedAndThatTheNameChanged) {
  world.cloud.auto_accept = false;
  const auto id = world.deliver(at(0, {"sku-1", "sku-2", "sku-3", "sku-4", "sku-5"}));
  auto renamed = at(1, {"sku-1", "sku-2", "sku-3", "sku-4", "sku-5"});
  renamed.username = renamed.raw_username = "Bob";
  for (const std::size_t line : {0, 1, 2, 3}) renamed.lines[line].current_quantity = 0;
  world.accept(renamed);
  std::string all;
  for (const auto& entry : world.write([&](storage::Tx& tx) { return find_timeline(tx, id, 200); }))
    all += entry.message + "\n";
  EXPECT_TRUE(all.contains("No longer owed: File 1, File 2, File 3 and 1 more.")) << all;
  EXPECT_TRUE(all.contains("The store sent another username for the customer.")) << all;
}

TEST_F(LaterEvents, TheTimelineHasAnEntryForEachRefundOfACompletedDelivery) {
  const auto id = world.deliver(later(world, "1", {"sku-1", "sku-2"}, 0));
  ASSERT_EQ(world.status(id), "completed");
  const auto refunds = [&] {
    const auto entries = world.write([&](storage::Tx& tx) { return find_timeline(tx, id, 200); });
    return std::ranges::count_if(entries, [](const auto& entry) {
      return entry.message == "The store refunded products of the order." && entry.actor == "order";
    });
  };
  EXPECT_EQ(refunds(), 0);
  domain::OrderEvent refund{
      .kind = domain::OrderEvent::Kind::refund, .provider = domain::Provider::provider_a, .order_id = "1"};
  refund.refunds = {{"r1", {{"L1", 1}}}};
  world.accept(refund);
  EXPECT_EQ(world.status(id), "completed");
  EXPECT_EQ(refunds(), 1);
  world.accept(refund);
  EXPECT_EQ(refunds(), 1) << "a repeated event is no other refund";
  refund.refunds = {{"r2", {{"L2", 1}}}};
  world.accept(refund);
  EXPECT_EQ(refunds(), 2);
  refund.refunds = {{"r3", {}}};  // of an amount
  world.accept(refund);
  EXPECT_EQ(refunds(), 2);
  const auto entries = world.write([&](storage::Tx& tx) { return find_timeline(tx, id, 200); });
  EXPECT_EQ(entries.front().message, "The store reported a refund.");
}

TEST_F(LaterEvents, AUsernameThatIsTooLongHasItsOwnMessage) {
  auto event = at(0);
  event.username = "";
  event.raw_username = std::string(300, 'x');
  const auto id = world.accept(event).delivery.value();
  EXPECT_EQ(world.status(id), "failed username_missing");
  EXPECT_EQ(world.delivery(id).message,
            "The username that came with the order is longer than a username may be.");
  auto other = later(world, "2", {"sku-1"}, 0);
  other.username = "";
  other.raw_username = "@";
  EXPECT_EQ(world.delivery(world.accept(other).delivery.value()).message,
            "The order does not say which cloud user gets the files.");
}

TEST_F(LaterEvents, WhatASharedFileOfAStoppedOrderCameToIsTakenBackThoughTheMerchantInvalidatedIt) {
  set_store([](auto& row) { row.auto_revoke = true; });
  bool held = false;
  world.cloud.before = [&](auto& call, auto&) {
    return call == "share" ? once(held, Fate::hold_done) : Fate::answer;
  };
  const auto id = world.deliver(at(0));
  ASSERT_EQ(world.status(id), "processing");
  world.accept(at(1, {"sku-1"}, domain::Payment::cancelled));
  world.await(world.actions.invalidate(world.scheduler, world.merchant(), id, "cancelled")).value();
  world.cloud.release();
  settle();
  EXPECT_EQ(world.status(id), "invalidated");
  EXPECT_FALSE(has("file-1"));
}

}  // namespace
}  // namespace presetbridge::services
