#include "storage/testing/migrated.h"

#include <filesystem>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "storage/postgres/session.h"
#include "storage/schema/migrations.h"
#include "storage/testing.h"

namespace presetbridge::storage::testing {
namespace {

// Closed again, as a copy needs it.
void migrate_once(Expected<std::unique_ptr<Database>> opened) {
  if (!opened) throw std::runtime_error(opened.error().message);
  if (auto applied = migrate(**opened); !applied) throw std::runtime_error(applied.error().message);
}

class MigratedSqlite {
 public:
  MigratedSqlite() {
    const presetbridge::testing::ManualClock clock;
    migrate_once(open_sqlite({.path = path(), .lock_file = {}}, clock));
  }
  std::string path() const { return directory_.file("migrated.db"); }

 private:
  TemporaryDirectory directory_;
};

// Databases of one cluster, of which each has one user after the other: emptying one takes a tenth of what making and
// dropping one does.
class MigratedPostgres {
 public:
  explicit MigratedPostgres(TemporaryPostgres::Kind kind) : original_(kind) {
    const presetbridge::testing::ManualClock clock;
    migrate_once(open_postgres(patient(original_.url()), &clock));
    form_ = original_.run(kForm);
    constexpr Millis minute{60'000};
    postgres::Session session(original_.url(), postgres::Access::read_only, {minute, minute, minute, minute});
    const auto tables =
        session.run("SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'");
    for (int i = 0; i < PQntuples(tables.get()); ++i) {
      const std::string table = PQgetvalue(tables.get(), i, 0);
      clear_ += "DELETE FROM " + table + ";";
      const auto rows = session.run("SELECT quote_literal(json_agg(t)) FROM " + table + " t");
      if (PQgetisnull(rows.get(), 0, 0) != 0) continue;
      clear_ += "INSERT INTO " + table + " SELECT * FROM json_populate_recordset(NULL::" + table + ", " +
                PQgetvalue(rows.get(), 0, 0) + ");";
    }
  }

  std::unique_ptr<TemporaryPostgres> take() {
    std::unique_ptr<TemporaryPostgres> one;
    if (!free_.empty()) {
      one = std::move(free_.back());
      free_.pop_back();
    }
    return one ? std::move(one) : TemporaryPostgres::copy_of(original_);
  }
  // A database of which a test has altered more than rows is not used again, nor one that its server lost.
  void give_back(std::unique_ptr<TemporaryPostgres> one) {
    try {
      if (one->run(kForm) != form_) return;
      one->run(clear_);
      free_.push_back(std::move(one));
    } catch (const DbError&) {  // NOLINT(bugprone-empty-catch)
    }
  }

 private:
  // Names of columns, indexes and triggers, and the constraints, of the tables.
  static constexpr auto kForm =
      "SELECT COALESCE(string_agg(one, ' ' ORDER BY one), '') FROM ("
      "SELECT format('%s %s', attrelid::regclass, attname) AS one FROM pg_attribute JOIN pg_class c ON c.oid "
      "= attrelid"
      " WHERE c.relnamespace = 'public'::regnamespace AND attnum > 0"
      " UNION ALL SELECT format('%s %s', tgrelid::regclass, tgname) FROM pg_trigger WHERE NOT tgisinternal"
      " UNION ALL SELECT format('%s %s', conrelid::regclass, pg_get_constraintdef(oid)) FROM pg_constraint"
      " WHERE connamespace = 'public'::regnamespace) AS form";

  const TemporaryPostgres original_;
  std::string form_;
  std::string clear_ =
      "SET session_replication_role = replica;";  // statements that leave what the migrations wrote
  std::vector<std::unique_ptr<TemporaryPostgres>> free_;
};

MigratedPostgres& migrated_postgres(TemporaryPostgres::Kind kind) {
  static std::map<TemporaryPostgres::Kind, MigratedPostgres> all;
  return all.try_emplace(kind, kind).first->second;
}

}  // namespace

void copy_migrated_sqlite(const std::string& path) {
  static const MigratedSqlite original;
  std::filesystem::copy_file(original.path(), path);
}

std::shared_ptr<TemporaryPostgres> take_migrated_postgres(TemporaryPostgres::Kind kind) {
  auto& all = migrated_postgres(kind);
  auto one = all.take();
  return {one.release(),
          [&all](TemporaryPostgres* used) { all.give_back(std::unique_ptr<TemporaryPostgres>(used)); }};
}

}  // namespace presetbridge::storage::testing
