// The credential agent (spec 5.3): the only process that holds the vault's private keys. It is asked over a
// SOCK_SEQPACKET descriptor, opens the sealed login, logs in at the cloud platform of its own configuration,
// and answers with the session, never with the password. A hidden verb of the program; cloud/agent_client.h
// starts it.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "cloud/http_cloud.h"

namespace presetbridge::cloud {

struct AgentOptions {
  HttpCloudOptions cloud;
  // The vault's private keys; read again when a record names a key that is not held. Empty: it opens no
  // stored login, and only logs in with those that requests carry.
  std::string key_file;
  std::size_t max_concurrent = 64;  // logins at once; more are answered `busy`
};

// The options as command-line arguments (after the verb), and back. No secret among them.
std::vector<std::string> agent_arguments(const AgentOptions& options);
Expected<AgentOptions> parse_agent_arguments(std::span<const std::string> arguments);

// Serves `fd` until the other side closes it. 0 after that, else an exit code after one line on standard
// error: 2 a key file cannot be read, 3 the process cannot be hardened, 4 the descriptor failed. Call it in a
// process that has no other threads.
int run_credential_agent(int fd, const AgentOptions& options);

}  // namespace presetbridge::cloud
