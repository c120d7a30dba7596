// The credential agent's reactions to requests (spec 5.3): opens the sealed login, logs in at the
// platform, answers; and seals a login to another of its keys (spec 5.4). The process around it is
// cloud/credential_agent.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>

#include "base/executor.h"
#include "base/log.h"
#include "base/task.h"
#include "cloud/agent_protocol.h"
#include "cloud/cloud.h"
#include "cloud/credential_agent.h"
#include "crypto/random.h"
#include "crypto/vault_keys.h"

namespace presetbridge::cloud {

struct AgentServerPorts {
  Executor& executor;  // where the logins run
  CloudLogIn& cloud;
  Log& log;
};

// Outlives its logins, which run on the executor.
class AgentServer {
 public:
  // `keys`: none, it opens no stored logins. `options` and what `ports` names outlive this.
  AgentServer(int fd, const AgentOptions& options, std::optional<crypto::VaultKeyring> keys,
              AgentServerPorts ports)
      : fd_(fd), options_(options), keys_(std::move(keys)), ports_(ports) {}

  // Reads requests from the descriptor until the other side closes it; false when the descriptor fails. Each
  // request is answered, whatever becomes of its login; more than options.max_concurrent at once are
  // `busy`. On a thread of its own.
  bool serve();

 private:
  // One of the logins that may be under way at once, until it is destroyed.
  class Place;

  Task<void> answer(AgentRequest request, Place place);
  Task<AgentReply::Result> result_of(AgentRequest request);
  CloudResult<CloudLogin> open_record(const SealedRecord& sealed);
  AgentReply::Result reseal(const ResealRequest& wanted);
  AgentReply::Result held_keys();
  // The file anew; false, and all is as before, where it cannot be read. Only with `keys_`.
  bool read_keys();

  const int fd_;
  const AgentOptions& options_;
  std::optional<crypto::VaultKeyring> keys_;  // of the executor's thread
  crypto::SystemRandom random_;
  const AgentServerPorts ports_;
  std::shared_ptr<std::atomic<std::size_t>> in_flight_ = std::make_shared<std::atomic<std::size_t>>(0);
};

}  // namespace presetbridge::cloud
