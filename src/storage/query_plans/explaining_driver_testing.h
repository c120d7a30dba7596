// Explains the statements that stores run, on their way to the driver, and judges their plans.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/postgres/bulk_statement.h"
#include "storage/sql_text.h"
#include "storage/tx_driver.h"

namespace presetbridge::storage::testing {

inline constexpr Sql kPartialIndexesOfPostgres{
    "SELECT CAST(indexname AS TEXT) FROM pg_indexes WHERE schemaname = 'public' AND position(' WHERE ' IN "
    "indexdef) > 0"};
inline constexpr Sql kPartialIndexesOfSqlite{
    "SELECT name FROM sqlite_master WHERE type = 'index' AND instr(sql, ' WHERE ') > 0"};
inline constexpr Dialect kDialect{.bytes = "BYTEA",
                                  .key = "",
                                  .integer = "",
                                  .table = "",
                                  .clustered = "",
                                  .lock = "FOR NO KEY UPDATE SKIP LOCKED",
                                  .for_update = "FOR NO KEY UPDATE",
                                  .lane = "pg_backend_pid() % 8",
                                  .postgres = "",
                                  .sqlite = "--"};
inline constexpr Sql kPreparedAs{"SELECT name FROM pg_prepared_statements WHERE statement = $1"};

// An Sql's text has static storage duration.
inline Sql lasting(std::string text) {
  static std::set<std::string> texts;
  return {texts.insert(std::move(text)).first->c_str()};
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
// The word after `before`; empty if that is not there.
inline std::string word_after(std::string_view text, std::string_view before) {
  const auto at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  return std::string(text.substr(0, text.find_first_of(" (")));
}

// Explains what passes through to `tx`.
class ExplainingDriver final : public TxDriver {
 public:
  ExplainingDriver(Tx& tx, bool postgres) : tx_(tx), postgres_(postgres) {
    tx.query(postgres ? kPartialIndexesOfPostgres : kPartialIndexesOfSqlite,
             [&](const Row& r) { partial_.insert(r.string(0)); });
    // Beside the plan for these values there is the one that the server caches for all values.
    if (postgres) tx.exec_script("SET LOCAL plan_cache_mode = force_generic_plan;");
  }

  bool others_write() const override { return true; }
  std::int64_t exec(const Sql& sql, std::span<const Param> params) override {
    const auto changed = tx_.exec_params(sql, params);
    explain(sql, params);
    return changed;
  }
  void query(const Sql& sql, std::span<const Param> params, const RowFn& fn) override {
    tx_.query_params(sql, params, fn);
    explain(sql, params);
  }
  void exec_many(const Sql& sql, std::size_t width, std::span<const Param> flat) override {
    tx_.exec_many(sql, width, flat);
    explain(sql, flat.first(width));
  }
  std::vector<bool> insert_each(const Sql& sql, std::size_t width, std::span<const Param> flat) override {
    auto inserted = tx_.insert_each(sql, width, flat);
    explain(sql, flat.first(width));
    return inserted;
  }
  std::int64_t update_each(const Sql& sql, std::size_t width, std::span<const Param> flat) override {
    const auto changed = tx_.update_each(sql, width, flat);
    explain_each(sql, width, flat, [&](std::span<const Param> twice) { tx_.update_each(sql, width, twice); });
    return changed;
  }
  void query_each(const Sql& sql, std::size_t width, std::span<const Param> flat,
                  const EachRowFn& fn) override {
    tx_.query_each(sql, width, flat, fn);
    explain_each(sql, width, flat, [&](std::span<const Param> twice) {
      tx_.query_each(sql, width, twice, [](std::size_t, const Row&) {});
    });
  }
  void exec_script(std::string_view text) override { tx_.exec_script(text); }
  void lock_schema() override { tx_.lock_schema(); }

  // Statements that read a whole table, with their plans.
  std::vector<std::string> whole_reads;
  // Indexes that each plan used.
  std::set<std::string> used;

 private:
  // A statement for one row, and for many, which PostgreSQL plans anew.
  template <class Run>
  void explain_each(const Sql& sql, std::size_t width, std::span<const Param> flat, const Run& run) {
    if (explained_.contains(sql.text)) return;
    explain(sql, flat.first(width));
    if (!postgres_) return;
    std::vector<Param> twice(flat.begin(), flat.begin() + static_cast<std::ptrdiff_t>(width));
    twice.insert(twice.end(), flat.begin(), flat.begin() + static_cast<std::ptrdiff_t>(width));
    run(twice);
    const std::string one = to_statement(sql.text, kDialect).text;
    const int parameters = static_cast<int>(width);
    const auto many = postgres::bulk_update(one, parameters).or_else([&] {
      return postgres::bulk_select(one, parameters);
    });
    EXPECT_TRUE(many && judge_cached_plan(sql, *many, width)) << sql.text;
  }

  void explain(const Sql& sql, std::span<const Param> params) {
    if (!explained_.insert(sql.text).second) return;
    if (!postgres_) {
      judge(sql, plan(lasting(std::string("EXPLAIN QUERY PLAN ") + sql.text), params, 3));
      return;
    }
    judge(sql, plan(lasting(std::string("EXPLAIN ") + sql.text), params, 0));
    judge_cached_plan(sql, to_statement(sql.text, kDialect).text, params.size());
  }

  // False if the server has no such prepared statement: an INSERT of many rows has another form there.
  bool judge_cached_plan(const Sql& sql, const std::string& text, std::size_t parameters) {
    const auto prepared = tx_.one(kPreparedAs, text, [](const Row& r) { return r.string(0); });
    if (!prepared) return false;
    std::string execute = "EXPLAIN EXECUTE \"" + *prepared + "\"";
    for (std::size_t i = 0; i < parameters; ++i) execute += i == 0 ? " (NULL" : ", NULL";
    judge(sql, plan(lasting(execute + (parameters == 0 ? "" : ")")), {}, 0));
    return true;
  }

  std::vector<std::string> plan(const Sql& explanation, std::span<const Param> params, int column) {
    std::vector<std::string> lines;
    tx_.query_params(explanation, params, [&](const Row& r) { lines.push_back(r.string(column)); });
    return lines;
  }

  void judge(const Sql& sql, const std::vector<std::string>& lines) {
    bool whole = false;
    for (std::size_t i = 0; i < lines.size(); ++i)
      whole = (postgres_ ? whole_of_postgres(lines, i) : whole_of_sqlite(lines[i])) || whole;
    if (!whole) return;
    whole_reads.emplace_back(sql.text);
    for (const auto& line : lines) whole_reads.back() += "\n    " + line;
  }

  bool whole_of_postgres(const std::vector<std::string>& lines, std::size_t at) {
    if (contains(lines[at], "Seq Scan on ") || contains(lines[at], "Bitmap Heap Scan")) return true;
    if (!contains(lines[at], "Scan") || !contains(lines[at], " using ")) return false;
    const std::string index = word_after(lines[at], " using ");
    used.insert(index);
    if (partial_.contains(index)) return false;
    for (++at; at < lines.size() && !contains(lines[at], "->"); ++at) {
      if (contains(lines[at], "Index Cond:")) return false;
    }
    return true;
  }

  bool whole_of_sqlite(const std::string& line) {
    const std::string index = word_after(line, " INDEX ");
    if (!index.empty()) used.insert(index);
    // The subqueries of a query.
    static const std::set<std::string> made{"CONSTANT", "queued", "q", "s", "counted", "quarters"};
    return line.starts_with("SCAN ") && !made.contains(word_after(line, "SCAN ")) &&
           !partial_.contains(index);
  }

  Tx& tx_;
  const bool postgres_;
  std::set<std::string> partial_;
  std::set<std::string> explained_;
};

}  // namespace presetbridge::storage::testing
