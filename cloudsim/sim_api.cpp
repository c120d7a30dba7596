#include "sim_api.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "simulator.h"
#include "simulator_parts/json_fields.h"
#include "simulator_parts/percent.h"
#include "world_copy.h"

namespace presetbridge::cloudsim {
namespace {

namespace json = boost::json;

using Fields = simulator_parts::JsonFields;
using simulator_parts::Problem;
using simulator_parts::query_value;

net::HttpResponse done(const json::object& body, int status = 200) {
  net::HttpResponse response;
  response.status = status;
  response.body = json::serialize(body);
  return response;
}

Merchant& merchant_of(Simulator& sim, const std::string& user_id) {
  auto* merchant = sim.world().merchant(user_id);
  if (!merchant) throw Problem(404, "There is no merchant " + user_id + ".");
  return *merchant;
}

const Customer& customer_of(Simulator& sim, const std::string& user_id) {
  const auto* customer = sim.world().customer(user_id);
  if (!customer) throw Problem(404, "There is no customer " + user_id + ".");
  return *customer;
}

Policy policy_of(const Fields& in) {
  const std::string name = in.text_or("answer", "accept");
  Policy policy;
  policy.delay = in.millis("delayMs");
  if (name == "decline") {
    policy.answer = Policy::Answer::decline;
  } else if (name == "never") {
    policy.answer = Policy::Answer::never;
  } else if (name == "block") {
    policy.answer = Policy::Answer::block;
  } else if (name != "accept") {
    throw Problem(400, "answer: accept, decline, never or block is wanted.");
  }
  return policy;
}

void add_files(Merchant& merchant, const Fields& in) {
  const auto add = [&](const Fields& file) {
    const std::string id =
        file.text_or("id", merchant.user_id + "-f" + std::to_string(merchant.files.size() + 1));
    merchant.files.insert_or_assign(id, File{id, file.text_or("kind", "preset"), file.text_or("name", id),
                                             file.flag_or("shareable", true)});
  };
  if (in.find("files")) in.each("files", add);
  const json::value nothing = json::object();
  for (auto left = in.number_or("count", 0, 1'000'000); left > 0; --left) add(Fields(nothing));
}

// POST /sim/merchants
net::HttpResponse put_merchant(Simulator& sim, const Fields& in) {
  Merchant& merchant = sim.world().put_merchant(in.text_or("userId", ""), in.text_or("username", ""),
                                                in.text("email"), in.text("password"));
  add_files(merchant, in);
  return done({{"userId", merchant.user_id}, {"username", merchant.username}}, 201);
}

// POST /sim/files
net::HttpResponse put_files(Simulator& sim, const Fields& in) {
  Merchant& merchant = merchant_of(sim, in.text("merchant"));
  add_files(merchant, in);
  if (const auto* gone = in.find("remove")) merchant.files.erase(std::string(gone->as_string()));
  return done({{"files", merchant.files.size()}});
}

// POST /sim/customers
net::HttpResponse put_customers(Simulator& sim, const Fields& in) {
  json::array made;
  const auto put = [&](const Fields& one) {
    const auto* customer =
        sim.world().put_customer(one.text_or("userId", ""), one.text("username"), policy_of(one));
    if (!customer) throw Problem(409, "The user id is another's.");
    made.push_back(json::object{{"userId", customer->id}, {"username", customer->username}});
  };
  if (in.find("customers")) {
    in.each("customers", put);
  } else {
    put(in);
  }
  return done({{"customers", std::move(made)}}, 201);
}

// PUT /sim/unknown-users
net::HttpResponse set_unknown_users(Simulator& sim, const Fields& in) {
  auto& policy = sim.world().options().unknown_users;
  policy = in.flag_or("create", true) ? std::optional(policy_of(in)) : std::nullopt;
  return done({{"create", policy.has_value()}});
}

// PUT /sim/friendship
net::HttpResponse set_friendship(Simulator& sim, const Fields& in) {
  Merchant& merchant = merchant_of(sim, in.text("merchant"));
  const auto state = friendship_named(in.text("state"));
  if (!state) throw Problem(400, "state: none, requested, friends, declined or blocked is wanted.");
  sim.world().set_friendship(merchant, customer_of(sim, in.text("customer")).id, *state, sim.now());
  return done({{"state", to_string(*state)}});
}

// POST /sim/shares: made by hand, so with no idempotency key.
net::HttpResponse make_share(Simulator& sim, const Fields& in) {
  const auto share = sim.world().share(merchant_of(sim, in.text("merchant")), in.text("file"),
                                       in.text("customer"), "", sim.now());
  if (!share) throw Problem(share.error().status, std::string(share.error().message));
  return done({{"id", share->share.id}}, share->existed ? 200 : 201);
}

// POST /sim/sessions/revoke
net::HttpResponse revoke_sessions(Simulator& sim, const Fields& in) {
  const Merchant* merchant = in.find("merchant") ? &merchant_of(sim, in.text("merchant")) : nullptr;
  return done({{"revoked", sim.world().revoke_sessions(merchant)}});
}

void for_endpoints(const Fields& in, const std::function<void(Endpoint)>& visit) {
  const std::string name = in.text_or("endpoint", "*");
  if (name == "*") {
    for (std::size_t i = 0; i < kEndpoints; ++i) visit(static_cast<Endpoint>(i));
    return;
  }
  const auto endpoint = endpoint_named(name);
  if (!endpoint) throw Problem(400, "endpoint: an operationId of the contract or * is wanted.");
  visit(*endpoint);
}

// PUT /sim/faults
net::HttpResponse set_faults(Simulator& sim, const Fields& in) {
  const FaultRates rates = simulator_parts::fault_rates_of(in);
  for_endpoints(in, [&](Endpoint endpoint) { sim.faults().set(endpoint, rates); });
  return done({{"ok", true}});
}

// POST /sim/faults/script
net::HttpResponse script_faults(Simulator& sim, const Fields& in) {
  const auto steps = simulator_parts::fault_steps_of(in);
  for_endpoints(in, [&](Endpoint endpoint) {
    for (const auto& step : steps) {
      if (!sim.faults().script(endpoint, step)) throw Problem(400, "There is no room for more steps.");
    }
  });
  return done({{"steps", steps.size()}});
}

json::object share_row(const Merchant& merchant, const std::pair<std::string, std::string>& key,
                       const ShareRecord& record) {
  json::object row{{"merchant", merchant.user_id}, {"file", key.first},
                   {"customer", key.second},       {"made", record.made},
                   {"repeats", record.repeats},    {"existed", record.existed},
                   {"revoked", record.revoked},    {"standing", record.standing.has_value()}};
  if (record.standing) {
    row["idempotencyKey"] = record.standing->idempotency_key;
    row["sharedAt"] = to_iso8601(record.standing->shared_at);
  }
  return row;
}

json::object friendship_row(const Merchant& merchant, const Customer& customer,
                            const FriendshipRecord& record) {
  return {{"merchant", merchant.user_id},  {"customer", customer.id},
          {"username", customer.username}, {"state", to_string(record.state)},
          {"requests", record.requests},   {"repeats", record.repeats},
          {"withdrawn", record.withdrawn}, {"changedAt", to_iso8601(record.changed_at)}};
}

json::object calls_by_endpoint(Simulator& sim) {
  json::object result;
  for (std::size_t i = 0; i < kEndpoints; ++i) {
    const auto endpoint = static_cast<Endpoint>(i);
    std::int64_t all = 0;
    json::object by_status;
    for (const auto& [status, count] : sim.log().counts(endpoint)) {
      all += count;
      by_status[status == 0 ? "dropped" : std::to_string(status)] = count;
    }
    result[to_string(endpoint)] = json::object{{"count", all}, {"byStatus", std::move(by_status)}};
  }
  return result;
}

// GET /sim/counts
net::HttpResponse counts(Simulator& sim) {
  ShareRecord shares;
  FriendshipRecord friends;
  std::int64_t standing = 0;
  std::int64_t most_made = 0;
  std::int64_t logins = 0;
  std::int64_t refused = 0;
  for (const auto& merchant : sim.world().merchants()) {
    logins += merchant->logins;
    refused += merchant->logins_refused;
    for (const auto& [key, record] : merchant->shares) {
      shares.made += record.made;
      shares.repeats += record.repeats;
      shares.existed += record.existed;
      shares.revoked += record.revoked;
      standing += record.standing ? 1 : 0;
      most_made = std::max(most_made, record.made);
    }
    for (const auto& [id, record] : merchant->friendships) {
      friends.requests += record.requests;
      friends.repeats += record.repeats;
      friends.withdrawn += record.withdrawn;
    }
  }
  return done({{"merchants", sim.world().merchants().size()},
               {"customers", sim.world().customers()},
               {"shares",
                {{"made", shares.made},
                 {"mostMadeOfOne", most_made},
                 {"repeats", shares.repeats},
                 {"existed", shares.existed},
                 {"revoked", shares.revoked},
                 {"standing", standing}}},
               {"friendRequests",
                {{"made", friends.requests}, {"repeats", friends.repeats}, {"withdrawn", friends.withdrawn}}},
               {"logins", {{"accepted", logins}, {"refused", refused}}},
               {"calls", calls_by_endpoint(sim)}});
}

// GET /sim/effects
net::HttpResponse effects(Simulator& sim) {
  sim.world().settle(sim.now());
  json::array merchants;
  json::array shares;
  json::array friendships;
  for (const auto& merchant : sim.world().merchants()) {
    merchants.push_back(json::object{{"userId", merchant->user_id},
                                     {"username", merchant->username},
                                     {"email", merchant->email},
                                     {"files", merchant->files.size()},
                                     {"logins", merchant->logins},
                                     {"loginsRefused", merchant->logins_refused}});
    for (const auto& [key, record] : merchant->shares) shares.push_back(share_row(*merchant, key, record));
    for (const auto& [id, record] : merchant->friendships) {
      friendships.push_back(friendship_row(*merchant, customer_of(sim, id), record));
    }
  }
  return done({{"merchants", std::move(merchants)},
               {"shares", std::move(shares)},
               {"friendships", std::move(friendships)},
               {"calls", calls_by_endpoint(sim)}});
}

// GET /sim/calls?after=&limit=
net::HttpResponse calls(Simulator& sim, const net::HttpRequest& request) {
  const auto number = [&](std::string_view name, std::uint64_t otherwise) {
    const std::string text = query_value(request.query, name);
    std::uint64_t value = otherwise;
    if (!text.empty() && std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{}) {
      throw Fields::wrong(name, "a whole number");
    }
    return value;
  };
  const auto after = number("after", 0);
  auto left = number("limit", 10'000);
  json::array rows;
  for (const auto& call : sim.log().calls()) {
    if (call.number <= after) continue;
    if (left-- == 0) break;
    rows.push_back(json::object{{"number", call.number},
                                {"at", to_iso8601(call.arrived)},
                                {"atMs", to_unix_ms(call.arrived)},
                                {"endpoint", to_string(call.endpoint)},
                                {"merchant", call.merchant},
                                {"target", call.target},
                                {"fault", to_string(call.fault)},
                                {"status", call.status}});
  }
  return done({{"calls", std::move(rows)}});
}

net::HttpResponse answer_or_throw(Simulator& sim, const net::HttpRequest& request) {
  const std::string_view path = request.path;
  if (request.method == "GET") {
    if (path == "/sim/counts") return counts(sim);
    if (path == "/sim/effects") return effects(sim);
    if (path == "/sim/calls") return calls(sim, request);
    if (path == "/sim/world") return done(WorldCopy::of(sim.world()));
    throw Problem(404, "The simulator has no such call.");
  }
  const json::value body = request.body.empty() ? json::object() : json::parse(request.body);
  const Fields in(body);
  const std::string what = request.method + " " + request.path;
  if (what == "POST /sim/merchants") return put_merchant(sim, in);
  if (what == "POST /sim/files") return put_files(sim, in);
  if (what == "POST /sim/customers") return put_customers(sim, in);
  if (what == "PUT /sim/unknown-users") return set_unknown_users(sim, in);
  if (what == "PUT /sim/friendship") return set_friendship(sim, in);
  if (what == "POST /sim/shares") return make_share(sim, in);
  if (what == "POST /sim/sessions/revoke") return revoke_sessions(sim, in);
  if (what == "PUT /sim/faults") return set_faults(sim, in);
  if (what == "POST /sim/faults/script") return script_faults(sim, in);
  if (what == "DELETE /sim/faults") {
    sim.faults().clear();
    return done({{"ok", true}});
  }
  if (what == "PUT /sim/world") {
    WorldCopy::put(sim.world(), in);
    return done({{"ok", true}});
  }
  if (what == "POST /sim/reset") {
    sim.reset();
    return done({{"ok", true}});
  }
  throw Problem(404, "The simulator has no such call.");
}

}  // namespace

net::HttpResponse answer_sim(Simulator& simulator, const net::HttpRequest& request) {
  try {
    return answer_or_throw(simulator, request);
  } catch (const Problem& problem) {
    return error_answer(problem.status, "rejected", problem.what());
  } catch (const std::exception& broken) {
    return error_answer(400, "rejected", broken.what());
  }
}

}  // namespace presetbridge::cloudsim
