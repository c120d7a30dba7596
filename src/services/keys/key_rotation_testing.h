// A fixture with nodes that have key files of their own, and something in every column that is sealed.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "crypto/encoding.h"
#include "crypto/random.h"
#include "identity/testing.h"
#include "services/buyers/buyer_links.h"
#include "services/keys/key_rotation.h"
#include "services/keys/known_key_agent.h"
#include "storage/stores/cloud_login_store.h"
#include "storage/stores/dispatch_store.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/node_store.h"

namespace presetbridge::services::testing {

inline constexpr int kLogins = 7;
inline constexpr int kStores = 23;
inline const KeyKinds kAll{KeyKind::vault, KeyKind::service, KeyKind::issuer, KeyKind::links};

// The agent's part, of a node's files.
class KeeperOfFiles final : public cloud::VaultKeeper, public cloud::CredentialAgent {
 public:
  explicit KeeperOfFiles(std::filesystem::path file) : file_(std::move(file)) {}
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
  const std::filesystem::path file_;
  crypto::SystemRandom random_;
};

class KeyRotationTest : public ::testing::Test {
 protected:
  // A node with key files of its own; `number`: none, it is the only one.
  struct Node {
    Node(KeyRotationTest& test, std::string name, std::optional<int> node_number)
        : folder(test.directory_.file(name)), number(node_number), owner(std::move(name)) {
      std::filesystem::create_directory(folder);
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
                             links->keys()},
          KeyRotation::Options{.step = Millis{0}, .batch = 5});
    }
    std::filesystem::path service_key() const { return std::filesystem::path(folder) / "service.key"; }
    std::filesystem::path vault_key() const { return std::filesystem::path(folder) / "vault.key"; }
    std::filesystem::path vault_pub() const { return std::filesystem::path(folder) / "vault.pub"; }

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
      world_write([&](storage::Tx& tx) {
        const auto taken = storage::take_node_number(tx, name, tx.now() + Millis{600'000});
        EXPECT_EQ(taken, number);
        EXPECT_TRUE(storage::keep_node_number(tx, *taken, name, tx.now() + Millis{600'000}, "api,worker"));
      });
    }
    auto& node = nodes_.emplace_back(*this, name, number);
    if (nodes_.size() == 1) {
      world_write([&](storage::Tx& tx) {
        note_used_key(tx, storage::KeyUse::service, ids_of(node).service.held.front());
        note_used_key(tx, storage::KeyUse::vault, ids_of(node).vault.held.front());
      });
    }
    EXPECT_TRUE(world_.await(node.issuer->start(world_.scheduler)));
    EXPECT_TRUE(world_.await(node.links->start(world_.scheduler)));
    EXPECT_TRUE(poll(node));
    return node;
  }
  void copy_keys(const Node& from, const Node& to) {
    for (const auto* name : {"service.key", "vault.key", "vault.pub"})
      std::filesystem::copy_file(std::filesystem::path(from.folder) / name,
                                 std::filesystem::path(to.folder) / name,
                                 std::filesystem::copy_options::overwrite_existing);
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
    for (int i = 0;
         i < 1'000 && step && step->phase != TurnStep::Phase::done && step->phase != TurnStep::Phase::waiting;
         ++i) {
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
  void world_write(std::function<void(storage::Tx&)> fn) {
    ASSERT_TRUE(world_.await(world_.async_db.write(world_.scheduler, std::move(fn))));
  }

  // Adds a delivery of the first store.
  DeliveryId add_delivery(domain::DeliveryStatus status, std::optional<Timestamp> ended) {
    const auto id = world_.ids.make<DeliveryId>();
    world_write([&](storage::Tx& tx) {
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
    world_write([&](storage::Tx& tx) { tx.exec(sql, id, tx.now()); });
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
    world_write([&](storage::Tx& tx) {
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
    world_write([&](storage::Tx& tx) {
      vault.clear();
      service.clear();
      for (const auto& row : sealed_rows(tx, storage::SealedTable::logins, {}, 1'000))
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
    world_write([&](storage::Tx& tx) {
      for (const auto& row : sealed_rows(tx, storage::SealedTable::logins, {}, 1'000))
        EXPECT_EQ(ring->open({AccountId{row.id}, row.version}, row.sealed)->reveal(),
                  login_of(static_cast<int>(row.id)));
      for (const auto& row : sealed_rows(tx, storage::SealedTable::stores, {}, 1'000)) {
        const crypto::ValuePlace place{storage::kStoreSecret, row.id};
        EXPECT_EQ(node.cipher->decrypt(place, row.sealed)->reveal(), login_of(static_cast<int>(row.id)));
        if (!row.former.empty()) EXPECT_TRUE(node.cipher->decrypt(place, row.former));
        if (!row.older.empty()) EXPECT_TRUE(node.cipher->decrypt(place, row.older));
      }
      for (const auto& row : sealed_rows(tx, storage::SealedTable::receivers, {}, 1'000))
        for (const auto value : storage::kSealedValues)
          EXPECT_EQ(node.cipher->decrypt({storage::kSubscriptionSecret, row.id}, row.*value)->reveal(),
                    "receiver");
      for (const auto& row : sealed_rows(tx, storage::SealedTable::sessions, {}, 1'000))
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
  std::vector<std::string> used(storage::KeyUse use) {
    std::vector<std::string> ids;
    world_write([&](storage::Tx& tx) { ids = storage::used_keys(tx, use); });
    return ids;
  }

  storage::testing::TemporaryDirectory directory_;
  crypto::SystemRandom system_;
  identity::testing::World world_;
  NullMetrics metrics_;
  std::deque<Node> nodes_;
};

}  // namespace presetbridge::services::testing
