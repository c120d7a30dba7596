#include "providers/picked_json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <deque>

#include "providers/testing.h"

namespace presetbridge::providers {
namespace {

using ::testing::HasSubstr;
using Kind = PickedValue::Kind;

constexpr std::array kInnerMembers{ShapeMember{"x", &kScalar}};
constexpr Shape kInner{.members = kInnerMembers};
constexpr Shape kList{.element = &kInner};
constexpr std::array kMembers{ShapeMember{"a", &kScalar}, ShapeMember{"o", &kInner},
                              ShapeMember{"list", &kList}};
constexpr Shape kShape{.members = kMembers};

// Keeps `body`, which the result views.
PickedJson pick(std::string body) {
  static std::deque<std::string> bodies;
  auto picked = pick_json(bodies.emplace_back(std::move(body)), kShape, 64);
  if (!picked) throw std::runtime_error(picked.error().details.at(0).problem);
  return *std::move(picked);
}
std::string problem_of(std::string_view body, std::size_t depth = 64) {
  const auto picked = pick_json(body, kShape, depth);
  if (picked) return "none";
  EXPECT_EQ(picked.error().code, "INVALID_PAYLOAD");
  EXPECT_EQ(picked.error().details.size(), 1u);
  EXPECT_EQ(picked.error().details.at(0).field, "body");
  return picked.error().details.at(0).problem;
}

TEST(PickedJson, KeepsWhatTheShapeNames) {
  const auto json =
      pick(R"({"z":[1,{"a":2}],"a":"text","o":{"y":1,"x":"in"},"list":[{"x":1},{"z":{"x":2}},null,7]})");
  EXPECT_EQ(json.root["a"].text, "text");
  EXPECT_EQ(json.root["o"]["x"].text, "in");
  const auto list = json.root["list"].elements();
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[0]["x"].text, "1");
  EXPECT_TRUE(list[1]["x"].is(Kind::absent));
  EXPECT_TRUE(list[2].is(Kind::null));
  EXPECT_TRUE(list[3].is(Kind::number));
  EXPECT_TRUE(json.root["z"].is(Kind::absent));
  EXPECT_TRUE(json.problems.empty());
}

TEST(PickedJson, KeepsTheTextOfNumbersExactly) {
  for (const std::string number :
       {"0", "-1", "18446744073709551615", "9223372036854775807", "-9223372036854775808",
        "123456789012345678901234567890", "1.50", "1e3", "-0", "0.1E-7", "2.0"}) {
    const auto json = pick("{\"a\":" + number + "}");
    EXPECT_TRUE(json.root["a"].is(Kind::number));
    EXPECT_EQ(json.root["a"].text, number);
  }
}

TEST(PickedJson, ReadsEscapesInKeysAndValues) {
  const auto json = pick("{\"\\u0061\":\"\\u00e9\\ud83c\\udfb8\\n\\/\"}");
  EXPECT_EQ(json.root["a"].text, "é🎸\n/");
  const std::string part(5000, 'x');
  EXPECT_EQ(pick("{\"a\":\"" + part + "\\n" + part + "\\u00e9\"}").root["a"].text, part + "\n" + part + "é");
}

TEST(PickedJson, ReadsLoneSurrogatesAsTheReplacementCharacter) {
  const std::vector<std::pair<std::string, std::string>> known = {
      {R"(gift \ud83c)", "gift \ufffd"},
      {R"(\udfb8 gift)", "\ufffd gift"},
      {R"(\uD83C\uDFB8)", "🎸"},
      {R"(\ud83c\ud83c\udfb8\udfb8)", "\ufffd🎸\ufffd"},
      {R"(\ud83c\n\udfb8)", "\ufffd\n\ufffd"},
      {R"(\ud83c\\udfb8)", "\ufffd\\udfb8"},
      {R"(\\ud83c)", "\\ud83c"},
      {R"(\\\ud83c)", "\\\ufffd"},
      {R"(\ud83c\u0041)", "\ufffdA"},
      {R"(\ud7ff\ue000)", "\ud7ff\ue000"},
  };
  for (const auto& [written, read] : known) {
    EXPECT_EQ(pick("{\"a\":\"" + written + "\"}").root["a"].text, read) << written;
  }
  EXPECT_EQ(pick(R"({"\ud800":1,"a":"x"})").root["a"].text, "x");
  EXPECT_EQ(problem_of(R"({"z":["\udc00"]})"), "none");
}

// Text that replaces the given bytes lives as long as the result, wherever that is moved.
TEST(PickedJson, WithLoneSurrogatesMayMove) {
  const std::string body = R"({"a":"x","list":[{"x":"long enough not to be kept within"},{"x":"\ud800"}]})";
  auto first = pick_json(body, kShape, 64);
  const auto moved = *std::move(first);
  first = {};
  EXPECT_EQ(moved.root["list"].elements()[0]["x"].text, "long enough not to be kept within");
  EXPECT_EQ(moved.root["list"].elements()[1]["x"].text, "\ufffd");
  EXPECT_EQ(moved.root["a"].text, "x");
}

TEST(PickedJson, RefusesHalfAnEscape) {
  for (const auto body :
       {R"({"a":"\ud83)", R"({"a":"\ud83"})", R"({"a":"\ud83c\u"})", R"({"a":"\ud83c\udf"})",
        R"({"a":"\ud83g"})", R"({"a":1}\ud83c)", R"({"a":\ud83c})"}) {
    EXPECT_NE(problem_of(body), "none") << body;
  }
}

TEST(PickedJson, KeepsTheKindOfWhatIsOfAnotherKind) {
  const auto json = pick(R"({"a":{"x":1},"o":[{"x":1}],"list":{"x":1}})");
  EXPECT_TRUE(json.root["a"].is(Kind::object));
  EXPECT_TRUE(json.root["o"].is(Kind::array));
  EXPECT_TRUE(json.root["o"].elements().empty());
  EXPECT_TRUE(json.root["list"].is(Kind::object));
  EXPECT_TRUE(json.root["list"]["x"].is(Kind::absent));
}

TEST(PickedJson, ReadsAnObjectInThePlaceOfAListAsItsValues) {
  const auto json = pick(R"({"list":{"0":{"x":1},"2":{"z":{"x":5},"x":2},"k":null,"x":7},"a":"after"})");
  EXPECT_TRUE(json.root["list"].is(Kind::object));
  EXPECT_TRUE(json.root["list"].is_list());
  EXPECT_TRUE(json.root["list"]["x"].is(Kind::absent));
  const auto list = json.root["list"].elements();
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[0]["x"].text, "1");
  EXPECT_EQ(list[1]["x"].text, "2");
  EXPECT_TRUE(list[2].is(Kind::null));
  EXPECT_TRUE(list[3].is(Kind::number));
  EXPECT_EQ(json.root["a"].text, "after");
  const auto empty = pick(R"({"list":{}})");
  EXPECT_FALSE(empty.root["list"].is_list());
  EXPECT_TRUE(pick(R"({"list":[]})").root["list"].is_list());
  EXPECT_THAT(pick(R"({"list":{"0":{"x":1},"1":{"x":1,"x":2}}})").problems,
              ::testing::ElementsAre(FieldProblem{"list[1].x", "is given more than once"}));
}

TEST(PickedJson, KeepsNoMoreOfAnObjectInThePlaceOfAListThanOfAList) {
  std::string body = "{\"list\":{";
  for (std::size_t i = 0; i < kMaxPickedValues + 10; ++i) body += fmt::format("\"{}\":1,", i);
  body += "\"z\":1},\"a\":\"x\"}";
  const auto json = pick(body);
  EXPECT_TRUE(json.truncated);
  EXPECT_LE(json.root["list"].elements().size(), kMaxPickedValues);
  EXPECT_EQ(json.root["a"].text, "x");
}

TEST(PickedJson, ReportsKeysGivenTwiceAndTakesTheLast) {
  const auto json = pick(R"({"a":1,"o":{"x":1,"x":2},"list":[{},{"x":1,"x":null}],"a":3,"z":1,"z":2})");
  EXPECT_EQ(json.root["a"].text, "3");
  EXPECT_EQ(json.root["o"]["x"].text, "2");
  EXPECT_TRUE(json.root["list"].elements()[1]["x"].is(Kind::null));
  EXPECT_THAT(json.problems, ::testing::ElementsAre(FieldProblem{"o.x", "is given more than once"},
                                                    FieldProblem{"list[1].x", "is given more than once"},
                                                    FieldProblem{"a", "is given more than once"}));
  const auto lists = pick(R"({"list":[{"x":1},{"x":2}],"list":[{"x":3}]})");
  ASSERT_EQ(lists.root["list"].elements().size(), 1u);
  EXPECT_EQ(lists.root["list"].elements()[0]["x"].text, "3");
}

TEST(PickedJson, ReportsU0000InWhatIsReadOnly) {
  const auto json = pick(R"({"a":"x\u0000y","z":"\u0000","list":[{"x":"\u0000"}]})");
  EXPECT_TRUE(json.root["a"].is(Kind::unusable));
  EXPECT_THAT(json.problems, ::testing::ElementsAre(FieldProblem{"a", "must not contain U+0000"},
                                                    FieldProblem{"list[0].x", "must not contain U+0000"}));
}

TEST(PickedJson, ReadsSixtyFourLevelsAndNotSixtyFive) {
  EXPECT_EQ(problem_of("{\"z\":" + testing::nested_arrays(63) + "}"), "none");
  EXPECT_EQ(problem_of("{\"z\":" + testing::nested_arrays(64) + "}"), "is nested more deeply than 64 levels");
  EXPECT_EQ(problem_of("{\"z\":" + std::string(500'000, '[')), "is nested more deeply than 64 levels");
  EXPECT_EQ(problem_of(R"({"o":{}})", 2), "none");
  EXPECT_EQ(problem_of(R"({"o":{}})", 1), "is nested more deeply than 1 levels");
}

TEST(PickedJson, RefusesInvalidUtf8Anywhere) {
  for (const std::string bytes : {"\xff", "\xc3", "\xed\xa0\x80", "\xc0\xaf", "\xf4\x90\x80\x80"}) {
    EXPECT_THAT(problem_of("{\"a\":\"" + bytes + "\"}"), HasSubstr("not valid JSON"));
    EXPECT_THAT(problem_of("{\"z\":\"" + bytes + "\"}"), HasSubstr("not valid JSON"));
    EXPECT_THAT(problem_of("{\"" + bytes + "\":1}"), HasSubstr("not valid JSON"));
  }
}

TEST(PickedJson, RefusesWhatIsNoJson) {
  EXPECT_EQ(problem_of(""), "is empty");
  for (const auto body : {" ", "{", "{\"a\":1,}", "{'a':1}", "{\"a\":01}", "{\"a\":NaN}", "{\"a\":1 /* c */}",
                          "{\"a\":\"\t\"}", "a=1&b=2", "\xef\xbb\xbf{}", "{\"a\":tru}", "{\"a\" 1}", "nul"}) {
    EXPECT_THAT(problem_of(body), HasSubstr("not valid JSON")) << body;
  }
  EXPECT_THAT(problem_of("{} {}"), HasSubstr("goes on after the end"));
  EXPECT_THAT(problem_of("{}x"), HasSubstr("goes on after the end"));
  EXPECT_EQ(problem_of(" {} \n"), "none");
}

TEST(PickedJson, RefusesWhatIsNoObject) {
  for (const auto body : {"[]", "[{\"a\":1}]", "1", "\"a\"", "null", "true"}) {
    EXPECT_EQ(problem_of(body), "must be a JSON object") << body;
  }
}

TEST(PickedJson, StopsKeepingAtItsLimitAndSaysSo) {
  std::string body = "{\"list\":[";
  for (std::size_t i = 0; i < kMaxPickedValues + 10; ++i) body += "1,";
  body += "1],\"a\":\"x\"}";
  const auto json = pick(body);
  EXPECT_TRUE(json.truncated);
  EXPECT_LE(json.root["list"].elements().size(), kMaxPickedValues);
  EXPECT_EQ(json.root["a"].text, "x");
}

TEST(PickedJson, PicksAsManyValuesAsTheCallerWants) {
  static constexpr Shape kNumbers{.element = &kScalar};
  static constexpr std::array kTop{ShapeMember{"list", &kNumbers}};
  static constexpr Shape kWhole{.members = kTop};
  std::string body = "{\"list\":[1";
  for (std::size_t i = 0; i < kMaxPickedValues; ++i) body += ",1";
  body += "]}";
  const auto json = pick_json(body, kWhole, 10, kMaxPickedValues + 10).value();
  EXPECT_FALSE(json.truncated);
  EXPECT_EQ(json.root["list"].elements().size(), kMaxPickedValues + 1);
}

TEST(PickedJson, NeverThrowsOnArbitraryBytes) {
  EXPECT_TRUE(rc::check([](const std::string& bytes) {
    (void)pick_json(bytes, kShape, 64);
    (void)pick_json("{\"a\":" + bytes, kShape, 64);
    (void)pick_json("{\"list\":[{\"x\":\"" + bytes + "\"}]}", kShape, 64);
  }));
}

}  // namespace
}  // namespace presetbridge::providers
