#include "storage/schema/migrations.h"

#include <fmt/format.h>

#include <map>
#include <string>

#include "crypto/digest.h"
#include "crypto/encoding.h"

namespace presetbridge::storage {
namespace {

constexpr std::string_view kCreateTable = R"sql(
CREATE TABLE IF NOT EXISTS schema_migrations(
  number <int> NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL,
  applied_at <int> NOT NULL
) <table>;
)sql";
constexpr Sql kSelectApplied{"SELECT number, name, checksum FROM schema_migrations"};
constexpr Sql kInsertApplied{
    "INSERT INTO schema_migrations(number, name, checksum, applied_at) VALUES($1, $2, $3, $4) ON CONFLICT DO "
    "NOTHING"};

struct Applied {
  std::string name;
  std::string checksum;
};

std::map<int, Applied> applied_to(Tx& tx) {
  std::map<int, Applied> applied;
  tx.query(kSelectApplied,
           [&](const Row& row) { applied[static_cast<int>(row.int64(0))] = {row.string(1), row.string(2)}; });
  return applied;
}

std::string checksum_of(const Migration& migration) {
  return crypto::hex_encode(crypto::sha256(std::as_bytes(std::span(migration.sql))));
}

// An error where `migrations` cannot be applied to a database that has `applied`.
Expected<void> check(const std::map<int, Applied>& applied, std::span<const Migration> migrations) {
  const int newest = static_cast<int>(migrations.size());
  if (!applied.empty() && applied.rbegin()->first > newest) {
    return fail(
        "SCHEMA_NEWER",
        fmt::format(
            "The database's schema is number {} and this program knows {}: start a newer version of it.",
            applied.rbegin()->first, newest));
  }
  for (const auto& [number, row] : applied) {
    const Migration& migration = migrations[static_cast<std::size_t>(number) - 1];
    if (row.checksum != checksum_of(migration)) {
      return fail("SCHEMA_CHANGED",
                  fmt::format("Migration {} was applied to the database as '{}' with another text than "
                              "this program's '{}': it is not the same product's database.",
                              number, row.name, migration.name));
    }
  }
  return {};
}

}  // namespace

Expected<int> migrate(Database& database, std::span<const Migration> migrations) {
  for (std::size_t i = 0; i < migrations.size(); ++i) {
    if (migrations[i].number != static_cast<int>(i) + 1) {
      return fail("MIGRATION_FAILED", fmt::format("Migration {} is out of order.", migrations[i].number));
    }
  }
  // So a role that may not change the schema passes where there is nothing to change.
  if (auto fit = check_schema(database, migrations); fit || fit.error().code != "SCHEMA_OLDER") {
    if (fit) return 0;
    if (fit.error().code != "SCHEMA_MISSING") return std::unexpected(fit.error());
  }
  int count = 0;
  std::string doing = "Reading the list of migrations";
  try {
    std::map<int, Applied> applied;
    database.write([&](Tx& tx) {
      tx.lock_schema();
      tx.exec_script(kCreateTable);
      applied = applied_to(tx);
    });
    if (auto fit = check(applied, migrations); !fit) return std::unexpected(fit.error());
    for (const Migration& migration : migrations) {
      if (applied.contains(migration.number)) continue;
      doing = fmt::format("Migration {} ({})", migration.number, migration.name);
      bool ours = false;
      database.write([&](Tx& tx) {
        tx.lock_schema();
        // A node that applied it while this one waited has left its row.
        ours =
            tx.exec(kInsertApplied, migration.number, migration.name, checksum_of(migration), tx.now()) == 1;
        if (ours) tx.exec_script(migration.sql);
      });
      if (ours) ++count;
    }
  } catch (const DbError& e) {
    const bool away = e.kind() == DbError::Kind::unavailable;
    return fail(away ? "STORAGE_UNAVAILABLE" : "MIGRATION_FAILED",
                fmt::format("{} failed: {}.", doing, e.what()));
  }
  return count;
}

Expected<void> check_schema(Database& database, std::span<const Migration> migrations) {
  std::map<int, Applied> applied;
  try {
    database.read([&](Tx& tx) { applied = applied_to(tx); });
  } catch (const DbError& e) {
    if (e.kind() == DbError::Kind::unavailable)
      return fail("STORAGE_UNAVAILABLE", fmt::format("Reading the list of migrations failed: {}.", e.what()));
    return fail("SCHEMA_MISSING",
                "The database has no list of migrations: it is not of this product, or `presetbridge "
                "migrate` has not been run on it yet.");
  }
  if (auto fit = check(applied, migrations); !fit) return fit;
  if (applied.size() < migrations.size()) {
    return fail("SCHEMA_OLDER",
                fmt::format("The database's schema is number {} and this program's {}: bring it up to date "
                            "with `presetbridge migrate`.",
                            applied.size(), migrations.size()));
  }
  return {};
}

}  // namespace presetbridge::storage
