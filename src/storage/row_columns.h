// Rows that are read and written by the names of their columns. A store declares once the column of each member
// of a row, the key first; lists of columns, parameters and reading follow from that:
//
//   constexpr std::tuple kColumns{Column{"id", &NodeRow::id},
//                                 Column{"name", &NodeRow::name, Update::no},
//                                 Column{"seen_at", &NodeRow::seen_at}};
//   constexpr Sql kFind = sql<"SELECT ", kSelected<kColumns>, " FROM nodes WHERE id = $1">;
//   constexpr Sql kUpdate = sql<"UPDATE nodes SET ", kAssigned<kColumns>, " WHERE id = $1">;
//
//   const auto node = tx.one(kFind, id, read_row<NodeRow, kColumns>);
//   add_update<kColumns>(flat, *node);
//   tx.update_each(kUpdate, kUpdateWidth<kColumns>, flat);
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "storage/database.h"

namespace presetbridge::storage {

// Whether kAssigned has the column.
enum class Update : bool { no, yes };

template <class RowType, class Value>
struct Column {
  std::string_view name;
  Value RowType::* member;
  Update update = Update::yes;
};
template <class RowType, class Value, class... More>
Column(const char*, Value RowType::*, More...) -> Column<RowType, Value>;

// A text that is made when the program is compiled.
template <std::size_t N>
struct Text {
  std::array<char, N + 1> chars{};

  constexpr Text() = default;
  constexpr Text(const char (&literal)[N + 1]) { std::ranges::copy(literal, chars.begin()); }
  constexpr std::string_view view() const { return {chars.data(), N}; }
};
template <std::size_t N>
Text(const char (&)[N]) -> Text<N - 1>;

// A text while it is made, with room for more than any statement.
struct Draft {
  std::array<char, 4'096> chars{};
  std::size_t size = 0;

  constexpr void add(std::string_view text) {
    for (const char c : text) chars[size++] = c;
  }
  constexpr void add_to_list(std::string_view text) {
    if (size > 0) add(", ");
    add(text);
  }
  constexpr void add_number(int number) {
    if (number >= 10) add_number(number / 10);
    chars[size++] = static_cast<char>('0' + number % 10);
  }
};
template <auto make>
consteval auto text_of() {
  constexpr Draft draft = make();
  Text<draft.size> text;
  std::ranges::copy_n(draft.chars.begin(), draft.size, text.chars.begin());
  return text;
}

// The parts as one statement, which has static storage duration, as an Sql must.
template <Text... parts>
inline constexpr auto kWhole = text_of<[] {
  Draft draft;
  (draft.add(parts.view()), ...);
  return draft;
}>();
template <Text... parts>
inline constexpr Sql sql{kWhole<parts...>.chars.data()};

// "id, name, seen_at", in the order in which read_row() reads them.
template <const auto& columns>
inline constexpr auto kSelected = text_of<[] {
  Draft list;
  std::apply([&](const auto&... column) { (list.add_to_list(column.name), ...); }, columns);
  return list;
}>();

// "seen_at = $2": all columns but those of Update::no, and but the key, which is $1.
template <const auto& columns>
inline constexpr auto kAssigned = text_of<[] {
  Draft list;
  int at = 0;
  int parameter = 1;
  const auto add = [&](const auto& column) {
    if (at++ == 0 || column.update == Update::no) return;
    list.add_to_list(column.name);
    list.add(" = $");
    list.add_number(++parameter);
  };
  std::apply([&](const auto&... column) { (add(column), ...); }, columns);
  return list;
}>();

// How many parameters a statement with kAssigned has.
template <const auto& columns>
inline constexpr std::size_t kUpdateWidth = [] {
  std::size_t assigned = 0;
  std::size_t at = 0;
  const auto count = [&](const auto& column) {
    if (at++ > 0 && column.update == Update::yes) ++assigned;
  };
  std::apply([&](const auto&... column) { (count(column), ...); }, columns);
  return 1 + assigned;
}();

// Each reads a member of its type from a column. NULL is an id that is none, or no time; other types throw.
inline void read_column(const Row& row, int column, std::int64_t& to) {
  to = row.int64(column);
}
inline void read_column(const Row& row, int column, bool& to) {
  to = row.flag(column);
}
inline void read_column(const Row& row, int column, std::string& to) {
  to = row.text(column);
}
inline void read_column(const Row& row, int column, Timestamp& to) {
  to = row.time(column);
}
inline void read_column(const Row& row, int column, std::optional<Timestamp>& to) {
  to = row.opt_time(column);
}
inline void read_column(const Row& row, int column, std::vector<std::byte>& to) {
  const Blob bytes = row.bytes(column);
  to.assign(bytes.begin(), bytes.end());
}
template <class Kind>
void read_column(const Row& row, int column, Id<Kind>& to) {
  to = row.id_or_none<Id<Kind>>(column);
}

// From a row of kSelected.
template <class RowType, const auto& columns>
RowType read_row(const Row& row) {
  RowType value;
  int at = 0;
  std::apply([&](const auto&... column) { (read_column(row, at++, value.*column.member), ...); }, columns);
  return value;
}

// The parameters of a statement with kAssigned. They refer to `value`.
template <const auto& columns, class RowType>
void add_update(std::vector<Param>& flat, const RowType& value) {
  std::size_t at = 0;
  const auto add = [&](const auto& column) {
    if (at++ == 0 || column.update == Update::yes) flat.emplace_back(value.*column.member);
  };
  std::apply([&](const auto&... column) { (add(column), ...); }, columns);
}

}  // namespace presetbridge::storage
