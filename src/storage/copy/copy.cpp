#include "storage/copy/copy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <set>
#include <variant>

#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "storage/copy/table_shape.h"
#include "storage/schema/migrations.h"
#include "storage/stores/node_store.h"

namespace presetbridge::storage {
namespace {

constexpr std::string_view kMakeProgress =
    "CREATE TABLE copy_progress (source <key> PRIMARY KEY, begun_at <int> NOT NULL) <table>;";
constexpr std::string_view kRemoveProgress = "DROP TABLE copy_progress;";
constexpr Sql kNoteSource{"INSERT INTO copy_progress (source, begun_at) VALUES ($1, $2)"};
constexpr Sql kSource{"SELECT source FROM copy_progress"};
constexpr Sql kSqliteHasProgress{
    "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'copy_progress'"};
constexpr Sql kPostgresHasProgress{
    "SELECT 1 FROM pg_class WHERE relkind = 'r' AND relname = 'copy_progress' AND"
    " relnamespace = CAST(current_schema() AS regnamespace)"};

// A batch ends with the row that takes it over this; the longest rows are about as long as a request's body.
constexpr std::size_t kBatchBytes = 8 << 20;
constexpr std::int64_t kMostRows = 10'000;
// So many rows of the target are read at once where the source has none left to compare them with.
constexpr std::int64_t kSurplusRows = 100;

using Value = std::variant<std::nullptr_t, std::int64_t, std::string, std::vector<std::byte>>;

Param param_of(const Value& value) {
  struct Make {
    Param operator()(std::nullptr_t) const { return nullptr; }
    Param operator()(std::int64_t v) const { return v; }
    Param operator()(const std::string& v) const { return v; }
    Param operator()(const std::vector<std::byte>& v) const { return Blob(v); }
  };
  return std::visit(Make{}, value);
}

Value value_of(const Row& row, int column, ColumnType type) {
  if (row.is_null(column)) return nullptr;
  switch (type) {
    case ColumnType::integer:
      return row.int64(column);
    case ColumnType::text:
      return row.string(column);
    case ColumnType::bytes:
      break;
  }
  const Blob bytes = row.bytes(column);
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

std::size_t size_of(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return sizeof value + text->size();
  if (const auto* bytes = std::get_if<std::vector<std::byte>>(&value)) return sizeof value + bytes->size();
  return sizeof value;
}

// Drivers know a statement by the address of its text for as long as they live: the text is stored once for all
// copies of this process, and never freed.
Sql lasting(std::string text) {
  static std::mutex mutex;  // guards texts
  static std::set<std::string> texts;
  const std::lock_guard lock(mutex);
  return {texts.insert(std::move(text)).first->c_str()};
}

// The statements of a table.
struct Statements {
  explicit Statements(const TableShape& shape) {
    std::vector<std::string> columns;
    std::vector<std::string> parameters;
    for (const auto& column : shape.columns) {
      columns.push_back(column.name);
      parameters.push_back(fmt::format("${}", columns.size()));
    }
    std::vector<std::string> key;
    std::vector<std::string> back;
    std::vector<std::string> after;
    for (const std::size_t column : shape.key) {
      key.push_back(columns[column]);
      back.push_back(columns[column] + " DESC");
      after.push_back(fmt::format("${}", key.size()));
    }
    const auto all = fmt::format("SELECT {} FROM {}", fmt::join(columns, ", "), shape.name);
    const auto order = fmt::format("ORDER BY {}", fmt::join(key, ", "));
    first = lasting(fmt::format("{} {} LIMIT $1", all, order));
    next = lasting(fmt::format("{} WHERE ({}) > ({}) {} LIMIT ${}", all, fmt::join(key, ", "),
                               fmt::join(after, ", "), order, key.size() + 1));
    last = lasting(fmt::format("{} ORDER BY {} LIMIT 1", all, fmt::join(back, ", ")));
    any = lasting(fmt::format("SELECT 1 FROM {} LIMIT 1", shape.name));
    insert = lasting(fmt::format("INSERT INTO {} ({}) VALUES ({})", shape.name, fmt::join(columns, ", "),
                                 fmt::join(parameters, ", ")));
  }
  Sql first{};   // $1 rows from the beginning
  Sql next{};    // behind a key
  Sql last{};    // the row with the highest key
  Sql any{};     // a row if there is one
  Sql insert{};  // a row
};

struct Table {
  explicit Table(TableShape of) : shape(std::move(of)), sql(shape) {}
  TableShape shape;
  Statements sql;
};

// Some rows, one behind the other.
struct Rows {
  std::vector<Value> values;
  std::int64_t count = 0;
  std::size_t bytes = 0;

  void add(const Row& row, const TableShape& shape) {
    for (std::size_t i = 0; i < shape.columns.size(); ++i) {
      values.push_back(value_of(row, static_cast<int>(i), shape.columns[i].type));
      bytes += size_of(values.back());
    }
    ++count;
  }
};

// The checksum of rows that are added in order.
class Checksum {
 public:
  void add(const Rows& rows, std::size_t width) {
    for (std::size_t at = 0; at < rows.values.size(); at += width) {
      text_.assign(reinterpret_cast<const char*>(hash_.data()), hash_.size());
      for (std::size_t i = at; i < at + width; ++i) add(rows.values[i]);
      hash_ = crypto::sha256(text_);
    }
  }
  std::string hex() const { return crypto::hex_encode(hash_); }

 private:
  // Each value with its type and its length, so that no two different rows give one text.
  void add(const Value& value) {
    text_ += "nitb"[value.index()];
    if (const auto* integer = std::get_if<std::int64_t>(&value))
      return add(static_cast<std::uint64_t>(*integer));
    if (const auto* text = std::get_if<std::string>(&value)) {
      add(text->size());
      text_ += *text;
    } else if (const auto* bytes = std::get_if<std::vector<std::byte>>(&value)) {
      add(bytes->size());
      text_.append(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    }
  }
  void add(std::uint64_t number) {
    for (int shift = 56; shift >= 0; shift -= 8) text_ += static_cast<char>(number >> shift);
  }

  crypto::Sha256 hash_{};
  std::string text_;
};

// Reads a table of one database in the order of its primary key.
class Walk {
 public:
  Walk(Database& database, const Table& table) : database_(database), table_(table) {}

  // Begins behind the row with the highest key of `other`'s table.
  void begin_behind(Database& other) {
    Rows last;
    other.read([&](Tx& tx) {
      last = {};
      tx.query(table_.sql.last, [&](const Row& row) { last.add(row, table_.shape); });
    });
    remember(last);
  }

  // At most so many of the next rows, none at the end. Valid until the next call.
  const Rows& next(std::int64_t most) {
    const std::int64_t limit = std::min(most, most_);
    bool cut = false;
    database_.read([&](Tx& tx) {
      rows_ = {};
      cut = false;
      std::vector<Param> params;
      for (const Value& value : key_) params.push_back(param_of(value));
      params.emplace_back(limit);
      tx.query_params(key_.empty() ? table_.sql.first : table_.sql.next, params, [&](const Row& row) {
        cut = cut || rows_.bytes >= kBatchBytes;
        if (!cut) rows_.add(row, table_.shape);
      });
    });
    // Rows behind a cut were read in vain: the next read asks for no more than fitted.
    most_ = cut ? rows_.count : std::min(most_ * 2, kMostRows);
    remember(rows_);
    count_ += rows_.count;
    return rows_;
  }

  std::int64_t count() const { return count_; }

 private:
  void remember(const Rows& rows) {
    if (rows.count == 0) return;
    const auto last = rows.values.end() - static_cast<std::ptrdiff_t>(table_.shape.columns.size());
    key_.clear();
    for (const std::size_t column : table_.shape.key)
      key_.push_back(last[static_cast<std::ptrdiff_t>(column)]);
  }

  Database& database_;
  const Table& table_;
  std::vector<Value> key_;  // of the row that the next one is behind; empty at the beginning
  std::int64_t most_ = 64;  // grows: how long the rows are is not known before
  Rows rows_;
  std::int64_t count_ = 0;
};

// All tables but those that each database has of its own; with nodes, if asked for.
std::vector<Table> tables_of(Database& database, bool with_nodes) {
  std::vector<Table> tables;
  database.read([&](Tx& tx) {
    tables.clear();
    for (auto& shape : read_tables(tx, database.engine())) {
      const bool own = shape.name == "schema_migrations" || shape.name == "copy_progress" ||
                       (shape.name == "nodes" && !with_nodes);
      if (!own) tables.emplace_back(std::move(shape));
    }
  });
  return tables;
}

// Differs from that of another source, and of this one after the service ran on it: some table has another first
// or last row then.
std::string fingerprint_of(Database& source) {
  Checksum checksum;
  source.read([&](Tx& tx) {
    checksum = {};
    for (auto& shape : read_tables(tx, source.engine())) {
      const Table table(std::move(shape));
      Rows ends;
      tx.query(table.sql.first, 1, [&](const Row& row) { ends.add(row, table.shape); });
      tx.query(table.sql.last, [&](const Row& row) { ends.add(row, table.shape); });
      checksum.add(ends, table.shape.columns.size());
    }
  });
  return checksum.hex();
}

Expected<void> begin(Database& target, const std::string& source) {
  const auto tables = tables_of(target, true);
  Expected<void> begun;
  target.write([&](Tx& tx) {
    begun = {};
    tx.lock_schema();  // a node that starts searches for a copy under this lock, too
    if (copy_unfinished(tx, target.engine())) {
      const auto known = tx.one(kSource, [](const Row& r) { return r.string(0); });
      if (known != source) {
        begun = fail("COPY_OTHER_SOURCE",
                     "The target holds an unfinished copy of another database, or of this one before the "
                     "service ran on it again: empty the target, and copy anew.");
      }
      return;
    }
    for (const Table& table : tables) {
      if (!tx.one(table.sql.any, [](const Row&) { return true; })) continue;
      begun = fail("COPY_TARGET_NOT_EMPTY",
                   fmt::format("The target is no empty database and no unfinished copy: its table {} has "
                               "rows. If a copy to it has ended there is nothing more to do; if a service "
                               "was started on it, copy to another database.",
                               table.shape.name));
      return;
    }
    tx.exec_script(kMakeProgress);
    tx.exec(kNoteSource, source, tx.now());
  });
  return begun;
}

void copy_table(Database& source, Database& target, const Table& table, const CopyOptions& options) {
  Walk walk(source, table);
  walk.begin_behind(target);
  for (;;) {
    const Rows& rows = walk.next(options.batch_rows);
    if (rows.count > 0) {
      std::vector<Param> params;
      params.reserve(rows.values.size());
      for (const Value& value : rows.values) params.push_back(param_of(value));
      target.write([&](Tx& tx) { tx.exec_many(table.sql.insert, table.shape.columns.size(), params); });
    }
    options.progress({false, table.shape.name, walk.count(), rows.count == 0});
    if (rows.count == 0) return;
  }
}

CopiedTable compare_table(Database& source, Database& target, const Table& table,
                          const CopyOptions& options) {
  Walk here(source, table);
  Walk there(target, table);
  Checksum ours;
  Checksum theirs;
  const std::size_t width = table.shape.columns.size();
  for (bool done = false; !done;) {
    const Rows& mine = here.next(options.batch_rows);
    ours.add(mine, width);
    const Rows& copied = there.next(mine.count > 0 ? mine.count : kSurplusRows);
    theirs.add(copied, width);
    done = mine.count == 0 && copied.count == 0;
    options.progress({true, table.shape.name, here.count(), done});
  }
  return {table.shape.name, here.count(), there.count(), ours.hex(), theirs.hex()};
}

void finish(Database& target, const CopyOptions& options) {
  // Without statistics the service's first minutes would be slow.
  target.write([](Tx& tx) {
    tx.lock_schema();  // for the time that statements may then take
    tx.exec_script("ANALYZE;");
  });
  target.write([&](Tx& tx) {
    tx.lock_schema();
    const bool known_service = !used_keys(tx, KeyUse::service).empty();
    const bool known_vault = !used_keys(tx, KeyUse::vault).empty();
    for (const auto& [use, id] : options.keys) {
      // A key that the source has not begun to use is not used by being copied.
      if (!(use == KeyUse::service ? known_service : known_vault)) note_used_key(tx, use, id);
    }
    take_node_number(tx, "the copied database", tx.now());  // the first: the source's only node had it
    tx.exec_script(kRemoveProgress);
  });
}

}  // namespace

Expected<std::vector<CopiedTable>> copy_database(Database& source, Database& target,
                                                 const CopyOptions& options) {
  // Before anything else: a service that found the tables alone would take the target for a new deployment.
  if (auto begun = begin(target, fingerprint_of(source)); !begun) return std::unexpected(begun.error());
  if (auto migrated = migrate(target); !migrated) return std::unexpected(migrated.error());
  const auto tables = tables_of(source, false);
  if (!std::ranges::equal(tables, tables_of(target, false), {}, &Table::shape, &Table::shape)) {
    return fail("SCHEMA_CHANGED",
                "The two databases do not have the same tables and columns: both must be the product's own.");
  }
  for (const Table& table : tables) copy_table(source, target, table, options);
  std::vector<CopiedTable> copied;
  for (const Table& table : tables) copied.push_back(compare_table(source, target, table, options));
  if (std::ranges::all_of(copied, &CopiedTable::equal)) finish(target, options);
  return copied;
}

bool copy_unfinished(Tx& tx, std::string_view engine) {
  return tx
      .one(engine == "sqlite" ? kSqliteHasProgress : kPostgresHasProgress, [](const Row&) { return true; })
      .has_value();
}

}  // namespace presetbridge::storage
