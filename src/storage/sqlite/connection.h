// One SQLite connection and the transaction that runs on it. Used by one thread at a time.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "storage/commit/trouble_log.h"
#include "storage/database.h"

namespace presetbridge::storage::sqlite {

// A prepared statement, kept for the life of its connection.
struct Statement {
  struct Finalize {
    void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle;
  std::vector<int> index_of;  // SQLite numbers named parameters by first appearance: $k is at index_of[k - 1]
  std::string source;         // the text it was made from
  bool in_use = false;
};

class Connection {
 public:
  enum class Access { read_write, read_only };

  // Throws DbError.
  Connection(const std::string& path, Access access, int cache_mib, int checkpoint_pages);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Runs `fn` between BEGIN and COMMIT; whether that wrote anything. Whatever leaves it has been rolled back.
  bool transact(const TxFn& fn, const Clock& clock);

  // From now on of checkpoints that fail. Both outlive this.
  void tell(Log& log, const Clock& clock) { checkpoints_.emplace(log, &clock, "checkpoints"); }

  // Of the write-ahead log. SQLite follows a symbolic link of the database's: the log is beside its target.
  std::string log_path() const;
  Statement& prepared(const Sql& sql);
  void exec_script(std::string_view text);
  // Throws the DbError that SQLite's result code means, with what it says about it.
  [[noreturn]] void raise(int code, std::string_view sql) const;

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close(db); }
  };
  void run(const char* sql);
  void roll_back() noexcept;
  static int after_commit(void* self, sqlite3* db, const char* name, int log_pages);

  const Access access_;
  const int checkpoint_pages_;
  bool wrote_ = false;
  std::optional<TroubleLog> checkpoints_;
  std::unique_ptr<sqlite3, Close> db_;
  std::unordered_map<const char*, Statement> statements_;  // after db_: statements go before their connection
};

}  // namespace presetbridge::storage::sqlite
