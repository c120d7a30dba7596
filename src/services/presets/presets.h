// The merchant's files on the cloud platform (spec 4.4), of the vault's login or of the session that a key
// opened (spec 4.3).
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "cloud/cloud.h"
#include "identity/principal.h"
#include "services/vault/cloud_logins.h"
#include "services/vault/stored_logins.h"
#include "storage/commit/async_database.h"

namespace presetbridge::services {

struct PresetQuery {
  std::string search;  // words of the name (domain/search_words.h); empty: all
  std::string kind;    // empty: all
  std::size_t offset = 0;
  std::size_t limit = 50;
};
struct PresetPage {
  std::vector<cloud::CloudFile> files;  // by name
  std::optional<std::size_t> next;      // offset of the next page
};

// Of files by name.
PresetPage page_of(const std::vector<cloud::CloudFile>& all, const PresetQuery& query);

// Thread-safe. A user's list is kept for a minute. It is read by one caller at a time, whose answer the
// others get who ask meanwhile, unless it is that this caller's session has ended; and not again before
// `refresh_floor` has passed, whoever asks for that.
class Presets {
 public:
  static constexpr Millis max_age{60'000};
  static constexpr Millis refresh_floor{10'000};
  static constexpr std::size_t max_lists = 200;  // kept at once

  // All outlive this.
  Presets(storage::AsyncDatabase& async_db, StoredLogins& stored, CloudLogins& logins, const Clock& clock)
      : async_db_(async_db), stored_(stored), logins_(logins), clock_(clock) {}

  // `token`: of X-Session-Token. UNAUTHORIZED (the token), CREDENTIALS_MISSING (no login in the vault, or not
  // valid), CLOUD_UNAVAILABLE, WORKER_UNAVAILABLE. A vault's login that the platform refuses is noted as
  // invalid, with what follows for deliveries (spec 3.5).
  Task<Expected<PresetPage>> list(Executor& executor, identity::Principal by,
                                  std::optional<std::string> token, PresetQuery query, bool refresh);
  // NOT_FOUND as well.
  Task<Expected<cloud::CloudFile>> get(Executor& executor, identity::Principal by,
                                       std::optional<std::string> token, std::string id);
  // Those of `ids` that are not among the files of the vault's user, by the list that was read last; none
  // where none was. Asks the platform nothing.
  Task<Expected<std::vector<std::string>>> unknown(Executor& executor, identity::Principal by,
                                                   std::vector<std::string> ids);

 private:
  using Files = PresetFiles;
  struct Entry {
    Files files;
    Timestamp read_at;
  };
  using ReadFiles = std::function<Task<Expected<Files>>()>;
  // A reading under way: who waits for it.
  struct Flight {
    std::vector<std::move_only_function<void(Expected<Files>)>> waiting;
    std::optional<Expected<Files>> ended;
  };
  static std::string key_of(AccountId account, std::int64_t version) {
    // With the version, so that another login never shows the list of the one before.
    return to_string(account) + " " + std::to_string(version);
  }
  Task<Expected<Files>> files(Executor& executor, identity::Principal by, std::optional<std::string> token,
                              bool refresh);
  // The list of that key: known, or read by `read`, or what another's reading gave.
  Task<Expected<Files>> known_or_read(Executor& executor, std::string key, bool refresh, ReadFiles read);
  void keep(const std::string& key, Files files);  // under mutex_

  storage::AsyncDatabase& async_db_;
  StoredLogins& stored_;
  CloudLogins& logins_;
  const Clock& clock_;
  std::mutex mutex_;  // guards entries_ and flights_
  std::unordered_map<std::string, Entry> entries_;
  std::unordered_map<std::string, std::shared_ptr<Flight>> flights_;
};

}  // namespace presetbridge::services
