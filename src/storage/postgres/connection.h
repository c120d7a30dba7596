// One PostgreSQL session, its prepared statements, and the transaction that runs on it. Used by one thread at
// a time.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "storage/postgres/server_clock.h"
#include "storage/postgres/session.h"

namespace presetbridge::storage::postgres {

// The form of a statement for many rows.
struct Bulk {
  std::string text;
  std::string name = {};  // empty: not prepared yet
};

// A prepared statement of the server, kept for the life of its session.
struct Statement {
  std::string source;  // the text it was made from
  std::string text;    // as the server gets it
  int parameters = 0;
  std::string name;                  // empty: not prepared yet
  std::vector<Oid> declared;         // int8, or 0 where the server was left to infer the type
  std::vector<Oid> types;            // what it made of that
  std::optional<Bulk> bulk;          // if there is such a form
  std::optional<Bulk> bulk_telling;  // of an INSERT: returns the first column of the rows that were inserted
  bool in_use = false;
};

class Connection {
 public:
  // Connects; throws DbError.
  Connection(const std::string& url, Access access, const Limits& limits, Millis migration)
      : session(url, access, limits), access_(access), migration_(migration) {}

  // Runs `fn` between BEGIN and COMMIT. Whatever leaves it has been rolled back, unless outcome_unknown().
  // `clock` replaces the server's, and `told` is told that one's time, unless they are null.
  void transact(const TxFn& fn, const Clock* clock, ServerClock* told);
  // Whether the connection was lost while the last transaction's COMMIT was on its way.
  bool outcome_unknown() const { return committing_ && !session.usable(); }

  // The statement, prepared for parameters of these types. Throws DbError misuse when they do not fit it.
  Statement& prepared(const Sql& sql, std::span<const Param> params);
  void prepare_bulk(const Statement& statement, Bulk& bulk);
  void exec_script(std::string_view text);
  void lock_schema();

  Session session;
  Values values;  // kept for its memory

 private:
  Timestamp begin();
  void roll_back() noexcept;
  void prepare(Statement& statement);
  std::string next_name() { return "s" + std::to_string(++prepared_); }

  const Access access_;
  const Millis migration_;
  bool committing_ = false;
  std::int64_t prepared_ = 0;
  std::unordered_map<const char*, Statement> statements_;
};

}  // namespace presetbridge::storage::postgres
