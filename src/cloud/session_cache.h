// Cloud sessions at hand, one an account: a login only when there is no good one (spec 5.1).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "cloud/agent_client.h"

namespace presetbridge::cloud {

// The account's login as the vault stores it.
struct SealedLogin {
  std::int64_t version = 0;
  crypto::Bytes sealed;
};

struct SessionCacheOptions {
  Millis margin{60'000};      // a session this close to its end counts as ended
  Millis max_age{3'600'000};  // a session is used no longer than this, whatever the platform says
  std::size_t max_sessions = 100'000;
};

// Lives on one executor: every call comes from it, and every task resumes on it.
class SessionCache {
 public:
  // All but `options` must outlive this and the tasks it made.
  SessionCache(Executor& executor, const Clock& clock, CredentialAgent& agent,
               SessionCacheOptions options = {});
  ~SessionCache();

  // The cached session if it was made with this version of the login.
  std::optional<Session> cached(AccountId account, std::int64_t version) const;
  // The cached session if it was made with this version of the login; else logs in, once at a time for an
  // account however many callers wait. A login that was invalidated meanwhile ends as `session_refused`.
  Task<CloudResult<Session>> session(AccountId account, SealedLogin login);
  // For a person: as above, but `agent`, which outlives the login, makes it. A login that is under way for the
  // worker is hurried.
  Task<CloudResult<Session>> session(AccountId account, SealedLogin login, CredentialAgent& agent);
  // A session of that cloud user that the account's login before was made with, while it is good (spec 3.11).
  std::optional<Session> former(AccountId account, const std::string& cloud_user) const;

  // Another login was saved: the session is a former one now, until its end, which is within `max_age`. A
  // call of session() with a newer version has this effect too.
  void retire(AccountId account);
  // The credentials were deleted: former sessions go too.
  void invalidate(AccountId account);
  // The platform refused `token` (session_refused): dropped, if it is cached or a former one.
  void invalidate(AccountId account, std::string_view token);

 private:
  struct Flight;
  struct Entry;
  struct Former {
    Session session;
    Timestamp until;
  };
  using CloudUserOf = std::pair<AccountId, std::string>;
  Task<void> log_in(CredentialAgent& agent, AccountId account, SealedLogin login,
                    std::shared_ptr<Flight> flight);
  void keep_former(AccountId account, const Entry& entry);
  void land(AccountId account, Flight& flight, CloudResult<Session> result);
  void make_room();

  Executor& executor_;
  const Clock& clock_;
  CredentialAgent& agent_;
  const SessionCacheOptions options_;
  std::unordered_map<AccountId, Entry> entries_;
  std::map<CloudUserOf, Former> former_;  // those whose time is over go when the next one comes
};

}  // namespace presetbridge::cloud
