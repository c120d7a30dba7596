#include "cloud/session_cache.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace presetbridge::cloud {

// One login under way and those who wait for it.
struct SessionCache::Flight {
  std::vector<std::move_only_function<void(CloudResult<Session>)>> waiting;
};

struct SessionCache::Entry {
  std::int64_t version = 0;
  std::shared_ptr<Flight> flight;  // while a login is under way
  Session session;                 // good until `until`
  Timestamp until;
};

SessionCache::SessionCache(Executor& executor, const Clock& clock, CredentialAgent& agent,
                           SessionCacheOptions options)
    : executor_(executor), clock_(clock), agent_(agent), options_(options) {}

SessionCache::~SessionCache() = default;

std::optional<Session> SessionCache::cached(AccountId account, std::int64_t version) const {
  const auto found = entries_.find(account);
  if (found == entries_.end()) return std::nullopt;
  const Entry& entry = found->second;
  const bool good = entry.version == version && !entry.flight && clock_.now() < entry.until;
  return good ? std::optional(entry.session) : std::nullopt;
}

Task<CloudResult<Session>> SessionCache::session(AccountId account, SealedLogin login) {
  if (!entries_.contains(account) && entries_.size() >= options_.max_sessions) make_room();
  if (auto good = cached(account, login.version)) co_return *std::move(good);
  Entry& entry = entries_[account];
  if (entry.version != login.version) {
    entry = Entry{};
    entry.version = login.version;
  }

  // `entry` may be gone after the next suspension: only the flight is held.
  const bool first = !entry.flight;
  if (first) entry.flight = std::make_shared<Flight>();
  const std::shared_ptr<Flight> flight = entry.flight;
  if (first) {
    executor_.post([this, account, flight, owned = std::move(login)]() mutable {
      spawn(log_in(account, std::move(owned), flight), [](Outcome<void>) {});
    });
  }
  co_return co_await suspend<CloudResult<Session>>(
      executor_, [flight](auto resume) { flight->waiting.emplace_back(std::move(resume)); });
}

Task<void> SessionCache::log_in(AccountId account, SealedLogin login, std::shared_ptr<Flight> flight) {
  CloudResult<Session> result =
      co_await agent_.login(executor_, account, login.version, std::move(login.sealed));
  const auto found = entries_.find(account);
  const bool wanted = found != entries_.end() && found->second.flight == flight;
  if (!wanted) {
    result =
        std::unexpected(CloudError{CloudError::Kind::session_refused,
                                   "The cloud login was changed or deleted meanwhile.", false, std::nullopt});
  } else if (result) {
    const Timestamp now = clock_.now();
    found->second.flight = nullptr;
    found->second.session = *result;
    found->second.until = std::min(result->expires_at - options_.margin, now + options_.max_age);
  } else {
    entries_.erase(found);
  }
  for (auto& resume : flight->waiting) resume(result);
}

void SessionCache::invalidate(AccountId account) {
  entries_.erase(account);
}

void SessionCache::invalidate(AccountId account, std::string_view token) {
  const auto found = entries_.find(account);
  if (found != entries_.end() && !found->second.flight && found->second.session.token == token) {
    entries_.erase(found);
  }
}

void SessionCache::make_room() {
  const Timestamp now = clock_.now();
  std::erase_if(entries_,
                [now](const auto& item) { return !item.second.flight && item.second.until <= now; });
  // Any other costs one login.
  const auto idle = std::ranges::find_if(entries_, [](const auto& item) { return !item.second.flight; });
  if (entries_.size() >= options_.max_sessions && idle != entries_.end()) entries_.erase(idle);
}

}  // namespace presetbridge::cloud
