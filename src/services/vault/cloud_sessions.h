// The vault login's cloud sessions for callers on any executor: the cache itself (cloud/session_cache.h)
// lives on one.
#pragma once

#include <utility>

#include "base/task.h"
#include "cloud/session_cache.h"

namespace presetbridge::services {

// Thread-safe.
class CloudSessions {
 public:
  // `home` is the executor that `cache` lives on. Both outlive this and its tasks.
  CloudSessions(Executor& home, cloud::SessionCache& cache) : home_(home), cache_(cache) {}

  // SessionCache::session() for a person, resuming on `executor`.
  Task<cloud::CloudResult<cloud::Session>> session(Executor& executor, AccountId account,
                                                   cloud::SealedLogin login,
                                                   cloud::CredentialAgent& persons) {
    using Result = cloud::CloudResult<cloud::Session>;
    auto start = [&home = home_, &cache = cache_, &persons, account,
                  login = std::move(login)](auto resume) mutable {
      home.post([&cache, &persons, account, login = std::move(login), resume]() mutable {
        spawn(cache.session(account, std::move(login), persons), [resume](Outcome<Result> outcome) mutable {
          if (outcome.value) return resume(std::move(*outcome.value));
          resume(std::unexpected(cloud::CloudError{
              cloud::CloudError::Kind::unavailable, "the session could not be opened", false, {}}));
        });
      });
    };
    co_return co_await suspend<Result>(executor, std::move(start));
  }
  void retire(AccountId account) {
    home_.post([&cache = cache_, account] { cache.retire(account); });
  }
  void invalidate(AccountId account) {
    home_.post([&cache = cache_, account] { cache.invalidate(account); });
  }
  void invalidate(AccountId account, std::string token) {
    home_.post([&cache = cache_, account, token = std::move(token)] { cache.invalidate(account, token); });
  }

 private:
  Executor& home_;
  cloud::SessionCache& cache_;
};

}  // namespace presetbridge::services
