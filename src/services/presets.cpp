#include "services/presets.h"

#include <algorithm>
#include <tuple>

#include "storage/credential_store.h"

namespace presetbridge::services {
namespace {

using cloud::CloudError;
using cloud::CloudFile;
using cloud::CloudResult;
using storage::Tx;

constexpr int kPageSize = 200;
constexpr int kMaxPages = 1'000;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

bool contains(std::string_view text, std::string_view part) {
  const auto found = std::ranges::search(text, part, [](char a, char b) { return lower(a) == lower(b); });
  return part.empty() || !found.empty();
}

std::unexpected<Error> no_login() {
  return fail("CREDENTIALS_MISSING", "The account has no valid login at the cloud platform. Save one first.");
}
std::unexpected<Error> error_of(const CloudError& error) {
  switch (error.kind) {
    case CloudError::Kind::login_refused:
    case CloudError::Kind::credentials_unreadable:
      return no_login();
    default:
      return fail("CLOUD_UNAVAILABLE",
                  "The cloud platform cannot be reached, or does not answer as it should.");
  }
}

bool session_refused(const CloudError& error) {
  return error.kind == CloudError::Kind::session_refused;
}

}  // namespace

Presets::Files Presets::cached(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  return found != entries_.end() && clock_.now() - found->second.read_at < max_age ? found->second.files
                                                                                   : nullptr;
}

void Presets::keep(const std::string& key, Files files) {
  const std::lock_guard lock(mutex_);
  if (entries_.size() >= max_lists) {
    entries_.erase(std::ranges::min_element(entries_, {}, [](const auto& e) { return e.second.read_at; }));
  }
  entries_[key] = {std::move(files), clock_.now()};
}

Task<CloudResult<Presets::Files>> Presets::read_all(Executor& executor, cloud::Session session) {
  auto files = std::make_shared<std::vector<CloudFile>>();
  std::string cursor;
  for (int page = 0; page < kMaxPages && files->size() < max_files; ++page) {
    auto answer = co_await cloud_.list_files(executor, session, cursor, kPageSize);
    if (!answer) co_return std::unexpected(answer.error());
    std::ranges::move(answer->files, std::back_inserter(*files));
    if (!answer->more || answer->next_cursor == cursor) break;
    cursor = answer->next_cursor;
  }
  if (files->size() > max_files) files->resize(max_files);
  std::ranges::sort(*files, {}, [](const CloudFile& f) { return std::tie(f.name, f.id); });
  co_return Files(std::move(files));
}

Task<Expected<cloud::Session>> Presets::vault_session(Executor& executor, AccountId account,
                                                      std::int64_t version) {
  auto record = co_await commits_.read(executor, [account](Tx& tx) { return find_credentials(tx, account); });
  if (!record) co_return std::unexpected(record.error());
  if (!*record || (*record)->version != version) co_return no_login();
  auto session = co_await sessions_.session(executor, account, {version, std::move((*record)->sealed)});
  if (!session) co_return error_of(session.error());
  co_return std::move(*session);
}

Task<Expected<Presets::Files>> Presets::files(Executor& executor, identity::Principal by,
                                              std::optional<std::string> token, bool refresh) {
  if (token) {
    auto session = co_await logins_.session(executor, by, std::move(*token));
    if (!session) co_return std::unexpected(session.error());
    const auto key = "user " + session->user_id;
    if (auto known = cached(key); known && !refresh) co_return known;
    auto read = co_await read_all(executor, std::move(*session));
    if (!read && session_refused(read.error())) {
      co_return fail("UNAUTHORIZED", "The cloud platform has ended this session: log in again.");
    }
    if (!read) co_return error_of(read.error());
    keep(key, *read);
    co_return std::move(*read);
  }
  auto standing = co_await commits_.read(executor, [&](Tx& tx) { return find_standing(tx, by.account); });
  if (!standing) co_return std::unexpected(standing.error());
  using storage::CredentialsStatus;
  if (!*standing || (*standing)->status == CredentialsStatus::missing ||
      (*standing)->status == CredentialsStatus::invalid) {
    co_return no_login();
  }
  // With the version, so that another login never shows the list of the one before.
  const auto version = (*standing)->version;
  const auto key = to_string(by.account) + " " + std::to_string(version);
  if (auto known = cached(key); known && !refresh) co_return known;
  for (int attempt = 0;; ++attempt) {
    auto session = co_await vault_session(executor, by.account, version);
    if (!session) co_return std::unexpected(session.error());
    auto read = co_await read_all(executor, *session);
    if (read) {
      keep(key, *read);
      co_return std::move(*read);
    }
    if (!session_refused(read.error()) || attempt > 0) co_return error_of(read.error());
    sessions_.invalidate(by.account, session->token);
  }
}

Task<Expected<PresetPage>> Presets::list(Executor& executor, identity::Principal by,
                                         std::optional<std::string> token, PresetQuery query, bool refresh) {
  auto all = co_await files(executor, std::move(by), std::move(token), refresh);
  if (!all) co_return std::unexpected(all.error());
  PresetPage page;
  std::size_t at = 0;
  for (const auto& file : **all) {
    if (!contains(file.name, query.search) || (!query.kind.empty() && file.kind != query.kind)) continue;
    if (at++ < query.offset) continue;
    if (page.files.size() == query.limit) {
      page.next = query.offset + query.limit;
      break;
    }
    page.files.push_back(file);
  }
  co_return page;
}

Task<Expected<CloudFile>> Presets::get(Executor& executor, identity::Principal by,
                                       std::optional<std::string> token, std::string id) {
  auto all = co_await files(executor, std::move(by), std::move(token), false);
  if (!all) co_return std::unexpected(all.error());
  const auto found = std::ranges::find((*all)->begin(), (*all)->end(), id, &CloudFile::id);
  if (found == (*all)->end()) co_return fail("NOT_FOUND", "There is no such preset.");
  co_return *found;
}

}  // namespace presetbridge::services
