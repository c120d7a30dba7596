#include "base/csv.h"

namespace presetbridge {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

char separator_of(std::string_view text) {
  const auto first = text.substr(0, text.find_first_of("\r\n"));
  return first.contains(';') && !first.contains(',') ? ';' : ',';
}

// Reads on from where the last record ended.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text), separator_(separator_of(text)) {}

  bool at_end() const { return at_ == text_.size(); }
  std::expected<CsvRecord, CsvProblem> record(std::size_t most_fields) {
    CsvRecord one{.line = line_, .fields = {}};
    while (true) {
      if (one.fields.size() == most_fields) return problem(one, "has too many fields");
      std::string field;
      if (!at_end() && text_[at_] == '"') {
        if (const auto wrong = quoted(field); !wrong.empty()) return problem(one, wrong);
      } else {
        while (!at_end() && text_[at_] != separator_ && !ends_line()) {
          if (text_[at_] == '"') return problem(one, "has a quote inside text that is not quoted");
          field += text_[at_++];
        }
      }
      one.fields.push_back(std::move(field));
      if (at_end()) return one;
      if (text_[at_] != separator_) break;
      ++at_;
    }
    end_line();
    return one;
  }

 private:
  bool ends_line() const { return text_[at_] == '\n' || text_[at_] == '\r'; }
  void end_line() {
    const bool two = text_.substr(at_).starts_with("\r\n");
    at_ += two ? 2 : 1;
    ++line_;
  }
  // Returns the problem of the field; empty: none.
  std::string_view quoted(std::string& field) {
    for (++at_; !at_end();) {
      if (text_[at_] == '"') {
        ++at_;
        if (at_end() || text_[at_] == separator_ || ends_line()) return {};
        if (text_[at_] != '"') return "has text after its closing quote";
      }
      if (ends_line()) {
        const auto from = at_;
        end_line();
        field += text_.substr(from, at_ - from);
      } else {
        field += text_[at_++];
      }
    }
    return "has no closing quote";
  }
  std::unexpected<CsvProblem> problem(const CsvRecord& record, std::string_view what) const {
    return std::unexpected(CsvProblem{record.line, record.fields.size() + 1, what});
  }

  const std::string_view text_;
  const char separator_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

bool begins_formula(std::string_view text) {
  const auto first = text.substr(0, text.find_first_not_of('\'')).size();
  return first < text.size() && std::string_view("=+-@\t\r").contains(text[first]);
}

}  // namespace

std::expected<std::vector<CsvRecord>, CsvProblem> read_csv(std::string_view text, const CsvLimits& limits) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Reader reader(text);
  std::vector<CsvRecord> records;
  while (!reader.at_end()) {
    auto record = reader.record(limits.fields);
    if (!record) return std::unexpected(record.error());
    if (record->fields.size() == 1 && record->fields.front().empty()) continue;
    if (records.size() == limits.records)
      return std::unexpected(CsvProblem{record->line, 0, "is beyond the most lines that are taken"});
    records.push_back(std::move(*record));
  }
  return records;
}

void append_csv(std::string& text, std::span<const std::string_view> fields) {
  bool first = true;
  for (const auto field : fields) {
    if (!first) text += ',';
    first = false;
    const bool quote = field.find_first_of("\",;\r\n") != std::string_view::npos || field.starts_with(' ') ||
                       field.ends_with(' ');
    if (!quote) {
      text += field;
      continue;
    }
    text += '"';
    for (const char c : field) {
      if (c == '"') text += '"';
      text += c;
    }
    text += '"';
  }
  text += "\r\n";
}

std::string guard_formula(std::string_view text) {
  return begins_formula(text) ? "'" + std::string(text) : std::string(text);
}

std::string_view unguard_formula(std::string_view text) {
  return text.starts_with('\'') && begins_formula(text) ? text.substr(1) : text;
}

}  // namespace presetbridge
