// How the member of a row stands in its column (row_columns.h): by its type, or by a format that the table names.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/split.h"
#include "base/time.h"
#include "storage/columns.h"
#include "storage/database.h"

namespace presetbridge::storage {

// Texts that are made for parameters. The parameters refer to them, so this lives as long as they are used.
class Texts {
 public:
  std::string_view hold(std::string text) {
    if (text.empty()) return "";
    if (!texts_) texts_.emplace();
    return texts_->emplace_back(std::move(text));
  }
  // A text that lives long enough by itself: the name of an enumerator.
  static std::string_view hold(std::string_view text) { return text; }

 private:
  std::optional<std::deque<std::string>> texts_;  // an empty deque would allocate
};

// Readers and formats are always inlined: a row has up to fifty columns, and a list a hundred rows.

// A member by its type, where the column is not NULL. An id that is none may stand as NULL.
[[gnu::always_inline]] inline void read_column(const Row& row, int column, std::int64_t& to) {
  to = row.int64(column);
}
[[gnu::always_inline]] inline void read_column(const Row& row, int column, bool& to) {
  to = row.flag(column);
}
[[gnu::always_inline]] inline void read_column(const Row& row, int column, std::string& to) {
  to = row.string(column);
}
[[gnu::always_inline]] inline void read_column(const Row& row, int column, Timestamp& to) {
  to = row.time(column);
}
[[gnu::always_inline]] inline void read_column(const Row& row, int column, std::vector<std::byte>& to) {
  const Blob bytes = row.bytes(column);
  to.assign(bytes.begin(), bytes.end());
}
// Bytes that are missing stay zero; more than there is room for are left out.
template <std::size_t N>
[[gnu::always_inline]] inline void read_column(const Row& row, int column, std::array<std::byte, N>& to) {
  const Blob bytes = row.bytes(column);
  std::ranges::copy(bytes.first(std::min(bytes.size(), N)), to.begin());
}
template <class Kind>
[[gnu::always_inline]] inline void read_column(const Row& row, int column, Id<Kind>& to) {
  to = row.id_or_none<Id<Kind>>(column);
}
template <class T>
[[gnu::always_inline]] inline void read_column(const Row& row, int column, std::optional<T>& to) {
  if (row.is_null(column)) {
    to.reset();
  } else {
    read_column(row, column, to.emplace());
  }
}
// A set of flags that has a number of its own.
template <class T>
  requires requires(const T& set) {
    { set.stored() } -> std::same_as<std::int64_t>;
  }
[[gnu::always_inline]] inline void read_column(const Row& row, int column, T& to) {
  to = T(row.int64(column));
}

// Formats: how a member stands in its column.

// As read_column() and Param have it.
struct Plain {
  [[gnu::always_inline]] static Param parameter(const auto& value, Texts&) {
    if constexpr (requires { value.stored(); }) {
      return value.stored();
    } else {
      return Param(value);
    }
  }
  [[gnu::always_inline]] static void read(const Row& row, int column, auto& to) {
    read_column(row, column, to);
  }
};

// NULL where a text or bytes are empty, or an id is none.
struct EmptyIsNull {
  template <class T>
  [[gnu::always_inline]] static Param parameter(const T& value, Texts& texts) {
    bool empty = false;
    if constexpr (requires { value.empty(); }) {
      empty = value.empty();
    } else {
      empty = !value;
    }
    return empty ? Param(nullptr) : Plain::parameter(value, texts);
  }
  [[gnu::always_inline]] static void read(const Row& row, int column, auto& to) {
    if (!row.is_null(column)) read_column(row, column, to);
  }
};
inline constexpr EmptyIsNull kEmptyIsNull;

// NULL is read as a text that is empty; only older programs wrote it.
struct NullIsEmpty {
  [[gnu::always_inline]] static Param parameter(const auto& value, Texts& texts) {
    return Plain::parameter(value, texts);
  }
  [[gnu::always_inline]] static void read(const Row& row, int column, std::string& to) {
    EmptyIsNull::read(row, column, to);
  }
};
inline constexpr NullIsEmpty kNullIsEmpty;

// An enumerator as its number.
struct Number {
  [[gnu::always_inline]] static Param parameter(const auto& value, Texts&) {
    return static_cast<std::int64_t>(value);
  }
  template <class T>
  [[gnu::always_inline]] static void read(const Row& row, int column, T& to) {
    to = static_cast<T>(row.int64(column));
  }
};
inline constexpr Number kNumber;

// As to_string() names it; `parse` is the inverse. Throws DbError misuse for another text.
template <auto parse>
struct Named {
  [[gnu::always_inline]] static Param parameter(const auto& value, Texts& texts) {
    return texts.hold(to_string(value));
  }
  template <class T>
  [[gnu::always_inline]] static void read(const Row& row, int column, T& to) {
    to = parsed<T>(row.text(column), parse);
  }
};
template <auto parse>
inline constexpr Named<parse> kNamed;

// As to_string() names it; `read_name` returns an enumerator for every text, one that is unknown here too.
template <auto read_name>
struct NamedOrUnknown {
  [[gnu::always_inline]] static Param parameter(const auto& value, Texts& texts) {
    return texts.hold(to_string(value));
  }
  [[gnu::always_inline]] static void read(const Row& row, int column, auto& to) {
    to = read_name(row.text(column));
  }
};
template <auto read_name>
inline constexpr NamedOrUnknown<read_name> kNamedOrUnknown;

// NULL where the name is empty. Then the member stays as a new row has it.
template <auto parse>
struct NamedOrNull {
  [[gnu::always_inline]] static Param parameter(const auto& value, Texts& texts) {
    const auto name = texts.hold(to_string(value));
    return name.empty() ? Param(nullptr) : Param(name);
  }
  [[gnu::always_inline]] static void read(const Row& row, int column, auto& to) {
    if (!row.is_null(column)) Named<parse>::read(row, column, to);
  }
};
template <auto parse>
inline constexpr NamedOrNull<parse> kNamedOrNull;

// As to_string() names it. A name that `parse` does not know, one of a newer program, leaves the member as a new
// row has it.
template <auto parse>
struct NamedOrDefault {
  [[gnu::always_inline]] static Param parameter(const auto& value, Texts& texts) {
    return texts.hold(to_string(value));
  }
  template <class T>
  [[gnu::always_inline]] static void read(const Row& row, int column, T& to) {
    if (const auto known = parse(row.text(column))) to = *known;
  }
};
template <auto parse>
inline constexpr NamedOrDefault<parse> kNamedOrDefault;

// As to_string() names it, and "" for none. A name that `parse` does not know is none too.
template <auto parse>
struct NamedOrNone {
  [[gnu::always_inline]] static Param parameter(const auto& value, Texts& texts) {
    return value ? Param(texts.hold(to_string(*value))) : Param("");
  }
  [[gnu::always_inline]] static void read(const Row& row, int column, auto& to) {
    to = parse(row.text(column));
  }
};
template <auto parse>
inline constexpr NamedOrNone<parse> kNamedOrNone;

// A duration, NULL where there is none.
struct Duration {
  [[gnu::always_inline]] static Param parameter(const std::optional<Millis>& value, Texts&) {
    return value ? Param(std::int64_t{value->count()}) : Param(nullptr);
  }
  [[gnu::always_inline]] static void read(const Row& row, int column, std::optional<Millis>& to) {
    if (const auto ms = row.opt_int64(column)) to = Millis{*ms};
  }
};
inline constexpr Duration kDuration;

// A list of words or ids as one text.
template <char separator>
struct Separated {
  [[gnu::always_inline]] static Param parameter(const auto& list, Texts& texts) {
    std::string text;
    for (const auto& part : list) {
      if (!text.empty()) text += separator;
      if constexpr (std::convertible_to<decltype(part), std::string_view>) {
        text += part;
      } else {
        text += to_string(part);
      }
    }
    return texts.hold(std::move(text));
  }
  [[gnu::always_inline]] static void read(const Row& row, int column, std::vector<std::string>& to) {
    to = split(row.text(column), separator);
  }
  template <class Kind>
  [[gnu::always_inline]] static void read(const Row& row, int column, std::vector<Id<Kind>>& to) {
    for (const auto& word : split(row.text(column), separator))
      to.push_back(parsed<Id<Kind>>(word, parse_id<Kind>));
  }
};
template <char separator>
inline constexpr Separated<separator> kSeparated;

}  // namespace presetbridge::storage
