#include "app/verbs/copy_verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include "app/config/config.h"
#include "app/config/data_directory.h"
#include "app/verbs/outcome.h"
#include "crypto/encoding.h"
#include "crypto/random.h"
#include "crypto/service_cipher.h"
#include "crypto/vault_keys.h"
#include "net/runtime.h"
#include "storage/copy/copy.h"
#include "storage/postgres/postgres_database.h"
#include "storage/schema/migrations.h"
#include "storage/sqlite/sqlite_database.h"

namespace presetbridge::app {
namespace {

constexpr std::string_view kSqlite = "sqlite:";
constexpr Millis kReportEach{1'000};
// A statement that moves 10,000 rows, on a server that is at work for others too.
constexpr Millis kStatement{300'000};

// The problem of the options; empty: none. Never shows a text that may be a password.
std::string problem_of(const CopyVerbOptions& options) {
  if (!options.from.starts_with(kSqlite) || options.from.size() == kSqlite.size())
    return "--from must be sqlite: and the path of a database file";
  if (!options.to.starts_with("postgresql://") && !options.to.starts_with("postgres://"))
    return "--to must begin with postgresql://";
  if (const auto problem = storage::problem_of_postgres_url(options.to); !problem.empty())
    return "--to " + problem;
  return {};
}

// The ids of the keys in that folder, if there are any: which of them open what the database holds is for the
// operator to know, as with every backup.
Expected<std::vector<std::pair<storage::KeyUse, std::string>>> keys_in(const DataDirectory& directory) {
  std::vector<std::pair<storage::KeyUse, std::string>> keys;
  if (std::filesystem::exists(directory.service_key)) {
    const auto service = crypto::read_service_keys(directory.service_key);
    if (!service) return std::unexpected(service.error());
    for (const auto& key : *service) keys.emplace_back(storage::KeyUse::service, crypto::hex_encode(key.id));
  }
  if (std::filesystem::exists(directory.vault_public_key)) {
    const auto vault = crypto::read_vault_public_keys(directory.vault_public_key);
    if (!vault) return std::unexpected(vault.error());
    for (const auto& key : *vault) keys.emplace_back(storage::KeyUse::vault, crypto::hex_encode(key.id()));
  }
  return keys;
}

// Says how far it is, but not all the time.
class ProgressPrinter {
 public:
  ProgressPrinter(const Clock& clock, std::ostream& err) : clock_(clock), err_(err) {}
  void operator()(const storage::CopyProgress& now) {
    const auto time = clock_.now();
    if (!now.done && time - last_ < kReportEach && time >= last_) return;
    last_ = time;
    err_ << fmt::format("{} {}: {} rows{}\n", now.comparing ? "comparing" : "copying", now.table, now.rows,
                        now.done ? ", done" : "")
         << std::flush;
  }

 private:
  const Clock& clock_;
  std::ostream& err_;
  Timestamp last_{};
};

void print_table(const storage::CopiedTable& table, bool json, std::ostream& out) {
  if (json) {
    out << boost::json::serialize(boost::json::object{{"table", table.name},
                                                      {"sourceRows", table.source_rows},
                                                      {"targetRows", table.target_rows},
                                                      {"sourceChecksum", table.source_checksum},
                                                      {"targetChecksum", table.target_checksum},
                                                      {"equal", table.equal()}})
        << '\n';
  } else if (table.equal()) {
    out << fmt::format("{}  {} rows  {}  equal\n", table.name, table.source_rows, table.source_checksum);
  } else {
    out << fmt::format("{}  {} rows  {}  NOT EQUAL: the target has {} rows  {}\n", table.name,
                       table.source_rows, table.source_checksum, table.target_rows, table.target_checksum);
  }
}

int print_result(const std::vector<storage::CopiedTable>& tables, bool json, std::ostream& out) {
  std::int64_t rows = 0;
  for (const auto& table : tables) {
    print_table(table, json, out);
    rows += table.source_rows;
  }
  const bool equal = std::ranges::all_of(tables, &storage::CopiedTable::equal);
  if (json) {
    out << boost::json::serialize(
               boost::json::object{{"tables", tables.size()}, {"rows", rows}, {"equal", equal}})
        << '\n';
  } else if (equal) {
    out << fmt::format("{} tables, {} rows: all equal. The target can be served.\n", tables.size(), rows);
  } else {
    out << "The two are not equal: go on with the source, empty the target and copy anew.\n";
  }
  out << std::flush;
  return equal ? 0 : kFailed;
}

Expected<std::vector<storage::CopiedTable>> copy(const CopyVerbOptions& options, std::ostream& err) {
  const std::filesystem::path file(options.from.substr(kSqlite.size()));
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none))
    return fail("STORAGE_UNAVAILABLE", "There is no file " + file.string() + ".");
  Config config;
  config.data_dir = options.data_dir;
  if (config.data_dir.empty())
    config.data_dir = file.has_parent_path() ? file.parent_path().string() : std::string(".");
  const auto keys = keys_in(data_directory(config));
  if (!keys) return std::unexpected(keys.error());
  if (keys->size() < 2)
    err << "There are not all keys in " << config.data_dir << ": the first node says which are used.\n";

  const net::SystemClock clock;
  auto source = storage::open_sqlite({.path = file.string(), .readers = 1, .lock_file = {}}, clock);
  if (!source) return std::unexpected(source.error());
  if (auto own = storage::check_schema(**source); !own) return std::unexpected(own.error());
  auto target = storage::open_postgres(
      {.url = options.to, .writers = 1, .readers = 1, .statement_timeout = kStatement});
  if (!target) return std::unexpected(target.error());
  return storage::copy_database(
      **source, **target,
      {.batch_rows = options.batch_rows, .keys = *keys, .progress = ProgressPrinter(clock, err)});
}

}  // namespace

int run_copy(const CopyVerbOptions& options, std::ostream& out, std::ostream& err) {
  if (const auto problem = problem_of(options); !problem.empty()) {
    err << "presetbridge: " << problem << ".\n";
    return kWrongUse;
  }
  crypto::initialise();
  try {
    const auto copied = copy(options, err);
    if (copied) return print_result(*copied, options.json, out);
    err << "presetbridge: " << copied.error().message << " (" << copied.error().code << ")\n";
  } catch (const storage::DbError& e) {
    err << "presetbridge: The copy stopped: " << e.what()
        << ". Run the same command again: it goes on from there.\n";
  }
  return kFailed;
}

}  // namespace presetbridge::app
