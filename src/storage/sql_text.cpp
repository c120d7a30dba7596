#include "storage/sql_text.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <vector>

#include "base/ascii.h"
#include "base/utf8.h"

namespace presetbridge::storage {
namespace {

constexpr int kMaxParameters = 999;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_word(char c) {
  return is_word_start(c) || is_digit(c);
}
bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

class Reader {
 public:
  Reader(std::string_view sql, const Dialect& dialect) : sql_(sql), dialect_(dialect) {}

  SqlText read() {
    while (at_ < sql_.size()) step();
    if (after_update_table_) misuse("UPDATE has no alias: SET follows the table's name", sql_);
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (!used_[i]) misuse(fmt::format("parameters are $1..$n, each used: ${} is not", i + 1), sql_);
    }
    return {std::move(out_), static_cast<int>(used_.size()), statements_};
  }

 private:
  char peek(std::size_t ahead) const { return at_ + ahead < sql_.size() ? sql_[at_ + ahead] : '\0'; }

  void copy(std::size_t count) {
    out_.append(sql_.substr(at_, count));
    at_ += count;
  }

  void step() {
    const char c = sql_[at_];
    if (is_space(c)) return copy(1);
    if (c == '-' && peek(1) == '-') return copy_until("\n", 2);
    if (c == '/' && peek(1) == '*') return copy_until("*/", 2);
    if (c == '\'') {
      copy_until("'", 1);
      return saw("''");
    }
    if (c == '"') {
      copy_until("\"", 1);
      return saw("\"\"");
    }
    if (is_word_start(c)) return word();
    if (is_digit(c)) {
      while (is_word(peek(0)) || peek(0) == '.') copy(1);
      return saw("0");
    }
    if (c == '$') return parameter();
    if (c == '<' && is_word_start(peek(1)) && token()) return;
    if (c == '?' || c == ':' || c == '@') {
      if (c == ':' && peek(1) == ':') misuse("a cast is CAST(x AS type), never ::", sql_);
      misuse("parameters are $1..$n", sql_);
    }
    if (c == '-' && peek(1) == '>') misuse("no JSON operators", sql_);
    if (c == '`' || c == '[') misuse("names are quoted with \" only", sql_);
    if (c == '(') call();
    copy(1);
    saw(std::string_view(&c, 1));
  }

  void copy_until(std::string_view end, std::size_t from) {
    const std::size_t found = sql_.find(end, at_ + from);
    copy(found == std::string_view::npos ? sql_.size() - at_ : found + end.size() - at_);
  }

  void word() {
    std::size_t length = 1;
    while (is_word(peek(length))) ++length;
    const std::string low = lowered(sql_.substr(at_, length));
    if (low == "like" || low == "ilike" || low == "glob" || low == "similar" || low == "regexp") {
      misuse("no LIKE or its kin: the engines differ in case and escapes", sql_);
    }
    copy(length);
    saw(low);
  }

  // A parenthesis after a word: a call, as far as the forbidden names go.
  void call() const {
    if (previous_.find("json") != std::string::npos) misuse("no JSON functions", sql_);
    if (previous_ == "lower" || previous_ == "upper")
      misuse("no lower() or upper(): SQLite's know ASCII only", sql_);
  }

  void parameter() {
    std::size_t length = 1;
    while (is_digit(peek(length))) ++length;
    const std::string_view digits = sql_.substr(at_ + 1, length - 1);
    int number = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (digits.empty() || parsed.ec != std::errc{} || digits.front() == '0' || number > kMaxParameters ||
        is_word(peek(length)) || peek(length) == '$') {
      misuse("parameters are $1..$n", sql_);
    }
    if (used_.size() < static_cast<std::size_t>(number)) used_.resize(static_cast<std::size_t>(number));
    used_[static_cast<std::size_t>(number) - 1] = true;
    copy(length);
    saw("$");
  }

  bool token() {
    std::size_t length = 1;
    while (is_word(peek(length))) ++length;
    if (peek(length) != '>') return false;
    const std::string_view name = sql_.substr(at_ + 1, length - 1);
    const auto value = meaning(name);
    if (!value) misuse(fmt::format("<{}> is no token", name), sql_);
    out_.append(*value);
    at_ += length + 1;
    saw("<>");
    return true;
  }

  std::optional<std::string_view> meaning(std::string_view name) const {
    if (name == "bytes") return dialect_.bytes;
    if (name == "key") return dialect_.key;
    if (name == "int") return dialect_.integer;
    if (name == "table") return dialect_.table;
    if (name == "clustered") return dialect_.clustered;
    if (name == "lock") return dialect_.lock;
    if (name == "for_update") return dialect_.for_update;
    if (name == "lane") return dialect_.lane;
    if (name == "postgres") return dialect_.postgres;
    if (name == "sqlite") return dialect_.sqlite;
    return std::nullopt;
  }

  // UPDATE table SET is the one form both engines take; "FOR UPDATE", "DO UPDATE SET", "ON UPDATE" and the
  // right that a GRANT gives name no table.
  void saw(std::string_view symbol) {
    if (symbol != ";" && (previous_.empty() || previous_ == ";")) {
      ++statements_;
      grants_ = symbol == "grant";
    }
    if (after_update_table_) {
      if (symbol != "set") misuse("UPDATE has no alias: SET follows the table's name", sql_);
      after_update_table_ = false;
    } else if (previous_ == "update" && before_previous_ != "for" && before_previous_ != "on" && !grants_ &&
               symbol != "set") {
      after_update_table_ = true;
    }
    before_previous_ = std::move(previous_);
    previous_ = symbol;
  }

  std::string_view sql_;
  const Dialect& dialect_;
  std::size_t at_ = 0;
  std::string out_;
  std::vector<bool> used_;
  int statements_ = 0;
  std::string previous_;
  std::string before_previous_;
  bool after_update_table_ = false;
  bool grants_ = false;
};

}  // namespace

void misuse(std::string_view rule, std::string_view sql) {
  throw DbError(DbError::Kind::misuse, fmt::format("{}, in: {}", rule, sql.substr(0, 200)));
}

SqlText to_dialect(std::string_view sql, const Dialect& dialect) {
  return Reader(sql, dialect).read();
}

SqlText to_statement(std::string_view sql, const Dialect& dialect) {
  SqlText text = to_dialect(sql, dialect);
  if (text.statements != 1) misuse("an Sql is one statement", sql);
  return text;
}

SqlText to_script(std::string_view sql, const Dialect& dialect) {
  SqlText text = to_dialect(sql, dialect);
  if (text.parameters != 0) misuse("a script has no parameters", sql);
  return text;
}

void check_text(std::string_view value) {
  if (value.contains('\0')) throw DbError(DbError::Kind::misuse, "a text parameter holds U+0000");
  if (!is_utf8(value)) throw DbError(DbError::Kind::misuse, "a text parameter is not UTF-8");
}

}  // namespace presetbridge::storage
