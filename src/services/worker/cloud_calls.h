// The calls of jobs and sweeps to the cloud platform: each with a session of the account's own login, and
// each counted, logged, and taken as a sign of whether the platform answers at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cloud/cloud.h"
#include "services/worker/job.h"
#include "services/worker/platform_health.h"
#include "services/worker/worker_ports.h"

namespace presetbridge::services {

// Owned by the worker, on its thread. Holds no session: those are the cache's.
class CloudCalls {
 public:
  // `ports` outlives this.
  explicit CloudCalls(const WorkerPorts& ports)
      : ports_(ports), platform_(ports.clock, ports.log, ports.metrics) {}

  // Makes the call of a job. Nothing, and no call, if the job's lease would not outlast it (spec 3.4): asked
  // last, as the lease was new when the step committed the intent, but a login takes its time.
  Task<std::optional<Answer>> make(const Call& call, const Job& job);

  struct Page {
    cloud::CloudResult<cloud::FriendshipPage> page;
    std::int64_t login_version = 0;  // of the login that the call was to be made with
  };
  // What changed since `cursor` in the friendships of this user of the platform, with the login of `account`.
  Task<Page> friendships_since(AccountId account, std::string cloud_user, std::string cursor, int limit);

 private:
  struct LogIn {
    cloud::CloudResult<cloud::Session> session;
    std::int64_t login_version = 0;
  };
  // Logs in, if need be, with what the vault has at this moment.
  Task<LogIn> log_in(AccountId account);
  // With a session; calls nobody but the platform.
  Task<void> ask(const Call& call, cloud::Session session, Answer& answer);
  // What a call, or a login, says of the platform; nullptr: it was answered with success.
  void saw(const cloud::CloudError* error);

  const WorkerPorts& ports_;
  PlatformHealth platform_;
};

}  // namespace presetbridge::services
