// Many executions of a statement as one, with an array a parameter: `INSERT INTO t(…) VALUES ($1, 'x', $2)`
// becomes `INSERT INTO t(…) SELECT r.p1, 'x', r.p2 FROM unnest($1, $2) AS r(p1, p2)`, and likewise below.
// Each function takes a statement that follows the rules of sql_text.h and has `parameters` of them, and returns
// nothing for one that has no such form.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace presetbridge::storage::postgres {

struct BulkInsert {
  std::string text;
  std::string first_column;
};

// Takes a plain INSERT of one row of VALUES. ON CONFLICT … DO NOTHING may follow; or DO UPDATE SET n = t.n +
// excluded.n, and then no two executions may mean one row.
std::optional<BulkInsert> bulk_insert(std::string_view sql, int parameters);

// Takes `UPDATE t SET … WHERE …` without a query inside. A row of t is changed once, by one of the executions that
// mean it.
std::optional<std::string> bulk_update(std::string_view sql, int parameters);

// Takes a SELECT. One more column at the end is the number of the row's execution, from 1.
std::optional<std::string> bulk_select(std::string_view sql, int parameters);

}  // namespace presetbridge::storage::postgres
