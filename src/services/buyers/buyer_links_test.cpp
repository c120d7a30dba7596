#include "services/buyers/buyer_links.h"

#include <gtest/gtest.h>

#include "crypto/link_token.h"
#include "services/intake/privacy.h"
#include "services/testing.h"

namespace presetbridge::services {
namespace {

using storage::LinkKeyRow;
using storage::Tx;
using testing::World;

class BuyerLinksTest : public ::testing::Test {
 protected:
  BuyerLinksTest() { EXPECT_TRUE(start(links_)); }
  Expected<void> start(BuyerLinks& links) { return world_.await(links.start(world_.scheduler)); }
  BuyerLinks node() { return {world_.async_db, world_.cipher, world_.ids, world_.random}; }

  DeliveryId completed() {
    const auto id = world_.deliver(world_.order("1", "Ann", {"sku-1"}));
    EXPECT_EQ(world_.status(id), "completed");
    return id;
  }
  std::string token(DeliveryId id) { return links_.token_of(world_.delivery(id)); }
  Expected<storage::DeliveryRow> find(BuyerLinks& links, const std::string& text) {
    return world_.await(links.find(world_.scheduler, text));
  }
  // The id of the delivery that it opens, or the error.
  std::string opens(BuyerLinks& links, const std::string& text) {
    const auto found = find(links, text);
    return found ? to_string(found->id) : found.error().code + " " + found.error().message;
  }
  std::string opens(const std::string& text) { return opens(links_, text); }
  void raise_version(DeliveryId id) {
    world_.write([&](Tx& tx) {
      auto row = *lock_delivery(tx, id);
      ++row.link_version;
      update_delivery(tx, row);
    });
  }
  std::vector<LinkKeyRow> keys() {
    return world_.write([](Tx& tx) { return find_link_keys(tx); });
  }
  // As a rotation will.
  void add_key() {
    const auto id = world_.ids.next();
    const std::string key(crypto::kLinkKeyBytes, static_cast<char>(id));
    world_.write([&](Tx& tx) {
      insert_link_key(tx, {id, world_.cipher.encrypt({"link_keys.encrypted_key", id}, key), tx.now()});
    });
  }

  const std::string refusal_ = "NOT_FOUND There is no such link, or it is no longer valid.";
  World world_;
  BuyerLinks links_ = node();
};

TEST_F(BuyerLinksTest, ATokenOpensItsDeliveryAndItsNewVersionEndsIt) {
  const auto ann = completed();
  const auto bob = world_.deliver(world_.order("2", "Bob", {"sku-1"}));
  const auto old = token(ann);
  EXPECT_EQ(old.size(), 32U);
  EXPECT_EQ(old.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
            std::string::npos);
  EXPECT_EQ(token(ann), old) << "derived: the same each time";
  EXPECT_EQ(opens(old), to_string(ann));
  EXPECT_EQ(opens(token(bob)), to_string(bob));
  raise_version(ann);
  EXPECT_EQ(opens(old), refusal_);
  EXPECT_EQ(opens(token(ann)), to_string(ann));
  EXPECT_EQ(opens(token(bob)), to_string(bob));
}

TEST_F(BuyerLinksTest, ATokenThatOpensNothingHasOneAnswer) {
  const auto id = completed();
  const auto good = token(id);
  const std::string other_key(crypto::kLinkKeyBytes, 'k');
  auto altered = good;
  altered.back() = altered.back() == 'A' ? 'B' : 'A';
  for (const std::string& text :
       {std::string(), std::string("p"), altered, good + "A", good.substr(1), std::string(10'000'000, 'A'),
        crypto::make_link_token(other_key, id.value, 1), crypto::make_link_token(other_key, id.value + 1, 1),
        crypto::make_link_token("", id.value, 1), std::string("'; DROP TABLE link_keys; --          ")})
    EXPECT_EQ(opens(text), refusal_) << text.substr(0, 40);
}

TEST_F(BuyerLinksTest, ADeliveryThatIsNotThereHasTheSameAnswerThoughTheTokenIsGenuine) {
  auto row = world_.delivery(completed());
  row.id.value += 1;
  row.link_version = 0;  // what is compared where there is no row
  EXPECT_EQ(opens(links_.token_of(row)), refusal_);
}

TEST_F(BuyerLinksTest, ATokenEndsNinetyDaysAfterTheDeliveryAndReopeningRenewsIt) {
  const auto id = completed();
  const auto link = token(id);
  auto& clock = world_.database.clock;
  const auto ended = world_.delivery(id).ended_at;
  ASSERT_TRUE(ended);
  clock.advance(*ended + kBuyerLinkLife - clock.now() - Millis{1});
  EXPECT_EQ(opens(link), to_string(id));
  clock.advance(Millis{1});
  EXPECT_EQ(opens(link), refusal_);

  ASSERT_TRUE(world_.await(world_.actions.reopen(world_.scheduler, world_.merchant(), id)));
  EXPECT_FALSE(world_.delivery(id).ended_at);
  EXPECT_EQ(opens(link), to_string(id));
  clock.advance(kBuyerLinkLife * 2);
  EXPECT_EQ(opens(link), to_string(id)) << "while it is not over it does not expire";
  ASSERT_TRUE(world_.await(world_.actions.invalidate(world_.scheduler, world_.merchant(), id, "no more")));
  EXPECT_EQ(world_.delivery(id).ended_at, clock.now());
  EXPECT_EQ(opens(link), to_string(id));
  clock.advance(kBuyerLinkLife);
  EXPECT_EQ(opens(link), refusal_);
}

// Its rows have no time of their end.
TEST_F(BuyerLinksTest, WhatAnEarlierProgramCompletedExpiresToo) {
  const auto id = completed();
  world_.write([&](Tx& tx) { tx.exec({"UPDATE deliveries SET ended_at = NULL WHERE id = $1"}, id); });
  EXPECT_EQ(opens(token(id)), to_string(id));
  world_.database.clock.advance(kBuyerLinkLife);
  EXPECT_EQ(opens(token(id)), refusal_);
}

// Spec 9.6: its link answers as an expired one.
TEST_F(BuyerLinksTest, OfAnErasedOrderItOpensNothing) {
  const auto shared = completed();
  world_.cloud.auto_accept = false;
  const auto waiting = world_.deliver(world_.order("2", "Ben", {"sku-1"}));
  const auto other = world_.deliver(world_.order("3", "Ann", {"sku-2"}));
  world_.write([&](Tx& tx) {
    erase_orders(tx, world_.changes,
                 std::vector<storage::OrderKey>{{world_.integration, "1"}, {world_.integration, "2"}});
  });
  ASSERT_EQ(world_.status(waiting), "invalidated");
  EXPECT_EQ(opens(token(shared)), refusal_);
  EXPECT_EQ(opens(token(waiting)), refusal_);
  EXPECT_EQ(opens(token(other)), to_string(other));
}

TEST_F(BuyerLinksTest, AllNodesHaveOneKeyWhichIsEncryptedAtItsPlace) {
  const auto link = token(completed());
  auto other = node();
  ASSERT_TRUE(start(other));
  EXPECT_EQ(opens(other, link), opens(link));
  const auto rows = keys();
  ASSERT_EQ(rows.size(), 1U);
  const auto& row = rows.front();
  EXPECT_EQ(world_.cipher.decrypt({"link_keys.encrypted_key", row.id}, row.encrypted_key)->size(),
            crypto::kLinkKeyBytes);
  EXPECT_FALSE(world_.cipher.decrypt({"link_keys.encrypted_key", row.id + 1}, row.encrypted_key));
}

TEST_F(BuyerLinksTest, AServiceKeyThatIsNotTheRowsStopsTheStart) {
  presetbridge::testing::SeededRandom random(99);
  std::vector<crypto::ServiceKey> service_keys;
  service_keys.push_back(crypto::generate_service_key(random));
  const crypto::ServiceCipher cipher(std::move(service_keys), random);
  BuyerLinks other(world_.async_db, cipher, world_.ids, world_.random);
  const auto started = start(other);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, "UNKNOWN_SERVICE_KEY");
}

TEST_F(BuyerLinksTest, ANewKeyEndsNoLinkOfTheOneBefore) {
  const auto id = completed();
  const auto first = token(id);
  add_key();
  auto restarted = node();
  ASSERT_TRUE(start(restarted));
  const auto second = restarted.token_of(world_.delivery(id));
  EXPECT_NE(second, first);
  EXPECT_EQ(token(id), first) << "this node has not read the new key yet";
  for (auto* const each : {&links_, &restarted}) {
    EXPECT_EQ(opens(*each, first), to_string(id));
    EXPECT_EQ(opens(*each, second), to_string(id));
  }
  EXPECT_EQ(token(id), second);
  add_key();
  EXPECT_EQ(opens(first), refusal_);
  EXPECT_EQ(opens(second), to_string(id));
}

TEST_F(BuyerLinksTest, KeysThatAreGoneAreAnError) {
  const auto link = token(completed());
  world_.write([](Tx& tx) { tx.exec_script("DELETE FROM link_keys;"); });
  EXPECT_TRUE(opens(link).starts_with("RECORD_CORRUPT"));
}

}  // namespace
}  // namespace presetbridge::services
