#include "services/presets/presets.h"

#include <algorithm>
#include <exception>
#include <unordered_set>

#include "crypto/encoding.h"
#include "domain/search_words.h"
#include "storage/stores/credential_store.h"

namespace presetbridge::services {
namespace {

using cloud::CloudFile;
using storage::Tx;

constexpr std::string_view kUnauthorized = "UNAUTHORIZED";
constexpr std::string_view kMissing = "CREDENTIALS_MISSING";
constexpr int kMaxAttempts = 5;  // where the login is replaced during each of them

std::unexpected<Error> no_login() {
  return fail(std::string(kMissing), "The account has no valid login at the cloud platform. Save one first.");
}

}  // namespace

PresetPage page_of(const std::vector<CloudFile>& all, const PresetQuery& query) {
  PresetPage page;
  std::size_t at = 0;
  const domain::SearchWords words(query.search);
  for (const auto& file : all) {
    if ((!query.kind.empty() && file.kind != query.kind) || !words.are_in(file.name)) continue;
    if (at++ < query.offset) continue;
    if (page.files.size() == query.limit) {
      page.next = query.offset + query.limit;
      break;
    }
    page.files.push_back(file);
  }
  return page;
}

void Presets::keep(const std::string& key, Files files) {
  if (entries_.size() >= max_lists) {
    entries_.erase(std::ranges::min_element(entries_, {}, [](const auto& e) { return e.second.read_at; }));
  }
  entries_[key] = {std::move(files), clock_.now()};
}

Task<Expected<Presets::Files>> Presets::known_or_read(Executor& executor, std::string key, bool refresh,
                                                      ReadFiles read) {
  std::shared_ptr<Flight> flight;
  while (true) {
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      const auto found = entries_.find(key);
      if (found != entries_.end() &&
          clock_.now() - found->second.read_at < (refresh ? refresh_floor : max_age)) {
        co_return found->second.files;
      }
      auto& of_key = flights_[key];
      first = !of_key;
      if (first) of_key = std::make_shared<Flight>();
      flight = of_key;
    }
    if (first) break;
    auto of_other = co_await suspend<Expected<Files>>(executor, [this, flight](auto resume) {
      std::unique_lock lock(mutex_);
      if (!flight->ended) {
        flight->waiting.emplace_back(std::move(resume));
        return;
      }
      lock.unlock();
      resume(*flight->ended);
    });
    // That another's session has ended says nothing of this one. Each reads once at most, so this ends.
    if (of_other || of_other.error().code != kUnauthorized) co_return of_other;
  }
  Expected<Files> files = fail("INTERNAL_ERROR", "The list of files could not be read.");
  std::exception_ptr thrown;
  try {
    files = co_await read();
  } catch (...) {
    thrown = std::current_exception();  // whoever waits must hear of the end
  }
  {
    const std::lock_guard lock(mutex_);
    if (files) keep(key, *files);
    flight->ended = files;
    flights_.erase(key);
  }
  for (auto& resume : flight->waiting) resume(files);
  if (thrown) std::rethrow_exception(thrown);
  co_return files;
}

Task<Expected<Presets::Files>> Presets::files(Executor& executor, identity::Principal by,
                                              std::optional<std::string> token, bool refresh) {
  if (token) {
    auto session = co_await logins_.find(executor, by, std::move(*token));
    if (!session) co_return std::unexpected(session.error());
    // With the key, so that nobody is answered through the session of another's.
    auto whose = session->cloud_user_id.empty() ? "session " + crypto::hex_encode(session->hash)
                                                : "user " + session->cloud_user_id;
    co_return co_await known_or_read(executor, std::move(whose) + " of " + to_string(*by.key), refresh,
                                     [&] { return stored_.files_of_session(executor, session->hash); });
  }
  std::optional<std::int64_t> refused;  // version of the login
  for (int attempt = 1;; ++attempt) {
    auto standing = co_await async_db_.read(executor, [&](Tx& tx) { return find_standing(tx, by.account); });
    if (!standing) co_return std::unexpected(standing.error());
    using storage::CredentialsStatus;
    if (!*standing || (*standing)->status == CredentialsStatus::missing ||
        (*standing)->status == CredentialsStatus::invalid || (*standing)->version == refused) {
      co_return no_login();
    }
    const auto version = (*standing)->version;
    auto read = co_await known_or_read(executor, key_of(by.account, version), refresh,
                                       [&] { return stored_.files_of_login(executor, by.account, version); });
    // A login that was replaced meanwhile says nothing of the one in its place.
    if (read || read.error().code != kMissing || attempt == kMaxAttempts) co_return read;
    refused = version;
  }
}

Task<Expected<PresetPage>> Presets::list(Executor& executor, identity::Principal by,
                                         std::optional<std::string> token, PresetQuery query, bool refresh) {
  auto all = co_await files(executor, std::move(by), std::move(token), refresh);
  if (!all) co_return std::unexpected(all.error());
  co_return page_of(**all, query);
}

Task<Expected<std::vector<std::string>>> Presets::unknown(Executor& executor, identity::Principal by,
                                                          std::vector<std::string> ids) {
  auto standing = co_await async_db_.read(executor, [&](Tx& tx) { return find_standing(tx, by.account); });
  if (!standing) co_return std::unexpected(standing.error());
  Files files;
  if (*standing) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key_of(by.account, (*standing)->version));
    if (found != entries_.end()) files = found->second.files;
  }
  if (!files) co_return std::vector<std::string>();
  std::unordered_set<std::string_view> known;
  for (const auto& file : *files) known.insert(file.id);
  std::erase_if(ids, [&](const std::string& id) { return known.contains(id); });
  co_return ids;
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
