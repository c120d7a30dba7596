// The way to a cloud session (spec 5.1-5.3): the port through which the service asks for logins, and its
// implementation, which keeps the credential agent's process alive and talks to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/task.h"
#include "cloud/agent_protocol.h"
#include "cloud/cloud.h"
#include "crypto/bytes.h"
#include "crypto/sealed_record.h"
#include "crypto/secret.h"

namespace presetbridge::cloud {

// Thread-safe. Every call completes within login_deadline(), with `unavailable` where the agent is away, and
// `busy` where no place was free in time; tasks resume on `executor`. A wrong login is `login_refused`; a
// record that cannot be opened `credentials_unreadable`.
class CredentialAgent {
 public:
  virtual ~CredentialAgent() = default;
  virtual Millis login_deadline() const = 0;
  // With the login in the vault: `sealed` is the record as stored, `version` its version.
  virtual Task<CloudResult<Session>> login(Executor& executor, AccountId account, std::int64_t version,
                                           crypto::Bytes sealed) = 0;
  // With a login that a client has just sent: POST /api/auth/login, and validation before a save (spec 4.3).
  virtual Task<CloudResult<Session>> login_with(Executor& executor, std::string email,
                                                crypto::SecretString password) = 0;
  // A person waits now for what login() was asked of this account.
  virtual void hurry(AccountId) {}
};

// The other uses of the vault's keys (spec 5.4). Thread-safe. Every call completes within
// CredentialAgent::login_deadline(); tasks resume on `executor`. `unavailable`: the agent does not run or
// answer. `busy`: no place was free in time. `credentials_unreadable`: the record does not open, or the agent
// does not hold a key.
class VaultKeeper {
 public:
  virtual ~VaultKeeper() = default;
  // Returns the record of that account and version, sealed anew to the key `to`, which the agent must hold.
  virtual Task<CloudResult<crypto::Bytes>> reseal(Executor& executor, AccountId account, std::int64_t version,
                                                  crypto::Bytes sealed, crypto::VaultKeyId to) = 0;
  // Makes the agent read the key file again. Returns the ids of its keys, newest first; empty if the agent may
  // open no stored login.
  virtual Task<CloudResult<std::vector<crypto::VaultKeyId>>> held_keys(Executor& executor) = 0;
};

struct AgentProcessOptions {
  std::string program = "/proc/self/exe";
  std::vector<std::string>
      arguments;  // argv[0] included: "presetbridge", "credential-agent", agent_arguments()...
  Millis answer_deadline{20'000};    // of the agent; above its own timeout for its HTTP call
  std::size_t max_in_flight = 64;    // requests that the agent has at once; at most its max_concurrent
  std::size_t max_waiting = 10'000;  // for a place, of those in the background and of the others; more are
                                     // `busy` at once
  Millis max_wait{10'000};           // for a place, then `busy`
  Millis respawn_min{200};           // doubled with each death that follows within respawn_max of its start
  Millis respawn_max{30'000};
};

// Starts the agent as a child: one end of a SOCK_SEQPACKET pair as descriptor 3, /dev/null as standard input
// and output, standard error kept, everything else closed, environment empty. A thread of its own reads the
// answers, watches the deadlines, and starts a dead agent again; what waits then, and what that one was
// asked, is answered `unavailable`. The agent has max_in_flight requests at most; others wait for a place in
// the order in which they came, those in the background after all others, unless hurry() puts them among
// these. A record that cannot be opened is logged, by account and version.
class AgentProcess final : public CredentialAgent, public VaultKeeper {
 public:
  // Starts the process at once, before there are other threads (spec 5.3). `log` must outlive this.
  AgentProcess(Log& log, AgentProcessOptions options);
  // Stops if stop() was not called.
  ~AgentProcess() override;
  AgentProcess(const AgentProcess&) = delete;

  Millis login_deadline() const override;
  Task<CloudResult<Session>> login(Executor& executor, AccountId account, std::int64_t version,
                                   crypto::Bytes sealed) override;
  Task<CloudResult<Session>> login_with(Executor& executor, std::string email,
                                        crypto::SecretString password) override;
  Task<CloudResult<crypto::Bytes>> reseal(Executor& executor, AccountId account, std::int64_t version,
                                          crypto::Bytes sealed, crypto::VaultKeyId to) override;
  Task<CloudResult<std::vector<crypto::VaultKeyId>>> held_keys(Executor& executor) override;

  // The same agent for logins that no person waits for: the worker's. It lives as long as this.
  CredentialAgent& in_background() { return background_; }

  // Ends the agent and answers what waits and what is in flight with `unavailable`; later calls too. Any
  // thread; may be called twice.
  void stop();
  // The agent's process id, 0 while there is none. For tests and the log.
  int pid() const;

 private:
  class Supervisor;
  enum class Turn { first, background };
  class Background final : public CredentialAgent {
   public:
    explicit Background(AgentProcess& agent) : agent_(agent) {}
    Millis login_deadline() const override { return agent_.login_deadline(); }
    Task<CloudResult<Session>> login(Executor& executor, AccountId account, std::int64_t version,
                                     crypto::Bytes sealed) override;
    Task<CloudResult<Session>> login_with(Executor& executor, std::string email,
                                          crypto::SecretString password) override;
    void hurry(AccountId account) override;

   private:
    AgentProcess& agent_;
  };
  template <class What>
  Task<AgentReply::Result> ask(Executor& executor, Turn turn, What what);
  Task<CloudResult<Session>> login(Executor& executor, Turn turn, SealedRecord record);

  Log& log_;
  std::unique_ptr<Supervisor> supervisor_;
  Background background_{*this};
};

}  // namespace presetbridge::cloud
