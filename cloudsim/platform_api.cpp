#include "platform_api.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "simulator_parts/percent.h"

namespace presetbridge::cloudsim {
namespace {

namespace json = boost::json;
using simulator_parts::percent_decoded;
using simulator_parts::query_value;

net::HttpResponse json_answer(int status, const json::object& body) {
  net::HttpResponse response;
  response.status = status;
  response.body = json::serialize(body);
  return response;
}

net::HttpResponse refused(const Refusal& refusal) {
  return error_answer(refusal.status, refusal.code, refusal.message);
}

net::HttpResponse no_content() {
  net::HttpResponse response;
  response.status = 204;
  return response;
}

net::HttpResponse friendship_answer(const std::string& user_id, const Result<Friendship>& state) {
  if (!state) return refused(state.error());
  return json_answer(200, {{"userId", user_id}, {"state", to_string(*state)}});
}

json::object share_object(const Share& share) {
  return {
      {"id", share.id}, {"idempotencyKey", share.idempotency_key}, {"sharedAt", to_iso8601(share.shared_at)}};
}

std::optional<std::size_t> page_limit(std::string_view query) {
  const std::string text = query_value(query, "limit");
  if (text.empty()) return 100;
  std::size_t limit = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (error != std::errc{} || end != text.data() + text.size() || limit < 1 || limit > 500)
    return std::nullopt;
  return limit;
}

std::string idempotency_key(const net::HttpRequest& request) {
  return std::string(request.headers.get("Idempotency-Key").value_or(""));
}

bool valid_key(std::string_view key) {
  return !key.empty() && key.size() <= 64 &&
         std::ranges::all_of(key, [](char c) { return is_alphanumeric(c) || c == '-' || c == '_'; });
}

PlatformAnswer log_in(World& world, const net::HttpRequest& request, Timestamp now) {
  boost::system::error_code error;
  const json::value body = json::parse(request.body, error);
  const auto* object = error ? nullptr : body.if_object();
  const auto* email = object ? object->if_contains("email") : nullptr;
  const auto* password = object ? object->if_contains("password") : nullptr;
  if (!email || !password || !email->is_string() || !password->is_string()) {
    return {error_answer(400, "rejected", "Give email and password."), ""};
  }
  const auto session = world.log_in(email->get_string(), password->get_string(), now);
  if (!session) return {refused(session.error()), ""};
  const Merchant& merchant = *session->merchant;
  return {json_answer(201, {{"token", session->token},
                            {"expiresAt", to_iso8601(session->expires_at)},
                            {"user", {{"id", merchant.user_id}, {"username", merchant.username}}}}),
          merchant.user_id};
}

net::HttpResponse list_friendships(World& world, Merchant& merchant, const net::HttpRequest& request,
                                   Timestamp now) {
  const auto limit = page_limit(request.query);
  if (!limit) return error_answer(400, "rejected", "limit is a number from 1 to 500.");
  json::array changes;
  const auto page =
      world.changes(merchant, query_value(request.query, "cursor"), *limit, now,
                    [&](const std::string& user_id, const FriendshipRecord& record) {
                      changes.push_back(json::object{{"userId", user_id},
                                                     {"state", to_string(record.state)},
                                                     {"changedAt", to_iso8601(record.changed_at)}});
                    });
  if (!page) return refused(page.error());
  return json_answer(
      200, {{"changes", std::move(changes)}, {"nextCursor", page->next_cursor}, {"more", page->more}});
}

net::HttpResponse list_files(World& world, Merchant& merchant, const net::HttpRequest& request) {
  const auto limit = page_limit(request.query);
  if (!limit) return error_answer(400, "rejected", "limit is a number from 1 to 500.");
  json::array files;
  const auto page =
      world.files(merchant, query_value(request.query, "cursor"), *limit, [&](const File& file) {
        files.push_back(json::object{{"id", file.id}, {"kind", file.kind}, {"name", file.name}});
      });
  if (!page) return refused(page.error());
  return json_answer(200,
                     {{"files", std::move(files)}, {"nextCursor", page->next_cursor}, {"more", page->more}});
}

net::HttpResponse answer_to(World& world, Merchant& merchant, const PlatformCall& call,
                            const net::HttpRequest& request, Timestamp now) {
  switch (call.endpoint) {
    case Endpoint::login:
      break;
    case Endpoint::find_user: {
      const auto user = world.find_user(call.first);
      if (!user) return refused(user.error());
      return json_answer(200, {{"id", (*user)->id}, {"username", (*user)->username}});
    }
    case Endpoint::friendship:
      return friendship_answer(call.first, world.friendship(merchant, call.first, now));
    case Endpoint::request_friendship:
      if (!valid_key(idempotency_key(request))) break;
      return friendship_answer(call.first, world.request_friendship(merchant, call.first, now));
    case Endpoint::withdraw_friendship: {
      const auto withdrawn = world.withdraw(merchant, call.first, now);
      return withdrawn ? no_content() : refused(withdrawn.error());
    }
    case Endpoint::list_friendships:
      return list_friendships(world, merchant, request, now);
    case Endpoint::list_files:
      return list_files(world, merchant, request);
    case Endpoint::share: {
      const std::string key = idempotency_key(request);
      if (!valid_key(key)) break;
      const auto share = world.share(merchant, call.first, call.second, key, now);
      if (!share) return refused(share.error());
      return json_answer(share->existed ? 200 : 201, share_object(share->share));
    }
    case Endpoint::find_share: {
      const auto share = world.find_share(merchant, call.first, call.second);
      return share ? json_answer(200, share_object(*share)) : refused(share.error());
    }
    case Endpoint::revoke_share: {
      const auto revoked = world.revoke(merchant, call.first, call.second);
      return revoked ? no_content() : refused(revoked.error());
    }
  }
  return error_answer(400, "rejected", "Idempotency-Key is 1 to 64 of A-Z, a-z, 0-9, - and _.");
}

std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> result;
  while (path.starts_with('/')) {
    path.remove_prefix(1);
    const auto end = std::min(path.find('/'), path.size());
    result.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return result;
}

}  // namespace

net::HttpResponse error_answer(int status, std::string_view code, std::string_view message) {
  return json_answer(status, {{"error", {{"code", code}, {"message", message}}}});
}

std::optional<PlatformCall> route(std::string_view method, std::string_view path) {
  const auto parts = segments_of(path);
  const auto call = [](Endpoint endpoint, std::string_view first = {},
                       std::string_view second = {}) -> std::optional<PlatformCall> {
    auto a = percent_decoded(first);
    auto b = percent_decoded(second);
    if (!a || !b) return std::nullopt;
    return PlatformCall{endpoint, std::move(*a), std::move(*b)};
  };
  const bool get = method == "GET";
  const bool put = method == "PUT";
  const bool del = method == "DELETE";
  const auto count = parts.size();
  if (count == 1 && parts[0] == "sessions" && method == "POST") return call(Endpoint::login);
  if (count == 1 && parts[0] == "friendships" && get) return call(Endpoint::list_friendships);
  if (count == 1 && parts[0] == "files" && get) return call(Endpoint::list_files);
  if (count == 2 && parts[0] == "friendships") {
    if (get) return call(Endpoint::friendship, parts[1]);
    if (put) return call(Endpoint::request_friendship, parts[1]);
    if (del) return call(Endpoint::withdraw_friendship, parts[1]);
  }
  if (count == 3 && parts[0] == "users" && parts[1] == "by-name" && get) {
    return call(Endpoint::find_user, parts[2]);
  }
  if (count == 4 && parts[0] == "files" && parts[2] == "shares") {
    if (get) return call(Endpoint::find_share, parts[1], parts[3]);
    if (put) return call(Endpoint::share, parts[1], parts[3]);
    if (del) return call(Endpoint::revoke_share, parts[1], parts[3]);
  }
  return std::nullopt;
}

PlatformAnswer answer(World& world, const PlatformCall& call, const net::HttpRequest& request,
                      Timestamp now) {
  if (call.endpoint == Endpoint::login) return log_in(world, request, now);
  std::string_view token = request.headers.get("Authorization").value_or("");
  constexpr std::string_view bearer = "Bearer ";
  if (token.starts_with(bearer)) token.remove_prefix(bearer.size());
  const auto merchant = world.authenticate(token, now);
  if (!merchant) return {refused(merchant.error()), ""};
  return {answer_to(world, **merchant, call, request, now), (*merchant)->user_id};
}

}  // namespace presetbridge::cloudsim
