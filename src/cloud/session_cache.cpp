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
  return session(account, std::move(login), agent_);
}

Task<CloudResult<Session>> SessionCache::session(AccountId account, SealedLogin login,
                                                 CredentialAgent& agent) {
  if (!entries_.contains(account) && entries_.size() >= options_.max_sessions) make_room();
  if (auto good = cached(account, login.version)) co_return *std::move(good);
  Entry& entry = entries_[account];
  if (entry.version != login.version) {
    // A deletion between the two has a version of its own: what it ended is not kept (spec 5.1).
    if (entry.version + 1 == login.version) keep_former(account, entry);
    entry = Entry{};
    entry.version = login.version;
  }

  // `entry` may be gone after the next suspension: only the flight is held.
  auto flight = entry.flight;
  if (!flight) {
    flight = std::make_shared<Flight>();
    executor_.post([this, &agent, account, flight, owned = std::move(login)]() mutable {
      spawn(log_in(agent, account, std::move(owned), flight), [](Outcome<void>) {});
    });
    entry.flight = flight;
  } else if (&agent != &agent_) {
    // After the login was asked for.
    executor_.post([this, account] { agent_.hurry(account); });
  }
  co_return co_await suspend<CloudResult<Session>>(
      executor_, [flight](auto resume) { flight->waiting.emplace_back(std::move(resume)); });
}

Task<void> SessionCache::log_in(CredentialAgent& agent, AccountId account, SealedLogin login,
                                std::shared_ptr<Flight> flight) {
  CloudResult<Session> result = std::unexpected(
      CloudError{CloudError::Kind::unavailable, "The cloud login met a fault.", false, std::nullopt});
  try {
    result = co_await agent.login(executor_, account, login.version, std::move(login.sealed));
  } catch (...) {  // whoever waits is answered all the same
  }
  land(account, *flight, std::move(result));
}

void SessionCache::land(AccountId account, Flight& flight, CloudResult<Session> result) {
  const auto found = entries_.find(account);
  const bool wanted = found != entries_.end() && found->second.flight.get() == &flight;
  if (!wanted) {
    result =
        std::unexpected(CloudError{CloudError::Kind::session_refused,
                                   "The cloud login was changed or deleted meanwhile.", false, std::nullopt});
  } else if (result) {
    const Timestamp now = clock_.now();
    found->second.flight = nullptr;
    found->second.session = *result;
    found->second.until = std::min(result->expires_at - options_.margin, now + options_.max_age);
    former_.erase({account, result->user_id});
  } else {
    entries_.erase(found);
  }
  for (auto& resume : flight.waiting) resume(result);
}

std::optional<Session> SessionCache::former(AccountId account, const std::string& cloud_user) const {
  const auto found = former_.find({account, cloud_user});
  const bool good = found != former_.end() && clock_.now() < found->second.until;
  return good ? std::optional(found->second.session) : std::nullopt;
}

void SessionCache::keep_former(AccountId account, const Entry& entry) {
  const Timestamp now = clock_.now();
  if (entry.flight || entry.until <= now) return;
  std::erase_if(former_, [now](const auto& item) { return item.second.until <= now; });
  if (former_.size() >= options_.max_sessions) former_.erase(former_.begin());
  former_.insert_or_assign({account, entry.session.user_id}, Former{entry.session, entry.until});
}

void SessionCache::retire(AccountId account) {
  const auto found = entries_.find(account);
  if (found == entries_.end()) return;
  keep_former(account, found->second);
  entries_.erase(found);
}

void SessionCache::invalidate(AccountId account) {
  entries_.erase(account);
  std::erase_if(former_, [account](const auto& item) { return item.first.first == account; });
}

void SessionCache::invalidate(AccountId account, std::string_view token) {
  const auto found = entries_.find(account);
  if (found != entries_.end() && !found->second.flight && found->second.session.token == token) {
    entries_.erase(found);
  }
  for (auto at = former_.lower_bound({account, {}}); at != former_.end() && at->first.first == account;)
    at = at->second.session.token == token ? former_.erase(at) : std::next(at);
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
