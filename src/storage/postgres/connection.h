// One PostgreSQL session, its prepared statements, and the transaction that runs on it. Used by one thread at
// a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "storage/postgres/server_clock.h"
#include "storage/postgres/session.h"
#include "storage/statement_cache.h"
#include "storage/tx_driver.h"

namespace presetbridge::storage::postgres {

// The form of a statement for many rows.
struct Bulk {
  std::string text;
  std::string name = {};  // empty: not prepared yet
};

// A prepared statement of the server; it lives as long as its session.
struct Statement : PreparedStatement {
  std::string text;             // as the server gets it
  std::string name = {};        // empty: not prepared yet
  std::vector<Oid> declared;    // int8, or 0 where the server was left to infer the type
  std::vector<Oid> types = {};  // the server's types of the parameters
  std::optional<Bulk> bulk;     // if there is such a form
  std::optional<Bulk>
      bulk_returning;  // of an INSERT: returns the first column of the rows that were inserted
};

// The limits of a transaction that changes the schema.
struct SchemaLimits {
  Millis statement;  // and for the schema to be free of other nodes' migrations
  Millis lock;       // for a table that others use: who comes after waits as long, too
};

class Connection final : private TxDriver {
 public:
  // Connects; throws DbError.
  Connection(const std::string& url, Access access, const Limits& limits, const SchemaLimits& schema)
      : session(url, access, limits), access_(access), schema_(schema) {}

  // Runs `fn` between BEGIN and COMMIT. When it throws, the transaction has been rolled back, unless
  // outcome_unknown(). `clock` replaces the server's, and `server_clock` is set to the server's time; each may
  // be null.
  void transact(const TxFn& fn, const Clock* clock, ServerClock* server_clock);
  // Whether the connection was lost while the last transaction's COMMIT was on its way.
  bool outcome_unknown() const { return committing_ && !session.usable(); }
  // Whether the last transaction called lock_schema().
  bool changed_schema() const { return changes_schema_; }

  Session session;

 private:
  bool others_write() const override { return true; }
  std::int64_t exec(const Sql& sql, std::span<const Param> params) override;
  void query(const Sql& sql, std::span<const Param> params, const RowFn& fn) override;
  void exec_many(const Sql& sql, std::size_t width, std::span<const Param> flat) override;
  std::vector<bool> insert_each(const Sql& sql, std::size_t width, std::span<const Param> flat) override;
  std::int64_t update_each(const Sql& sql, std::size_t width, std::span<const Param> flat) override;
  void query_each(const Sql& sql, std::size_t width, std::span<const Param> flat,
                  const EachRowFn& fn) override;
  void exec_script(std::string_view text) override;
  void lock_schema() override;

  Timestamp begin();
  void roll_back() noexcept;
  // The statement, prepared for parameters of these types. Throws DbError misuse when they do not fit it.
  Statement& prepared(const Sql& sql, std::span<const Param> params);
  void prepare(Statement& statement);
  std::string next_name() { return "s" + std::to_string(++prepared_); }
  // Calls `run(statement, chunk, number of its first row)` with the statement prepared and in use.
  template <class Run>
  void in_chunks(const Sql& sql, std::size_t width, std::span<const Param> flat, const Run& run);
  Result execute(const Statement& statement, std::span<const Param> params);
  Result execute_bulk(const Statement& statement, Bulk& bulk, std::span<const Param> flat);

  const Access access_;
  const SchemaLimits schema_;
  bool committing_ = false;
  bool changes_schema_ = false;
  std::int64_t prepared_ = 0;
  StatementCache<Statement> statements_;
  Values values_;  // reused for its memory
};

}  // namespace presetbridge::storage::postgres
