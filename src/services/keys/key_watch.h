// Which keys this node holds and seals with (spec 5.4): reads its key files, its credential agent and the
// database every few seconds, takes up keys that were added, changes to a new one when the database says so,
// and reports its keys to the other nodes. A node that lacks a key which others seal with ends: it could not
// open what they store.
#pragma once

#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/background_tasks.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/task.h"
#include "cloud/agent_client.h"
#include "crypto/service_cipher.h"
#include "crypto/vault_keys.h"
#include "services/keys/node_keys.h"
#include "storage/commit/async_database.h"

namespace presetbridge::services {

// One of the nodes that are at work.
struct KeysOfNode {
  int number = 0;
  std::string place;  // where its key files are: host and folder. Empty: of a program that reports none
  std::string roles;
  NodeKeys keys;
  Timestamp since;  // that they are so
};

struct KeyState {
  NodeKeys own;
  std::vector<std::string> used_vault;  // in no order
  std::vector<std::string> used_service;
  std::vector<KeysOfNode> nodes;  // this one too
  Timestamp now;                  // of the database
};

// The nodes at work, as this transaction sees them; empty where this one is the only one. A killed node
// counts for two minutes, or until it is started again.
std::vector<KeysOfNode> nodes_at_work(storage::Tx& tx);

class KeyWatch {
 public:
  struct Options {
    std::filesystem::path service_key;
    std::filesystem::path vault_public_key;
    bool opens_logins = true;   // and so needs the vault's private keys
    std::optional<int> number;  // none: it is the only node
    std::string owner;          // of that number
    std::string place;
    std::string roles;
    Millis every{5'000};
  };
  struct Ports {
    storage::AsyncDatabase& async_db;
    const Clock& clock;
    Log& log;
    Metrics& metrics;
    crypto::ServiceCipher& cipher;
    crypto::SealingVaultKey& vault_key;
    cloud::VaultKeeper& keeper;
    // Reads the issuer's and the links' keys again. Any thread.
    std::function<Task<Expected<void>>(Executor&)> refresh;
    // Is called once, on `scheduler`: this node lacks a key and must end.
    std::function<void()> lost;
  };
  // All outlive this.
  KeyWatch(Scheduler& scheduler, Ports ports, Options options);

  // Polls now; resumes on `executor`. KEYS_LACKING: this node lacks a key that is used. The errors of
  // crypto/vault_keys.h and of storage, KEY_FILE_UNAVAILABLE where the agent does not answer; then all is as
  // before. Thread-safe.
  Task<Expected<KeyState>> look(Executor& executor);

  // On `scheduler`. `stopped` is called once, when the present poll has ended.
  void start();
  void stop(Callback stopped);

 private:
  struct Files {
    std::vector<crypto::ServiceKey> service;
    std::vector<crypto::VaultPublicKey> vault;
    NodeKeys keys;  // nothing seals
  };
  Task<void> loop();
  Task<Expected<Files>> read_files(Executor& executor);
  // Seals from now on with the keys that `state` names as used. Returns this node's keys, those that it seals
  // with, and since when that is so.
  KeysOfNode take_up(Files files, const KeyState& state);

  Scheduler& scheduler_;
  const Ports ports_;
  const Options options_;
  BackgroundTasks tasks_;
  std::mutex mutex_;  // guards own_
  KeysOfNode own_;
};

}  // namespace presetbridge::services
