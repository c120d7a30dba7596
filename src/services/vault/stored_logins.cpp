#include "services/vault/stored_logins.h"

#include <algorithm>
#include <tuple>

#include "services/worker/account_trouble.h"
#include "storage/stores/credential_store.h"

namespace presetbridge::services {
namespace {

using cloud::CloudError;
using cloud::CloudFile;
using cloud::CloudResult;
using storage::Tx;

constexpr int kPageSize = 200;
constexpr int kMaxPages = 1'000;

std::unexpected<Error> no_login() {
  return fail("CREDENTIALS_MISSING", "The account has no valid login at the cloud platform. Save one first.");
}
std::unexpected<Error> error_of(const CloudError& error) {
  switch (error.kind) {
    case CloudError::Kind::login_refused:
    case CloudError::Kind::credentials_unreadable:
      return no_login();
    default:
      return std::unexpected(unanswered(error));
  }
}

bool session_refused(const CloudError& error) {
  return error.kind == CloudError::Kind::session_refused;
}

}  // namespace

Error unanswered(const CloudError& error) {
  if (error.kind == CloudError::Kind::busy)
    return {"OVERLOADED", "Too many people and orders wait for cloud logins. Try again in a moment.", {}};
  return {"CLOUD_UNAVAILABLE", "The cloud platform cannot be reached, or does not answer as it should.", {}};
}

Task<CloudResult<PresetFiles>> OwnStoredLogins::read_all(Executor& executor, cloud::Session session) {
  auto files = std::make_shared<std::vector<CloudFile>>();
  std::string cursor;
  const Timestamp until = clock_.now() + max_reading;
  for (int page = 0; page < kMaxPages && files->size() < max_files; ++page) {
    auto answer = co_await cloud_.list_files(executor, session, cursor, kPageSize);
    if (!answer) co_return std::unexpected(answer.error());
    if (clock_.now() >= until)
      co_return std::unexpected(CloudError{
          CloudError::Kind::unavailable, "the list of files took longer than a minute to read", false, {}});
    std::ranges::move(answer->files, std::back_inserter(*files));
    if (!answer->more || answer->next_cursor == cursor) break;
    cursor = answer->next_cursor;
  }
  if (files->size() > max_files) files->resize(max_files);
  std::ranges::sort(*files, {}, [](const CloudFile& f) { return std::tie(f.name, f.id); });
  co_return PresetFiles(std::move(files));
}

Task<Expected<cloud::Session>> OwnStoredLogins::vault_session(Executor& executor, AccountId account,
                                                              std::int64_t version) {
  for (bool again = false;; again = true) {
    auto login =
        co_await async_db_.read(executor, [account](Tx& tx) { return find_stored_login(tx, account); });
    if (!login) co_return std::unexpected(login.error());
    if (!*login || (*login)->version != version) co_return no_login();
    auto session =
        co_await sessions_.session(executor, account, {version, std::move((*login)->sealed)}, agent_);
    if (session) co_return std::move(*session);
    // Somebody made the cache forget the account while it was signed in for this.
    if (session_refused(session.error()) && !again) continue;
    if (const auto fault = login_fault(session.error())) {
      auto noted = co_await async_db_.write(
          executor, [&, fault](Tx& tx) { return refuse_login(tx, account, version, *fault); });
      if (!noted) co_return std::unexpected(noted.error());
    }
    co_return error_of(session.error());
  }
}

Task<Expected<PresetFiles>> OwnStoredLogins::files_of_login(Executor& executor, AccountId account,
                                                            std::int64_t version) {
  for (int attempt = 0;; ++attempt) {
    auto session = co_await vault_session(executor, account, version);
    if (!session) co_return std::unexpected(session.error());
    auto read = co_await read_all(executor, *session);
    if (read) co_return std::move(*read);
    if (!session_refused(read.error()) || attempt > 0) co_return error_of(read.error());
    sessions_.invalidate(account, session->token);
  }
}

Task<Expected<PresetFiles>> OwnStoredLogins::files_of_session(Executor& executor, crypto::Bytes token_hash) {
  auto session = co_await logins_.open(executor, std::move(token_hash));
  if (!session) co_return std::unexpected(session.error());
  auto read = co_await read_all(executor, std::move(*session));
  if (read) co_return std::move(*read);
  if (session_refused(read.error()))
    co_return fail("UNAUTHORIZED", "The cloud platform has ended this session: log in again.");
  co_return error_of(read.error());
}

Task<Expected<CheckedLogin>> OwnStoredLogins::check_login(Executor& executor, AccountId account,
                                                          std::int64_t version) {
  auto login =
      co_await async_db_.read(executor, [account](Tx& tx) { return find_stored_login(tx, account); });
  if (!login) co_return std::unexpected(login.error());
  if (!*login || (*login)->version != version) {
    co_return CheckedLogin(std::unexpected(CloudError{
        CloudError::Kind::session_refused, "The cloud login was changed or deleted meanwhile.", false, {}}));
  }
  auto session = co_await agent_.login(executor, account, version, std::move((*login)->sealed));
  if (!session) co_return CheckedLogin(std::unexpected(session.error()));
  co_return CheckedLogin(cloud::CloudUser{session->user_id, session->username});
}

}  // namespace presetbridge::services
