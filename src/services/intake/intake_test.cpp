#include "services/intake/intake.h"

#include <gtest/gtest.h>

#include <map>

#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "providers/profile.h"
#include "services/testing.h"
#include "storage/stores/integration_store.h"

namespace presetbridge::services {
namespace {

using testing::World;

constexpr storage::Sql kCountPayloads{"SELECT count(*) FROM order_payloads"};

std::int64_t payloads(World& world) {
  return world.write([](storage::Tx& tx) {
    return tx.one(kCountPayloads, [](const storage::Row& r) { return r.int64(0); }).value();
  });
}

// An erased order stays erased (spec 9.6), whatever comes later.
TEST(Intake, KeepsNoBodyOfAnEventOfAnErasedOrder) {
  World world;
  world.accept(world.order("1", "Ann", {"sku-1"}));
  EXPECT_EQ(payloads(world), 1);
  world.accept({.kind = domain::OrderEvent::Kind::customer_redact,
                .provider = domain::Provider::provider_a,
                .order_ids = {"1"}});
  EXPECT_EQ(payloads(world), 0);
  auto refund = domain::OrderEvent{
      .kind = domain::OrderEvent::Kind::refund, .provider = domain::Provider::provider_a, .order_id = "1"};
  refund.refunds = {{"r1", {{"L1", 1}}}};
  EXPECT_FALSE(world.accept(refund).duplicate) << "a refund is news";
  EXPECT_EQ(payloads(world), 0);
}

// Spec 8.6: one merchant's orders neither fill the queue nor keep another's waiting.
TEST(Intake, AMerchantHasAnEighthOfWhatWaitsWhileAnotherWaits) {
  World world;
  const auto other = world.add_tenant("m-2");
  const auto snapshot_of = [&](IntegrationId store) {
    return world.await(world.directory.find(world.scheduler, store)).value();
  };
  const auto mine = snapshot_of(world.integration);
  const auto theirs = snapshot_of(other.integration);
  std::map<std::string, std::string> outcomes;
  const auto send = [&](const auto& integration, const std::string& id) {
    const std::vector<std::byte> payload(1 << 20);
    auto event = world.order(id, "Ann", {"sku-1"});
    event.received_at = world.database.clock.now();
    spawn(world.intake.accept(world.scheduler, {integration, std::move(event), payload, {}}),
          [&outcomes, id](auto outcome) {
            outcomes[id] = *outcome.value ? "accepted" : outcome.value->error().code;
          });
  };
  world.async_db.submit([](storage::Tx&) {},
                        [&](const std::exception_ptr&, storage::Completions&) {
                          send(theirs, "first");
                          for (int i = 1; i <= 9; ++i) send(mine, std::to_string(i));
                          send(theirs, "second");
                        });
  for (int i = 0; i < 1'000 && outcomes.size() < 11; ++i) world.scheduler.run();
  EXPECT_EQ(outcomes["first"], "accepted");
  EXPECT_EQ(outcomes["second"], "accepted");
  EXPECT_EQ(outcomes["7"], "accepted") << "the queue takes 64 MiB";
  EXPECT_EQ(outcomes["8"], "OVERLOADED");
  EXPECT_EQ(outcomes["9"], "OVERLOADED");
}

// The cost of a small event shows once its order is read (spec 8.6): a batch does not hold the writer for all
// of them.
TEST(Intake, SmallEventsOfLargeOrdersAreTakenAFewAtATime) {
  World world;
  constexpr int kOrders = 30;
  for (int i = 0; i < kOrders; ++i) {
    auto large = world.order(std::to_string(i), "Ann", std::vector<std::string>(250, std::string(300, 'x')));
    for (auto& line : large.lines) line.title = std::string(200, 'y');
    world.accept(large);
  }
  const auto mine = world.await(world.directory.find(world.scheduler, world.integration)).value();
  int accepted = 0;
  const auto before = world.async_db.stats().units;
  world.async_db.submit(
      [](storage::Tx&) {},
      [&](const std::exception_ptr&, storage::Completions&) {
        for (int i = 0; i < kOrders; ++i) {
          domain::OrderEvent refund{.kind = domain::OrderEvent::Kind::refund, .order_id = std::to_string(i)};
          refund.refunds = {{"r1", {{"L1", 1}}}};
          spawn(world.intake.accept(world.scheduler, {mine, std::move(refund), {}, {}}),
                [&](auto outcome) { accepted += *outcome.value && !(*outcome.value)->duplicate; });
        }
      });
  for (int i = 0; i < 1'000 && accepted < kOrders; ++i) world.scheduler.run();
  EXPECT_EQ(accepted, kOrders);
  EXPECT_GT(world.async_db.stats().units - before, 3U);
}

// A database whose reads fail while it is away.
class UnreadableDatabase final : public storage::Database {
 public:
  UnreadableDatabase(std::unique_ptr<storage::Database> real, const bool& away)
      : real_(std::move(real)), away_(away) {}
  Durability commit(const storage::TxFn& fn) override { return real_->commit(fn); }
  void sync() override { real_->sync(); }
  void read(const storage::TxFn& fn) override {
    if (away_) throw storage::DbError(storage::DbError::Kind::unavailable, "planted");
    real_->read(fn);
  }
  std::string_view engine() const override { return real_->engine(); }

 private:
  const std::unique_ptr<storage::Database> real_;
  const bool& away_;
};

// A store of provider_b that signs what it posts.
class ReceptionTest : public ::testing::Test {
 protected:
  ReceptionTest() {
    world.write([&](storage::Tx& tx) {
      tx.exec({"UPDATE integrations SET provider = 'provider_b' WHERE id = $1"}, world.integration);
    });
  }
  static std::string order(const std::string& id) {
    return R"({"id":)" + id +
           R"(,"status":"processing","meta_data":[{"key":"vendor_username","value":"ann"}],)"
           R"("line_items":[{"id":1,"sku":"sku-1"}]})";
  }
  // As the webhook's handler does. Returns "delivery", why the event was ignored, or the error's code.
  std::string post(const std::string& body, const std::string& secret) {
    const auto signature = crypto::base64_encode(crypto::hmac_sha256(secret, body));
    const auto headers = [&](std::string_view name) -> std::vector<std::string_view> {
      if (name == "X-Plugin-Webhook-Signature") return {signature};
      if (name == "X-Plugin-Webhook-Topic") return {"order.updated"};
      return {};
    };
    const auto answer = world.await(world.reception.receive(
        world.scheduler, {.profile = providers::profile_of(domain::Provider::provider_b),
                          .integration = world.integration,
                          .headers = headers,
                          .body = body}));
    if (!answer) return answer.error().code;
    const auto& accepted = answer->value();
    return accepted.delivery ? "delivery" : std::string(accepted.reason);
  }

  bool away = false;
  World world{World::unlimited(), 1'000, [this](std::unique_ptr<storage::Database> database) {
                return std::make_unique<UnreadableDatabase>(std::move(database), away);
              }};
};

// A store does not repeat what was refused for its signature.
TEST_F(ReceptionTest, AnOrderOfWhichNobodyKnowsWhetherItIsSignedByANewSecretIsNotRefusedForItsSignature) {
  ASSERT_EQ(post(order("1"), "secret"), "delivery");
  world.write([&](storage::Tx& tx) {  // as another node does it
    auto row = *lock_integration(tx, world.integration);
    row.encrypted_secret = world.cipher.encrypt({"integrations.secret", world.integration.value}, "new");
    update_integration(tx, row);
  });
  world.settle(IntegrationDirectory::kDoubted);
  away = true;
  EXPECT_EQ(post(order("2"), "new"), "STORAGE_UNAVAILABLE");
  away = false;
  EXPECT_EQ(post(order("2"), "new"), "delivery");
  EXPECT_EQ(post(order("3"), "secret"), "INVALID_SIGNATURE");
}

// After a few refusals the shop sends nothing any more.
TEST_F(ReceptionTest, TheErrorThatAShopSendsForAnOrderThatItDeletedForGoodIsAccepted) {
  const std::string error =
      R"({"code":"woocommerce_rest_shop_order_invalid_id","message":"Invalid ID.","data":{"status":404}})";
  EXPECT_EQ(post(error, "secret"), "ignored_topic");
  EXPECT_EQ(post(error, "another"), "INVALID_SIGNATURE");
  EXPECT_EQ(post(R"({"data":{"status":404}})", "secret"), "INVALID_PAYLOAD");
}

}  // namespace
}  // namespace presetbridge::services
