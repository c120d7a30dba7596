// One SQLite connection and the transaction that runs on it. Used by one thread at a time.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "storage/commit/trouble_log.h"
#include "storage/statement_cache.h"
#include "storage/tx_driver.h"

namespace presetbridge::storage::sqlite {

// A prepared statement; it lives as long as its connection.
struct Statement : PreparedStatement {
  struct Finalize {
    void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle;
  std::vector<int> index_of;  // SQLite numbers named parameters by first appearance: $k is at index_of[k - 1]
};

class Connection final : private TxDriver {
 public:
  enum class Access { read_write, read_only };

  // Throws DbError.
  Connection(const std::string& path, Access access, int cache_mib, int checkpoint_pages);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Runs `fn` between BEGIN and COMMIT; returns whether that wrote anything. When it throws, the transaction has
  // been rolled back.
  bool transact(const TxFn& fn, const Clock& clock);

  // From now on checkpoints that fail are logged. Both outlive this.
  void log_checkpoints(Log& log, const Clock& clock) { checkpoints_.emplace(log, &clock, "checkpoints"); }

  // The path of the write-ahead log. SQLite follows a symbolic link to the database: the log is beside its
  // target.
  std::string log_path() const;

 private:
  bool others_write() const override { return false; }
  std::int64_t exec(const Sql& sql, std::span<const Param> params) override;
  void query(const Sql& sql, std::span<const Param> params, const RowFn& fn) override;
  void exec_many(const Sql& sql, std::size_t width, std::span<const Param> flat) override;
  std::vector<bool> insert_each(const Sql& sql, std::size_t width, std::span<const Param> flat) override;
  std::int64_t update_each(const Sql& sql, std::size_t width, std::span<const Param> flat) override;
  void query_each(const Sql& sql, std::size_t width, std::span<const Param> flat,
                  const EachRowFn& fn) override;
  void exec_script(std::string_view text) override;
  void lock_schema() override {}  // BEGIN IMMEDIATE has done it

  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close(db); }
  };
  void run(const char* sql);
  void roll_back() noexcept;
  Statement& prepared(const Sql& sql, std::size_t parameters);
  void bind(const Statement& statement, std::span<const Param> params) const;
  // Returns whether there is a row.
  bool step(const Statement& statement) const;
  // Runs the statement to its end; returns how many rows it changed.
  std::int64_t finish(const Statement& statement) const;
  // Calls `run(number, statement)` for each row of parameters, which is bound.
  template <class Run>
  void for_rows(const Sql& sql, std::size_t width, std::span<const Param> flat, const Run& run);
  // Throws the DbError that SQLite's result code means, with SQLite's message.
  [[noreturn]] void raise(int code, std::string_view sql) const;
  static int after_commit(void* self, sqlite3* db, const char* name, int log_pages);

  const Access access_;
  const int checkpoint_pages_;
  bool wrote_ = false;
  std::optional<TroubleLog> checkpoints_;
  std::unique_ptr<sqlite3, Close> db_;
  StatementCache<Statement> statements_;  // after db_: statements end before their connection
};

}  // namespace presetbridge::storage::sqlite
