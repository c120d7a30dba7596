#include "services/keys/key_rotation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>

#include "crypto/encoding.h"
#include "crypto/random.h"
#include "identity/testing.h"
#include "services/keys/known_key_agent.h"
#include "storage/stores/cloud_login_store.h"
#include "storage/stores/identity_store.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/link_key_store.h"
#include "storage/stores/node_store.h"
#include "storage/stores/send_store.h"

namespace presetbridge::services {
namespace {

namespace fs = std::filesystem;
using storage::KeyUse;
using storage::SealedTable;
using storage::Tx;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Phase = TurnStep::Phase;

constexpr int kLogins = 7;
constexpr int kStores = 23;
const KeyKinds kAll{KeyKind::vault, KeyKind::service, KeyKind::issuer, KeyKind::links};

// The agent's part, of a node's files.
class KeeperOfFiles final : public cloud::VaultKeeper, public cloud::CredentialAgent {
 public:
  explicit KeeperOfFiles(fs::path file) : file_(std::move(file)) {}
  Task<cloud::CloudResult<crypto::Bytes>> reseal(Executor&, AccountId account, std::int64_t version,
                                                 crypto::Bytes sealed, crypto::VaultKeyId to) override {
    if (away) co_return refused(cloud::CloudError::Kind::unavailable);
    const auto ring = crypto::read_vault_private_keys(file_);
    for (const auto& key : ring->keys()) {
      if (key.public_key().id() != to) continue;
      auto fresh = ring->reseal(random_, {account, version}, sealed, key.public_key());
      if (fresh) co_return std::move(*fresh);
    }
    co_return refused(cloud::CloudError::Kind::credentials_unreadable);
  }
  Task<cloud::CloudResult<std::vector<crypto::VaultKeyId>>> held_keys(Executor&) override {
    std::vector<crypto::VaultKeyId> ids;
    const auto ring = crypto::read_vault_private_keys(file_);
    for (const auto& key : ring->keys()) ids.push_back(key.public_key().id());
    co_return ids;
  }
  Millis login_deadline() const override { return Millis{1'000}; }
  Task<cloud::CloudResult<cloud::Session>> login(Executor&, AccountId account, std::int64_t version,
                                                 crypto::Bytes sealed) override {
    const auto ring = crypto::read_vault_private_keys(file_);
    const auto text = ring->open({account, version}, sealed);
    if (!text) co_return std::unexpected(refused(cloud::CloudError::Kind::credentials_unreadable).error());
    co_return cloud::Session{std::string(text->reveal()), "m-1", "shop", {}};
  }
  Task<cloud::CloudResult<cloud::Session>> login_with(Executor&, std::string, crypto::SecretString) override {
    co_return cloud::Session{};
  }
  bool away = false;

 private:
  static std::unexpected<cloud::CloudError> refused(cloud::CloudError::Kind kind) {
    return std::unexpected(cloud::CloudError{kind, "no", false, std::nullopt});
  }
  const fs::path file_;
  crypto::SystemRandom random_;
};

class KeyRotationTest : public ::testing::Test {
 protected:
  // A node with key files of its own; `number`: none, it is the only one.
  struct Node {
    Node(KeyRotationTest& test, std::string name, std::optional<int> node_number)
        : folder(test.directory_.file(name)), number(node_number), owner(std::move(name)) {
      fs::create_directory(folder);
      if (!test.nodes_.empty()) test.copy_keys(test.nodes_.front(), *this);
      if (test.nodes_.empty()) {
        EXPECT_TRUE(crypto::create_vault_key_files(vault_key(), vault_pub(), test.system_));
        EXPECT_TRUE(crypto::create_service_key_file(service_key(), test.system_));
      }
      cipher =
          std::make_unique<crypto::ServiceCipher>(*crypto::read_service_keys(service_key()), test.system_);
      sealing =
          std::make_unique<crypto::SealingVaultKey>(crypto::read_vault_public_keys(vault_pub())->back());
      keeper = std::make_unique<KeeperOfFiles>(vault_key());
      auto& world = test.world_;
      issuer = std::make_unique<identity::BuiltInIssuer>(
          identity::BuiltInIssuer::Deps{world.async_db, world.passwords, world.hasher, *cipher, world.ids,
                                        world.random, world.clock(), world.log},
          identity::BuiltInIssuerOptions{.iss = "https://bridge.example"});
      links = std::make_unique<BuyerLinks>(world.async_db, *cipher, world.ids, world.random);
      watch = std::make_unique<KeyWatch>(
          world.scheduler,
          KeyWatch::Ports{world.async_db, world.clock(), world.log, test.metrics_, *cipher, *sealing, *keeper,
                          [](Executor&) -> Task<Expected<void>> { co_return Expected<void>{}; },
                          [this] { ++lost; }},
          KeyWatch::Options{.service_key = service_key(),
                            .vault_public_key = vault_pub(),
                            .opens_logins = true,
                            .number = number,
                            .owner = owner,
                            .place = owner + "'s folder",
                            .roles = "api,worker"});
      begin_process(test);
    }
    // As after a restart: nothing is remembered of a rotation.
    void begin_process(KeyRotationTest& test) {
      auto& world = test.world_;
      rotation = std::make_unique<KeyRotation>(
          KeyRotation::Ports{{world.async_db, *cipher, *keeper, world.clock(), world.log, test.metrics_},
                             *watch,
                             *issuer,
                             *links},
          KeyRotation::Options{.step = Millis{0}, .piece = 5});
    }
    fs::path service_key() const { return fs::path(folder) / "service.key"; }
    fs::path vault_key() const { return fs::path(folder) / "vault.key"; }
    fs::path vault_pub() const { return fs::path(folder) / "vault.pub"; }

    const std::string folder;
    const std::optional<int> number;
    const std::string owner;
    std::unique_ptr<crypto::ServiceCipher> cipher;
    std::unique_ptr<crypto::SealingVaultKey> sealing;
    std::unique_ptr<KeeperOfFiles> keeper;
    std::unique_ptr<identity::BuiltInIssuer> issuer;
    std::unique_ptr<BuyerLinks> links;
    std::unique_ptr<KeyWatch> watch;
    std::unique_ptr<KeyRotation> rotation;
    int lost = 0;
  };
  friend struct Node;

  Node& add_node(std::optional<int> number = std::nullopt) {
    const auto name = "node-" + std::to_string(nodes_.size());
    if (number) {
      world_write([&](Tx& tx) {
        const auto taken = storage::take_node_number(tx, name, tx.now() + Millis{600'000});
        EXPECT_EQ(taken, number);
        EXPECT_TRUE(storage::keep_node_number(tx, *taken, name, tx.now() + Millis{600'000}, "api,worker"));
      });
    }
    auto& node = nodes_.emplace_back(*this, name, number);
    if (nodes_.size() == 1) {
      world_write([&](Tx& tx) {
        note_used_key(tx, KeyUse::service, ids_of(node).service.held.front());
        note_used_key(tx, KeyUse::vault, ids_of(node).vault.held.front());
      });
    }
    EXPECT_TRUE(world_.await(node.issuer->start(world_.scheduler)));
    EXPECT_TRUE(world_.await(node.links->start(world_.scheduler)));
    EXPECT_TRUE(poll(node));
    return node;
  }
  void copy_keys(const Node& from, const Node& to) {
    for (const auto* name : {"service.key", "vault.key", "vault.pub"})
      fs::copy_file(fs::path(from.folder) / name, fs::path(to.folder) / name,
                    fs::copy_options::overwrite_existing);
  }
  void add_keys(Node& node) {
    ASSERT_TRUE(crypto::add_vault_key(node.vault_key(), node.vault_pub(), system_));
    ASSERT_TRUE(crypto::add_service_key(node.service_key(), system_));
  }
  static NodeKeys ids_of(const Node& node) {
    NodeKeys ids;
    for (const auto& key : *crypto::read_service_keys(node.service_key()))
      ids.service.held.push_back(crypto::hex_encode(key.id));
    for (const auto& key : *crypto::read_vault_public_keys(node.vault_pub()))
      ids.vault.held.push_back(crypto::hex_encode(key.id()));
    return ids;
  }
  Expected<KeyState> poll(Node& node) { return world_.await(node.watch->poll(world_.scheduler)); }
  Expected<TurnStep> turn(Node& node, bool begin = false, KeyKinds kinds = kAll) {
    return world_.await(node.rotation->turn(world_.scheduler, std::move(kinds), begin));
  }
  // Steps until it is done or waits for others; time passes between them.
  TurnStep turn_all(Node& node, KeyKinds kinds = kAll) {
    auto step = turn(node, true, kinds);
    for (int i = 0; i < 1'000 && step && step->phase != Phase::done && step->phase != Phase::waiting; ++i) {
      world_.clock().advance(Millis{500});
      step = turn(node, false, kinds);
    }
    if (!step) throw std::runtime_error(step.error().message);
    return *step;
  }
  Expected<DropStep> drop(Node& node, KeyKinds kinds = kAll, bool now = false) {
    auto step = world_.await(node.rotation->drop(world_.scheduler, kinds, true, now));
    while (step && !step->done) step = world_.await(node.rotation->drop(world_.scheduler, kinds, false, now));
    return step;
  }
  void world_write(std::function<void(Tx&)> fn) {
    ASSERT_TRUE(world_.await(world_.async_db.write(world_.scheduler, std::move(fn))));
  }

  // Adds a delivery of the first store.
  DeliveryId add_delivery(domain::DeliveryStatus status, std::optional<Timestamp> ended) {
    const auto id = world_.ids.make<DeliveryId>();
    world_write([&](Tx& tx) {
      static constexpr storage::Sql delivery{
          "INSERT INTO deliveries (id, account_id, integration_id, order_key, status, resolution_code, "
          "message,"
          " open, ended_at, completed_at, created_at, updated_at)"
          " VALUES ($1, 1, 1, $2, $3, $4, '', 0, $5, $5, $6, $6)"};
      const bool failed = status == domain::DeliveryStatus::failed;
      tx.exec(delivery, id, to_string(id), to_string(status),
              failed ? storage::Param("internal_error") : storage::Param(nullptr), ended, tx.now());
    });
    return id;
  }
  void complete(DeliveryId id) {
    static constexpr storage::Sql sql{
        "UPDATE deliveries SET status = 'completed', resolution_code = NULL, completed_at = $2, ended_at = $2"
        " WHERE id = $1"};
    world_write([&](Tx& tx) { tx.exec(sql, id, tx.now()); });
  }
  std::string token_of(Node& node, DeliveryId id) {
    storage::DeliveryRow row;
    row.id = id;
    return node.links->token_of(row);
  }
  bool opens(Node& node, const std::string& token) {
    return world_.await(node.links->find(world_.scheduler, token)).has_value();
  }

  // Something in every column that is sealed.
  void fill(Node& node) {
    world_write([&](Tx& tx) {
      static constexpr storage::Sql account{
          "INSERT INTO accounts (id, name, created_at) VALUES ($1, 'a', 0)"};
      static constexpr storage::Sql login{
          "INSERT INTO credentials (account_id, version, sealed, masked_email, saved_at) VALUES ($1, 3, $2, "
          "'m', 0)"};
      static constexpr storage::Sql store{
          "INSERT INTO integrations (id, account_id, name, provider, encrypted_secret, secret_preview,"
          " encrypted_previous_secret, encrypted_older_secret, created_at)"
          " VALUES ($1, 1, 's', 'generic', $2, '', $3, $3, 0)"};
      static constexpr storage::Sql receiver{
          "INSERT INTO webhook_subscriptions (id, account_id, url, encrypted_secret, "
          "encrypted_previous_secret, encrypted_older_secret,"
          " event_types, integration_ids, created_at) VALUES ($1, 1, 'u', $2, $2, $2, '', '', 0)"};
      for (int id = 1; id <= kLogins; ++id) {
        tx.exec(account, id);
        tx.exec(login, id,
                storage::Blob(node.sealing->now().seal(system_, {AccountId{id}, 3}, login_of(id))));
      }
      for (int id = 1; id <= kStores; ++id) {
        const auto secret = node.cipher->encrypt({storage::kStoreSecret, id}, login_of(id));
        const bool former = id % 3 == 0;
        tx.exec(store, id, storage::Blob(secret),
                former ? storage::Param(storage::Blob(secret)) : storage::Param(nullptr));
      }
      const auto secret = node.cipher->encrypt({storage::kSubscriptionSecret, 1}, "receiver");
      tx.exec(receiver, 1, storage::Blob(secret));
      const crypto::Bytes hash(32, std::byte{9});
      insert_cloud_session(
          tx, {hash, ApiKeyId{1}, AccountId{1}, "", tx.now() + Millis{1'000}},
          node.cipher->encrypt({storage::kCloudSession, storage::cloud_session_row(hash)}, "{}"));
    });
  }
  static std::string login_of(int id) { return "login of " + std::to_string(id); }
  // The keys that all that is sealed names, by the two uses.
  std::pair<std::set<std::string>, std::set<std::string>> named() {
    std::set<std::string> vault;
    std::set<std::string> service;
    world_write([&](Tx& tx) {
      vault.clear();
      service.clear();
      for (const auto& row : sealed_rows(tx, SealedTable::logins, {}, 1'000))
        vault.insert(crypto::hex_encode(*crypto::sealed_record_key_id(row.sealed)));
      for (const auto table : storage::kServiceTables) {
        const auto rows = sealed_rows(tx, table, {}, 1'000);
        EXPECT_FALSE(rows.empty());
        for (const auto& row : rows) {
          for (const auto value : storage::kSealedValues) {
            if (!(row.*value).empty())
              service.insert(crypto::hex_encode(*crypto::service_value_key_id(row.*value)));
          }
        }
      }
    });
    return {vault, service};
  }
  void expect_all_opens(Node& node) {
    const auto ring = crypto::read_vault_private_keys(node.vault_key());
    world_write([&](Tx& tx) {
      for (const auto& row : sealed_rows(tx, SealedTable::logins, {}, 1'000))
        EXPECT_EQ(ring->open({AccountId{row.id}, row.version}, row.sealed)->reveal(),
                  login_of(static_cast<int>(row.id)));
      for (const auto& row : sealed_rows(tx, SealedTable::stores, {}, 1'000)) {
        const crypto::ValuePlace place{storage::kStoreSecret, row.id};
        EXPECT_EQ(node.cipher->decrypt(place, row.sealed)->reveal(), login_of(static_cast<int>(row.id)));
        if (!row.former.empty()) EXPECT_TRUE(node.cipher->decrypt(place, row.former));
        if (!row.older.empty()) EXPECT_TRUE(node.cipher->decrypt(place, row.older));
      }
      for (const auto& row : sealed_rows(tx, SealedTable::receivers, {}, 1'000))
        for (const auto value : storage::kSealedValues)
          EXPECT_EQ(node.cipher->decrypt({storage::kSubscriptionSecret, row.id}, row.*value)->reveal(),
                    "receiver");
      for (const auto& row : sealed_rows(tx, SealedTable::sessions, {}, 1'000))
        EXPECT_EQ(
            node.cipher->decrypt({storage::kCloudSession, storage::cloud_session_row(row.hash)}, row.sealed)
                ->reveal(),
            "{}");
    });
    // Reads the database as a fresh process does.
    identity::BuiltInIssuer issuer({world_.async_db, world_.passwords, world_.hasher, *node.cipher,
                                    world_.ids, world_.random, world_.clock(), world_.log},
                                   {.iss = "https://bridge.example"});
    EXPECT_TRUE(world_.await(issuer.start(world_.scheduler)));
    BuyerLinks links(world_.async_db, *node.cipher, world_.ids, world_.random);
    EXPECT_TRUE(world_.await(links.start(world_.scheduler)));
  }
  std::vector<std::string> used(KeyUse use) {
    std::vector<std::string> ids;
    world_write([&](Tx& tx) { ids = storage::used_keys(tx, use); });
    return ids;
  }

  storage::testing::TemporaryDirectory directory_;
  crypto::SystemRandom system_;
  identity::testing::World world_;
  NullMetrics metrics_;
  std::deque<Node> nodes_;
};

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
  EXPECT_THAT(kept->kinds[0].kept, HasSubstr(to_string(one)));
  EXPECT_TRUE(opens(node, token));

  complete(one);
  world_.clock().advance(kBuyerLinkLife - Millis{1});
  EXPECT_FALSE(drop(node, kinds)->kinds[0].kept.empty());
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
  EXPECT_FALSE(drop(node, kinds)->kinds[0].kept.empty());
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
  EXPECT_THAT(dropped->kinds[2].kept, HasSubstr("ID tokens"));
  EXPECT_THAT(dropped->kinds[3].kept, HasSubstr("links"));
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

  // The other has not looked yet: what it seals opens everywhere, and keeps the rotation from its end.
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

TEST_F(KeyRotationTest, ANodeOfAProgramThatTellsNoKeysIsWaitedForAndOneThatIsGoneIsNot) {
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
  EXPECT_FALSE(drop(node, kinds)->kinds[0].kept.empty());
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
