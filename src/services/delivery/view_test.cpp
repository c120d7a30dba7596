// The facts on a delivery's page.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "services/testing.h"
#include "storage/stores/audit_store.h"
#include "storage/stores/subscription_store.h"
#include "storage/stores/timeline_store.h"

namespace presetbridge::services {
namespace {

using testing::World;

// Spec 8.6: a read costs no more than its bound, however long the queue is.
TEST(DeliveryView, APlaceInTheQueueIsCountedToABound) {
  World world;
  world.write([](storage::Tx& tx) {
    const Timestamp until = tx.now() + std::chrono::hours{24};
    tx.exec({"UPDATE cloud_accounts SET blocked_until = $1, ready_at = $1"}, until);
  });
  std::vector<DeliveryId> all;
  for (int i = 1; i <= storage::kMostBefore + 20; ++i) {
    all.push_back(
        *world.accept(world.order(std::to_string(i), "buyer" + std::to_string(i), {"sku-1"})).delivery);
    world.database.clock.advance(Millis{1});
  }
  const auto view = [&](std::int64_t nth) {
    return world
        .await(world.actions.get(world.scheduler, world.merchant(), all[static_cast<std::size_t>(nth - 1)]))
        .value();
  };
  const auto place = [&](std::int64_t nth) { return view(nth).queue_position; };
  EXPECT_EQ(place(1), 1);
  EXPECT_EQ(place(storage::kMostBefore), storage::kMostBefore);
  EXPECT_EQ(place(storage::kMostBefore + 1), storage::kMostBefore + 1);
  EXPECT_EQ(place(storage::kMostBefore + 20), storage::kMostBefore + 1);
  EXPECT_TRUE(view(storage::kMostBefore).estimated_at);
  EXPECT_FALSE(view(storage::kMostBefore + 20).estimated_at);
}

// A job on many queues them at one moment.
TEST(DeliveryView, PlacesInTheQueueAreDistinctAlsoAtOneMoment) {
  World world;
  world.hold_queue();
  std::vector<DeliveryId> all;
  for (int i = 1; i <= 3; ++i)
    all.push_back(
        *world.accept(world.order(std::to_string(i), "buyer" + std::to_string(i), {"sku-1"})).delivery);
  std::set<std::int64_t> places;
  for (const auto id : all)
    places.insert(
        world.await(world.actions.get(world.scheduler, world.merchant(), id)).value().queue_position.value());
  EXPECT_EQ(places, (std::set<std::int64_t>{1, 2, 3}));
}

TEST(DeliveryView, OneThatWaitsSaysWhenItsRequestWasSent) {
  World world;
  world.cloud.auto_accept = false;
  const auto first = world.deliver(world.order("1", "Ann", {"sku-1"}));
  const auto read = [&](DeliveryId id) {
    return world.await(world.actions.get(world.scheduler, world.merchant(), id)).value();
  };
  const auto sent = read(first).requested_at;
  ASSERT_TRUE(sent);
  world.settle(std::chrono::hours{2});
  const auto second = world.deliver(world.order("2", "Ann", {"sku-2"}));
  ASSERT_EQ(world.status(second), "waiting_for_friendship");
  EXPECT_EQ(read(second).requested_at, sent) << "it is the request of the first one";
  world.cloud.accept("u-ann");
  world.settle(std::chrono::hours{1});
  EXPECT_EQ(read(first).requested_at, std::nullopt);
}

DeliveryView view_of(World& world, DeliveryId id) {
  return world.await(world.actions.get(world.scheduler, world.merchant(), id)).value();
}
bool allows(const DeliveryView& view, domain::MerchantAction action) {
  return std::ranges::find(view.allowed, action) != view.allowed.end();
}

TEST(DeliveryView, ATestOrderHasNothingToTakeBack) {
  World world;
  auto order = world.order("1", "Ann", {"sku-1"});
  order.test = true;
  const auto id = world.deliver(order);
  const auto other = world.deliver(world.order("2", "Ann", {"sku-1"}));
  ASSERT_TRUE(world.delivery(id).dry_run);
  ASSERT_EQ(world.status(id), "completed");
  EXPECT_FALSE(allows(view_of(world, id), domain::MerchantAction::revoke));
  EXPECT_TRUE(allows(view_of(world, other), domain::MerchantAction::revoke));
  EXPECT_TRUE(view_of(world, id).marks.has(domain::OrderMark::test));
  EXPECT_FALSE(view_of(world, other).marks.has(domain::OrderMark::test));
}

TEST(DeliveryView, APresetThatIsTakenBackStaysAsLongAsAnotherOrderGivesIt) {
  World world;
  world.cloud.auto_accept = true;
  const auto first = world.deliver(world.order("1", "Ann", {"sku-1", "sku-2"}));
  const auto second = world.deliver(world.order("2", "Ann", {"sku-1"}));
  const auto take_back = [&](DeliveryId id) {
    ASSERT_TRUE(world.await(world.actions.revoke(world.scheduler, world.merchant(), id, {})));
    world.settle(std::chrono::minutes{5});
  };
  EXPECT_TRUE(view_of(world, first).staying.empty()) << "nothing was taken back";
  take_back(first);
  const auto view = view_of(world, first);
  ASSERT_EQ(view.items[0].status, domain::ItemStatus::revoked);
  ASSERT_EQ(view.items[1].status, domain::ItemStatus::revoked);
  EXPECT_EQ(view.staying, std::set{view.items[0].id});
  take_back(second);
  EXPECT_TRUE(view_of(world, first).staying.empty()) << "no order gives it any more";
}

TEST(DeliveryActions, NameTheOrderInTheAuditLog) {
  World world;
  auto order = world.order("8100000001", "Ann", {"sku-1"});
  order.order_number = "#1001";
  const auto numbered = world.deliver(order);
  const auto nameless = world.deliver(world.order("tc-2", "Bob", {"sku-1"}));
  for (const auto id : {numbered, nameless})
    ASSERT_TRUE(world.await(world.actions.reopen(world.scheduler, world.merchant(), id)));
  const auto entries = world.write([&](storage::Tx& tx) { return list_audit(tx, world.account, {}).rows; });
  const auto detail_of = [&](DeliveryId id) {
    return std::ranges::find(entries, to_string(id), &storage::AuditRow::target)->detail;
  };
  EXPECT_EQ(detail_of(numbered), "order #1001");
  EXPECT_EQ(detail_of(nameless), "order tc-2");
}

TEST(DeliveryActions, NameEachKindOfRetryInTheAuditLog) {
  World world;
  world.cloud.auto_accept = false;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  const auto retry = [&](std::optional<std::string> username, FriendRequest request) {
    world.settle(std::chrono::days{15});
    ASSERT_EQ(world.status(id), "failed friendship_timeout");
    ASSERT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), id, username, request)));
  };
  retry({}, FriendRequest::renew);
  retry({}, FriendRequest::keep);
  retry("Bob", FriendRequest::renew);
  std::vector<std::string> actions;
  for (const auto& row : world.write([&](storage::Tx& tx) { return list_audit(tx, world.account, {}).rows; }))
    actions.push_back(row.action);
  EXPECT_EQ(actions, (std::vector<std::string>{"delivery.username_changed", "delivery.wait_renewed",
                                               "delivery.retried"}));
}

TEST(DeliveryView, AFileThatAnotherUserOfTheNameGotStaysNotWithTheFormerOne) {
  World world;
  world.cloud.auto_accept = true;
  const auto first = world.deliver(world.order("1", "Ann", {"sku-1"}));
  const auto second = world.deliver(world.order("2", "Ann", {"sku-1"}));
  world.write([&](storage::Tx& tx) {
    tx.exec({"UPDATE delivery_items SET status = 'revoked' WHERE delivery_id = $1"}, first);
  });
  EXPECT_EQ(view_of(world, first).staying.size(), 1U);
  for (const auto* const status : {"revoking", "revoke_failed"}) {
    world.write([&](storage::Tx& tx) {
      tx.exec({"UPDATE delivery_items SET status = $2 WHERE delivery_id = $1"}, second, status);
    });
    EXPECT_EQ(view_of(world, first).staying.size(), 1U) << "it is there as long as it is " << status;
  }
  world.write([&](storage::Tx& tx) {
    tx.exec({"UPDATE delivery_items SET user_id = 'u-new' WHERE delivery_id = $1"}, second);
  });
  EXPECT_TRUE(view_of(world, first).staying.empty());
}

WorkerOptions slow() {
  return {.jobs_per_minute = 0, .poll = std::chrono::hours{1}, .maintenance = std::chrono::hours{1}};
}

TEST(DeliveryView, WithoutAnAnswerForFourteenDaysARetryAsksAnew) {
  World world(slow());
  world.cloud.auto_accept = false;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  const auto waiting = view_of(world, id);
  EXPECT_EQ(waiting.gives_up_at, waiting.row.waiting_since.value() + std::chrono::days{14});
  EXPECT_TRUE(waiting.next_sweep_at);
  world.settle(std::chrono::days{15});
  const auto failed = view_of(world, id);
  ASSERT_EQ(world.status(id), "failed friendship_timeout");
  EXPECT_EQ(failed.resumable_until, waiting.row.waiting_since.value() + std::chrono::days{90});
  EXPECT_EQ(failed.steps[3], domain::StepState::stopped);
  EXPECT_EQ(domain::remedy_of(failed.row.resolution), "retry");
  ASSERT_TRUE(allows(failed, domain::MerchantAction::retry));
  world.cloud.auto_accept = true;
  EXPECT_TRUE(world.await(world.actions.retry(world.scheduler, world.merchant(), id, {})));
  world.settle(std::chrono::minutes{10});
  EXPECT_EQ(world.status(id), "completed");
}

TEST(DeliveryView, ThreeDaysWithoutThePlatformEndByThemselvesAndByARetry) {
  using namespace std::chrono_literals;
  World world(slow());
  world.cloud.before = [](auto& call, auto&) {
    return call == "share" ? testing::FakeCloud::Fate::fail : testing::FakeCloud::Fate::answer;
  };
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.settle(74h);
  const auto failed = view_of(world, id);
  ASSERT_EQ(world.status(id), "failed cloud_unavailable");
  EXPECT_GT(failed.resumable_until.value(), world.database.clock.now() + std::chrono::days{28});
  EXPECT_EQ(domain::remedy_of(failed.row.resolution), "wait");
  EXPECT_TRUE(allows(failed, domain::MerchantAction::retry));
  world.cloud.before = {};
  world.settle(3h);
  EXPECT_EQ(world.status(id), "completed");
}

// Each entry once, over pages of any size, with what follows from other rows among them.
TEST(DeliveryView, PagesOfATimelineHoldEachEntryOnce) {
  World world;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1", "sku-2", "sku-3"}));
  std::vector<std::string> types;
  std::vector<std::int64_t> ids;
  for (std::optional<std::int64_t> before = storage::PageRequest{}.before; before;) {
    const auto page = world
                          .await(world.actions.timeline(world.scheduler, world.merchant(), id,
                                                        {.limit = 2, .before = *before}))
                          .value();
    EXPECT_LE(page.rows.size(), 2U);
    for (const auto& shown : page.rows) {
      types.emplace_back(to_string(shown.type));
      ids.push_back(shown.entry.id);
    }
    before = page.next;
  }
  EXPECT_EQ(types, (std::vector<std::string>{"completed", "item_shared", "item_shared", "item_shared",
                                             "accepted", "looked_up", "matched", "order_received"}));
  EXPECT_TRUE(std::ranges::is_sorted(ids, std::greater{}));
  EXPECT_EQ(std::ssize(view_of(world, id).timeline), std::ssize(ids));
}

TEST(DeliveryView, ATimelineSaysWhichProductsHaveNoFile) {
  World world;
  const auto matched = [&](DeliveryId id) {
    for (const auto& shown : view_of(world, id).timeline) {
      if (shown.type == domain::TimelineType::matched) return shown.entry.message;
    }
    return std::string();
  };
  EXPECT_EQ(matched(world.deliver(world.order("1", "Ann", {"sku-1", "sku-2"}))),
            "The products of the order were matched with files.");
  EXPECT_EQ(matched(world.deliver(world.order("2", "Ann", {"sku-1", "new"}))),
            "1 of the order's 2 lines has no mapping and is not delivered.");
}

// The clock of the node that wrote later was behind.
TEST(DeliveryView, TheDeliverysVersionShowsWhatCameFirst) {
  World world;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.write([&](storage::Tx& tx) {
    const auto first = world.ids.next();
    const auto entry = [&](std::int64_t number, std::int64_t version, std::string words) {
      return storage::TimelineRow{id,
                                  {.id = number,
                                   .at = tx.now(),
                                   .type = domain::TimelineType::note,
                                   .kind = domain::TimelineKind::action,
                                   .actor = "system",
                                   .status = "completed",
                                   .resolution = "",
                                   .message = std::move(words),
                                   .version = version}};
    };
    append_timeline(tx, std::array{entry(first + 1, 100, "first"), entry(first, 101, "second")});
  });
  const auto view = view_of(world, id);
  EXPECT_EQ(view.timeline[0].entry.message, "second");
  EXPECT_EQ(view.timeline[1].entry.message, "first");
}

// A later program may write other types and kinds.
TEST(DeliveryView, AnEntryOfAnUnknownTypeIsShownByItsStatus) {
  World world;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  world.write([&](storage::Tx& tx) {
    tx.exec({"UPDATE delivery_timeline SET type = 'of_later', kind = 'attempt' WHERE delivery_id = $1"}, id);
    tx.exec(
        {"UPDATE delivery_timeline SET kind = 'of_later' WHERE delivery_id = $1 AND status = 'completed'"},
        id);
  });
  const auto view = view_of(world, id);
  ASSERT_FALSE(view.timeline.empty());
  EXPECT_EQ(view.timeline[0].type, domain::TimelineType::action) << "an unknown kind";
  EXPECT_EQ(view.timeline[1].type, domain::TimelineType::note) << "the delivery was in processing";
  EXPECT_EQ(view.steps[4], domain::StepState::done);
}

TEST(DeliveryView, AScopedKeyFindsWhatItSeesAlone) {
  World world;
  const auto id = world.deliver(world.order("1", "Ann", {"sku-1"}));
  auto by = world.merchant();
  const auto found = [&] {
    return world.await(world.actions.list(world.scheduler, by, {.search = "ann"})).value().rows.size();
  };
  EXPECT_EQ(found(), 1U);
  by.integrations = identity::IntegrationScope({IntegrationId{world.integration.value + 1}});
  EXPECT_EQ(found(), 0U);
  EXPECT_FALSE(world.await(world.actions.timeline(world.scheduler, by, id, {})));
}

// The clock stands back in place of a transaction that began before another one and waited for its locks.
class TimeOfDelivery : public ::testing::Test {
 protected:
  // All events of the delivery, the newest first.
  void expect_never_back(DeliveryId id) {
    const auto view = view_of(world_, id);
    EXPECT_GE(view.row.updated_at, newest_);
    newest_ = view.row.updated_at;
    for (std::size_t i = 1; i < view.timeline.size(); ++i)
      EXPECT_GE(view.timeline[i - 1].entry.at, view.timeline[i].entry.at)
          << view.timeline[i - 1].entry.message;
    for (std::size_t i = 1; i < view.events.size(); ++i)
      EXPECT_GE(view.events[i - 1].created_at, view.events[i].created_at) << view.events[i - 1].type;
  }
  void subscribe() {
    world_.write([&](storage::Tx& tx) {
      storage::SubscriptionRow row;
      row.id = world_.ids.make<SubscriptionId>();
      row.account = world_.account;
      row.url = "https://receiver.example/hook";
      row.encrypted_secret = std::vector<std::byte>(8);
      row.created_at = tx.now();
      insert_subscription(tx, row);
    });
  }
  void set_back() { world_.database.clock.advance(-std::chrono::seconds{2}); }

  World world_{slow()};
  Timestamp newest_{};
};

TEST_F(TimeOfDelivery, NeverGoesBackWhateverTheTransactionThatWritesHasRead) {
  subscribe();
  world_.cloud.auto_accept = false;
  const auto id = world_.deliver(world_.order("1", "Ann", {"sku-1"}));
  ASSERT_EQ(world_.status(id), "waiting_for_friendship");
  expect_never_back(id);
  set_back();
  ASSERT_TRUE(world_.await(world_.actions.invalidate(world_.scheduler, world_.merchant(), id, "gone")));
  expect_never_back(id);
  EXPECT_GE(*world_.delivery(id).ended_at, world_.delivery(id).created_at);
  set_back();
  ASSERT_TRUE(world_.await(world_.actions.renew_link(world_.scheduler, world_.merchant(), id)));
  expect_never_back(id);
  set_back();
  ASSERT_TRUE(world_.await(world_.actions.reopen(world_.scheduler, world_.merchant(), id)));
  expect_never_back(id);
}

TEST_F(TimeOfDelivery, NeverGoesBackInASweepThatWaitedForAJob) {
  subscribe();
  world_.cloud.auto_accept = false;
  const auto id = world_.deliver(world_.order("1", "Ann", {"sku-1"}));
  world_.cloud.change("u-ann", cloud::FriendshipState::declined);
  world_.write([&](storage::Tx& tx) {
    tx.exec({"UPDATE deliveries SET updated_at = updated_at + 600000"});
    tx.exec({"UPDATE delivery_timeline SET at = at + 600000"});
  });
  newest_ = view_of(world_, id).row.updated_at;
  world_.settle(std::chrono::minutes{3});
  ASSERT_EQ(world_.status(id), "failed friend_request_declined");
  expect_never_back(id);
}

// A job's note that changes no row.
TEST_F(TimeOfDelivery, NeverGoesBackBehindANote) {
  const auto id = world_.deliver(world_.order("1", "Ann", {"sku-1"}));
  world_.write([&](storage::Tx& tx) {
    tx.exec({"UPDATE delivery_timeline SET at = at + 5000 WHERE type = 'looked_up'"});
  });
  expect_never_back(id);
}

}  // namespace
}  // namespace presetbridge::services
