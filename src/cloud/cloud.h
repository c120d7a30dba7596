// The port to the cloud platform (spec 4.1): what the bridge asks of it, in the platform's terms. The HTTP
// adapter speaks api/cloud-platform.openapi.yaml; tests use a fake. Logging in is a port of its own, as only
// the credential agent does that (cloud/credential_agent.h); it hands back a Session.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/executor.h"
#include "base/task.h"
#include "base/time.h"
#include "cloud/cloud_login.h"
#include "domain/call_failure.h"

namespace presetbridge::cloud {

// An open session of one cloud user. `token` is a secret: never logged, never shown.
struct Session {
  std::string token;
  std::string user_id;  // the merchant's cloud user id: the unit of the queue limit
  std::string username;
  Timestamp expires_at;
};

struct CloudUser {
  std::string id;
  std::string username;
};

enum class FriendshipState { none, requested, friends, declined, blocked };

struct FriendshipChange {
  std::string user_id;
  FriendshipState state;
  Timestamp changed_at;
};
struct FriendshipPage {
  std::vector<FriendshipChange> changes;  // oldest first
  std::string next_cursor;                // opaque; where the next page, or the next sweep, begins
  bool more = false;
};

struct CloudFile {
  std::string id;
  std::string kind;  // "preset", "capture", ... as the platform says
  std::string name;
};
struct FilePage {
  std::vector<CloudFile> files;
  std::string next_cursor;
  bool more = false;
};

struct Share {
  std::string id;
  std::string idempotency_key;  // of the call that made it; empty if the platform does not return it
  Timestamp shared_at;
  bool existed = false;  // share(): it stood before this call
};

struct CloudError {
  using Kind = domain::CallFailure;
  Kind kind;
  std::string message;          // for a person; no secret
  bool effect_unknown = false;  // the call may have had its effect: check before a retry
  std::optional<Millis> retry_after;
};

template <class T>
using CloudResult = std::expected<T, CloudError>;

// Every call completes within the configured timeout (call_timeout()). Thread-safe; the task resumes on
// `executor`. Idempotency keys are 1 to 64 of [A-Za-z0-9_-]; the platform may ignore them.
class Cloud {
 public:
  virtual ~Cloud() = default;
  virtual Millis call_timeout() const = 0;

  virtual Task<CloudResult<CloudUser>> find_user(Executor& executor, Session session,
                                                 std::string username) = 0;
  virtual Task<CloudResult<FriendshipState>> friendship(Executor& executor, Session session,
                                                        std::string user_id) = 0;
  // The state after the request: requested, or friends where the platform accepts at once.
  virtual Task<CloudResult<FriendshipState>> request_friendship(Executor& executor, Session session,
                                                                std::string user_id,
                                                                std::string idempotency_key) = 0;
  virtual Task<CloudResult<void>> withdraw_friendship(Executor& executor, Session session,
                                                      std::string user_id) = 0;
  // `cursor` empty: from the beginning.
  virtual Task<CloudResult<FriendshipPage>> friendships_since(Executor& executor, Session session,
                                                              std::string cursor, int limit) = 0;
  virtual Task<CloudResult<FilePage>> list_files(Executor& executor, Session session, std::string cursor,
                                                 int limit) = 0;
  virtual Task<CloudResult<Share>> share(Executor& executor, Session session, std::string file_id,
                                         std::string user_id, std::string idempotency_key) = 0;
  // Nothing if there is no share of that file with that user.
  virtual Task<CloudResult<std::optional<Share>>> find_share(Executor& executor, Session session,
                                                             std::string file_id, std::string user_id) = 0;
  // Success also when the share was already gone.
  virtual Task<CloudResult<void>> revoke_share(Executor& executor, Session session, std::string file_id,
                                               std::string user_id) = 0;
};

// The port to log in at the platform: the one call that knows a password. The credential agent's process alone
// has it (spec 5.3).
class CloudLogIn {
 public:
  virtual ~CloudLogIn() = default;
  // login_refused: the platform knows no such login. No error repeats it, or the platform's own words.
  virtual Task<CloudResult<Session>> log_in(Executor& executor, CloudLogin login) = 0;
};

}  // namespace presetbridge::cloud
