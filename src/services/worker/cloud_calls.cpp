#include "services/worker/cloud_calls.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "storage/stores/credential_store.h"

namespace presetbridge::services {
namespace {

using cloud::CloudError;
using cloud::CloudResult;
using cloud::Session;

std::unexpected<CloudError> not_called(CloudError::Kind kind, const char* why) {
  return std::unexpected(CloudError{kind, why, false, {}});
}

// A login of another cloud user must not be used: its calls would be recorded as this one's (spec 3.11).
std::unexpected<CloudError> of_another_user() {
  return not_called(CloudError::Kind::unavailable, "the login is of another cloud user");
}

template <class T>
void put(Answer& answer, CloudResult<T> result) {
  if (!result) {
    answer.value = result.error();
  } else if constexpr (!std::is_void_v<T>) {
    answer.value = std::move(*result);
  }
}

}  // namespace

Task<CloudCalls::LogIn> CloudCalls::log_in(AccountId account) {
  auto login = co_await ports_.async_db.read(ports_.scheduler, [account](storage::Tx& tx) {
    return std::pair(find_standing(tx, account), find_stored_login(tx, account));
  });
  if (!login) co_return LogIn{not_called(CloudError::Kind::unavailable, "the login could not be read")};
  const auto& [standing, record] = *login;
  const auto version = standing ? standing->version : 0;
  if (!record || standing->status == storage::CredentialsStatus::invalid) {
    const auto kind = standing && standing->unreadable ? CloudError::Kind::credentials_unreadable
                                                       : CloudError::Kind::login_refused;
    co_return LogIn{not_called(kind, "there is no valid login"), version};
  }
  auto session = co_await ports_.sessions.session(account, {record->version, record->sealed});
  if (!session) note_health(&session.error());  // a session may be an old one, and shows nothing
  co_return LogIn{std::move(session), version};
}

void CloudCalls::note_health(const CloudError* error) {
  if (error == nullptr) return platform_.answered();
  switch (error->kind) {
    case CloudError::Kind::unavailable:
    case CloudError::Kind::malformed:
      return platform_.unanswered(error->message);
    case CloudError::Kind::credentials_unreadable:
    case CloudError::Kind::busy:
      return;  // the platform was not called
    default:
      return platform_.answered();
  }
}

Task<std::optional<Answer>> CloudCalls::make(const Call& call, const Job& job) {
  Answer answer{.call = call, .login_version = call.login.version};
  CloudResult<Session> session;
  auto cached = ports_.sessions.cached(call.account, call.login.version);
  if (cached && call.login.status != storage::CredentialsStatus::invalid) {
    session = *std::move(cached);
  } else {
    auto login = co_await log_in(call.account);
    session = std::move(login.session);
    answer.login_version = login.login_version;
  }
  answer.other_user = session && session->user_id != job.cloud_user;
  // A share that a former login began is looked up, and revoked, with a session that is left of that login.
  const bool begun = call.as<FindShare>() != nullptr || call.as<RevokeShare>() != nullptr;
  const bool replaced = call.login.cloud_account && call.login.cloud_account != job.cloud_account;
  if (begun && (answer.other_user || (!session && replaced))) {
    if (auto former = ports_.sessions.former(call.account, job.cloud_user)) {
      session = *std::move(former);
      answer.other_user = false;
    }
  }
  if (answer.other_user) session = of_another_user();
  if (!session) {
    // No call was made, so nothing can have had an effect.
    session.error().effect_unknown = false;
    answer.value = session.error();
    co_return answer;
  }
  if (!outlasts_a_call(job)) co_return std::nullopt;
  const Timestamp began = ports_.clock.now();
  co_await ask(call, job, *session, answer);
  answer.took = std::max(ports_.clock.now() - began, Millis{0});  // the clock may be set back
  note_health(answer.error());
  ports_.metrics.count("presetbridge_cloud_calls_total");
  if (const auto* error = answer.error()) {
    if (error->kind == CloudError::Kind::session_refused)
      ports_.sessions.invalidate(call.account, session->token);
    ports_.log.info("a call to the cloud platform failed", {{"account", to_string(call.account)},
                                                            {"delivery", to_string(call.delivery)},
                                                            {"error", error->message}});
    ports_.metrics.count("presetbridge_cloud_call_failures_total");
  }
  co_return answer;
}

bool CloudCalls::outlasts_a_call(const Job& job) const {
  return ports_.clock.now() + ports_.cloud.call_timeout() < job.expires_at;
}

Task<void> CloudCalls::ask(const Call& call, const Job& job, Session session, Answer& answer) {
  auto& cloud = ports_.cloud;
  auto& here = ports_.scheduler;
  if (const auto* const find = call.as<FindUser>()) {
    auto user = co_await cloud.find_user(here, session, find->username);
    if (user && find->then_friendship && outlasts_a_call(job))
      answer.friendship = co_await cloud.friendship(here, session, user->id);
    put(answer, std::move(user));
  } else if (const auto* const friendship = call.as<FindFriendship>()) {
    put(answer, co_await cloud.friendship(here, session, friendship->user_id));
  } else if (const auto* const request = call.as<RequestFriendship>()) {
    put(answer, co_await cloud.request_friendship(here, session, request->user_id, request->idempotency_key));
  } else if (const auto* const withdraw = call.as<WithdrawRequest>()) {
    put(answer, co_await cloud.withdraw_friendship(here, session, withdraw->user_id));
  } else if (const auto* const share = call.as<ShareFile>()) {
    put(answer, co_await cloud.share(here, session, share->file_id, share->user_id, share->idempotency_key));
  } else if (const auto* const found = call.as<FindShare>()) {
    put(answer, co_await cloud.find_share(here, session, found->file_id, found->user_id));
  } else if (const auto* const revoke = call.as<RevokeShare>()) {
    put(answer, co_await cloud.revoke_share(here, session, revoke->file_id, revoke->user_id));
  }
}

Task<CloudCalls::Page> CloudCalls::friendships_since(AccountId account, std::string cloud_user,
                                                     std::string cursor, int limit) {
  auto [session, login_version] = co_await log_in(account);
  if (session && session->user_id != cloud_user) session = of_another_user();
  if (!session) co_return Page{std::unexpected(session.error()), login_version};
  auto page = co_await ports_.cloud.friendships_since(ports_.scheduler, *session, std::move(cursor), limit);
  note_health(page ? nullptr : &page.error());
  if (!page && page.error().kind == CloudError::Kind::session_refused)
    ports_.sessions.invalidate(account, session->token);
  co_return Page{std::move(page), login_version};
}

}  // namespace presetbridge::services
