// Rows that are read and written by the names of their columns. A store lists once which column holds each
// member of a row; the lists of columns, the parameters and the reading follow from that table:
//
//   constexpr std::tuple kColumns{
//       Column{"id", &NodeRow::id, Update::key},
//       Column{"name", &NodeRow::name, Update::no},
//       Column{"state", &NodeRow::state, kNamed<parse_node_state>},
//       Column{"seen_at", &NodeRow::seen_at},
//   };
//   constexpr Sql kInsert = sql<"INSERT INTO nodes ", kInsertion<kColumns>>;
//   constexpr Sql kFind = sql<"SELECT ", kSelected<kColumns>, " FROM nodes WHERE id = $1">;
//   constexpr Sql kUpdate = sql<"UPDATE nodes SET ", kAssigned<kColumns>, " WHERE ", kKeyed<kColumns>>;
//
//   const auto node = tx.one(kFind, id, read_row<NodeRow, kColumns>);
//   Texts texts;
//   tx.exec_params(kUpdate, update_params<kColumns>(*node, texts));
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "storage/column_formats.h"
#include "storage/database.h"

namespace presetbridge::storage {

// How an UPDATE of the whole row has the column: kAssigned assigns it, or kKeyed compares it.
enum class Update { no, yes, key };

// A column that holds one member: a pointer to it, or a function that returns a reference to it, as for a
// member of a member: [](auto& row) -> auto& { return row.pending.reason; }
template <class Member, class Format = Plain>
struct Column {
  std::string_view name;
  Member member;
  Format format;
  Update update;
  static constexpr bool selected = true;

  constexpr Column(const char* name, Member member, Format format, Update update = Update::yes)
      : name(name), member(member), format(format), update(update) {}
  constexpr Column(const char* name, Member member, Update update = Update::yes)
      : Column(name, member, Format{}, update) {}

  template <class RowType>
  [[gnu::always_inline]] Param parameter(const RowType& value, Texts& texts) const {
    return format.parameter(std::invoke(member, value), texts);
  }
  template <class RowType>
  [[gnu::always_inline]] void read(const Row& row, int column, RowType& value) const {
    format.read(row, column, std::invoke(member, value));
  }
};
template <class Member>
Column(const char*, Member) -> Column<Member>;
template <class Member>
Column(const char*, Member, Update) -> Column<Member>;

// Whether kSelected has the column.
enum class Select : bool { no, yes };

// A column that no member holds alone. `write` makes its parameter from the row, and gets the texts where
// it takes them as its second argument. read_row() passes over it: the store reads it, by column_of().
template <class Write>
struct Computed {
  std::string_view name;
  Write write;
  Update update;
  bool selected;

  constexpr Computed(const char* name, Write write, Select select = Select::yes, Update update = Update::yes)
      : name(name), write(write), update(update), selected(select == Select::yes) {}
  constexpr Computed(const char* name, Write write, Update update)
      : Computed(name, write, Select::yes, update) {}

  template <class RowType>
  [[gnu::always_inline]] Param parameter(const RowType& value, Texts& texts) const {
    if constexpr (std::invocable<const Write&, const RowType&, Texts&>) {
      return write(value, texts);
    } else {
      static_assert(!std::same_as<std::invoke_result_t<const Write&, const RowType&>, std::string>,
                    "a text that is made here goes to Texts");
      return Param(std::invoke(write, value));
    }
  }
  template <class RowType>
  void read(const Row&, int, RowType&) const {}
};

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

template <const auto& columns>
inline constexpr auto kNames =
    std::apply([](const auto&... column) { return std::array{column.name...}; }, columns);

// The positions in the table of the columns that `wanted` is true for.
template <const auto& columns, auto wanted>
inline constexpr auto kPositions = [] {
  constexpr auto is_wanted =
      std::apply([](const auto&... column) { return std::array{wanted(column)...}; }, columns);
  std::array<std::size_t, std::ranges::count(is_wanted, true)> positions{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < is_wanted.size(); ++i) {
    if (is_wanted[i]) positions[count++] = i;
  }
  return positions;
}();
template <const auto& columns>
inline constexpr auto kSelectedAt = kPositions<columns, [](const auto& column) { return column.selected; }>;
template <const auto& columns>
inline constexpr auto kKeysAt =
    kPositions<columns, [](const auto& column) { return column.update == Update::key; }>;
template <const auto& columns>
inline constexpr auto kAssignedAt =
    kPositions<columns, [](const auto& column) { return column.update == Update::yes; }>;
template <const auto& columns>
inline constexpr auto kInsertedAt = kPositions<columns, [](const auto&) { return true; }>;

// How many parameters a statement with kInsertion has, and one with kAssigned and kKeyed.
template <const auto& columns>
inline constexpr std::size_t kInsertWidth = kInsertedAt<columns>.size();
template <const auto& columns>
inline constexpr std::size_t kUpdateWidth = kKeysAt<columns>.size() + kAssignedAt<columns>.size();

// "id, name, seen_at", in the order in which read_row() reads them.
template <const auto& columns>
inline constexpr auto kSelected = text_of<[] {
  Draft list;
  for (const auto at : kSelectedAt<columns>) list.add_to_list(kNames<columns>[at]);
  return list;
}>();
// "nodes.id, nodes.name, nodes.seen_at".
template <const auto& columns, Text table>
inline constexpr auto kSelectedOf = text_of<[] {
  Draft list;
  for (const auto at : kSelectedAt<columns>) {
    list.add_to_list(table.view());
    list.add(".");
    list.add(kNames<columns>[at]);
  }
  return list;
}>();
// With `expression` for the column `name`.
template <const auto& columns, Text name, Text expression>
inline constexpr auto kSelectedWith = text_of<[] {
  Draft list;
  for (const auto at : kSelectedAt<columns>) {
    const auto column = kNames<columns>[at];
    list.add_to_list(column == name.view() ? expression.view() : column);
  }
  return list;
}>();

// "$1, $2, $3".
template <std::size_t count>
inline constexpr auto kNumbered = text_of<[] {
  Draft list;
  for (std::size_t i = 1; i <= count; ++i) {
    list.add_to_list("$");
    list.add_number(static_cast<int>(i));
  }
  return list;
}>();

// "id, name, seen_at" of all columns; and with their parameters: "(id, name, seen_at) VALUES ($1, $2, $3)".
template <const auto& columns>
inline constexpr auto kInserted = text_of<[] {
  Draft list;
  for (const auto name : kNames<columns>) list.add_to_list(name);
  return list;
}>();
template <const auto& columns>
inline constexpr auto kInsertion =
    kWhole<"(", kInserted<columns>, ") VALUES (", kNumbered<kInsertWidth<columns>>, ")">;

// "id = $1": the keys, which are the first parameters.
template <const auto& columns>
inline constexpr auto kKeyed = text_of<[] {
  Draft list;
  int parameter = 0;
  for (const auto at : kKeysAt<columns>) {
    if (parameter > 0) list.add(" AND ");
    list.add(kNames<columns>[at]);
    list.add(" = $");
    list.add_number(++parameter);
  }
  return list;
}>();
// "seen_at = $2": the parameters follow those of the keys.
template <const auto& columns>
inline constexpr auto kAssigned = text_of<[] {
  Draft list;
  int parameter = static_cast<int>(kKeysAt<columns>.size());
  for (const auto at : kAssignedAt<columns>) {
    list.add_to_list(kNames<columns>[at]);
    list.add(" = $");
    list.add_number(++parameter);
  }
  return list;
}>();

// The number of a column in a row of kSelected, for what read_row() does not read.
template <const auto& columns>
consteval int column_of(std::string_view name) {
  int column = 0;
  for (const auto at : kSelectedAt<columns>) {
    if (kNames<columns>[at] == name) return column;
    ++column;
  }
  throw "the table has no such column";
}

// From a row of kSelected.
template <class RowType, const auto& columns>
RowType read_row(const Row& row) {
  RowType value;
  [&]<std::size_t... at>(std::index_sequence<at...>) {
    (std::get<kSelectedAt<columns>[at]>(columns).read(row, static_cast<int>(at), value), ...);
  }(std::make_index_sequence<kSelectedAt<columns>.size()>());
  return value;
}

template <const auto& columns, const auto& positions, class RowType>
std::array<Param, positions.size()> params_at(const RowType& value, Texts& texts) {
  return [&]<std::size_t... at>(std::index_sequence<at...>) {
    return std::array<Param, positions.size()>{std::get<positions[at]>(columns).parameter(value, texts)...};
  }(std::make_index_sequence<positions.size()>());
}
template <const auto& columns>
inline constexpr auto kUpdatedAt = [] {
  std::array<std::size_t, kUpdateWidth<columns>> positions{};
  std::ranges::copy(kAssignedAt<columns>, std::ranges::copy(kKeysAt<columns>, positions.begin()).out);
  return positions;
}();

// The parameters of a statement with kInsertion, or with kKeyed and kAssigned, for one row. They refer to
// `value` and to `texts`.
template <const auto& columns, class RowType>
auto insert_params(const RowType& value, Texts& texts) {
  return params_at<columns, kInsertedAt<columns>>(value, texts);
}
template <const auto& columns, class RowType>
auto update_params(const RowType& value, Texts& texts) {
  return params_at<columns, kUpdatedAt<columns>>(value, texts);
}
// Adds them to those of other rows.
template <const auto& columns, class RowType>
void add_insert(std::vector<Param>& flat, const RowType& value, Texts& texts) {
  const auto params = insert_params<columns>(value, texts);
  flat.insert(flat.end(), params.begin(), params.end());
}
template <const auto& columns, class RowType>
void add_update(std::vector<Param>& flat, const RowType& value, Texts& texts) {
  const auto params = update_params<columns>(value, texts);
  flat.insert(flat.end(), params.begin(), params.end());
}

}  // namespace presetbridge::storage
