// One scan of all sealed records (storage/stores/sealed_store.h), in bounded batches: records under an old
// key are sealed anew under the present one, or only counted (spec 5.4).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/task.h"
#include "cloud/agent_client.h"
#include "crypto/service_cipher.h"
#include "services/keys/node_keys.h"
#include "storage/commit/async_database.h"
#include "storage/stores/sealed_store.h"

namespace presetbridge::services {

class SealingPass {
 public:
  struct Ports {
    storage::AsyncDatabase& async_db;
    const crypto::ServiceCipher& cipher;
    cloud::VaultKeeper& keeper;
    const Clock& clock;
    Log& log;
    Metrics& metrics;
  };
  struct Options {
    bool vault = true;  // scans records that are sealed to the vault's key
    bool service = true;
    bool reseals = true;
    int batch = 100;  // rows of a transaction
  };
  struct Counts {
    std::int64_t read = 0;      // records
    std::int64_t resealed = 0;  // of them
    std::int64_t left_vault =
        0;  // of them under an old key still: they do not open, or were changed meanwhile
    std::int64_t left_service = 0;
    std::int64_t unreadable = 0;  // of them damaged, or under a key that is not in the files
    std::int64_t left() const { return left_vault + left_service; }
  };
  // `keys`: of the node, which has to be one that opens logins. All that `ports` names outlives this.
  SealingPass(Ports ports, Options options, NodeKeys keys);

  // About so long, one batch at least. An error of the storage, or AGENT_UNAVAILABLE: called again it goes
  // on.
  Task<Expected<void>> go_on(Executor& executor, Millis about);
  bool over() const { return tables_.empty(); }
  const Counts& counts() const { return counts_; }

 private:
  struct Fresh {
    std::size_t row;
    storage::SealedValue which;
    crypto::Bytes value;
  };
  Task<Expected<void>> next_batch(Executor& executor);
  // Nothing: it stays as it is.
  Task<Expected<std::optional<crypto::Bytes>>> fresh(Executor& executor, const storage::SealedRow& row,
                                                     crypto::Bytes value);
  void left(const storage::SealedRow& row, std::string_view why);

  const Ports ports_;
  const Options options_;
  const NodeKeys keys_;
  std::vector<storage::SealedTable> tables_;  // still to be scanned, the last one first
  storage::SealedRow after_;                  // in that one
  Counts counts_;
  int logged_ = 0;
};

}  // namespace presetbridge::services
