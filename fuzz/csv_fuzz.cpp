#include "base/csv.h"

#include <vector>

#include "require.h"

using namespace presetbridge;

// A table that was read, written and read again is the same; the limits hold; unguard_formula() gives back
// what guard_formula() was given.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const CsvLimits limits{.records = 100, .fields = 10};
  const auto records = read_csv(text, limits);
  if (!records) {
    REQUIRE(records.error().line >= 1);
    REQUIRE(!records.error().problem.empty());
  } else {
    REQUIRE(records->size() <= limits.records);
    std::string written;
    std::size_t line = 0;
    // So that commas separate, whatever the first record is.
    append_csv(written, std::vector<std::string_view>{"a", "b"});
    for (const auto& record : *records) {
      REQUIRE(record.line > line);
      line = record.line;
      REQUIRE(!record.fields.empty() && record.fields.size() <= limits.fields);
      const std::vector<std::string_view> fields(record.fields.begin(), record.fields.end());
      append_csv(written, fields);
    }
    const auto again = read_csv(written, {.records = 101, .fields = 10});
    REQUIRE(again && again->size() == records->size() + 1);
    for (std::size_t i = 0; i < records->size(); ++i) REQUIRE((*again)[i + 1].fields == (*records)[i].fields);
  }
  REQUIRE(unguard_formula(guard_formula(text)) == text);
  const auto guarded = guard_formula(text);
  REQUIRE(guarded.empty() || !std::string_view("=+-@\t\r").contains(guarded.front()));
  return 0;
}
