#include "services/keys/key_rotation.h"

#include <gmock/gmock.h>

#include <fstream>

#include "services/keys/key_rotation_testing.h"
#include "storage/stores/identity_store.h"
#include "storage/stores/link_key_store.h"

namespace presetbridge::services {
namespace {

namespace fs = std::filesystem;
using storage::KeyUse;
using storage::Tx;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::KeyRotationTest;
using ::testing::SizeIs;
using Phase = TurnStep::Phase;

TEST_F(KeyRotationTest, TheOldLinkKeyStaysAsLongAsALinkThatItMadeOpensADelivery) {
  using domain::DeliveryStatus;
  auto& node = add_node();
  fill(node);
  const KeyKinds kinds{KeyKind::links};
  // Many that were over long ago, and one.
  for (int i = 0; i < 2'500; ++i) add_delivery(DeliveryStatus::completed, world_.clock().now());
  const auto one = add_delivery(DeliveryStatus::failed, std::nullopt);
  const auto token = token_of(node, one);
  turn_all(node, kinds);
  world_.clock().advance(kBuyerLinkLife);
  const auto kept = drop(node, kinds);
  ASSERT_TRUE(kept);
  EXPECT_THAT(kept->kinds[0].dropped, IsEmpty());
  EXPECT_THAT(kept->kinds[0].reason, HasSubstr(to_string(one)));
  EXPECT_TRUE(opens(node, token));

  complete(one);
  world_.clock().advance(kBuyerLinkLife - Millis{1});
  EXPECT_FALSE(drop(node, kinds)->kinds[0].reason.empty());
  EXPECT_TRUE(opens(node, token));
  // A delivery of after the newer key, whose link that one made.
  add_delivery(DeliveryStatus::failed, std::nullopt);
  world_.clock().advance(Millis{1});
  EXPECT_FALSE(opens(node, token));
  EXPECT_THAT(drop(node, kinds)->kinds[0].dropped, SizeIs(1));

  const auto open = add_delivery(DeliveryStatus::failed, std::nullopt);
  const auto leaked = token_of(node, open);
  turn_all(node, kinds);
  world_.clock().advance(2 * kBuyerLinkLife);
  EXPECT_FALSE(drop(node, kinds)->kinds[0].reason.empty());
  EXPECT_THAT(drop(node, kinds, true)->kinds[0].dropped, SizeIs(1)) << "told to end them";
  EXPECT_FALSE(opens(node, leaked));
}

TEST_F(KeyRotationTest, AllThatIsSealedIsUnderTheNewKeysAndThenTheOldOnesGo) {
  auto& node = add_node();
  fill(node);
  const auto before = ids_of(node);
  EXPECT_EQ(turn_all(node, {KeyKind::vault, KeyKind::service}).phase, Phase::done)
      << "without new keys nothing is to do";
  EXPECT_THAT(used(KeyUse::vault), SizeIs(1));

  add_keys(node);
  const auto step = turn_all(node);
  EXPECT_EQ(step.phase, Phase::done);
  EXPECT_EQ(step.counts.left(), 0);
  EXPECT_EQ(step.counts.unreadable, 0);
  const auto ids = ids_of(node);
  EXPECT_THAT(named().first, ElementsAre(ids.vault.held.front()));
  EXPECT_THAT(named().second, ElementsAre(ids.service.held.front()));
  expect_all_opens(node);
  EXPECT_EQ(turn_all(node).counts.resealed, 0) << "again there is nothing to do";

  const auto dropped = drop(node);
  ASSERT_TRUE(dropped) << dropped.error().message;
  ASSERT_THAT(dropped->kinds, SizeIs(4));
  EXPECT_THAT(dropped->kinds[0].dropped, ElementsAre(before.vault.held.front()));
  EXPECT_THAT(dropped->kinds[1].dropped, ElementsAre(before.service.held.front()));
  EXPECT_THAT(dropped->kinds[2].reason, HasSubstr("ID tokens"));
  EXPECT_THAT(dropped->kinds[3].reason, HasSubstr("links"));
  EXPECT_THAT(used(KeyUse::vault), ElementsAre(ids.vault.held.front()));
  EXPECT_THAT(used(KeyUse::service), ElementsAre(ids.service.held.front()));

  crypto::VaultKeyId vault{};
  crypto::ServiceKeyId service{};
  ASSERT_TRUE(crypto::hex_decode_exactly(ids.vault.held.front(), vault));
  ASSERT_TRUE(crypto::hex_decode_exactly(ids.service.held.front(), service));
  EXPECT_EQ(crypto::drop_vault_keys_behind(node.vault_key(), node.vault_pub(), vault), 1);
  EXPECT_EQ(crypto::drop_service_keys_behind(node.service_key(), service), 1);
  ASSERT_TRUE(poll(node));
  expect_all_opens(node);
}

TEST_F(KeyRotationTest, AProcessThatIsKilledAfterAnyStepLeavesNothingBehind) {
  auto& node = add_node();
  fill(node);
  add_keys(node);
  int steps = 0;
  for (TurnStep step{.phase = Phase::sealing}; step.phase != Phase::done; ++steps) {
    ASSERT_LT(steps, 200);
    node.begin_process(*this);
    const auto begun = turn(node, true);
    ASSERT_TRUE(begun);
    step = *begun;
    // Some get further than the first step before they are killed.
    for (int i = 0; i < steps && step.phase != Phase::done; ++i) {
      world_.clock().advance(Millis{500});
      step = *turn(node);
    }
  }
  EXPECT_THAT(named().first, SizeIs(1));
  EXPECT_THAT(named().second, SizeIs(1));
  expect_all_opens(node);
  world_write([&](Tx& tx) {
    EXPECT_THAT(storage::issuer_keys(tx), SizeIs(2)) << "one was made, however often it began";
    EXPECT_THAT(storage::find_link_keys(tx), SizeIs(2));
  });
}

TEST_F(KeyRotationTest, NoNodeSealsWithAKeyThatAnotherLacks) {
  auto& first = add_node(0);
  auto& second = add_node(1);
  fill(first);
  add_keys(first);
  const auto waiting = turn(first, true);
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->phase, Phase::waiting);
  ASSERT_THAT(waiting->nodes, SizeIs(1));
  EXPECT_EQ(waiting->nodes.front().name, "node-1's folder");
  EXPECT_THAT(waiting->nodes.front().lacks, ElementsAre("vault:" + ids_of(first).vault.held.front(),
                                                        "service:" + ids_of(first).service.held.front()));
  EXPECT_THAT(used(KeyUse::service), SizeIs(1));
  world_write([&](Tx& tx) { EXPECT_THAT(storage::issuer_keys(tx), SizeIs(1)); });
  const auto old = first.cipher->sealing();
  ASSERT_TRUE(poll(first));
  EXPECT_EQ(first.cipher->sealing(), old);

  copy_keys(first, second);
  ASSERT_TRUE(poll(second));
  EXPECT_EQ(second.cipher->sealing(), old) << "it has the new one, and waits for the word";
  EXPECT_NE(turn(first, true)->phase, Phase::waiting);
  EXPECT_NE(first.cipher->sealing(), old);

  // The other has not polled yet: what it seals opens everywhere, and keeps the rotation from its end.
  world_.clock().advance(Millis{60'000});
  for (int i = 0; i < 50; ++i) EXPECT_NE(turn(first)->phase, Phase::done);
  EXPECT_EQ(drop(first).error().code, "KEYS_IN_USE");
  ASSERT_TRUE(poll(second));
  EXPECT_EQ(second.cipher->sealing(), first.cipher->sealing());
  world_.clock().advance(KeyRotation::kSettled - Millis{1'000});
  EXPECT_EQ(drop(first).error().code, "KEYS_IN_USE");
  world_.clock().advance(Millis{1'000});
  EXPECT_EQ(turn_all(first).phase, Phase::done);
  EXPECT_TRUE(drop(first, {KeyKind::vault, KeyKind::service}));
  EXPECT_THAT(used(KeyUse::vault), SizeIs(1));
}

TEST_F(KeyRotationTest, ANodeOfAProgramThatReportsNoKeysIsWaitedForAndOneThatIsGoneIsNot) {
  auto& first = add_node(0);
  world_write([&](Tx& tx) {
    storage::take_node_number(tx, "old", tx.now() + Millis{600'000});
    storage::keep_node_number(tx, 1, "old", tx.now() + Millis{600'000}, "worker");
  });
  add_keys(first);
  const auto waiting = turn(first, true);
  EXPECT_EQ(waiting->phase, Phase::waiting);
  EXPECT_EQ(waiting->nodes.front().name, "node 1 (worker)");
  world_.clock().advance(std::chrono::minutes{3});
  world_write(
      [&](Tx& tx) { storage::keep_node_number(tx, 0, "node-0", tx.now() + Millis{600'000}, "worker"); });
  EXPECT_NE(turn(first, true)->phase, Phase::waiting);
}

TEST_F(KeyRotationTest, AProcessThatWasKilledIsNotWaitedForOnceItsFolderHasAnother) {
  auto& node = add_node(0);
  const auto note_node = [&](int number, const std::string& owner, const std::string& keys) {
    world_write([&](Tx& tx) {
      storage::take_node_number(tx, owner, tx.now() + Millis{600'000});
      storage::keep_node_number(tx, number, owner, tx.now() + Millis{600'000}, "worker");
      storage::note_node_keys(tx, number, owner, keys, "another's folder");
    });
  };
  add_keys(node);
  note_node(1, "killed", "vault:x service:y");
  EXPECT_EQ(turn(node, true)->phase, Phase::waiting);
  world_.clock().advance(Millis{1});
  const auto ids = ids_of(node);
  note_node(2, "after it", "vault:" + ids.vault.held.front() + " service:" + ids.service.held.front());
  EXPECT_NE(turn(node, true)->phase, Phase::waiting);
}

TEST_F(KeyRotationTest, WhatIsUnderAnOldKeyKeepsItFromBeingDropped) {
  auto& node = add_node();
  fill(node);
  const crypto::ServiceCipher former(*crypto::read_service_keys(node.service_key()), system_);
  add_keys(node);
  ASSERT_EQ(turn_all(node).phase, Phase::done);
  const auto put = [&](const crypto::Bytes& value) {
    world_write([&](Tx& tx) {
      static constexpr storage::Sql change{
          "UPDATE integrations SET encrypted_previous_secret = $1 WHERE id = 5"};
      tx.exec(change, storage::Blob(value));
    });
  };
  put(former.encrypt({storage::kStoreSecret, 5}, "late"));
  auto refused = drop(node);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "KEYS_IN_USE");
  EXPECT_THAT(refused.error().message, HasSubstr("1 of "));
  EXPECT_THAT(used(KeyUse::service), SizeIs(2));
  EXPECT_THAT(used(KeyUse::vault), SizeIs(2)) << "none is dropped where one cannot be";
  EXPECT_EQ(turn_all(node).counts.left(), 0);
  EXPECT_TRUE(drop(node));
}

TEST_F(KeyRotationTest, ARecordThatDoesNotOpenIsLeftAsItIsAndLogged) {
  auto& node = add_node();
  fill(node);
  const auto misplaced = node.cipher->encrypt({storage::kStoreSecret, 6}, "of another row");
  const auto damaged = crypto::Bytes(80, std::byte{1});
  world_write([&](Tx& tx) {
    static constexpr storage::Sql change{"UPDATE integrations SET encrypted_secret = $1 WHERE id = $2"};
    tx.exec(change, storage::Blob(misplaced), 5);
    tx.exec(change, storage::Blob(damaged), 7);
  });
  add_keys(node);
  const auto step = turn_all(node);
  EXPECT_EQ(step.phase, Phase::done);
  EXPECT_EQ(step.counts.left_service, 1);
  EXPECT_EQ(step.counts.left_vault, 0);
  EXPECT_EQ(step.counts.unreadable, 1);
  EXPECT_THAT(world_.log.text, HasSubstr("a record is left on an old key table=integrations row=5"));
  EXPECT_EQ(drop(node).error().code, "KEYS_IN_USE");
  world_write([&](Tx& tx) {
    EXPECT_EQ(find_integration(tx, IntegrationId{5})->encrypted_secret, misplaced);
    EXPECT_EQ(find_integration(tx, IntegrationId{7})->encrypted_secret, damaged);
  });
}

TEST_F(KeyRotationTest, WithoutTheAgentItStopsAndGoesOnLater) {
  auto& node = add_node();
  fill(node);
  add_keys(node);
  node.keeper->away = true;
  auto step = turn(node, true);
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().code, "AGENT_UNAVAILABLE");
  node.keeper->away = false;
  EXPECT_EQ(turn_all(node).counts.left(), 0);
  expect_all_opens(node);
}

TEST_F(KeyRotationTest, ANodeThatLacksAUsedKeySaysWhich) {
  auto& first = add_node(0);
  auto& second = add_node(1);
  add_keys(first);
  copy_keys(first, second);
  ASSERT_TRUE(poll(second));
  ASSERT_NE(turn(first, true)->phase, Phase::waiting);
  const auto whole = ids_of(second);
  const auto old = crypto::base64_encode(crypto::read_vault_public_keys(second.vault_pub())->back().raw());
  std::ofstream(second.vault_pub()) << "presetbridge-vault-public-key-1 " << old << '\n';
  const auto lacking = poll(second);
  ASSERT_FALSE(lacking);
  EXPECT_EQ(lacking.error().code, "KEYS_LACKING");
  EXPECT_THAT(lacking.error().message, HasSubstr("lacks vault:" + whole.vault.held.front() + ":"));
}

TEST_F(KeyRotationTest, ALoginOfAKeyThatOnlyOthersHaveIsNotUnreadable) {
  auto& node = add_node();
  KnownKeyAgent agent(*node.keeper, *node.keeper, world_.async_db, world_.log);
  const auto kind_of = [&](const crypto::Bytes& sealed) {
    const auto session = world_.await(agent.login(world_.scheduler, AccountId{1}, 1, sealed));
    return session ? std::nullopt : std::optional(session.error().kind);
  };
  const auto own = node.sealing->now().seal(system_, {AccountId{1}, 1}, "login");
  EXPECT_EQ(kind_of(own), std::nullopt);
  const auto other = crypto::VaultPrivateKey::generate(system_);
  const auto sealed = other.public_key().seal(system_, {AccountId{1}, 1}, "login");
  EXPECT_EQ(kind_of(sealed), cloud::CloudError::Kind::credentials_unreadable) << "a key that nobody has";
  world_write([&](Tx& tx) { note_used_key(tx, KeyUse::vault, crypto::hex_encode(other.public_key().id())); });
  EXPECT_EQ(kind_of(sealed), cloud::CloudError::Kind::unavailable);
  EXPECT_THAT(world_.log.text, HasSubstr("this node lacks a key of the vault"));
  auto damaged = own;
  damaged.back() ^= std::byte{1};
  EXPECT_EQ(kind_of(damaged), cloud::CloudError::Kind::credentials_unreadable);
}

TEST_F(KeyRotationTest, OldIssuerAndLinkKeysGoWhenNothingOpensByThemOrAtOnce) {
  auto& node = add_node();
  const auto kids = [&] {
    std::vector<std::string> all;
    world_write([&](Tx& tx) {
      all.clear();
      for (const auto& row : storage::issuer_keys(tx)) all.push_back(row.kid);
    });
    return all;
  };
  const KeyKinds kinds{KeyKind::issuer, KeyKind::links};
  const auto first = kids().front();
  turn_all(node, kinds);
  ASSERT_THAT(kids(), SizeIs(2));
  turn_all(node, kinds);
  EXPECT_THAT(kids(), SizeIs(2)) << "a third would end what the first made";
  world_.clock().advance(std::chrono::hours{1});
  EXPECT_FALSE(drop(node, kinds)->kinds[0].reason.empty());
  world_.clock().advance(std::chrono::minutes{3});
  EXPECT_THAT(drop(node, kinds)->kinds[0].dropped, ElementsAre(first));
  EXPECT_THAT(kids(), SizeIs(1));
  world_.clock().advance(kBuyerLinkLife);
  EXPECT_THAT(drop(node, kinds)->kinds[1].dropped, SizeIs(1));

  turn_all(node, kinds);
  const auto now = drop(node, kinds, true);
  EXPECT_THAT(now->kinds[0].dropped, SizeIs(1));
  EXPECT_THAT(now->kinds[1].dropped, SizeIs(1));
  EXPECT_THAT(kids(), SizeIs(1));
}

}  // namespace
}  // namespace presetbridge::services
