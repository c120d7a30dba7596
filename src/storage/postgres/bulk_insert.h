// Many rows by one statement: `INSERT INTO t(…) VALUES ($1, 'x', $2)` becomes `INSERT INTO t(…) SELECT r.p1,
// 'x', r.p2 FROM unnest($1, $2) AS r(p1, p2)`, with an array a column.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace presetbridge::storage::postgres {

struct BulkInsert {
  std::string text;
  std::string first_column;
};

// The statement for arrays; nothing for a statement that is no plain INSERT of one row of VALUES (ON CONFLICT
// DO NOTHING may follow). `sql` keeps the rules of sql_text.h and has `parameters` of them.
std::optional<BulkInsert> bulk_insert(std::string_view sql, int parameters);

}  // namespace presetbridge::storage::postgres
