#include "storage/postgres/values.h"

#include <endian.h>
#include <fmt/format.h>

#include <cstring>

#include "storage/sql_text.h"

namespace presetbridge::storage::postgres {
namespace {

// The server takes no field above 1 GiB.
constexpr std::size_t kLongestValue = 1 << 30;

std::array<char, 8> big_endian(std::int64_t value) {
  const std::uint64_t wire = htobe64(static_cast<std::uint64_t>(value));
  std::array<char, 8> bytes{};
  std::memcpy(bytes.data(), &wire, sizeof wire);
  return bytes;
}

void append_int4(std::string& to, std::uint32_t value) {
  const std::uint32_t wire = htobe32(value);
  to.append(reinterpret_cast<const char*>(&wire), sizeof wire);
}

// Text and bytes as they are on the wire; nothing for NULL and for integers.
struct View {
  std::optional<std::string_view> operator()(std::nullptr_t) const { return std::nullopt; }
  std::optional<std::string_view> operator()(std::int64_t) const { return std::nullopt; }
  std::optional<std::string_view> operator()(std::string_view v) const {
    check_text(v);
    return v;
  }
  std::optional<std::string_view> operator()(Blob v) const {
    return std::string_view(reinterpret_cast<const char*>(v.data()), v.size());
  }
};

void append_element(std::string& to, const Param& param) {
  if (const auto* integer = std::get_if<std::int64_t>(&param.value())) {
    append_int4(to, 8);
    to.append(big_endian(*integer).data(), 8);
  } else if (const auto view = std::visit(View{}, param.value())) {
    append_int4(to, static_cast<std::uint32_t>(view->size()));
    to.append(*view);
  } else {
    append_int4(to, ~std::uint32_t{0});
  }
}

}  // namespace

bool fits(const Param& param, Oid type) {
  struct Fits {
    Oid type;
    bool operator()(std::nullptr_t) const { return true; }
    bool operator()(std::int64_t) const { return type == kInt8; }
    bool operator()(std::string_view) const { return type == kText || type == kVarchar; }
    bool operator()(Blob) const { return type == kBytea; }
  };
  return std::visit(Fits{type}, param.value());
}

Oid array_of(Oid type) {
  switch (type) {
    case kBytea:
      return 1001;
    case kText:
      return 1009;
    case kInt8:
      return 1016;
    default:
      return 0;
  }
}

void Values::clear() {
  data_.clear();
  lengths_.clear();
  formats_.clear();
  integers_.clear();
  arrays_.clear();
}

void Values::add(const char* data, std::size_t length) {
  if (length > kLongestValue) throw DbError(DbError::Kind::misuse, "a parameter is longer than 1 GiB");
  data_.push_back(data);
  lengths_.push_back(static_cast<int>(length));
  formats_.push_back(1);
}

void Values::set(std::span<const Param> params) {
  clear();
  integers_.reserve(params.size());  // so that none moves
  for (const Param& param : params) {
    if (const auto* integer = std::get_if<std::int64_t>(&param.value())) {
      add(integers_.emplace_back(big_endian(*integer)).data(), 8);
    } else if (const auto view = std::visit(View{}, param.value())) {
      add(view->empty() ? "" : view->data(), view->size());  // a null pointer would mean NULL
    } else {
      add(nullptr, 0);
    }
  }
}

void Values::set_columns(std::span<const Oid> types, std::span<const Param> flat) {
  clear();
  arrays_.reserve(types.size());
  const std::size_t rows = flat.size() / types.size();
  for (std::size_t column = 0; column < types.size(); ++column) {
    std::string& array = arrays_.emplace_back();
    append_int4(array, 1);  // dimensions
    append_int4(array, 1);  // there may be NULLs
    append_int4(array, types[column]);
    append_int4(array, static_cast<std::uint32_t>(rows));
    append_int4(array, 1);  // the first index
    for (std::size_t row = 0; row < rows; ++row) append_element(array, flat[row * types.size() + column]);
    add(array.data(), array.size());
  }
}

void PostgresRow::check_column(int column) const {
  if (column < 0 || column >= PQnfields(result_))
    throw DbError(DbError::Kind::misuse, fmt::format("there is no column {}", column));
}

void PostgresRow::mismatch(int column, const char* wanted) const {
  throw DbError(
      DbError::Kind::misuse,
      fmt::format("column {} ({}) is {}, not {}", column, PQfname(result_, column),
                  is_null(column) ? "NULL" : fmt::format("of type {}", PQftype(result_, column)), wanted));
}

bool PostgresRow::is_null(int column) const {
  check_column(column);
  return PQgetisnull(result_, row_, column) != 0;
}

std::string_view PostgresRow::value(int column) const {
  return {PQgetvalue(result_, row_, column), static_cast<std::size_t>(PQgetlength(result_, row_, column))};
}

std::int64_t PostgresRow::int64(int column) const {
  if (is_null(column)) mismatch(column, "an integer");
  const auto* bytes = reinterpret_cast<const unsigned char*>(PQgetvalue(result_, row_, column));
  std::uint64_t wide = 0;
  std::uint32_t narrow = 0;
  switch (PQftype(result_, column)) {
    case kInt8:
      std::memcpy(&wide, bytes, sizeof wide);
      return static_cast<std::int64_t>(be64toh(wide));
    case kInt4:  // of a literal
      std::memcpy(&narrow, bytes, sizeof narrow);
      return static_cast<std::int32_t>(be32toh(narrow));
    case kBool:  // of a condition, which is 0 or 1 on SQLite
      return bytes[0];
    default:
      mismatch(column, "an integer");
  }
}

std::string_view PostgresRow::text(int column) const {
  if (is_null(column)) mismatch(column, "text");
  const Oid type = PQftype(result_, column);
  if (type != kText && type != kVarchar) mismatch(column, "text");
  return value(column);
}

Blob PostgresRow::bytes(int column) const {
  if (is_null(column) || PQftype(result_, column) != kBytea) mismatch(column, "bytes");
  return std::as_bytes(std::span(value(column)));
}

}  // namespace presetbridge::storage::postgres
