#include "world.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/ascii.h"
#include "crypto/encoding.h"

namespace presetbridge::cloudsim {
namespace {

constexpr std::array<std::pair<std::string_view, Friendship>, 5> kStates{{
    {"none", Friendship::none},
    {"requested", Friendship::requested},
    {"friends", Friendship::friends},
    {"declined", Friendship::declined},
    {"blocked", Friendship::blocked},
}};

constexpr Refusal kLoginRefused{401, "login_refused", "Wrong e-mail or password."};
constexpr Refusal kSessionRefused{401, "session_refused", "The session is not good."};
constexpr Refusal kNoUser{404, "user_not_found", "There is no such user."};
constexpr Refusal kNoFile{404, "file_not_found", "There is no such file."};
constexpr Refusal kNoShare{404, "share_not_found", "There is no such share."};
constexpr Refusal kBlocked{403, "blocked", "The user blocked you."};
constexpr Refusal kNotFriends{409, "not_friends", "You are not friends."};
constexpr Refusal kNotShareable{409, "not_shareable", "The file may not be shared."};

}  // namespace

std::string_view to_string(Friendship state) {
  return std::ranges::find(kStates, state, &decltype(kStates)::value_type::second)->first;
}

std::optional<Friendship> friendship_named(std::string_view name) {
  const auto* found = std::ranges::find(kStates, name, &decltype(kStates)::value_type::first);
  if (found == kStates.end()) return std::nullopt;
  return found->second;
}

std::optional<std::uint64_t> World::position_of(std::string_view cursor) {
  if (cursor.empty()) return 0;
  std::uint64_t position = 0;
  const auto* end = cursor.data() + cursor.size();
  const auto [at, error] = std::from_chars(cursor.data() + 1, end, position);
  if (cursor[0] != 'c' || error != std::errc{} || at != end) return std::nullopt;
  return position;
}

Result<Session> World::log_in(std::string_view email, std::string_view password, Timestamp now) {
  const auto found = by_email_.find(lowered(email));
  if (found == by_email_.end()) return std::unexpected(kLoginRefused);
  Merchant& merchant = *found->second;
  if (merchant.password != password) {
    ++merchant.logins_refused;
    return std::unexpected(kLoginRefused);
  }
  ++merchant.logins;
  Session session{"sim_" + crypto::random_base62(random_, 32), now + options_.session_life, &merchant};
  sessions_.emplace(session.token, session);
  return session;
}

Result<Merchant*> World::authenticate(std::string_view token, Timestamp now) {
  const auto found = sessions_.find(std::string(token));
  if (found == sessions_.end()) return std::unexpected(kSessionRefused);
  if (found->second.expires_at <= now) {
    sessions_.erase(found);
    return std::unexpected(kSessionRefused);
  }
  return found->second.merchant;
}

Result<const Customer*> World::find_user(std::string_view username) {
  const auto found = by_username_.find(lowered(username));
  if (found != by_username_.end()) return found->second;
  if (!options_.unknown_users) return std::unexpected(kNoUser);
  return put_customer("", std::string(username), *options_.unknown_users);
}

bool World::blocks(const Customer& customer, const FriendshipRecord* record) const {
  return customer.policy.answer == Policy::Answer::block || (record && record->state == Friendship::blocked);
}

Result<Friendship> World::friendship(Merchant& merchant, const std::string& customer_id, Timestamp now) {
  settle(now);
  const Customer* who = customer(customer_id);
  if (!who) return std::unexpected(kNoUser);
  const auto found = merchant.friendships.find(customer_id);
  const auto* record = found == merchant.friendships.end() ? nullptr : &found->second;
  if (blocks(*who, record)) return Friendship::blocked;
  return record ? record->state : Friendship::none;
}

Result<Friendship> World::request_friendship(Merchant& merchant, const std::string& customer_id,
                                             Timestamp now) {
  settle(now);
  const Customer* who = customer(customer_id);
  if (!who) return std::unexpected(kNoUser);
  FriendshipRecord& record = merchant.friendships[customer_id];
  if (blocks(*who, &record)) return std::unexpected(kBlocked);
  if (record.state == Friendship::requested || record.state == Friendship::friends) {
    ++record.repeats;
    return record.state;
  }
  ++record.requests;
  change(merchant, customer_id, record, Friendship::requested, now);
  if (who->policy.answer != Policy::Answer::never) {
    record.pending_answer = ++last_answer_;
    answers_.emplace(
        now + who->policy.delay,
        Answer{&merchant, customer_id, record.pending_answer,
               who->policy.answer == Policy::Answer::accept ? Friendship::friends : Friendship::declined});
    // A refusal at once still was a request that was made: the answer to this call is never `declined`.
    if (who->policy.answer == Policy::Answer::accept) settle(now);
  }
  return record.state;
}

Result<void> World::withdraw(Merchant& merchant, const std::string& customer_id, Timestamp now) {
  settle(now);
  if (!customer(customer_id)) return std::unexpected(kNoUser);
  const auto found = merchant.friendships.find(customer_id);
  if (found == merchant.friendships.end() || found->second.state != Friendship::requested) return {};
  ++found->second.withdrawn;
  change(merchant, customer_id, found->second, Friendship::none, now);
  return {};
}

Result<void> World::both_exist(const Merchant& merchant, const std::string& file_id,
                               const std::string& customer_id) const {
  if (!customer(customer_id)) return std::unexpected(kNoUser);
  if (!merchant.files.contains(file_id)) return std::unexpected(kNoFile);
  return {};
}

Result<ShareAnswer> World::share(Merchant& merchant, const std::string& file_id,
                                 const std::string& customer_id, const std::string& idempotency_key,
                                 Timestamp now) {
  settle(now);
  if (const auto both = both_exist(merchant, file_id, customer_id); !both) {
    return std::unexpected(both.error());
  }
  const auto known = merchant.friendships.find(customer_id);
  const auto* friendship = known == merchant.friendships.end() ? nullptr : &known->second;
  if (blocks(*customer(customer_id), friendship)) return std::unexpected(kBlocked);
  ShareRecord& record = merchant.shares[{file_id, customer_id}];
  if (record.standing) {
    const bool repeat = !idempotency_key.empty() && record.standing->idempotency_key == idempotency_key;
    ++(repeat ? record.repeats : record.existed);
    return ShareAnswer{*record.standing, true};
  }
  if (!merchant.files.at(file_id).shareable) return std::unexpected(kNotShareable);
  if (!friendship || friendship->state != Friendship::friends) return std::unexpected(kNotFriends);
  ++record.made;
  record.standing = Share{"sh_" + std::to_string(++last_share_), idempotency_key, now};
  return ShareAnswer{*record.standing, false};
}

Result<Share> World::find_share(Merchant& merchant, const std::string& file_id,
                                const std::string& customer_id) {
  if (const auto both = both_exist(merchant, file_id, customer_id); !both) {
    return std::unexpected(both.error());
  }
  const auto found = merchant.shares.find({file_id, customer_id});
  if (found == merchant.shares.end() || !found->second.standing) return std::unexpected(kNoShare);
  return *found->second.standing;
}

Result<void> World::revoke(Merchant& merchant, const std::string& file_id, const std::string& customer_id) {
  if (const auto both = both_exist(merchant, file_id, customer_id); !both) {
    return std::unexpected(both.error());
  }
  const auto found = merchant.shares.find({file_id, customer_id});
  if (found == merchant.shares.end() || !found->second.standing) return {};
  ++found->second.revoked;
  found->second.standing.reset();
  return {};
}

Merchant& World::put_merchant(std::string user_id, std::string username, std::string email,
                              std::string password) {
  Merchant*& known = by_email_[lowered(email)];
  if (!known) {
    known = merchants_.emplace_back(std::make_unique<Merchant>()).get();
    known->user_id = user_id.empty() ? "m-" + std::to_string(merchants_.size()) : std::move(user_id);
    known->username = username.empty() ? known->user_id : std::move(username);
    known->email = std::move(email);
  }
  known->password = std::move(password);
  return *known;
}

Customer* World::put_customer(std::string id, std::string username, Policy policy) {
  const auto known = by_username_.find(lowered(username));
  if (known != by_username_.end()) {
    known->second->policy = policy;
    return known->second;
  }
  while (id.empty() || (id == "u-" + std::to_string(last_customer_) && customers_.contains(id))) {
    id = "u-" + std::to_string(++last_customer_);
  }
  if (customers_.contains(id)) return nullptr;
  std::string name = lowered(username);
  auto made = std::make_unique<Customer>(Customer{id, std::move(username), policy});
  Customer* customer = made.get();
  customers_.emplace(std::move(id), std::move(made));
  by_username_.emplace(std::move(name), customer);
  return customer;
}

void World::set_friendship(Merchant& merchant, const std::string& customer_id, Friendship state,
                           Timestamp now) {
  settle(now);
  change(merchant, customer_id, merchant.friendships[customer_id], state, now);
}

Merchant* World::merchant(std::string_view user_id) {
  const auto found = std::ranges::find(merchants_, user_id, [](const auto& m) { return m->user_id; });
  return found == merchants_.end() ? nullptr : found->get();
}

const Customer* World::customer(const std::string& id) const {
  const auto found = customers_.find(id);
  return found == customers_.end() ? nullptr : found->second.get();
}

std::size_t World::revoke_sessions(const Merchant* merchant) {
  return std::erase_if(
      sessions_, [merchant](const auto& item) { return !merchant || item.second.merchant == merchant; });
}

void World::change(Merchant& merchant, const std::string& customer_id, FriendshipRecord& record,
                   Friendship state, Timestamp at) {
  record.state = state;
  record.changed_at = at;
  record.pending_answer = 0;
  if (record.position != 0) merchant.changes.erase(record.position);
  record.position = ++merchant.last_position;
  merchant.changes.emplace(record.position, customer_id);
}

void World::settle(Timestamp now) {
  while (!answers_.empty() && answers_.begin()->first <= now) {
    const auto [at, answer] = *answers_.begin();
    answers_.erase(answers_.begin());
    FriendshipRecord& record = answer.merchant->friendships.at(answer.customer_id);
    if (record.pending_answer == answer.number) {
      change(*answer.merchant, answer.customer_id, record, answer.state, at);
    }
  }
}

}  // namespace presetbridge::cloudsim
