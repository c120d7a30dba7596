#include "storage/sqlite/connection.h"

#include <fmt/format.h>

#include "storage/sql_text.h"

namespace presetbridge::storage::sqlite {
namespace {

constexpr int kBusyTimeoutMs = 5'000;
constexpr std::int64_t kMostLogBytes = 64 << 20;  // the file is cut to so much after a checkpoint

constexpr Dialect kDialect{
    .bytes = "BLOB",
    .key = "TEXT",
    .integer = "INTEGER",
    .table = "STRICT",
    .clustered = "WITHOUT ROWID, STRICT",
    .lock = "",
    .for_update = "",
    .lane = "0",
    .postgres = "--",
    .sqlite = "",
};

constexpr Sql kBeginWrite{"BEGIN IMMEDIATE"};
constexpr Sql kBeginRead{"BEGIN DEFERRED"};
constexpr Sql kCommit{"COMMIT"};

// A use at whose end the statement is reset, also after an exception, so that no read snapshot lingers.
class Use {
 public:
  explicit Use(Statement& statement) : use_(statement), handle_(statement.handle.get()) {}
  ~Use() { sqlite3_reset(handle_); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  const StatementUse use_;
  sqlite3_stmt* const handle_;
};

// Values are bound without a copy: they outlive the call, and the next call binds all of them anew.
struct Bind {
  sqlite3_stmt* statement;
  int index;

  int operator()(std::nullptr_t) const { return sqlite3_bind_null(statement, index); }
  int operator()(std::int64_t v) const { return sqlite3_bind_int64(statement, index, v); }
  int operator()(std::string_view v) const {
    check_text(v);
    return sqlite3_bind_text64(statement, index, v.empty() ? "" : v.data(), v.size(), SQLITE_STATIC,
                               SQLITE_UTF8);
  }
  int operator()(Blob v) const {
    if (v.empty()) return sqlite3_bind_zeroblob(statement, index, 0);  // a null pointer would mean NULL
    return sqlite3_bind_blob64(statement, index, v.data(), v.size(), SQLITE_STATIC);
  }
};

class SqliteRow final : public Row {
 public:
  explicit SqliteRow(sqlite3_stmt* statement)
      : statement_(statement), columns_(sqlite3_column_count(statement)) {}

  bool is_null(int column) const override { return type(column) == SQLITE_NULL; }
  std::int64_t int64(int column) const override {
    expect(column, SQLITE_INTEGER, "an integer");
    return sqlite3_column_int64(statement_, column);
  }
  std::string_view text(int column) const override {
    expect(column, SQLITE_TEXT, "text");
    const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
  }
  Blob bytes(int column) const override {
    expect(column, SQLITE_BLOB, "bytes");
    const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(statement_, column));
    return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
  }

 private:
  int type(int column) const {
    if (column < 0 || column >= columns_) misuse(fmt::format("there is no column {}", column), sql());
    return sqlite3_column_type(statement_, column);
  }
  void expect(int column, int wanted, const char* name) const {
    const int found = type(column);
    if (found == wanted) return;
    misuse(fmt::format("column {} ({}) is {}, not {}", column, sqlite3_column_name(statement_, column),
                       found == SQLITE_NULL ? "NULL" : "of another type", name),
           sql());
  }
  const char* sql() const { return sqlite3_sql(statement_); }

  sqlite3_stmt* statement_;
  int columns_;
};

DbError::Kind kind_of(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
    case SQLITE_IOERR:
    case SQLITE_FULL:
    case SQLITE_CANTOPEN:
    case SQLITE_NOMEM:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return DbError::Kind::unavailable;
    case SQLITE_CONSTRAINT:
      return DbError::Kind::constraint;
    case SQLITE_READONLY:  // the code itself: a write in read(); its extensions: the file or disk turned
                           // read-only
      return code == SQLITE_READONLY ? DbError::Kind::misuse : DbError::Kind::unavailable;
    default:
      return DbError::Kind::misuse;
  }
}

}  // namespace

Connection::Connection(const std::string& path, Access access, int cache_mib, int checkpoint_pages)
    : access_(access), checkpoint_pages_(checkpoint_pages) {
  const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (access == Access::read_write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &db, flags, nullptr);
  db_.reset(db);
  if (code != SQLITE_OK) raise(code, "open");
  sqlite3_busy_timeout(db, kBusyTimeoutMs);
  // Memory for the rows and cursors of a batch, instead of the heap, which other threads use too.
  sqlite3_db_config(db, SQLITE_DBCONFIG_LOOKASIDE, nullptr, 1'200, 1'000);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);  // "x" is a name, never a string
  sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  run("PRAGMA foreign_keys=ON");
  run("PRAGMA temp_store=MEMORY");
  run(fmt::format("PRAGMA cache_size=-{}", cache_mib * 1024).c_str());
  if (access == Access::read_only) return;
  run("PRAGMA journal_mode=WAL");
  run("PRAGMA synchronous=NORMAL");  // commits are synced by the database: sqlite_database.h
  // Replaces SQLite's own hook, which checkpoints too but does not show whether a commit wrote anything.
  sqlite3_wal_hook(db, after_commit, this);
  run(fmt::format("PRAGMA journal_size_limit={}", kMostLogBytes).c_str());
  // Copies what a process that died left in the log into the file, and syncs that, before anything builds on it.
  run("PRAGMA wal_checkpoint(TRUNCATE)");
}

void Connection::run(const char* sql) {
  const int code = sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) raise(code, sql);
}

int Connection::after_commit(void* self, sqlite3* db, const char* name, int log_pages) {
  auto& connection = *static_cast<Connection*>(self);
  connection.wrote_ = true;
  if (log_pages >= connection.checkpoint_pages_) {
    // Where readers keep it from copying all, the rest is copied after a later commit. A checkpoint that fails
    // costs nobody their commit, which stands in the log: that grows until a checkpoint works.
    const int code = sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
    if (auto& trouble = connection.checkpoints_; trouble && code != SQLITE_BUSY) {
      code == SQLITE_OK ? trouble->worked()
                        : trouble->failed(fmt::format("SQLite {}: {}", code, sqlite3_errstr(code)));
    }
  }
  return SQLITE_OK;
}

bool Connection::transact(const TxFn& fn, const Clock& clock) {
  roll_back();  // a transaction that a failed ROLLBACK left open
  wrote_ = false;
  exec(access_ == Access::read_write ? kBeginWrite : kBeginRead, {});
  try {
    Tx tx(*this, clock.now());
    fn(tx);
    tx.conclude();
    exec(kCommit, {});
  } catch (...) {
    roll_back();
    throw;
  }
  return wrote_;
}

std::int64_t Connection::exec(const Sql& sql, std::span<const Param> params) {
  Statement& statement = prepared(sql, params.size());
  const Use use(statement);
  bind(statement, params);
  return finish(statement);
}

void Connection::query(const Sql& sql, std::span<const Param> params, const RowFn& fn) {
  Statement& statement = prepared(sql, params.size());
  const Use use(statement);
  bind(statement, params);
  const SqliteRow row(statement.handle.get());
  while (step(statement)) fn(row);
}

void Connection::exec_many(const Sql& sql, std::size_t width, std::span<const Param> flat) {
  for_rows(sql, width, flat, [&](std::size_t, const Statement& statement) { finish(statement); });
}

std::vector<bool> Connection::insert_each(const Sql& sql, std::size_t width, std::span<const Param> flat) {
  std::vector<bool> inserted;
  for_rows(sql, width, flat,
           [&](std::size_t, const Statement& statement) { inserted.push_back(finish(statement) == 1); });
  return inserted;
}

std::int64_t Connection::update_each(const Sql& sql, std::size_t width, std::span<const Param> flat) {
  std::int64_t changed = 0;
  for_rows(sql, width, flat, [&](std::size_t, const Statement& statement) { changed += finish(statement); });
  return changed;
}

void Connection::query_each(const Sql& sql, std::size_t width, std::span<const Param> flat,
                            const EachRowFn& fn) {
  for_rows(sql, width, flat, [&](std::size_t number, const Statement& statement) {
    const SqliteRow row(statement.handle.get());
    while (step(statement)) fn(number, row);
  });
}

template <class Run>
void Connection::for_rows(const Sql& sql, std::size_t width, std::span<const Param> flat, const Run& run) {
  Statement& statement = prepared(sql, width);
  const Use use(statement);
  for (std::size_t at = 0; at < flat.size(); at += width) {
    bind(statement, flat.subspan(at, width));
    run(at / width, statement);
    sqlite3_reset(statement.handle.get());
  }
}

void Connection::bind(const Statement& statement, std::span<const Param> params) const {
  for (std::size_t i = 0; i < params.size(); ++i) {
    const int code = std::visit(Bind{statement.handle.get(), statement.index_of[i]}, params[i].value());
    if (code != SQLITE_OK) raise(code, statement.source);
  }
}

bool Connection::step(const Statement& statement) const {
  const int code = sqlite3_step(statement.handle.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) raise(code, statement.source);
  return false;
}

std::int64_t Connection::finish(const Statement& statement) const {
  while (step(statement)) {
  }
  // SQLite's count is of the last statement that changed rows; a query does not reset it.
  return sqlite3_stmt_readonly(statement.handle.get()) != 0 ? 0 : sqlite3_changes64(db_.get());
}

std::string Connection::log_path() const {
  return sqlite3_filename_wal(sqlite3_db_filename(db_.get(), "main"));
}

void Connection::roll_back() noexcept {
  // SQLite has rolled back by itself after some errors: then it is in autocommit mode again.
  if (sqlite3_get_autocommit(db_.get()) == 0) sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

Statement& Connection::prepared(const Sql& sql, std::size_t parameters) {
  return statements_.get(sql, parameters, kDialect, [&](const SqlText& text) {
    Statement made;
    sqlite3_stmt* handle = nullptr;
    const int code = sqlite3_prepare_v3(db_.get(), text.text.c_str(), static_cast<int>(text.text.size()) + 1,
                                        SQLITE_PREPARE_PERSISTENT, &handle, nullptr);
    made.handle.reset(handle);
    if (code != SQLITE_OK) raise(code, sql.text);
    for (int i = 1; i <= text.parameters; ++i)
      made.index_of.push_back(sqlite3_bind_parameter_index(handle, fmt::format("${}", i).c_str()));
    return made;
  });
}

void Connection::exec_script(std::string_view text) {
  const SqlText script = to_script(text, kDialect);
  const char* rest = script.text.c_str();
  const char* const end = rest + script.text.size();
  while (rest < end) {
    sqlite3_stmt* handle = nullptr;
    const char* const start = rest;
    int code = sqlite3_prepare_v2(db_.get(), start, static_cast<int>(end - start) + 1, &handle, &rest);
    const std::unique_ptr<sqlite3_stmt, Statement::Finalize> statement(handle);
    if (code != SQLITE_OK) raise(code, start);
    if (handle == nullptr) continue;  // only space and comments
    do {
      code = sqlite3_step(handle);
    } while (code == SQLITE_ROW);
    if (code != SQLITE_DONE) raise(code, start);
  }
}

void Connection::raise(int code, std::string_view sql) const {
  const char* const said = db_ ? sqlite3_errmsg(db_.get()) : sqlite3_errstr(code);
  throw DbError(kind_of(code), fmt::format("SQLite {}: {}, in: {}", code, said, sql.substr(0, 200)));
}

}  // namespace presetbridge::storage::sqlite
