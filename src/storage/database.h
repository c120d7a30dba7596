// The Database port: transactions over one of two engines, with SQL that both speak.
//
// The rules of the SQL, each checked by the driver or by tests/conformance:
// - parameters are exactly $1..$n, each used; casts are CAST(x AS BIGINT), never ::; flags are 0/1;
// - no JSON functions, LIKE, lower(), nullable ORDER BY or alias in UPDATE; hot predicates are literals;
// - the order of RETURNING rows is unspecified: sort in code; sum() is cast to BIGINT;
// - text is UTF-8 without U+0000;
// - DDL tokens for what differs: <bytes>, <key> (TEXT that sorts by code point), <int> (64 bits), and after a
//   table's ')' either <table> or <clustered> (rows live in the primary key's order), both of which make
//   SQLite check the types of columns; <postgres> and <sqlite> begin a line that is for one engine alone
//   (storage parameters, tables that one of them has to make anew);
// - query tokens: <lock> (FOR NO KEY UPDATE SKIP LOCKED) and <for_update> (FOR NO KEY UPDATE), which are
//   nothing on SQLite, where one writer runs; <lane>: a small number that transactions which are open at once
//   seldom share, 0 on SQLite.
//
// An expected refusal is a statement that changes or returns no row. A constraint error is a bug, or on
// PostgreSQL the effect of another transaction that committed between this one's read and its write: the
// transaction runs once more, and then fails.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "storage/changes.h"
#include "storage/news.h"

namespace presetbridge::storage {

// A statement's text: a literal, or anything else with static storage duration; its address is the key of the
// prepared statement.
struct Sql {
  const char* text;
};

using Blob = std::span<const std::byte>;

// Brings forward when a row has work: `sql`, for Tx::update_each(), gets the row's id as $1 and `times` times
// from $2 on, each of them perhaps NULL. See Tx::wake().
struct Wake {
  int rank;
  Sql sql;
  std::size_t times = 1;
};

// Sums that many transactions add to: `sql`, for Tx::exec_many(), gets the five numbers that a sum is found
// by and, as $6, what is added to it. See Tx::add().
struct Tally {
  Sql sql;
};
using TallyKey = std::array<std::int64_t, 5>;

// A parameter's value. Views must stay valid for the call that takes them.
class Param {
 public:
  using Value = std::variant<std::nullptr_t, std::int64_t, std::string_view, Blob>;
  Param(std::nullptr_t) : value_(nullptr) {}
  Param(std::nullopt_t) : value_(nullptr) {}
  Param(std::int64_t v) : value_(v) {}
  Param(int v) : value_(std::int64_t{v}) {}
  Param(bool v) : value_(std::int64_t{v}) {}
  Param(std::string_view v) : value_(v) {}
  Param(const std::string& v) : value_(std::string_view(v)) {}
  Param(const char* v) : value_(std::string_view(v)) {}
  Param(Blob v) : value_(v) {}
  Param(Timestamp t) : value_(to_unix_ms(t)) {}
  template <class Kind>
  Param(Id<Kind> id) : value_(id.value) {}
  template <class T>
  Param(const std::optional<T>& v) : value_(v ? Param(*v).value_ : Value(nullptr)) {}
  const Value& value() const { return value_; }

 private:
  Value value_;
};

// One row of a result, valid only inside the callback that gets it. Columns count from 0. A column of another
// type than the one asked for, or NULL where none is expected, throws DbError: the SQL and the code disagree.
class Row {
 public:
  virtual ~Row() = default;
  virtual bool is_null(int column) const = 0;
  virtual std::int64_t int64(int column) const = 0;
  virtual std::string_view text(int column) const = 0;
  virtual Blob bytes(int column) const = 0;

  bool flag(int column) const { return int64(column) != 0; }
  std::string string(int column) const { return std::string(text(column)); }
  Timestamp time(int column) const { return from_unix_ms(int64(column)); }
  template <class AnyId>
  AnyId id(int column) const {
    return AnyId{int64(column)};
  }
  std::optional<std::int64_t> opt_int64(int c) const {
    return is_null(c) ? std::nullopt : std::optional(int64(c));
  }
  std::optional<Timestamp> opt_time(int c) const {
    return is_null(c) ? std::nullopt : std::optional(time(c));
  }
  // The empty string, or the none-id, for NULL.
  std::string string_or_empty(int c) const { return is_null(c) ? std::string() : string(c); }
  template <class AnyId>
  AnyId id_or_none(int c) const {
    return is_null(c) ? AnyId{} : AnyId{int64(c)};
  }
};

// The error of a transaction that was rolled back: nothing of it stands. One exception: PostgreSQL's
// connection was lost while the commit was on its way (unavailable); then it may stand (postgres_database.h).
class DbError : public std::runtime_error {
 public:
  enum class Kind {
    unavailable,  // the server is away, the disk is full, the file is locked: try again later
    busy,         // a statement, or its wait for a lock, took too long: others may succeed
    conflict,     // deadlock or serialization failure: the caller of write() never sees it unless retries ran
                  // out
    constraint,   // a CHECK, UNIQUE or type was violated: a bug here
    misuse,       // SQL and code disagree, or the SQL breaks the rules above
  };
  DbError(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

class TxDriver;  // tx_driver.h

// One open transaction over an engine's driver. Used by one thread. Stores take a Tx& and are plain functions.
// Statements throw DbError. After one has, even where that was caught, each further statement and the commit
// throw it again: the transaction can only roll back.
class Tx final {
 public:
  using RowFn = std::function<void(const Row&)>;
  using EachRowFn = std::function<void(std::size_t, const Row&)>;

  // `driver` outlives this.
  Tx(TxDriver& driver, Timestamp now) : driver_(driver), now_(now) {}
  Tx(const Tx&) = delete;
  Tx& operator=(const Tx&) = delete;

  // The time when the transaction began, by PostgreSQL's clock, or by the injected one with SQLite.
  Timestamp now() const { return now_; }
  // Whether other transactions write meanwhile, so that rows have to be locked, and in one order
  // (docs/architecture.md).
  bool others_write() const;
  // Runs a statement; returns how many rows it changed.
  std::int64_t exec_params(const Sql& sql, std::span<const Param> params);
  // Runs a statement and calls `fn` for each row. `fn` may use this Tx, but not run the same Sql again.
  void query_params(const Sql& sql, std::span<const Param> params, const RowFn& fn);
  // Runs the statement once for each `width` parameters of `flat`, as fast as the engine can. An INSERT with ON
  // CONFLICT … DO UPDATE may not mean one row twice.
  void exec_many(const Sql& sql, std::size_t width, std::span<const Param> flat);
  // Runs an INSERT once for each `width` parameters of `flat`; returns for each whether its row was inserted.
  // The statement inserts one row of VALUES with ON CONFLICT … DO NOTHING. Its first column is $1, an integer
  // that no other of these rows has.
  std::vector<bool> insert_each(const Sql& sql, std::size_t width, std::span<const Param> flat);
  // Runs `UPDATE … SET … WHERE …` of one table, without a query inside, once for each `width` parameters of
  // `flat`; returns how many rows it changed in all. No two of the rows of parameters may mean the same row of
  // the table; rows are locked in the order of the parameters.
  std::int64_t update_each(const Sql& sql, std::size_t width, std::span<const Param> flat);
  // Runs a SELECT once for each `width` parameters of `flat`, and calls `fn` for each row of the results with
  // the number of those parameters, from 0. The numbers come in any order; the rows of one number keep the
  // order of their SELECT. A SELECT … <for_update> locks rows in the order of the parameters.
  void query_each(const Sql& sql, std::size_t width, std::span<const Param> flat, const EachRowFn& fn);
  // Runs statements without parameters, each ended by ';', and leaves none prepared: for DDL. The text may be
  // temporary.
  void exec_script(std::string_view text);
  // For migrations: returns when no other transaction that called it is open, on whichever node, and excludes
  // others until this one ends. Statements may then take an hour each. They wait two seconds for
  // a table, as others wait behind them; then the transaction runs again.
  void lock_schema();

  // Runs the wake-up when the transaction's function has ended, right before the commit: once for each row,
  // with the earliest of each of its times; lower ranks first, and ids in order. Many transactions wake the
  // same rows: in any other order two of them could each wait for the other. A table's rows have one rank.
  template <class Kind>
  void wake(const Wake& wake, Id<Kind> id, std::initializer_list<std::optional<Timestamp>> times) {
    add_wake(wake, id.value, times);
  }

  // Adds to a sum when the transaction's function has ended, behind the wake-ups: once for each sum, in the
  // order of their keys, so that no two transactions wait for each other, and none long. All sums are of one
  // tally.
  void add(const Tally& tally, const TallyKey& key, std::int64_t amount);

  // The events of this transaction that are to be logged and counted if it stands (news.h). Empty at first.
  News& news() { return news_; }
  // Its changes that screens show (changes.h). Empty at first.
  Changes& changes() { return changes_; }
  // Does what is left to the end: the wake-ups, the sums, then the changes of watched accounts, which news()
  // has then. Drivers call it right before the commit. A caller who needs that news earlier calls it too, as
  // the last thing before the commit. Throws the DbError of a statement that failed before.
  void conclude();

  template <class... P>
  std::int64_t exec(const Sql& sql, const P&... params) {
    const std::initializer_list<Param> list{Param(params)...};
    return exec_params(sql, {list.begin(), list.size()});
  }
  // query(sql, params..., fn)
  template <class... A>
  void query(const Sql& sql, const A&... args) {
    const auto all = std::forward_as_tuple(args...);
    query_tuple(sql, all, std::get<sizeof...(A) - 1>(all), std::make_index_sequence<sizeof...(A) - 1>{});
  }
  // The first row, mapped by the last argument; nothing if there is none. one(sql, params..., fn)
  template <class... A>
  auto one(const Sql& sql, const A&... args) {
    const auto all = std::forward_as_tuple(args...);
    const auto& fn = std::get<sizeof...(A) - 1>(all);
    std::optional<std::decay_t<decltype(fn(std::declval<const Row&>()))>> found;
    const auto first = [&](const Row& row) {
      if (!found) found.emplace(fn(row));
    };
    query_tuple(sql, all, first, std::make_index_sequence<sizeof...(A) - 1>{});
    return found;
  }

 private:
  template <class F>
  std::invoke_result_t<const F&> guarded(const F& run);
  template <class F>
  std::invoke_result_t<const F&> many(std::size_t width, std::span<const Param> flat, const F& run);
  void add_wake(const Wake& wake, std::int64_t id, std::initializer_list<std::optional<Timestamp>> times);
  void run_wakes();
  void run_sums();

  template <class Tuple, std::size_t... I>
  void query_tuple(const Sql& sql, const Tuple& all, const RowFn& fn, std::index_sequence<I...>) {
    const std::initializer_list<Param> list{Param(std::get<I>(all))...};
    query_params(sql, {list.begin(), list.size()}, fn);
  }

  TxDriver& driver_;
  const Timestamp now_;
  std::optional<DbError> failure_;  // of the first statement that failed
  std::map<int, std::pair<Wake, std::map<std::int64_t, std::vector<std::optional<Timestamp>>>>> wakes_;
  Tally tally_{};
  std::map<TallyKey, std::int64_t> sums_;
  News news_;
  Changes changes_;
};

// For Tx::query_each() with one parameter: the ids, in their order.
template <class AnyId>
std::vector<Param> params_of(std::span<const AnyId> ids) {
  return {ids.begin(), ids.end()};
}

using TxFn = std::function<void(Tx&)>;

// One database. Thread-safe: the driver holds the connections. Calls block; AsyncDatabase (async_database.h) is
// how the rest of the program reaches it without blocking.
class Database {
 public:
  enum class Durability {
    durable,     // a power cut does not undo it
    on_its_way,  // others see it; a power cut may undo it until sync() has returned
  };

  virtual ~Database() = default;
  // Runs `fn` in one read-write transaction and commits it. Any exception of `fn` rolls back and is rethrown.
  // Conflicts are retried: `fn` may run more than once and must overwrite, not append to, what it captures.
  virtual Durability commit(const TxFn& fn) = 0;
  // Makes durable all that commit() returned before this call, while further transactions run. Throws DbError
  // of kind unavailable: no caller may then be answered that what was committed since the last sync() stands.
  virtual void sync() = 0;
  // commit(), then sync() where it is needed: when this returns, a power cut does not undo it (spec 2.5).
  void write(const TxFn& fn) {
    if (commit(fn) == Durability::on_its_way) sync();
  }
  // Runs `fn` in one read-only transaction with a consistent view.
  virtual void read(const TxFn& fn) = 0;
  // From now on nothing waits for a server that is away: a call that would wait throws unavailable instead.
  virtual void give_up() {}
  // "sqlite" or "postgres".
  virtual std::string_view engine() const = 0;
};

}  // namespace presetbridge::storage
