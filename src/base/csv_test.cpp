#include "base/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace presetbridge {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<CsvRecord> read(std::string_view text) {
  auto records = read_csv(text, {});
  EXPECT_TRUE(records) << (records ? "" : records.error().problem);
  return records ? *records : std::vector<CsvRecord>();
}
CsvProblem problem(std::string_view text, CsvLimits limits = {}) {
  const auto records = read_csv(text, limits);
  EXPECT_FALSE(records);
  return records ? CsvProblem() : records.error();
}

TEST(Csv, FieldsAndLinesAreReported) {
  const auto records = read("a,b,\r\n1,2,3\nx,,z\ry");
  ASSERT_EQ(records.size(), 4U);
  EXPECT_THAT(records[0].fields, ElementsAre("a", "b", ""));
  EXPECT_THAT(records[1].fields, ElementsAre("1", "2", "3"));
  EXPECT_THAT(records[2].fields, ElementsAre("x", "", "z"));
  EXPECT_THAT(records[3].fields, ElementsAre("y"));
  EXPECT_EQ(records[3].line, 4U);
}

TEST(Csv, AQuotedFieldHoldsSeparatorsQuotesAndLines) {
  const auto records = read("\"a,\"\"b\"\"\r\nc\",d\nnext");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_THAT(records[0].fields, ElementsAre("a,\"b\"\r\nc", "d"));
  EXPECT_EQ(records[1].line, 3U) << "a quoted field may have lines";
}

TEST(Csv, AByteOrderMarkAndEmptyLinesArePassedOver) {
  const auto records = read(
      "\xEF\xBB\xBF"
      "a\n\n\nb\n");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_THAT(records[0].fields, ElementsAre("a"));
  EXPECT_EQ(records[1].line, 4U);
  EXPECT_THAT(read(""), IsEmpty());
}

TEST(Csv, SemicolonsSeparateWhereTheFirstLineHasThemAlone) {
  EXPECT_THAT(read("a;b\n1,5;2")[1].fields, ElementsAre("1,5", "2"));
  EXPECT_THAT(read("a,b;c\n1;2,3")[1].fields, ElementsAre("1;2", "3"));
}

TEST(Csv, WhatIsNoTableIsReportedWithLineAndColumn) {
  const auto open = problem("a,b\n1,\"2\n3,4");
  EXPECT_EQ(open.line, 2U);
  EXPECT_EQ(open.column, 2U);
  EXPECT_EQ(open.problem, "has no closing quote");
  EXPECT_EQ(problem("a,\"b\"c").problem, "has text after its closing quote");
  EXPECT_EQ(problem("a,b\"c").problem, "has a quote inside text that is not quoted");
}

TEST(Csv, LimitsHold) {
  EXPECT_EQ(problem("1\n2\n3\n", {.records = 2}).line, 3U);
  EXPECT_EQ(problem("1,2,3", {.fields = 2}).column, 3U);
}

TEST(Csv, WhatIsWrittenReadsTheSame) {
  const std::array<std::string_view, 6> fields{"a,b", "\"q\"", " space ", "line\nline", "", "x;y"};
  std::string text;
  append_csv(text, fields);
  append_csv(text, std::array<std::string_view, 1>{""});
  const auto records = read(text);
  ASSERT_EQ(records.size(), 1U) << "a line of one empty field is an empty line";
  EXPECT_THAT(records[0].fields, ::testing::ElementsAreArray(fields));
}

TEST(Csv, AFormulaIsTextAndComesBack) {
  for (const std::string_view text : {"=1+1", "+1", "-12", "@x", "\tx", "'=1", "''=1", "'=", "=", "-"}) {
    const auto guarded = guard_formula(text);
    EXPECT_EQ(guarded, "'" + std::string(text));
    EXPECT_EQ(unguard_formula(guarded), text);
  }
  for (const std::string_view text : {"", "a", "'a", "'", "''", "1-2"}) {
    EXPECT_EQ(guard_formula(text), text);
    EXPECT_EQ(unguard_formula(text), text);
  }
}

}  // namespace
}  // namespace presetbridge
