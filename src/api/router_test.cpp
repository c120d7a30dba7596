#include "api/router.h"

#include <gtest/gtest.h>

#include "api/json_body.h"
#include "api/page.h"
#include "api/query_fields.h"

namespace presetbridge::api {
namespace {

Task<Reply> nothing(int, Call) {
  co_return no_content();
}

class RouterTest : public ::testing::Test {
 protected:
  RouterTest() {
    for (const auto& [method, pattern] : std::vector<std::pair<std::string, std::string>>{
             {"GET", "/"},
             {"GET", "/api/keys"},
             {"POST", "/api/keys"},
             {"GET", "/api/keys/{key}"},
             {"GET", "/api/keys/mine"},
             {"POST", "/api/keys/{key}/rotate"},
             {"POST", "/api/webhooks/{provider}/{integration}"}}) {
      router_.add(method, pattern, Access::open(), with(0, nothing));
    }
    router_.refuse("DELETE", "/api/keys/{key}", "Keys stay.");
  }
  std::string pattern(std::string_view method, std::string_view path) {
    const auto match = router_.match(method, path);
    return match ? match->route->pattern : std::to_string(match.error().status);
  }
  Router router_;
};

TEST_F(RouterTest, PathsFindTheirPattern) {
  EXPECT_EQ(pattern("GET", "/"), "/");
  EXPECT_EQ(pattern("GET", "/api/keys"), "/api/keys");
  EXPECT_EQ(pattern("GET", "/api/keys/key_1"), "/api/keys/{key}");
  EXPECT_EQ(pattern("GET", "/api/keys/mine"), "/api/keys/mine");
  EXPECT_EQ(pattern("POST", "/api/keys/key_1/rotate"), "/api/keys/{key}/rotate");
  for (const char* path :
       {"", "api/keys", "/api", "/api/keys/", "/api//keys", "/api/keys/a/b", "/API/keys", "//", "/api/keys/%",
        "/api/keys/%zz", "/api/keys/%00", "/api/keys/%ff", "/api/keys//rotate", "*"}) {
    EXPECT_EQ(pattern("GET", path), "404") << path;
  }
}

TEST_F(RouterTest, ParametersAreDecodedAfterSplitting) {
  const auto match = router_.match("POST", "/api/webhooks/%67eneric/a%2Fb%C3%A4+c");
  ASSERT_TRUE(match);
  EXPECT_EQ(match->params.at(0), (std::pair<std::string_view, std::string>("provider", "generic")));
  EXPECT_EQ(match->params.at(1).second, "a/bä+c");
}

TEST_F(RouterTest, AMethodThatAPathDoesNotTakeIs405WithAllow) {
  const auto refused = router_.match("PUT", "/api/keys");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status, 405);
  EXPECT_EQ(refused.error().headers.get("Allow"), "GET, HEAD, POST");
  const auto with_reason = router_.match("DELETE", "/api/keys/key_1");
  EXPECT_EQ(with_reason.error().status, 405);
  EXPECT_TRUE(with_reason.error().body.contains("METHOD_NOT_ALLOWED"));
  EXPECT_TRUE(with_reason.error().body.contains("Keys stay."));
}

TEST_F(RouterTest, HeadIsTakenWhereGetIs) {
  EXPECT_EQ(pattern("HEAD", "/api/keys"), "/api/keys");
  EXPECT_EQ(pattern("HEAD", "/api/keys/mine"), "/api/keys/mine");
  EXPECT_EQ(pattern("HEAD", "/api/keys/key_1/rotate"), "405");
  EXPECT_EQ(pattern("HEAD", "/nowhere"), "404");
  EXPECT_EQ(router_.match("OPTIONS", "/api/keys").error().headers.get("Allow"), "GET, HEAD, POST");
  EXPECT_EQ(router_.match("HEAD", "/api/keys/key_1/rotate").error().headers.get("Allow"), "POST");
}

TEST_F(RouterTest, OptionsOfTheWholeServerNamesItsMethods) {
  const auto answer = router_.match("OPTIONS", "*");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().status, 204);
  EXPECT_EQ(answer.error().headers.get("Allow"), "GET, HEAD, OPTIONS, POST");
  EXPECT_EQ(answer.error().body, "");
}

TEST_F(RouterTest, TheSameRouteTwiceIsAMistake) {
  EXPECT_THROW(router_.add("GET", "/api/keys", Access::open(), with(0, nothing)), std::logic_error);
  EXPECT_THROW(router_.add("GET", "api", Access::open(), with(0, nothing)), std::logic_error);
}

// ---------------------------------------------------------------- bodies

net::HttpRequest request_with(std::string body, std::string type = "application/json") {
  net::HttpRequest request;
  request.headers.add("content-type", std::move(type));
  request.body = std::move(body);
  return request;
}

TEST(JsonBodyTest, OnlyJsonObjectsAreTaken) {
  EXPECT_TRUE(JsonBody::parse(request_with("{}")));
  EXPECT_TRUE(JsonBody::parse(request_with("{}", "Application/JSON ; charset=utf-8")));
  EXPECT_EQ(JsonBody::parse(request_with("{}", "text/plain")).error().code, "UNSUPPORTED_MEDIA_TYPE");
  EXPECT_EQ(JsonBody::parse(request_with("{}", "application/jsonx")).error().code, "UNSUPPORTED_MEDIA_TYPE");
  EXPECT_EQ(JsonBody::parse(request_with("{}", "")).error().code, "UNSUPPORTED_MEDIA_TYPE");
  const auto none = JsonBody::parse(net::HttpRequest{}).error();
  EXPECT_EQ(none.code, "UNSUPPORTED_MEDIA_TYPE");
  EXPECT_EQ(none.message, "A body is needed: a JSON object, with Content-Type: application/json.");
  EXPECT_EQ(JsonBody::parse(request_with("")).error().details.at(0).problem,
            "is empty: a JSON object is needed");
  for (const std::string& body : {std::string(), std::string("[]"), std::string("{"), std::string("{}x"),
                                  std::string("{\"a\":\"\xff\"}"), "{\"a\":" + std::string(100, '[')}) {
    EXPECT_EQ(JsonBody::parse(request_with(body)).error().code, "VALIDATION_FAILED") << body;
  }
  auto large = request_with("");
  large.body_too_large = true;
  large.body_limit = 4'096;
  for (const auto& error : {JsonBody::parse(large).error(), JsonBody::parse_optional(large).error()}) {
    EXPECT_EQ(error.code, "PAYLOAD_TOO_LARGE");
    EXPECT_NE(error.message.find("4096 bytes"), std::string::npos);
  }
}

TEST(JsonBodyTest, WhereNoneIsNeededNoneIsAnEmptyObject) {
  EXPECT_TRUE(JsonBody::parse_optional(net::HttpRequest{}));
  EXPECT_EQ(JsonBody::parse_optional(request_with("{}", "text/plain")).error().code,
            "UNSUPPORTED_MEDIA_TYPE");
  EXPECT_EQ(JsonBody::parse_optional(request_with("{")).error().code, "VALIDATION_FAILED");
}

TEST(QueryTest, WhatIsWrongWithItIsReportedOfTheParameter) {
  EXPECT_EQ(parse_query("a=1&b=%C3%A4").value().at(1).second, "\u00e4");
  EXPECT_EQ(parse_query("a=1&limit=2&limit=3").error(), (FieldProblem{"limit", "is given more than once"}));
  EXPECT_EQ(parse_query("a=%ff").error(), (FieldProblem{"a", "is not UTF-8 in percent-encoding"}));
  EXPECT_EQ(parse_query("a=%09").error(), (FieldProblem{"a", "has a control character"}));
  EXPECT_EQ(parse_query("%zz=1").error().field, "query");
  EXPECT_EQ(parse_query("%00=1").error(), (FieldProblem{"query", "has a control character"}));
  const std::string longest(61, 'x');
  EXPECT_EQ(parse_query(longest + "&" + longest).error().field, std::string(60, 'x') + "…");
}

TEST(JsonBodyTest, EveryProblemIsReportedAtOnce) {
  auto body =
      JsonBody::parse(request_with(R"({"a":1,"long":"äöü","ctl":"x\u0000","n":1.5,"big":99,"flag":"yes",
    "time":"soon","pick":"z","list":[1,"ok"],"id":"acc_1","sub":{"x":""},"rows":[{"q":0},7]})"));
  ASSERT_TRUE(body);
  auto& f = **body;
  f.text("a");
  f.text("none");
  f.text("long", {.max = 2});
  f.text("ctl");
  f.optional_integer("n", 0, 9);
  f.optional_integer("big", 0, 9);
  f.optional_flag("flag");
  f.optional_time("time");
  f.choice("pick", {"a", "b"});
  f.optional_texts("list", 5);
  f.optional_id<AccountId>("id");
  f.object("sub").text("x");
  for (auto& row : f.objects("rows", 5)) row.integer("q", 1, 9);
  const auto error = body->problems();
  ASSERT_TRUE(error);
  std::vector<std::string> fields;
  for (const auto& detail : error->details) fields.push_back(detail.field);
  EXPECT_EQ(fields, (std::vector<std::string>{"a", "none", "long", "ctl", "n", "big", "flag", "time", "pick",
                                              "list[0]", "id", "sub.x", "rows[1]", "rows[0].q"}));
}

// Some programs write every number with a fraction.
TEST(JsonBodyTest, WholeNumbersAreReadExactlyInEveryNotation) {
  const auto read = [](const std::string& number) {
    auto body = JsonBody::parse(request_with("{\"n\":" + number + "}"));
    return (*body)->optional_integer("n", INT64_MIN, INT64_MAX);
  };
  EXPECT_EQ(read("278.0"), 278);
  EXPECT_EQ(read("2.78e2"), 278);
  EXPECT_EQ(read("-1.0"), -1);
  EXPECT_EQ(read("0.0"), 0);
  EXPECT_EQ(read("9007199254740993.0"), 9007199254740993);
  EXPECT_EQ(read("9223372036854775807.0"), INT64_MAX);
  EXPECT_EQ(read("-9.223372036854775808e18"), INT64_MIN);
  for (const auto* bad : {"278.5", "277.99999999999999999999999", "9223372036854775808.0", "1e400", "1e-1"}) {
    EXPECT_EQ(read(bad), std::nullopt) << bad;
  }
}

TEST(JsonBodyTest, GoodFieldsAreRead) {
  auto body = JsonBody::parse(request_with(
      R"({"name":"  Ann ","secret":" x ","n":7,"flag":false,"nothing":null,"time":"2026-01-02T03:04:05Z","list":[{"n":1}]})"));
  ASSERT_TRUE(body);
  auto moved = std::move(*body);
  EXPECT_EQ(moved->text("name"), "Ann");
  EXPECT_EQ(moved->text("secret", {.exact = true}), " x ");
  EXPECT_EQ(moved->integer("n", 1, 9), 7);
  EXPECT_EQ(moved->optional_flag("flag"), false);
  EXPECT_EQ(moved->optional_text("nothing"), std::nullopt);
  EXPECT_TRUE(moved->is_null("nothing"));
  EXPECT_FALSE(moved->is_null("absent"));
  EXPECT_EQ(to_iso8601(moved->optional_time("time").value()), "2026-01-02T03:04:05.000Z");
  EXPECT_EQ(moved->objects("list", 9).at(0).integer("n", 1, 9), 1);
  EXPECT_FALSE(moved.problems());
}

TEST(JsonBodyTest, ATimeHasTheFormThatTheContractSays) {
  const auto read = [](const std::string& time) {
    auto body = JsonBody::parse(request_with("{\"t\":\"" + time + "\"}"));
    return (*body)->optional_time("t");
  };
  for (const auto* good : {"2026-01-02T03:04:05Z", "2026-01-02T03:04:05.1Z",
                           "2026-01-02T03:04:05.123456789+05:30", "2024-02-29T23:59:59-11:00"}) {
    EXPECT_TRUE(read(good)) << good;
  }
  for (const auto* bad :
       {"2026-01-02", "2026-01-02T03:04:05", "2026-01-02 03:04:05Z", "2026-01-02t03:04:05Z",
        "2026-01-02T03:04:05z", "2026-01-02T03:04Z", "2026-01-02T03:04:60Z", "2026-01-02T03:04:05.Z",
        "2026-01-02T03:04:05.1234567890Z", "0000-06-01T00:00:00Z", "1969-12-31T23:59:59Z",
        "9999-12-31T23:59:59-23:59", "10000-01-01T00:00:00Z", "2026-01-02T03:04:05+0530",
        "2026-01-02T03:04:05+05", "2026-02-30T03:04:05Z", "2026-01-02T24:04:05Z", ""}) {
    EXPECT_FALSE(read(bad)) << bad;
  }
}

TEST(JsonBodyTest, ATextIsJudgedAsItWasSent) {
  const auto problem = [](const std::string& text, TextRule rule) {
    auto body = JsonBody::parse(request_with("{\"t\":\"" + text + "\"}"));
    (*body)->text("t", rule);
    const auto error = body->problems();
    return error ? error->details.at(0).problem : "";
  };
  EXPECT_EQ(problem(" ab ", {.max = 4}), "");
  EXPECT_EQ(problem(" abc ", {.max = 4}), "must have at most 4 characters");
  EXPECT_EQ(problem("   ", {}), "must not be empty");
  EXPECT_EQ(problem("ab\\n", {}), "must not have control characters");
  EXPECT_EQ(problem("ab\\n", {.lines = true}), "");
}

std::vector<std::pair<std::string, std::string>> problems_of(const std::optional<Error>& error) {
  std::vector<std::pair<std::string, std::string>> problems;
  if (error) {
    for (const auto& [field, problem] : error->details) problems.emplace_back(field, problem);
  }
  return problems;
}

TEST(JsonBodyTest, AFieldThatNobodyAskedForIsReported) {
  using Problems = std::vector<std::pair<std::string, std::string>>;
  auto body = JsonBody::parse(request_with(
      R"({"nmae":"x","any":{"thing":1},"none":null,"zzzzzzzz":null,"settings":{"hodl":true,"hold":true},
          "rows":[{"q":1},{"q":1,"quantiti":2,"deep":{"er":[{"w":1}]}}]})"));
  ASSERT_TRUE(body);
  auto& f = **body;
  f.optional_text("name");
  f.has("any");
  f.has("none");
  f.object("settings").optional_flag("hold");
  for (auto& row : f.objects("rows", 5)) {
    row.optional_integer("q", 1, 9);
    row.optional_integer("quantity", 1, 9);
    if (!row.has("deep")) continue;
    for (auto& er : row.object("deep").objects("er", 5)) er.skip({"v"});
  }
  EXPECT_EQ(
      problems_of(body->problems()),
      (Problems{{"nmae", "is not a field of this request; is name meant?"},
                {"zzzzzzzz", "is not a field of this request; it takes name, any, none, settings, rows"},
                {"settings.hodl", "is not a field of this request; is hold meant?"},
                {"rows[1].quantiti", "is not a field of this request; is quantity meant?"},
                {"rows[1].deep.er[0].w", "is not a field of this request; it takes none"}}));
  EXPECT_TRUE(f.names_others());
  f.refuse_changes({{"nmae", "x"}, {"zzzzzzzz", 1}}, {"zzzzzzzz"});
  EXPECT_FALSE(f.names_others());
  EXPECT_EQ(problems_of(body->problems()).size(), 3U);
}

TEST(JsonBodyTest, OfManyUnknownFieldsTheFirstAreReportedAndNoneAtLength) {
  std::string many = "{\"" + std::string(61, 'x') + "\":1";
  for (int i = 0; i < 1'000; ++i) many += ",\"f" + std::to_string(i) + "\":1";
  const auto body = JsonBody::parse(request_with(many + "}"));
  ASSERT_TRUE(body);
  const auto details = problems_of(body->problems());
  ASSERT_EQ(details.size(), 20U);
  EXPECT_EQ(details[0].first, std::string(60, 'x') + "…");
  EXPECT_EQ(details[1],
            (std::pair<std::string, std::string>{"f0", "is not a field of this request; it takes none"}));
}

TEST(JsonBodyTest, AProblemAlwaysSaysWhere) {
  using Problems = std::vector<std::pair<std::string, std::string>>;
  auto body =
      JsonBody::parse(request_with(R"({"":1,"rows":[{"":1},{"ä)" + std::string(60, 'x') + R"(":1}]})"));
  ASSERT_TRUE(body);
  for (auto& row : (*body)->objects("rows", 5)) row.optional_integer("q", 1, 9);
  EXPECT_EQ(
      problems_of(body->problems()),
      (Problems{{"body", "has a field without a name"},
                {"rows[0]", "has a field without a name"},
                {"rows[1].ä" + std::string(58, 'x') + "…", "is not a field of this request; it takes q"}}));
}

TEST(QueryTest, ATimeWhosePlusIsASpaceIsRefusedWithHowToWriteIt) {
  Call call;
  call.query = parse_query("from=2026-01-02T03:04:05+05:30&to=2026-01-02T03:04:05%2B05:30").value();
  QueryFields fields(call);
  EXPECT_FALSE(fields.optional_time("from"));
  EXPECT_TRUE(fields.optional_time("to"));
  EXPECT_EQ(
      fields.problems()->details,
      (std::vector<FieldProblem>{
          {"from", "must be a time like 2026-01-31T12:00:00Z, from 1970 to 2999; write its + as %2B"}}));
}

// ---------------------------------------------------------------- pages

TEST(PageTest, LimitsAndCursorsAreJudged) {
  const auto page = [](std::vector<std::pair<std::string, std::string>> query) {
    Call call;
    call.query = std::move(query);
    return page_request(call);
  };
  EXPECT_EQ(page({})->limit, 50);
  EXPECT_EQ(page({{"limit", "1"}})->limit, 1);
  for (const char* limit : {"0", "101", "-1", "", "x", "1x", "99999999999999999999"}) {
    EXPECT_FALSE(page({{"limit", limit}})) << limit;
  }
  for (const char* cursor : {"", "x", "acc_0000000000001"})
    EXPECT_FALSE(page({{"cursor", cursor}})) << cursor;
  const auto answer = page_response(json::array{}, 77);
  const auto cursor = json::parse(answer.body).at("nextCursor").as_string();
  EXPECT_EQ(page({{"cursor", std::string(cursor)}})->before, 77);
}

}  // namespace
}  // namespace presetbridge::api
