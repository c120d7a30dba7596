#include "storage/postgres/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "storage/postgres/bulk_statement.h"
#include "storage/sql_text.h"

namespace presetbridge::storage::postgres {
namespace {

constexpr Dialect dialect{
    .bytes = "BYTEA",
    .key = "TEXT COLLATE \"C\"",
    .integer = "BIGINT",
    .table = "",
    .clustered = "",
    // Keys do not change: rows that refer to a locked one may come meanwhile.
    .lock = "FOR NO KEY UPDATE SKIP LOCKED",
    .for_update = "FOR NO KEY UPDATE",
    .lane = "pg_backend_pid() % 8",
    .postgres = "",
    .sqlite = "--",
};

// One round trip. What read() sees is of one moment; a transaction that writes sees what others have
// committed when each of its statements starts, and locks what it depends on.
constexpr const char* begin_write =
    "BEGIN ISOLATION LEVEL READ COMMITTED; "
    "SELECT CAST(floor(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)";
constexpr const char* begin_read =
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
    "SELECT CAST(floor(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)";

// Any number will do that no other user of the database takes.
constexpr const char* advisory_lock = "SELECT pg_advisory_xact_lock(7310594372018562)";

// Fewer rows are faster one by one in a pipeline; more than this do not get faster.
constexpr std::size_t fewest_bulk_rows = 4;
constexpr std::size_t most_rows_at_once = 256;

[[noreturn]] void misuse(const std::string& message) {
  throw DbError(DbError::Kind::misuse, message);
}

class Use {
 public:
  explicit Use(Statement& statement) : statement_(statement) {
    if (statement_.in_use)
      misuse("a statement runs inside its own row callback: " + statement_.source.substr(0, 200));
    statement_.in_use = true;
  }
  ~Use() { statement_.in_use = false; }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  Statement& statement_;
};

class PostgresTx final : public Tx {
 public:
  PostgresTx(Connection& connection, Timestamp now) : connection_(connection), now_(now) {}

  Timestamp now() override { return now_; }
  bool others_write() const override { return true; }

  std::int64_t exec_params(const Sql& sql, std::span<const Param> params) override {
    return guarded([&] {
      Statement& statement = connection_.prepared(sql, params);
      const Use use(statement);
      return changed(execute(statement, params).get());
    });
  }

  void query_params(const Sql& sql, std::span<const Param> params, const RowFn& fn) override {
    guarded([&] {
      Statement& statement = connection_.prepared(sql, params);
      const Use use(statement);
      const Result result = execute(statement, params);
      for (int row = 0; row < PQntuples(result.get()); ++row) fn(PostgresRow(result.get(), row));
    });
  }

  void exec_many(const Sql& sql, std::size_t width, std::span<const Param> flat) override {
    in_pieces(width, flat, [&](std::span<const Param> piece) { exec_some(sql, width, piece); });
  }

  std::vector<bool> insert_each(const Sql& sql, std::size_t width, std::span<const Param> flat) override {
    std::vector<bool> inserted;
    in_pieces(width, flat, [&](std::span<const Param> piece) { insert_some(sql, width, piece, inserted); });
    return inserted;
  }

  std::int64_t update_each(const Sql& sql, std::size_t width, std::span<const Param> flat) override {
    std::int64_t rows = 0;
    in_pieces(width, flat, [&](std::span<const Param> piece) { rows += update_some(sql, width, piece); });
    return rows;
  }

  void query_each(const Sql& sql, std::size_t width, std::span<const Param> flat,
                  const EachRowFn& fn) override {
    std::size_t before = 0;
    in_pieces(width, flat, [&](std::span<const Param> piece) {
      query_some(sql, width, piece, before, fn);
      before += piece.size() / width;
    });
  }

  void exec_script(std::string_view text) override {
    guarded([&] { connection_.exec_script(text); });
  }

  void lock_schema() override {
    guarded([&] { connection_.lock_schema(); });
  }

  void finish() { conclude(); }

  // A statement that failed spoils the transaction, even if its exception was caught: the server has it so.
  void check() const {
    if (failure_) throw DbError(*failure_);
  }

 private:
  template <class F>
  std::invoke_result_t<F&> guarded(F f) {
    check();
    try {
      return f();
    } catch (const DbError& e) {
      failure_ = e;
      throw;
    }
  }

  Result execute(const Statement& statement, std::span<const Param> params) {
    connection_.values.set(params);
    return connection_.session.execute(statement.name, connection_.values, statement.source);
  }

  template <class Piece>
  void in_pieces(std::size_t width, std::span<const Param> flat, const Piece& piece) {
    guarded([&] {
      if (width == 0 || flat.size() % width != 0)
        misuse("the parameters of many rows are not a multiple of the width");
      for (; !flat.empty(); flat = flat.subspan(std::min(flat.size(), most_rows_at_once * width)))
        piece(flat.first(std::min(flat.size(), most_rows_at_once * width)));
    });
  }

  // Each row may tell of the type of a parameter, where those before had NULL.
  Statement& prepared_for_rows(const Sql& sql, std::size_t width, std::span<const Param> flat) {
    Statement* statement = nullptr;
    for (std::size_t at = 0; at < flat.size(); at += width)
      statement = &connection_.prepared(sql, flat.subspan(at, width));
    return *statement;
  }

  Result execute_bulk(Statement& statement, Bulk& bulk, std::span<const Param> flat) {
    connection_.prepare_bulk(statement, bulk);
    connection_.values.set_columns(statement.types, flat);
    return connection_.session.execute(bulk.name, connection_.values, statement.source);
  }

  void exec_some(const Sql& sql, std::size_t width, std::span<const Param> flat) {
    const std::size_t rows = flat.size() / width;
    Statement& statement = prepared_for_rows(sql, width, flat);
    const Use use(statement);
    // Of an UPDATE the form means something else: a row is changed once.
    if (rows >= fewest_bulk_rows && statement.bulk_telling) {
      execute_bulk(statement, *statement.bulk, flat);
    } else {
      connection_.session.execute_each(
          statement.name, rows,
          [&](std::size_t row, Values& values) { values.set(flat.subspan(row * width, width)); },
          statement.source);
    }
  }

  void insert_some(const Sql& sql, std::size_t width, std::span<const Param> flat,
                   std::vector<bool>& inserted) {
    const std::size_t rows = flat.size() / width;
    Statement& statement = prepared_for_rows(sql, width, flat);
    const Use use(statement);
    if (!statement.bulk_telling || statement.types.front() != kInt8)
      misuse("insert_each: no INSERT whose first column is an integer: " + statement.source.substr(0, 200));
    if (rows < fewest_bulk_rows) {
      for (std::size_t row = 0; row < rows; ++row)
        inserted.push_back(changed(execute(statement, flat.subspan(row * width, width)).get()) == 1);
      return;
    }
    const Result result = execute_bulk(statement, *statement.bulk_telling, flat);
    std::unordered_set<std::int64_t> ids;
    for (int row = 0; row < PQntuples(result.get()); ++row)
      ids.insert(PostgresRow(result.get(), row).int64(0));
    for (std::size_t row = 0; row < rows; ++row) {
      const auto* const id = std::get_if<std::int64_t>(&flat[row * width].value());
      inserted.push_back(id != nullptr && ids.contains(*id));
    }
  }

  std::int64_t update_some(const Sql& sql, std::size_t width, std::span<const Param> flat) {
    Statement& statement = prepared_for_rows(sql, width, flat);
    const Use use(statement);
    if (!statement.bulk || statement.bulk_telling)
      misuse("update_each: no plain UPDATE: " + statement.source.substr(0, 200));
    if (flat.size() > width) return changed(execute_bulk(statement, *statement.bulk, flat).get());
    return changed(execute(statement, flat).get());
  }

  void query_some(const Sql& sql, std::size_t width, std::span<const Param> flat, std::size_t before,
                  const EachRowFn& fn) {
    Statement& statement = prepared_for_rows(sql, width, flat);
    const Use use(statement);
    if (!statement.bulk || statement.bulk_telling)
      misuse("query_each: no plain SELECT: " + statement.source.substr(0, 200));
    const bool one = flat.size() == width;
    const Result result = one ? execute(statement, flat) : execute_bulk(statement, *statement.bulk, flat);
    const int number = PQnfields(result.get()) - 1;
    for (int row = 0; row < PQntuples(result.get()); ++row) {
      const PostgresRow found(result.get(), row);
      fn(before + (one ? 0 : static_cast<std::size_t>(found.int64(number) - 1)), found);
    }
  }

  static std::int64_t changed(PGresult* result) {
    if (std::string_view(PQcmdStatus(result)).starts_with("SELECT")) return 0;
    const std::string_view count = PQcmdTuples(result);
    std::int64_t rows = 0;
    std::from_chars(count.data(), count.data() + count.size(), rows);
    return rows;
  }

  Connection& connection_;
  const Timestamp now_;
  std::optional<DbError> failure_;
};

}  // namespace

void Connection::transact(const TxFn& fn, const Clock* clock, ServerClock* told) {
  committing_ = false;
  try {
    const std::int64_t asked_at = ServerClock::ticks();
    const Timestamp now = begin();
    if (told != nullptr) told->told(now, asked_at);
    PostgresTx tx(*this, clock == nullptr ? now : clock->now());
    fn(tx);
    tx.check();
    tx.finish();
    committing_ = true;
    session.commit();
  } catch (...) {
    roll_back();
    throw;
  }
  session.allow_usual();
}

Timestamp Connection::begin() {
  const Result result = session.run(access_ == Access::read_write ? begin_write : begin_read);
  const std::string_view text = PQntuples(result.get()) == 1 ? PQgetvalue(result.get(), 0, 0) : "";
  std::int64_t ms = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), ms).ec != std::errc{})
    misuse("PostgreSQL did not tell the time");
  return from_unix_ms(ms);
}

void Connection::roll_back() noexcept {
  session.allow_usual();
  if (!session.usable() || !session.in_transaction()) return;
  try {
    session.run("ROLLBACK");
  } catch (...) {
    session.drop();
  }
}

Statement& Connection::prepared(const Sql& sql, std::span<const Param> params) {
  auto found = statements_.find(sql.text);
  if (found == statements_.end()) {
    SqlText text = to_statement(sql.text, dialect);
    Statement made{.source = sql.text, .text = std::move(text.text), .parameters = text.parameters};
    made.declared.resize(static_cast<std::size_t>(text.parameters));
    if (auto bulk = bulk_insert(made.text, text.parameters)) {
      made.bulk_telling.emplace(fmt::format("{} RETURNING {}", bulk->text, bulk->first_column));
      made.bulk.emplace(std::move(bulk->text));
    } else if (auto text_of_many = bulk_update(made.text, text.parameters).or_else([&] {
                 return bulk_select(made.text, text.parameters);
               })) {
      made.bulk.emplace(std::move(*text_of_many));
    }
    found = statements_.emplace(sql.text, std::move(made)).first;
  }
  Statement& statement = found->second;
  if (statement.source != sql.text)
    misuse("the text of an Sql must be static: its address now holds another one");
  if (params.size() != statement.declared.size()) {
    misuse(fmt::format("{} parameters for a statement of {}: {}", params.size(), statement.declared.size(),
                       statement.source.substr(0, 200)));
  }
  if (statement.name.empty()) {
    for (std::size_t i = 0; i < params.size(); ++i) {
      // Where an integer stands in for no column, the server would make 32 bits of it. Text and bytes are
      // inferred: declared, they would be cast to what the column is.
      if (std::holds_alternative<std::int64_t>(params[i].value())) statement.declared[i] = kInt8;
    }
    prepare(statement);
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (fits(params[i], statement.types[i])) continue;
    if (statement.declared[i] != 0 || !std::holds_alternative<std::int64_t>(params[i].value())) {
      misuse(fmt::format("parameter ${} is of another type than the statement's: {}", i + 1,
                         statement.source.substr(0, 200)));
    }
    statement.declared[i] = kInt8;  // it was NULL before
    prepare(statement);
  }
  return statement;
}

void Connection::prepare(Statement& statement) {
  if (statement.in_use)
    misuse("a statement runs inside its own row callback: " + statement.source.substr(0, 200));
  const std::string name = next_name();
  statement.types = session.prepare(name, statement.text, statement.declared);
  statement.name = name;
  for (auto* bulk : {&statement.bulk, &statement.bulk_telling}) {
    if (*bulk) (*bulk)->name.clear();
  }
}

void Connection::prepare_bulk(const Statement& statement, Bulk& bulk) {
  if (!bulk.name.empty()) return;
  std::vector<Oid> arrays;
  for (const Oid type : statement.types) arrays.push_back(array_of(type));
  const std::string name = next_name();
  session.prepare(name, bulk.text, arrays);
  bulk.name = name;
}

void Connection::exec_script(std::string_view text) {
  const SqlText script = to_dialect(text, dialect);
  if (script.parameters != 0) misuse("a script has no parameters");
  if (script.statements != 0) session.run(script.text);
}

void Connection::lock_schema() {
  session.allow(migration_);
  session.run(advisory_lock);
}

}  // namespace presetbridge::storage::postgres
