#include "storage/postgres/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "storage/postgres/bulk_statement.h"
#include "storage/sql_text.h"

namespace presetbridge::storage::postgres {
namespace {

constexpr Dialect kDialect{
    .bytes = "BYTEA",
    .key = "TEXT COLLATE \"C\"",
    .integer = "BIGINT",
    .table = "",
    .clustered = "",
    // Keys do not change: rows that refer to a locked one may be inserted meanwhile.
    .lock = "FOR NO KEY UPDATE SKIP LOCKED",
    .for_update = "FOR NO KEY UPDATE",
    .lane = "pg_backend_pid() % 8",
    .postgres = "",
    .sqlite = "--",
};

// Each is one round trip. A transaction of read() sees the database of one moment; each statement of one that
// writes sees the commits before the statement's start, so it locks the rows that it depends on.
constexpr const char* kBeginWrite =
    "BEGIN ISOLATION LEVEL READ COMMITTED; "
    "SELECT CAST(floor(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)";
constexpr const char* kBeginRead =
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
    "SELECT CAST(floor(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)";

// Any number that no other user of the database takes.
constexpr const char* kAdvisoryLock = "SELECT pg_advisory_xact_lock(7310594372018562)";

// Fewer rows are faster one by one in a pipeline; a chunk of more than this does not get faster.
constexpr std::size_t kFewestBulkRows = 4;
constexpr std::size_t kMostChunkRows = 256;

std::int64_t changed_rows(const Result& result) {
  if (std::string_view(PQcmdStatus(result.get())).starts_with("SELECT")) return 0;
  const std::string_view count = PQcmdTuples(result.get());
  std::int64_t rows = 0;
  std::from_chars(count.data(), count.data() + count.size(), rows);
  return rows;
}

}  // namespace

void Connection::transact(const TxFn& fn, const Clock* clock, ServerClock* server_clock) {
  committing_ = changes_schema_ = false;
  try {
    const std::int64_t asked_at = ServerClock::ticks();
    const Timestamp now = begin();
    if (server_clock != nullptr) server_clock->set(now, asked_at);
    Tx tx(*this, clock == nullptr ? now : clock->now());
    fn(tx);
    tx.conclude();
    committing_ = true;
    session.commit();
  } catch (...) {
    roll_back();
    throw;
  }
  session.allow_usual();
}

Timestamp Connection::begin() {
  const Result result = session.run(access_ == Access::read_write ? kBeginWrite : kBeginRead);
  const std::string_view text = PQntuples(result.get()) == 1 ? PQgetvalue(result.get(), 0, 0) : "";
  std::int64_t ms = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), ms).ec != std::errc{})
    throw DbError(DbError::Kind::misuse, "PostgreSQL did not return its time");
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

std::int64_t Connection::exec(const Sql& sql, std::span<const Param> params) {
  Statement& statement = prepared(sql, params);
  const StatementUse use(statement);
  return changed_rows(execute(statement, params));
}

void Connection::query(const Sql& sql, std::span<const Param> params, const RowFn& fn) {
  Statement& statement = prepared(sql, params);
  const StatementUse use(statement);
  const Result result = execute(statement, params);
  for (int row = 0; row < PQntuples(result.get()); ++row) fn(PostgresRow(result.get(), row));
}

template <class Run>
void Connection::in_chunks(const Sql& sql, std::size_t width, std::span<const Param> flat, const Run& run) {
  const std::size_t most = kMostChunkRows * width;
  for (std::size_t first = 0; first < flat.size(); first += most) {
    const auto chunk = flat.subspan(first, std::min(most, flat.size() - first));
    Statement* statement = nullptr;
    // A later row may have the type of a parameter that was NULL in those before.
    for (std::size_t at = 0; at < chunk.size(); at += width)
      statement = &prepared(sql, chunk.subspan(at, width));
    const StatementUse use(*statement);
    run(*statement, chunk, first / width);
  }
}

void Connection::exec_many(const Sql& sql, std::size_t width, std::span<const Param> flat) {
  in_chunks(sql, width, flat, [&](Statement& statement, auto chunk, std::size_t) {
    const std::size_t rows = chunk.size() / width;
    // The form of an UPDATE means something else: a row is changed once.
    if (rows >= kFewestBulkRows && statement.bulk_returning) {
      execute_bulk(statement, *statement.bulk, chunk);
    } else {
      session.execute_each(
          statement.name, rows,
          [&](std::size_t row, Values& values) { values.set(chunk.subspan(row * width, width)); },
          statement.source);
    }
  });
}

std::vector<bool> Connection::insert_each(const Sql& sql, std::size_t width, std::span<const Param> flat) {
  std::vector<bool> inserted;
  in_chunks(sql, width, flat, [&](Statement& statement, auto chunk, std::size_t) {
    const std::size_t rows = chunk.size() / width;
    if (!statement.bulk_returning || statement.types.front() != kInt8)
      misuse("insert_each: no INSERT whose first column is an integer", statement.source);
    if (rows < kFewestBulkRows) {
      for (std::size_t row = 0; row < rows; ++row)
        inserted.push_back(changed_rows(execute(statement, chunk.subspan(row * width, width))) == 1);
      return;
    }
    const Result result = execute_bulk(statement, *statement.bulk_returning, chunk);
    std::unordered_set<std::int64_t> ids;
    for (int row = 0; row < PQntuples(result.get()); ++row)
      ids.insert(PostgresRow(result.get(), row).int64(0));
    for (std::size_t row = 0; row < rows; ++row) {
      const auto* const id = std::get_if<std::int64_t>(&chunk[row * width].value());
      inserted.push_back(id != nullptr && ids.contains(*id));
    }
  });
  return inserted;
}

std::int64_t Connection::update_each(const Sql& sql, std::size_t width, std::span<const Param> flat) {
  std::int64_t rows = 0;
  in_chunks(sql, width, flat, [&](Statement& statement, auto chunk, std::size_t) {
    if (!statement.bulk || statement.bulk_returning) misuse("update_each: no plain UPDATE", statement.source);
    const bool one = chunk.size() == width;
    rows += changed_rows(one ? execute(statement, chunk) : execute_bulk(statement, *statement.bulk, chunk));
  });
  return rows;
}

void Connection::query_each(const Sql& sql, std::size_t width, std::span<const Param> flat,
                            const EachRowFn& fn) {
  in_chunks(sql, width, flat, [&](Statement& statement, auto chunk, std::size_t first) {
    if (!statement.bulk || statement.bulk_returning) misuse("query_each: no plain SELECT", statement.source);
    const bool one = chunk.size() == width;
    const Result result = one ? execute(statement, chunk) : execute_bulk(statement, *statement.bulk, chunk);
    const int number = PQnfields(result.get()) - 1;
    for (int row = 0; row < PQntuples(result.get()); ++row) {
      const PostgresRow found(result.get(), row);
      fn(first + (one ? 0 : static_cast<std::size_t>(found.int64(number) - 1)), found);
    }
  });
}

void Connection::exec_script(std::string_view text) {
  const SqlText script = to_script(text, kDialect);
  if (script.statements != 0) session.run(script.text);
}

void Connection::lock_schema() {
  changes_schema_ = true;
  session.allow(schema_.statement);
  session.run(kAdvisoryLock);
  session.give_way(schema_.lock);
}

Statement& Connection::prepared(const Sql& sql, std::span<const Param> params) {
  Statement& statement = statements_.get(sql, params.size(), kDialect, [](SqlText text) {
    Statement made;
    made.declared.resize(static_cast<std::size_t>(text.parameters));
    if (auto insert = bulk_insert(text.text, text.parameters)) {
      made.bulk_returning.emplace(fmt::format("{} RETURNING {}", insert->text, insert->first_column));
      made.bulk.emplace(std::move(insert->text));
    } else if (auto text_of_many = bulk_update(text.text, text.parameters).or_else([&] {
                 return bulk_select(text.text, text.parameters);
               })) {
      made.bulk.emplace(std::move(*text_of_many));
    }
    made.text = std::move(text.text);
    return made;
  });
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
    if (statement.declared[i] != 0 || !std::holds_alternative<std::int64_t>(params[i].value()))
      misuse(fmt::format("parameter ${} is of another type than the statement's", i + 1), statement.source);
    statement.declared[i] = kInt8;  // it was NULL before
    prepare(statement);
  }
  return statement;
}

void Connection::prepare(Statement& statement) {
  const StatementUse use(statement);
  const std::string name = next_name();
  statement.types = session.prepare(name, statement.text, statement.declared);
  statement.name = name;
  for (auto* bulk : {&statement.bulk, &statement.bulk_returning}) {
    if (*bulk) (*bulk)->name.clear();
  }
}

Result Connection::execute(const Statement& statement, std::span<const Param> params) {
  values_.set(params);
  return session.execute(statement.name, values_, statement.source);
}

Result Connection::execute_bulk(const Statement& statement, Bulk& bulk, std::span<const Param> flat) {
  if (bulk.name.empty()) {
    std::vector<Oid> arrays;
    for (const Oid type : statement.types) arrays.push_back(array_of(type));
    const std::string name = next_name();
    session.prepare(name, bulk.text, arrays);
    bulk.name = name;
  }
  values_.set_columns(statement.types, flat);
  return session.execute(bulk.name, values_, statement.source);
}

}  // namespace presetbridge::storage::postgres
