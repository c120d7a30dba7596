#include "world_copy.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <limits>
#include <map>
#include <utility>

namespace presetbridge::cloudsim {
namespace {

namespace json = boost::json;
using Fields = simulator_parts::JsonFields;

constexpr std::array<std::pair<std::string_view, Policy::Answer>, 4> kAnswers{
    {{"accept", Policy::Answer::accept},
     {"decline", Policy::Answer::decline},
     {"never", Policy::Answer::never},
     {"block", Policy::Answer::block}}};
constexpr auto kMost = std::numeric_limits<std::int64_t>::max();

std::int64_t number(const Fields& in, std::string_view name) {
  return in.number_or(name, 0, kMost);
}
Timestamp time(const Fields& in, std::string_view name) {
  return from_unix_ms(number(in, name));
}
Friendship state(const Fields& in) {
  const auto named = friendship_named(in.text("state"));
  if (!named) throw Fields::wrong("state", "that of a friendship");
  return *named;
}

json::object policy_json(const Policy& policy) {
  return {
      {"answer", std::ranges::find(kAnswers, policy.answer, [](const auto& a) { return a.second; })->first},
      {"delayMs", policy.delay.count()}};
}
Policy policy_of(const Fields& in) {
  const auto name = in.text("answer");
  const auto* found = std::ranges::find(kAnswers, name, [](const auto& a) { return a.first; });
  if (found == kAnswers.end()) throw Fields::wrong("answer", "accept, decline, never or block");
  return {found->second, Millis{number(in, "delayMs")}};
}

json::object share_json(const std::pair<std::string, std::string>& key, const ShareRecord& record) {
  json::object share{{"file", key.first},         {"customer", key.second},    {"made", record.made},
                     {"repeats", record.repeats}, {"existed", record.existed}, {"revoked", record.revoked}};
  if (record.standing) {
    share["id"] = record.standing->id;
    share["idempotencyKey"] = record.standing->idempotency_key;
    share["sharedAtMs"] = to_unix_ms(record.standing->shared_at);
  }
  return share;
}

json::object friendship_json(const std::string& customer, const FriendshipRecord& record) {
  return {{"customer", customer},
          {"state", to_string(record.state)},
          {"changedAtMs", to_unix_ms(record.changed_at)},
          {"position", record.position},
          {"pendingAnswer", record.pending_answer},
          {"requests", record.requests},
          {"repeats", record.repeats},
          {"withdrawn", record.withdrawn}};
}

json::object merchant_json(const Merchant& merchant) {
  json::array files;
  for (const auto& [id, file] : merchant.files)
    files.push_back(
        json::object{{"id", id}, {"kind", file.kind}, {"name", file.name}, {"shareable", file.shareable}});
  // By id, so that equal worlds are written alike.
  json::array friendships;
  for (const auto& [customer, record] :
       std::map<std::string, FriendshipRecord>(merchant.friendships.begin(), merchant.friendships.end()))
    friendships.push_back(friendship_json(customer, record));
  json::array shares;
  for (const auto& [key, record] : merchant.shares) shares.push_back(share_json(key, record));
  return {{"userId", merchant.user_id},  {"username", merchant.username},
          {"email", merchant.email},     {"password", merchant.password},
          {"files", std::move(files)},   {"friendships", std::move(friendships)},
          {"shares", std::move(shares)}, {"lastPosition", merchant.last_position},
          {"logins", merchant.logins},   {"loginsRefused", merchant.logins_refused}};
}

void put_merchant(World& world, const Fields& in) {
  Merchant& merchant =
      world.put_merchant(in.text("userId"), in.text("username"), in.text("email"), in.text("password"));
  in.each("files", [&](const Fields& file) {
    merchant.files.insert_or_assign(
        file.text("id"),
        File{file.text("id"), file.text("kind"), file.text("name"), file.flag_or("shareable", true)});
  });
  in.each("friendships", [&](const Fields& one) {
    const auto customer = one.text("customer");
    auto& record = merchant.friendships[customer];
    record = {.state = state(one),
              .changed_at = time(one, "changedAtMs"),
              .position = static_cast<std::uint64_t>(number(one, "position")),
              .pending_answer = static_cast<std::uint64_t>(number(one, "pendingAnswer")),
              .requests = number(one, "requests"),
              .repeats = number(one, "repeats"),
              .withdrawn = number(one, "withdrawn")};
    if (record.position != 0) merchant.changes.emplace(record.position, customer);
  });
  in.each("shares", [&](const Fields& one) {
    auto& record = merchant.shares[{one.text("file"), one.text("customer")}];
    record = {.made = number(one, "made"),
              .repeats = number(one, "repeats"),
              .existed = number(one, "existed"),
              .revoked = number(one, "revoked")};
    if (one.find("id") != nullptr)
      record.standing = Share{one.text("id"), one.text_or("idempotencyKey", ""), time(one, "sharedAtMs")};
  });
  merchant.last_position = static_cast<std::uint64_t>(number(in, "lastPosition"));
  merchant.logins = number(in, "logins");
  merchant.logins_refused = number(in, "loginsRefused");
}

}  // namespace

json::object WorldCopy::of(const World& world) {
  json::array merchants;
  for (const auto& merchant : world.merchants_) merchants.push_back(merchant_json(*merchant));
  std::map<std::string, const Customer*> by_id;
  for (const auto& [id, customer] : world.customers_) by_id.emplace(id, customer.get());
  json::array customers;
  for (const auto& [id, customer] : by_id) {
    auto one = policy_json(customer->policy);
    one["id"] = id;
    one["username"] = customer->username;
    customers.push_back(std::move(one));
  }
  json::array answers;
  for (const auto& [at, answer] : world.answers_)
    answers.push_back(json::object{{"atMs", to_unix_ms(at)},
                                   {"merchant", answer.merchant->user_id},
                                   {"customer", answer.customer_id},
                                   {"number", answer.number},
                                   {"state", to_string(answer.state)}});
  json::object copy{{"merchants", std::move(merchants)}, {"customers", std::move(customers)},
                    {"answers", std::move(answers)},     {"lastAnswer", world.last_answer_},
                    {"lastShare", world.last_share_},    {"lastCustomer", world.last_customer_}};
  if (world.options_.unknown_users) copy["unknownUsers"] = policy_json(*world.options_.unknown_users);
  return copy;
}

void WorldCopy::put(World& world, const Fields& in) {
  World other(world.random_, {.session_life = world.options_.session_life, .unknown_users = {}});
  if (const auto* policy = in.find("unknownUsers")) other.options_.unknown_users = policy_of(Fields(*policy));
  in.each("customers", [&](const Fields& one) {
    if (!other.put_customer(one.text("id"), one.text("username"), policy_of(one)))
      throw Fields::wrong("customers", "an id and a username of its own for each");
  });
  in.each("merchants", [&](const Fields& one) { put_merchant(other, one); });
  in.each("answers", [&](const Fields& one) {
    auto* const merchant = other.merchant(one.text("merchant"));
    const auto customer = one.text("customer");
    if (merchant == nullptr || !merchant->friendships.contains(customer))
      throw Fields::wrong("answers", "a request that is there");
    other.answers_.emplace(
        time(one, "atMs"),
        World::Answer{merchant, customer, static_cast<std::uint64_t>(number(one, "number")), state(one)});
  });
  other.last_answer_ = static_cast<std::uint64_t>(number(in, "lastAnswer"));
  other.last_share_ = static_cast<std::uint64_t>(number(in, "lastShare"));
  other.last_customer_ = static_cast<std::uint64_t>(number(in, "lastCustomer"));
  world.options_ = other.options_;
  world.merchants_ = std::move(other.merchants_);
  world.by_email_ = std::move(other.by_email_);
  world.customers_ = std::move(other.customers_);
  world.by_username_ = std::move(other.by_username_);
  world.sessions_.clear();
  world.answers_ = std::move(other.answers_);
  world.last_answer_ = other.last_answer_;
  world.last_share_ = other.last_share_;
  world.last_customer_ = other.last_customer_;
}

}  // namespace presetbridge::cloudsim
