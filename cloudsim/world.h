// The simulated cloud platform: users, files, friendships and shares in memory, and counts of every effect.
// Pure: time and chance come in. Not thread-safe.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/time.h"

namespace presetbridge::cloudsim {

enum class Friendship { none, requested, friends, declined, blocked };
std::string_view to_string(Friendship state);
std::optional<Friendship> friendship_named(std::string_view name);

// What a customer does with a friend request, `delay` after it.
struct Policy {
  enum class Answer {
    accept,
    decline,
    never,
    block
  };  // block: has blocked every merchant from the beginning
  Answer answer = Answer::accept;
  Millis delay{0};
};

struct Customer {
  std::string id;
  std::string username;
  Policy policy;
};

struct File {
  std::string id;
  std::string kind;
  std::string name;
  bool shareable = true;
};

struct Share {
  std::string id;
  std::string idempotency_key;
  Timestamp shared_at;
};

// All that ever happened between a merchant's file and a customer.
struct ShareRecord {
  std::optional<Share> standing;
  std::int64_t made = 0;
  std::int64_t repeats = 0;  // calls with the key of the standing share
  std::int64_t existed = 0;  // calls with another key while a share stood
  std::int64_t revoked = 0;
};

struct FriendshipRecord {
  Friendship state = Friendship::none;
  Timestamp changed_at;
  std::uint64_t position = 0;        // in the merchant's list of changes; 0: not in it
  std::uint64_t pending_answer = 0;  // which scheduled answer still counts
  std::int64_t requests = 0;
  std::int64_t repeats = 0;  // requests that changed nothing
  std::int64_t withdrawn = 0;
};

struct Merchant {
  std::string user_id;
  std::string username;
  std::string email;
  std::string password;
  std::map<std::string, File> files;                                  // by id: the order of pages
  std::unordered_map<std::string, FriendshipRecord> friendships;      // by customer id
  std::map<std::uint64_t, std::string> changes;                       // position -> customer id
  std::map<std::pair<std::string, std::string>, ShareRecord> shares;  // (file id, customer id)
  std::uint64_t last_position = 0;
  std::int64_t logins = 0;
  std::int64_t logins_refused = 0;
};

struct Session {
  std::string token;
  Timestamp expires_at;
  Merchant* merchant = nullptr;
};

// A refusal of the contract.
struct Refusal {
  int status;
  std::string_view code;
  std::string_view message;
};
template <class T>
using Result = std::expected<T, Refusal>;

struct ShareAnswer {
  Share share;
  bool existed = false;
};
struct Page {
  std::string next_cursor;
  bool more = false;
};

struct WorldOptions {
  Millis session_life{3'600'000};
  std::optional<Policy> unknown_users;  // who is asked for and not known becomes a customer with this policy
};

class World {
 public:
  World(Random& random, WorldOptions options) : random_(random), options_(options) {}

  // The contract. Each call first lets happen what is due at `now`.
  Result<Session> log_in(std::string_view email, std::string_view password, Timestamp now);
  Result<Merchant*> authenticate(std::string_view token, Timestamp now);
  Result<const Customer*> find_user(std::string_view username);
  Result<Friendship> friendship(Merchant& merchant, const std::string& customer_id, Timestamp now);
  Result<Friendship> request_friendship(Merchant& merchant, const std::string& customer_id, Timestamp now);
  Result<void> withdraw(Merchant& merchant, const std::string& customer_id, Timestamp now);
  // Calls visit(customer id, record) for at most `limit` changes after `cursor`.
  template <class Visit>
  Result<Page> changes(Merchant& merchant, std::string_view cursor, std::size_t limit, Timestamp now,
                       Visit visit);
  template <class Visit>
  Result<Page> files(Merchant& merchant, const std::string& cursor, std::size_t limit, Visit visit);
  Result<ShareAnswer> share(Merchant& merchant, const std::string& file_id, const std::string& customer_id,
                            const std::string& idempotency_key, Timestamp now);
  Result<Share> find_share(Merchant& merchant, const std::string& file_id, const std::string& customer_id);
  Result<void> revoke(Merchant& merchant, const std::string& file_id, const std::string& customer_id);

  // The tests' hand. A merchant or customer that exists (by e-mail, by username) is changed; an empty id is
  // invented. put_customer: nothing if the id is another's.
  Merchant& put_merchant(std::string user_id, std::string username, std::string email, std::string password);
  Customer* put_customer(std::string id, std::string username, Policy policy);
  void set_friendship(Merchant& merchant, const std::string& customer_id, Friendship state, Timestamp now);
  Merchant* merchant(std::string_view user_id);
  const Customer* customer(const std::string& id) const;
  std::size_t revoke_sessions(const Merchant* merchant);  // nullptr: of all
  void settle(Timestamp now);
  WorldOptions& options() { return options_; }
  const std::vector<std::unique_ptr<Merchant>>& merchants() const { return merchants_; }
  std::size_t customers() const { return customers_.size(); }

 private:
  friend struct WorldCopy;
  struct Answer {
    Merchant* merchant;
    std::string customer_id;
    std::uint64_t number;
    Friendship state;
  };
  void change(Merchant& merchant, const std::string& customer_id, FriendshipRecord& record, Friendship state,
              Timestamp at);
  Result<void> both_exist(const Merchant& merchant, const std::string& file_id,
                          const std::string& customer_id) const;
  bool blocks(const Customer& customer, const FriendshipRecord* record) const;
  static std::optional<std::uint64_t> position_of(std::string_view cursor);

  Random& random_;
  WorldOptions options_;
  std::vector<std::unique_ptr<Merchant>> merchants_;
  std::unordered_map<std::string, Merchant*> by_email_;
  std::unordered_map<std::string, std::unique_ptr<Customer>> customers_;  // by id
  std::unordered_map<std::string, Customer*> by_username_;                // lower case
  std::unordered_map<std::string, Session> sessions_;
  std::multimap<Timestamp, Answer> answers_;
  std::uint64_t last_answer_ = 0;
  std::uint64_t last_share_ = 0;
  std::uint64_t last_customer_ = 0;
};

inline constexpr Refusal kBadCursor{400, "rejected", "The cursor is not one of this list."};

template <class Visit>
Result<Page> World::changes(Merchant& merchant, std::string_view cursor, std::size_t limit, Timestamp now,
                            Visit visit) {
  settle(now);
  const auto after = position_of(cursor);
  if (!after) return std::unexpected(kBadCursor);
  Page page{"c" + std::to_string(*after), false};
  auto at = merchant.changes.upper_bound(*after);
  for (; at != merchant.changes.end() && limit > 0; ++at, --limit) {
    visit(at->second, merchant.friendships.at(at->second));
    page.next_cursor = "c" + std::to_string(at->first);
  }
  page.more = at != merchant.changes.end();
  return page;
}

template <class Visit>
Result<Page> World::files(Merchant& merchant, const std::string& cursor, std::size_t limit, Visit visit) {
  Page page{cursor, false};
  auto at = cursor.empty() ? merchant.files.begin() : merchant.files.upper_bound(cursor);
  for (; at != merchant.files.end() && limit > 0; ++at, --limit) {
    visit(at->second);
    page.next_cursor = at->first;
  }
  page.more = at != merchant.files.end();
  return page;
}

}  // namespace presetbridge::cloudsim
