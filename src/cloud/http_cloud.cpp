#include "cloud/http_cloud.h"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "cloud/contract.h"

namespace presetbridge::cloud {
namespace {

using Kind = CloudError::Kind;

constexpr std::size_t kMaxPageBytes = 1024 * 1024;
constexpr std::size_t kMaxAnswerBytes = 64 * 1024;

enum class Effect { none, possible };

CloudError error(Kind kind, std::string message) {
  return {kind, std::move(message), false, std::nullopt};
}

CloudError malformed(Effect effect) {
  return {Kind::malformed, "The cloud platform gave an answer that could not be understood.",
          effect == Effect::possible, std::nullopt};
}

CloudError bad_id() {
  return error(Kind::rejected, "An id is not one that the cloud platform can know.");
}

CloudError error_of(const net::HttpFailure& failure, Effect effect) {
  using Failure = net::HttpFailure::Kind;
  if (failure.kind == Failure::invalid) return error(Kind::rejected, "The call could not be sent.");
  const char* message = failure.kind == Failure::timeout ? "The cloud platform did not answer in time."
                        : failure.kind == Failure::lost || failure.kind == Failure::aborted
                            ? "The connection to the cloud platform was lost."
                            : "The cloud platform could not be reached.";
  return {Kind::unavailable, message, effect == Effect::possible && failure.effect_unknown(), std::nullopt};
}

const char* sentence(Kind kind) {
  switch (kind) {
    case Kind::unavailable:
      return "The cloud platform is not available.";
    case Kind::rate_limited:
      return "The cloud platform asks for fewer calls.";
    case Kind::session_refused:
      return "The cloud platform no longer accepts the session.";
    case Kind::login_refused:
      return "The cloud platform refused the e-mail or the password.";
    case Kind::credentials_unreadable:
      return "The stored login could not be read.";
    case Kind::user_not_found:
      return "The cloud platform knows no such user.";
    case Kind::file_not_found:
      return "The cloud platform knows no such file.";
    case Kind::not_shareable:
      return "The file may not be shared.";
    case Kind::blocked:
      return "The user blocked the merchant.";
    case Kind::not_friends:
      return "The user and the merchant are not friends.";
    case Kind::rejected:
      return "The cloud platform refused the call.";
    case Kind::malformed:
      return "The cloud platform gave an answer that could not be understood.";
    case Kind::busy:
      return "Too many logins wait for a slot.";
  }
  return "";
}

std::optional<std::string_view> header(const net::HttpAnswer& answer, std::string_view lower_case_name) {
  for (const auto& [name, value] : answer.headers) {
    if (name == lower_case_name) return value;
  }
  return std::nullopt;
}

// The meaning of an answer with an unexpected status. The status decides where it says all; elsewhere only an
// error body of the contract is believed, so that a stranger's 404 (a proxy, a wrong base URL) never counts
// as "no such user".
CloudError error_of(const net::HttpAnswer& answer, Effect effect, Timestamp now, std::string_view secret) {
  const int status = answer.status;
  if (status < 400 || status > 599) return malformed(effect);
  const auto body = read_error(answer.body);
  CloudError result;
  if (status == 429) {
    result.kind = Kind::rate_limited;
  } else if (status >= 500 || status == 408 || status == 425) {
    result.kind = Kind::unavailable;
    result.effect_unknown = status >= 500 && effect == Effect::possible;
  } else if (status == 401) {
    result.kind = Kind::session_refused;  // the next login shows whether the credentials are valid
  } else if (body) {
    result.kind = kind_of(body->code);
  } else {
    return malformed(Effect::none);
  }
  result.message = sentence(result.kind);
  // The platform's own words help with what is not foreseen; they are not trusted to keep a secret.
  if (result.kind == Kind::rejected && body && !body->message.empty() &&
      (secret.empty() || body->message.find(secret) == std::string::npos)) {
    result.message = "The cloud platform refused the call: " + body->message;
  }
  if (const auto value = header(answer, "retry-after")) result.retry_after = read_retry_after(*value, now);
  return result;
}

std::string with(std::string path, std::string_view name, const std::string& value) {
  const auto at = path.find(name);
  if (at != std::string::npos) path.replace(at, name.size(), value);
  return path;
}

std::string page_query(const std::string& path, const std::string& cursor, int limit) {
  std::string target = path + "?limit=" + std::to_string(limit);
  if (!cursor.empty()) target += "&cursor=" + *path_segment(cursor);
  return target;
}

// A cursor that does not move would be read for ever.
template <class Page>
bool moves(const Page& page, const std::string& cursor) {
  return !page.more || (!page.next_cursor.empty() && page.next_cursor != cursor);
}

}  // namespace

struct HttpCloud::Call {
  const char* method = "GET";
  std::string target{};  // path and query below the base URL
  std::string token{};
  std::string idempotency_key{};
  std::size_t max_bytes = kMaxAnswerBytes;
  int expected = 200;
  int also_expected = 200;

  Effect effect() const { return std::string_view(method) == "GET" ? Effect::none : Effect::possible; }
};

HttpCloud::HttpCloud(net::HttpClient& http, const Clock& clock, HttpCloudOptions options)
    : http_(http), clock_(clock), options_(std::move(options)) {}

Task<CloudResult<net::HttpAnswer>> HttpCloud::send(Executor& executor, Call call) {
  net::OutgoingRequest request;
  request.method = call.method;
  request.url = options_.base_url + call.target;
  request.headers.emplace_back("Authorization", "Bearer " + call.token);
  request.headers.emplace_back("Accept", "application/json");
  if (!call.idempotency_key.empty()) request.headers.emplace_back("Idempotency-Key", call.idempotency_key);
  request.policy = net::AddressPolicy::configured;
  request.deadline = options_.timeout;
  request.max_answer_bytes = call.max_bytes;

  net::HttpResult result = co_await http_.send(executor, std::move(request));
  if (const auto* failure = result.failure()) co_return std::unexpected(error_of(*failure, call.effect()));
  auto& answer = std::get<net::HttpAnswer>(result.outcome);
  if (answer.status != call.expected && answer.status != call.also_expected) {
    co_return std::unexpected(error_of(answer, call.effect(), clock_.now(), call.token));
  }
  if (answer.truncated) co_return std::unexpected(malformed(call.effect()));
  co_return std::move(answer);
}

Task<CloudResult<CloudUser>> HttpCloud::find_user(Executor& executor, Session session, std::string username) {
  const auto segment = path_segment(username);
  if (!segment) co_return std::unexpected(error(Kind::user_not_found, sentence(Kind::user_not_found)));
  const auto answer = co_await send(
      executor,
      {.target = with(options_.paths.user_by_name, "{username}", *segment), .token = session.token});
  if (!answer) co_return std::unexpected(answer.error());
  auto user = read_user(answer->body);
  if (!user) co_return std::unexpected(malformed(Effect::none));
  // A name that the platform has in another form is one order's matter, not trouble of the platform.
  if (!equal_ignoring_case(user->username, username))
    co_return std::unexpected(error(Kind::user_not_found, sentence(Kind::user_not_found)));
  co_return std::move(*user);
}

Task<CloudResult<FriendshipState>> HttpCloud::friendship(Executor& executor, Session session,
                                                         std::string user_id) {
  const auto user = path_segment(user_id);
  if (!user) co_return std::unexpected(bad_id());
  const auto answer = co_await send(
      executor, {.target = with(options_.paths.friendship, "{userId}", *user), .token = session.token});
  if (!answer) co_return std::unexpected(answer.error());
  const auto friendship = read_friendship(answer->body);
  if (!friendship || friendship->user_id != user_id) co_return std::unexpected(malformed(Effect::none));
  co_return friendship->state;
}

Task<CloudResult<FriendshipState>> HttpCloud::request_friendship(Executor& executor, Session session,
                                                                 std::string user_id,
                                                                 std::string idempotency_key) {
  const auto user = path_segment(user_id);
  if (!user) co_return std::unexpected(bad_id());
  const auto answer = co_await send(executor, {.method = "PUT",
                                               .target = with(options_.paths.friendship, "{userId}", *user),
                                               .token = session.token,
                                               .idempotency_key = std::move(idempotency_key)});
  if (!answer) co_return std::unexpected(answer.error());
  const auto friendship = read_friendship(answer->body);
  const bool sound =
      friendship && friendship->user_id == user_id &&
      (friendship->state == FriendshipState::requested || friendship->state == FriendshipState::friends);
  if (!sound) co_return std::unexpected(malformed(Effect::possible));
  co_return friendship->state;
}

Task<CloudResult<void>> HttpCloud::withdraw_friendship(Executor& executor, Session session,
                                                       std::string user_id) {
  const auto user = path_segment(user_id);
  if (!user) co_return std::unexpected(bad_id());
  const auto answer = co_await send(executor, {.method = "DELETE",
                                               .target = with(options_.paths.friendship, "{userId}", *user),
                                               .token = session.token,
                                               .expected = 204,
                                               .also_expected = 204});
  if (!answer) co_return std::unexpected(answer.error());
  co_return CloudResult<void>();
}

Task<CloudResult<FriendshipPage>> HttpCloud::friendships_since(Executor& executor, Session session,
                                                               std::string cursor, int limit) {
  if (!cursor.empty() && !path_segment(cursor)) co_return std::unexpected(bad_id());
  limit = std::clamp(limit, 1, options_.max_page);
  const auto answer =
      co_await send(executor, {.target = page_query(options_.paths.friendships, cursor, limit),
                               .token = session.token,
                               .max_bytes = kMaxPageBytes});
  if (!answer) co_return std::unexpected(answer.error());
  auto page = read_friendship_page(answer->body);
  if (!page || !moves(*page, cursor) || page->changes.size() > static_cast<std::size_t>(limit)) {
    co_return std::unexpected(malformed(Effect::none));
  }
  co_return std::move(*page);
}

Task<CloudResult<FilePage>> HttpCloud::list_files(Executor& executor, Session session, std::string cursor,
                                                  int limit) {
  if (!cursor.empty() && !path_segment(cursor)) co_return std::unexpected(bad_id());
  limit = std::clamp(limit, 1, options_.max_page);
  const auto answer = co_await send(executor, {.target = page_query(options_.paths.files, cursor, limit),
                                               .token = session.token,
                                               .max_bytes = kMaxPageBytes});
  if (!answer) co_return std::unexpected(answer.error());
  auto page = read_file_page(answer->body);
  if (!page || !moves(*page, cursor) || page->files.size() > static_cast<std::size_t>(limit)) {
    co_return std::unexpected(malformed(Effect::none));
  }
  co_return std::move(*page);
}

Task<CloudResult<Share>> HttpCloud::share(Executor& executor, Session session, std::string file_id,
                                          std::string user_id, std::string idempotency_key) {
  const auto file = path_segment(file_id);
  const auto user = path_segment(user_id);
  if (!file || !user) co_return std::unexpected(bad_id());
  const auto answer = co_await send(
      executor, {.method = "PUT",
                 .target = with(with(options_.paths.share, "{fileId}", *file), "{userId}", *user),
                 .token = session.token,
                 .idempotency_key = std::move(idempotency_key),
                 .expected = 201,
                 .also_expected = 200});
  if (!answer) co_return std::unexpected(answer.error());
  auto share = read_share(answer->body);
  if (!share) co_return std::unexpected(malformed(Effect::possible));
  share->existed = answer->status == 200;
  co_return std::move(*share);
}

Task<CloudResult<std::optional<Share>>> HttpCloud::find_share(Executor& executor, Session session,
                                                              std::string file_id, std::string user_id) {
  const auto file = path_segment(file_id);
  const auto user = path_segment(user_id);
  if (!file || !user) co_return std::unexpected(bad_id());
  const auto answer = co_await send(
      executor, {.target = with(with(options_.paths.share, "{fileId}", *file), "{userId}", *user),
                 .token = session.token,
                 .also_expected = 404});
  if (!answer) co_return std::unexpected(answer.error());
  if (answer->status == 404) {
    const auto body = read_error(answer->body);
    const bool none = body && (body->code == "share_not_found" || body->code == "user_not_found" ||
                               body->code == "file_not_found");
    if (!none) co_return std::unexpected(malformed(Effect::none));
    co_return std::optional<Share>();
  }
  auto share = read_share(answer->body);
  if (!share) co_return std::unexpected(malformed(Effect::none));
  share->existed = true;
  co_return std::move(share);
}

Task<CloudResult<void>> HttpCloud::revoke_share(Executor& executor, Session session, std::string file_id,
                                                std::string user_id) {
  const auto file = path_segment(file_id);
  const auto user = path_segment(user_id);
  if (!file || !user) co_return std::unexpected(bad_id());
  const auto answer = co_await send(
      executor, {.method = "DELETE",
                 .target = with(with(options_.paths.share, "{fileId}", *file), "{userId}", *user),
                 .token = session.token,
                 .expected = 204,
                 .also_expected = 204});
  if (!answer) co_return std::unexpected(answer.error());
  co_return CloudResult<void>();
}

Task<CloudResult<Session>> HttpCloud::log_in(Executor& executor, CloudLogin login) {
  net::OutgoingRequest request;
  request.url = options_.base_url + options_.paths.login;
  request.headers.emplace_back("Content-Type", "application/json");
  request.headers.emplace_back("Accept", "application/json");
  request.body = boost::json::serialize(
      boost::json::object{{"email", login.email}, {"password", login.password.reveal()}});
  request.policy = net::AddressPolicy::configured;
  request.deadline = options_.timeout;
  request.max_answer_bytes = kMaxAnswerBytes;
  const net::HttpResult result = co_await http_.send(executor, std::move(request));
  if (const auto* failure = result.failure()) co_return std::unexpected(error_of(*failure, Effect::none));
  const auto& answer = *result.answer();
  if (answer.status != 201 && answer.status != 200) {
    auto refusal = error_of(answer, Effect::none, clock_.now(), {});
    // Before a login there is no session that could be refused. The platform's words stay here: they might
    // repeat the password.
    if (refusal.kind == Kind::session_refused) refusal.kind = Kind::login_refused;
    refusal.message = sentence(refusal.kind);
    co_return std::unexpected(std::move(refusal));
  }
  auto session = answer.truncated ? std::nullopt : read_session(answer.body);
  if (!session) co_return std::unexpected(malformed(Effect::none));
  co_return std::move(*session);
}

}  // namespace presetbridge::cloud
