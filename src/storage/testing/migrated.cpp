#include "storage/testing/migrated.h"

#include <filesystem>
#include <stdexcept>
#include <utility>
#include <vector>

#include "storage/postgres/session.h"
#include "storage/schema/migrations.h"
#include "storage/testing.h"

namespace presetbridge::storage::testing {
namespace {

constexpr Millis kMinute{60'000};

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

// Reads the clock of the test that has the database now.
class ClockOfTheUser final : public Clock {
 public:
  Timestamp now() const override { return user->now(); }
  const Clock* user = nullptr;
};

// A database that one test after the other borrows: emptying one takes a tenth of what making and dropping one does.
struct Lent {
  explicit Lent(std::unique_ptr<TemporaryPostgres> made, const Clock& first) : server(std::move(made)) {
    clock.user = &first;
    auto opened = open_postgres(patient(server->url()), &clock);
    if (!opened) throw std::runtime_error(opened.error().message);
    database = std::move(*opened);
  }
  const std::unique_ptr<TemporaryPostgres> server;
  ClockOfTheUser clock;
  std::unique_ptr<Database> database;
  postgres::Session cleaner{
      server->url(), postgres::Access::read_write, {kMinute, kMinute, kMinute, kMinute}};
  bool gave_up = false;
};

class MigratedPostgres {
 public:
  explicit MigratedPostgres(TemporaryPostgres::Kind kind) : original_(kind) {
    const presetbridge::testing::ManualClock clock;
    migrate_once(open_postgres(patient(original_.url()), &clock));
    form_ = original_.run(kForm);
    postgres::Session session(original_.url(), postgres::Access::read_only,
                              {kMinute, kMinute, kMinute, kMinute});
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

  std::unique_ptr<Lent> take(const Clock& clock) {
    if (free_.empty()) return std::make_unique<Lent>(TemporaryPostgres::copy_of(original_), clock);
    auto one = std::move(free_.back());
    free_.pop_back();
    one->clock.user = &clock;
    return one;
  }
  // A database of which a test has altered more than rows is not used again, nor one that its server lost.
  void give_back(std::unique_ptr<Lent> one) {
    try {
      if (one->gave_up || PQgetvalue(one->cleaner.run(kForm).get(), 0, 0) != form_) return;
      one->cleaner.run(clear_);
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
  std::vector<std::unique_ptr<Lent>> free_;
};

class LentDatabase final : public Database {
 public:
  LentDatabase(MigratedPostgres& owner, const Clock& clock) : owner_(owner), lent_(owner.take(clock)) {}
  ~LentDatabase() override { owner_.give_back(std::move(lent_)); }

  Durability commit(const TxFn& fn) override { return lent_->database->commit(fn); }
  void sync() override { lent_->database->sync(); }
  void read(const TxFn& fn) override { lent_->database->read(fn); }
  void give_up() override {
    lent_->gave_up = true;
    lent_->database->give_up();
  }
  std::string_view engine() const override { return lent_->database->engine(); }

 private:
  MigratedPostgres& owner_;
  std::unique_ptr<Lent> lent_;
};

}  // namespace

void copy_migrated_sqlite(const std::string& path) {
  static const MigratedSqlite original;
  std::filesystem::copy_file(original.path(), path);
}

std::unique_ptr<Database> take_migrated_postgres(TemporaryPostgres::Kind kind, const Clock& clock) {
  // Static variables, each of which ends before the cluster that it is made of.
  const auto take = [&]<TemporaryPostgres::Kind k>() {
    static MigratedPostgres migrated(k);
    return std::make_unique<LentDatabase>(migrated, clock);
  };
  switch (kind) {
    case TemporaryPostgres::Kind::real:
      return take.operator()<TemporaryPostgres::Kind::real>();
    case TemporaryPostgres::Kind::quick:
      return take.operator()<TemporaryPostgres::Kind::quick>();
    case TemporaryPostgres::Kind::sized:
      return take.operator()<TemporaryPostgres::Kind::sized>();
  }
  throw std::logic_error("no such kind of cluster");
}

}  // namespace presetbridge::storage::testing
