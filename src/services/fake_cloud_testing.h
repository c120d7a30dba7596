// For tests of use cases: a cloud platform in memory, whose answers a test can hold back, lose or fail, and the
// agent that logs in to it.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/testing.h"
#include "cloud/agent_client.h"
#include "cloud/cloud.h"

namespace presetbridge::services::testing {

using presetbridge::testing::ManualClock;

// The platform in memory. Each call first asks `before` (if set) what to do with it.
class FakeCloud : public cloud::Cloud {
 public:
  enum class Fate {
    answer,        // do it, answer
    fail,          // do nothing, answer 503
    lose_answer,   // do it, and the answer is lost
    lose_request,  // do nothing, and nobody knows
    hold,          // do nothing until release()
    hold_done,     // do it at once, answer at release()
    rate_limit,    // 429
    refuse_session,
    user_gone,  // 404 of the user
    blocked,    // the user blocked the merchant
    reject,     // a definite refusal of the call
  };
  // `call`: "find_user", "friendship", "request", "withdraw", "sweep", "share", "find_share", "revoke".
  std::function<Fate(const std::string& call, const std::string& subject)> before;
  std::function<void()> tick;  // called at every call, before anything
  std::function<void(const std::string& user, const std::string& file)> sharing;  // as such a call begins

  bool auto_accept = true;
  std::optional<Millis> retry_after;  // of a 429
  std::set<std::string> unknown_users;
  std::set<std::string> gone;                    // ids of users who were deleted
  std::map<std::string, std::string> other_ids;  // by username, of those whose id is not "u-name"
  std::set<std::string> unknown_files;
  std::map<std::string, cloud::FriendshipState> friendships;  // by user id
  std::vector<cloud::FriendshipChange> changes;
  std::map<std::pair<std::string, std::string>, cloud::Share> shares;  // (user id, file id)
  std::map<std::pair<std::string, std::string>, int> share_effects;    // how often each was really made
  std::map<std::string, int> requests;                                 // friend requests by user id
  std::map<std::string, int> withdrawals;
  std::vector<std::string> calls;
  std::vector<Timestamp> call_times;
  std::vector<std::string> settled_as;  // whose sessions looked shares up and took them back

  explicit FakeCloud(const ManualClock& clock) : clock_(clock) {}

  void accept(const std::string& user) { change(user, cloud::FriendshipState::friends); }
  void change(const std::string& user, cloud::FriendshipState state) {
    friendships[user] = state;
    changes.push_back({user, state, clock_.now()});
  }
  std::size_t held() const { return held_.size(); }
  void release() {
    auto all = std::move(held_);
    held_.clear();
    for (auto& resume : all) resume();
  }
  int count(const std::string& call) const { return static_cast<int>(std::ranges::count(calls, call)); }

  Millis call_timeout() const override { return Millis{15'000}; }

  Task<cloud::CloudResult<cloud::CloudUser>> find_user(Executor& e, cloud::Session,
                                                       std::string username) override {
    return run<cloud::CloudUser>(e, "find_user", username,
                                 [this, username]() -> cloud::CloudResult<cloud::CloudUser> {
                                   if (unknown_users.contains(username))
                                     return error(cloud::CloudError::Kind::user_not_found);
                                   if (const auto other = other_ids.find(username); other != other_ids.end())
                                     return cloud::CloudUser{other->second, username};
                                   return cloud::CloudUser{"u-" + lowered(username), username};
                                 });
  }
  Task<cloud::CloudResult<cloud::FriendshipState>> friendship(Executor& e, cloud::Session,
                                                              std::string user) override {
    return run<cloud::FriendshipState>(e, "friendship", user,
                                       [this, user]() -> cloud::CloudResult<cloud::FriendshipState> {
                                         if (gone.contains(user))
                                           return error(cloud::CloudError::Kind::user_not_found);
                                         return friendships[user];
                                       });
  }
  Task<cloud::CloudResult<cloud::FriendshipState>> request_friendship(Executor& e, cloud::Session,
                                                                      std::string user,
                                                                      std::string) override {
    return run<cloud::FriendshipState>(
        e, "request", user, [this, user]() -> cloud::CloudResult<cloud::FriendshipState> {
          if (gone.contains(user)) return error(cloud::CloudError::Kind::user_not_found);
          ++requests[user];
          friendships[user] =
              auto_accept ? cloud::FriendshipState::friends : cloud::FriendshipState::requested;
          return friendships[user];
        });
  }
  Task<cloud::CloudResult<void>> withdraw_friendship(Executor& e, cloud::Session, std::string user) override {
    return run<void>(e, "withdraw", user, [this, user]() -> cloud::CloudResult<void> {
      if (gone.contains(user)) return error(cloud::CloudError::Kind::user_not_found);
      ++withdrawals[user];
      if (friendships[user] == cloud::FriendshipState::requested)
        friendships[user] = cloud::FriendshipState::none;
      return {};
    });
  }
  Task<cloud::CloudResult<cloud::FriendshipPage>> friendships_since(Executor& e, cloud::Session,
                                                                    std::string cursor, int limit) override {
    return run<cloud::FriendshipPage>(
        e, "sweep", cursor, [this, cursor, limit]() -> cloud::CloudResult<cloud::FriendshipPage> {
          const std::size_t from = cursor.empty() ? 0 : std::stoul(cursor);
          const std::size_t to = std::min(changes.size(), from + static_cast<std::size_t>(limit));
          const auto at = [this](std::size_t i) { return changes.begin() + static_cast<std::ptrdiff_t>(i); };
          return cloud::FriendshipPage{{at(from), at(to)}, std::to_string(to), to < changes.size()};
        });
  }
  Task<cloud::CloudResult<cloud::FilePage>> list_files(Executor& e, cloud::Session, std::string,
                                                       int) override {
    return run<cloud::FilePage>(e, "files", "",
                                []() -> cloud::CloudResult<cloud::FilePage> { return cloud::FilePage{}; });
  }
  Task<cloud::CloudResult<cloud::Share>> share(Executor& e, cloud::Session, std::string file,
                                               std::string user, std::string key) override {
    if (sharing) sharing(user, file);
    return run<cloud::Share>(e, "share", file, [this, file, user, key]() -> cloud::CloudResult<cloud::Share> {
      if (gone.contains(user)) return error(cloud::CloudError::Kind::user_not_found);
      if (unknown_files.contains(file)) return error(cloud::CloudError::Kind::file_not_found);
      if (friendships[user] != cloud::FriendshipState::friends)
        return error(cloud::CloudError::Kind::not_friends);
      if (auto found = shares.find({user, file}); found != shares.end()) {
        auto existing = found->second;
        existing.existed = true;
        return existing;
      }
      ++share_effects[{user, file}];
      return shares[{user, file}] = {"s-" + file + user, key, clock_.now(), false};
    });
  }
  Task<cloud::CloudResult<std::optional<cloud::Share>>> find_share(Executor& e, cloud::Session session,
                                                                   std::string file,
                                                                   std::string user) override {
    settled_as.push_back(session.user_id);
    return run<std::optional<cloud::Share>>(
        e, "find_share", file, [this, file, user]() -> cloud::CloudResult<std::optional<cloud::Share>> {
          if (gone.contains(user)) return error(cloud::CloudError::Kind::user_not_found);
          const auto found = shares.find({user, file});
          return found == shares.end() ? std::nullopt : std::optional(found->second);
        });
  }
  Task<cloud::CloudResult<void>> revoke_share(Executor& e, cloud::Session session, std::string file,
                                              std::string user) override {
    settled_as.push_back(session.user_id);
    return run<void>(e, "revoke", file, [this, file, user]() -> cloud::CloudResult<void> {
      if (gone.contains(user)) return error(cloud::CloudError::Kind::user_not_found);
      shares.erase({user, file});
      return {};
    });
  }

  static std::unexpected<cloud::CloudError> error(cloud::CloudError::Kind kind, bool unknown = false) {
    return std::unexpected(cloud::CloudError{kind, "planted", unknown, {}});
  }

 private:
  template <class T>
  Task<cloud::CloudResult<T>> run(Executor& executor, std::string call, std::string subject,
                                  std::function<cloud::CloudResult<T>()> effect) {
    calls.push_back(call);
    call_times.push_back(clock_.now());
    if (tick) tick();
    const Fate fate = before ? before(call, subject) : Fate::answer;
    std::optional<cloud::CloudResult<T>> result;
    switch (fate) {
      case Fate::answer:
        result = effect();
        break;
      case Fate::fail:
        result = error(cloud::CloudError::Kind::unavailable);
        break;
      case Fate::lose_answer:
        effect();
        result = error(cloud::CloudError::Kind::unavailable, true);
        break;
      case Fate::lose_request:
        result = error(cloud::CloudError::Kind::unavailable, true);
        break;
      case Fate::rate_limit:
        result = std::unexpected(
            cloud::CloudError{cloud::CloudError::Kind::rate_limited, "planted", false, retry_after});
        break;
      case Fate::user_gone:
        result = error(cloud::CloudError::Kind::user_not_found);
        break;
      case Fate::blocked:
        result = error(cloud::CloudError::Kind::blocked);
        break;
      case Fate::reject:
        result = error(cloud::CloudError::Kind::rejected);
        break;
      case Fate::refuse_session:
        result = error(cloud::CloudError::Kind::session_refused);
        break;
      case Fate::hold_done:
        result = effect();
        co_await suspend<int>(executor, [this](auto resume) { held_.emplace_back([resume] { resume(0); }); });
        break;
      case Fate::hold:
        co_await suspend<int>(executor, [this](auto resume) { held_.emplace_back([resume] { resume(0); }); });
        result = effect();
        break;
    }
    co_return std::move(*result);
  }

  const ManualClock& clock_;
  std::vector<std::function<void()>> held_;
};

class FakeAgent final : public cloud::CredentialAgent {
 public:
  explicit FakeAgent(const ManualClock& clock) : clock_(clock) {}
  bool refuse = false;
  std::set<AccountId> refused;  // these accounts' logins alone
  bool away = false;
  bool busy = false;               // no login finds a place
  std::set<AccountId> unreadable;  // the stored logins of these cannot be opened
  int logins = 0;
  std::string user_id = "m-1";
  std::map<AccountId, std::string> user_ids;  // of accounts with a user of their own
  std::function<void()> during;               // called while a login is under way

  Millis login_deadline() const override { return Millis{20'000}; }
  Task<cloud::CloudResult<cloud::Session>> login(Executor& executor, AccountId account, std::int64_t,
                                                 crypto::Bytes) override {
    ++logins;
    if (during) during();
    co_await suspend<int>(executor, [](auto resume) { resume(0); });
    if (unreadable.contains(account))
      co_return FakeCloud::error(cloud::CloudError::Kind::credentials_unreadable);
    if (away) co_return FakeCloud::error(cloud::CloudError::Kind::unavailable);
    if (busy) co_return FakeCloud::error(cloud::CloudError::Kind::busy);
    if (refuse || refused.contains(account))
      co_return FakeCloud::error(cloud::CloudError::Kind::login_refused);
    const auto own = user_ids.find(account);
    co_return cloud::Session{"token-" + to_string(account), own == user_ids.end() ? user_id : own->second,
                             "merchant", clock_.now() + std::chrono::hours{1}};
  }
  Task<cloud::CloudResult<cloud::Session>> login_with(Executor& executor, std::string,
                                                      crypto::SecretString) override {
    return login(executor, AccountId{1}, 0, {});
  }

 private:
  const ManualClock& clock_;
};

}  // namespace presetbridge::services::testing
