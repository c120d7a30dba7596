// The wire's binary form of parameters and columns: 64-bit integers, text and bytes; no other types are sent.
#pragma once

#include <libpq-fe.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/database.h"

namespace presetbridge::storage::postgres {

struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, ClearResult>;

// From the server's catalogue pg_type; they never change.
inline constexpr Oid kBool = 16, kBytea = 17, kInt8 = 20, kInt4 = 23, kText = 25, kVarchar = 1043;

// Whether a parameter of this type takes the value. NULL fits all.
bool fits(const Param& param, Oid type);
// The type of arrays of `type`, one of bytea, int8, text; 0 for others.
Oid array_of(Oid type);

// The parameters of one execution. Text and bytes are not copied: they outlive it.
class Values {
 public:
  // Throws DbError misuse for a text that check_text() refuses.
  void set(std::span<const Param> params);
  // One array a column: the parameters of `flat.size() / types.size()` rows. Copies.
  void set_columns(std::span<const Oid> types, std::span<const Param> flat);

  int size() const { return static_cast<int>(data_.size()); }
  const char* const* data() const { return data_.data(); }
  const int* lengths() const { return lengths_.data(); }
  const int* formats() const { return formats_.data(); }

 private:
  void clear();
  void add(const char* data, std::size_t length);

  std::vector<const char*> data_;
  std::vector<int> lengths_;
  std::vector<int> formats_;
  std::vector<std::array<char, 8>> integers_;
  std::vector<std::string> arrays_;
};

class PostgresRow final : public Row {
 public:
  PostgresRow(const PGresult* result, int row) : result_(result), row_(row) {}
  bool is_null(int column) const override;
  std::int64_t int64(int column) const override;
  std::string_view text(int column) const override;
  Blob bytes(int column) const override;

 private:
  void check_column(int column) const;
  [[noreturn]] void mismatch(int column, const char* wanted) const;
  std::string_view value(int column) const;

  const PGresult* result_;
  int row_;
};

}  // namespace presetbridge::storage::postgres
