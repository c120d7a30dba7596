// Tables as text (RFC 4180), as spreadsheets write and read them.
//
// Read: fields are separated by commas, or by semicolons where the first line has those alone (spreadsheets
// of many countries write them). Lines end with CRLF, LF or CR. A field in double quotes may hold all of
// these, and a quote as two. A byte order mark at the beginning is passed over, and so is an empty line.
#pragma once

#include <cstddef>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace presetbridge {

struct CsvRecord {
  std::size_t line = 0;  // on which it begins, from 1
  std::vector<std::string> fields;
};
struct CsvProblem {
  std::size_t line = 0;
  std::size_t column = 0;  // the field's number, from 1; 0: of none
  std::string_view problem;
};
struct CsvLimits {
  std::size_t records = 10'000;
  std::size_t fields = 50;  // of a record
};

// All of it, or the first place where it is no table or more than `limits`.
std::expected<std::vector<CsvRecord>, CsvProblem> read_csv(std::string_view text, const CsvLimits& limits);

// Adds a line; one of a single empty field is an empty line.
void append_csv(std::string& text, std::span<const std::string_view> fields);

// A spreadsheet takes text that begins with = + - @, a tab or a carriage return for a formula, and works it
// out. With an apostrophe before it, it is text. unguard_formula() takes away what guard_formula() has added,
// and leaves all other text as it is: unguard_formula(guard_formula(t)) == t.
std::string guard_formula(std::string_view text);
std::string_view unguard_formula(std::string_view text);

}  // namespace presetbridge
