// Keeps the keys that this node holds and seals with up to date (spec 5.4). Every few seconds it reads the
// key files, the credential agent and the database, takes up added keys, seals with a new one when the
// database says so, and reports its keys to the other nodes. A node that lacks a key with which others seal
// must end: it could not open the values that they store.
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

// The keys of one node at work.
struct KeysOfNode {
  int number = 0;
  std::string place;  // where its key files are: host and folder; empty: its program reports none
  std::string roles;
  NodeKeys keys;
  Timestamp since;  // when it took up these keys
};

struct KeyState {
  NodeKeys own;
  std::vector<std::string> used_vault;  // ids, in no order
  std::vector<std::string> used_service;
  std::vector<KeysOfNode> nodes;  // with this one
  Timestamp now;                  // the database's time
};

// The nodes at work, as this transaction sees them; empty if this node is the only one. A killed node
// counts for two minutes, or until it is started again.
std::vector<KeysOfNode> nodes_at_work(storage::Tx& tx);

class KeyWatch {
 public:
  struct Options {
    std::filesystem::path service_key;
    std::filesystem::path vault_public_key;
    bool opens_logins = true;   // and so needs the vault's private keys
    std::optional<int> number;  // none: it is the only node
    std::string owner;          // of `number`
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
    // Called once, on `scheduler`, when this node lacks a key and must end.
    std::function<void()> lost;
  };
  // All outlive this.
  KeyWatch(Scheduler& scheduler, Ports ports, Options options);

  // Polls now; resumes on `executor`. Thread-safe. KEYS_LACKING: this node lacks a key that is used.
  // KEY_FILE_UNAVAILABLE: also if the agent does not answer. Other errors of crypto/vault_keys.h, and of
  // storage. After an error the keys are as before, unless only their report failed.
  Task<Expected<KeyState>> poll(Executor& executor);

  // On `scheduler`. `stopped` is called once, when the present poll has ended.
  void start();
  void stop(Callback stopped);

 private:
  struct Files {
    std::vector<crypto::ServiceKey> service;
    std::vector<crypto::VaultPublicKey> vault;
    NodeKeys keys;  // none of them seals yet
  };
  Task<void> loop();
  Task<Expected<Files>> read_files(Executor& executor);
  // Seals from now on with the newest keys that `state` names as used. Returns this node's keys, which of
  // them seal, and since when.
  KeysOfNode take_up(Files files, const KeyState& state);

  Scheduler& scheduler_;
  const Ports ports_;
  const Options options_;
  BackgroundTasks tasks_;
  std::mutex mutex_;  // guards own_
  KeysOfNode own_;
};

}  // namespace presetbridge::services
