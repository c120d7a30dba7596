// How values of the program stand in columns, where the two differ.
#pragma once

#include <string>
#include <string_view>

#include "storage/database.h"

namespace presetbridge::storage {

// The empty text, or the id that is none, is NULL. The parameter refers to the text.
inline Param text_or_null(const std::string& text) {
  return text.empty() ? Param(nullptr) : Param(text);
}
template <class AnyId>
Param id_or_null(AnyId id) {
  return id ? Param(id) : Param(nullptr);
}

// A text of a set, as `parse` reads it: nothing where it is not of the set, which throws DbError misuse.
template <class T, class Parse>
T parsed(std::string_view text, Parse parse) {
  const auto value = parse(text);
  if (!value) throw DbError(DbError::Kind::misuse, "a stored value is not of its set: " + std::string(text));
  return *value;
}

}  // namespace presetbridge::storage
