// The calls of jobs and sweeps to the cloud platform, each with a session of its account's login. Each shows
// whether the platform answers at all (platform_health.h); those of jobs are counted, and their failures
// logged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cloud/cloud.h"
#include "services/worker/job.h"
#include "services/worker/platform_health.h"
#include "services/worker/worker_ports.h"

namespace presetbridge::services {

// Owned by the worker, on its thread. Sessions are in the cache (WorkerPorts::sessions).
class CloudCalls {
 public:
  // `ports` outlives this.
  explicit CloudCalls(const WorkerPorts& ports)
      : ports_(ports), platform_(ports.clock, ports.log, ports.metrics) {}

  // Makes the call of a job. Returns nothing, and makes no call, if the job's lease would not outlast it
  // (spec 3.4). That is checked right before the call: the lease was new when the step committed the intent,
  // but a login may take long.
  Task<std::optional<Answer>> make(const Call& call, const Job& job);

  struct Page {
    cloud::CloudResult<cloud::FriendshipPage> page;
    std::int64_t login_version = 0;  // of the login that the call was to be made with
  };
  // A page of the changes since `cursor` in the friendships of `cloud_user`, the platform's id, read with the
  // login of `account`, which has to be that user's.
  Task<Page> friendships_since(AccountId account, std::string cloud_user, std::string cursor, int limit);

 private:
  struct LogIn {
    cloud::CloudResult<cloud::Session> session;
    std::int64_t login_version = 0;
  };
  // A session of the login that is stored now; logs in where the cache has none.
  Task<LogIn> log_in(AccountId account);
  // Makes the call and writes its result into `answer`. The second call of FindUser::then_friendship is left
  // out where the lease would not outlast it: the job's next step makes it.
  Task<void> ask(const Call& call, const Job& job, cloud::Session session, Answer& answer);
  bool outlasts_a_call(const Job& job) const;
  // Reports to the platform's health how a call or a login ended; nullptr: with success.
  void note_health(const cloud::CloudError* error);

  const WorkerPorts& ports_;
  PlatformHealth platform_;
};

}  // namespace presetbridge::services
