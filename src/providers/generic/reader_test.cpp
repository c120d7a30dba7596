#include "providers/generic/reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "providers/testing.h"

namespace presetbridge::providers {
namespace {

using domain::OrderEvent;
using domain::OrderLine;
using ::testing::ElementsAre;
using testing::golden;
using ::testing::UnorderedElementsAre;

Expected<OrderEvent> read(std::string_view body, std::span<const std::string> fields = {}) {
  return testing::parse_with(domain::Provider::generic, body, {}, fields);
}
std::string with_items(std::string_view items) {
  return fmt::format(R"({{"orderId":"1","targetUsername":"kim","items":{}}})", items);
}
std::vector<FieldProblem> problems(std::string_view body, std::span<const std::string> fields = {}) {
  const auto event = read(body, fields);
  if (event) return {};
  EXPECT_EQ(event.error().code, "INVALID_PAYLOAD");
  EXPECT_FALSE(event.error().details.empty());
  return event.error().details;
}

TEST(GenericOrder, OfTheSeedIsRead) {
  const auto event = read(golden("generic_seed.json")).value();
  EXPECT_EQ(event.kind, OrderEvent::Kind::order);
  EXPECT_EQ(event.provider, domain::Provider::generic);
  EXPECT_EQ(event.order_id, "ORDER-1001");
  EXPECT_EQ(event.email, "kim@example.com");
  EXPECT_EQ(event.username, "kim_tones");
  EXPECT_EQ(event.raw_username, "kim_tones");
  EXPECT_EQ(event.payment, domain::Payment::deliver);
  EXPECT_THAT(event.lines,
              ElementsAre(OrderLine{"", "PRESET-CLEAN-01", "prod_1", "", "Clean Preset", 1, {}}));
}

TEST(GenericOrder, WithEightyItemsIsReadExactly) {
  const auto event = read(golden("generic_order.json")).value();
  EXPECT_EQ(event.order_id, "92233720368547758070123456789");
  EXPECT_EQ(event.username, "Ana_Tones");
  ASSERT_EQ(event.lines.size(), 80u);
  EXPECT_EQ(event.lines[1], (OrderLine{"", "PRE-0001", "", "", "", 1, {}}));
  EXPECT_EQ(event.lines[2], (OrderLine{"", "", "9223372036854775805", "", "", 2, {}}));
  EXPECT_EQ(event.lines[3], OrderLine{});
  EXPECT_EQ(event.lines[5].quantity, 3);
}

TEST(GenericOrder, ReportsEveryProblemAtOnce) {
  EXPECT_THAT(problems("{}"), ElementsAre(FieldProblem{"orderId", "is required"},
                                          FieldProblem{"targetUsername", "is required"},
                                          FieldProblem{"items", "is required"}));
  EXPECT_THAT(
      problems(
          R"({"orderId":1.5,"targetUsername":["kim"],"customerEmail":7,"items":[{"sku":true,"quantity":0},"x",{"title":3}]})"),
      UnorderedElementsAre(FieldProblem{"orderId", "must be a string or an integer"},
                           FieldProblem{"targetUsername", "must be a string"},
                           FieldProblem{"customerEmail", "must be a string"},
                           FieldProblem{"items[0].sku", "must be a string or an integer"},
                           FieldProblem{"items[0].quantity", "must be a whole number of at least 1"},
                           FieldProblem{"items[1]", "must be an object"},
                           FieldProblem{"items[2].title", "must be a string"}));
}

TEST(GenericOrderId, IsAStringOrAnInteger) {
  const auto id = [](std::string_view value) {
    return read(fmt::format(R"({{"orderId":{},"targetUsername":"kim","items":[{{}}]}})", value));
  };
  EXPECT_EQ(id("1001").value().order_id, "1001");
  EXPECT_EQ(id("\"1001\"").value().order_id, "1001");
  EXPECT_EQ(id("18446744073709551616").value().order_id, "18446744073709551616");
  EXPECT_EQ(id("9007199254740993.0").value().order_id, "9007199254740993");
  EXPECT_EQ(id("1e3").value().order_id, "1000");
  for (const auto bad : {"null", "\"\"", "\" \"", "1.5", "1e-3", "true", "[]", "{}", "\"a\\u0000\""})
    EXPECT_FALSE(id(bad)) << bad;
  EXPECT_TRUE(id("\"" + std::string(255, 'x') + "\""));
  EXPECT_FALSE(id("\"" + std::string(256, 'x') + "\""));
}

TEST(GenericUsername, IsRequiredAndAtMostTwoHundredCharacters) {
  const auto problem = [](std::string_view value) {
    const auto found =
        problems(fmt::format(R"({{"orderId":"1","targetUsername":{},"items":[{{}}]}})", value));
    return found.empty() ? std::string("none") : found.at(0).field + " " + found.at(0).problem;
  };
  EXPECT_EQ(problem("\"kim\""), "none");
  EXPECT_EQ(problem("null"), "targetUsername is required");
  EXPECT_EQ(problem("\"\""), "targetUsername is required");
  EXPECT_EQ(problem("\" \\u200b \""), "targetUsername is required");
  EXPECT_EQ(problem("\"@\""), "targetUsername names no user");
  EXPECT_EQ(problem("42"), "targetUsername must be a string");
  EXPECT_EQ(problem("\"a\\u0000b\""), "targetUsername must not contain U+0000");
  EXPECT_EQ(problem("\"" + std::string(200, 'x') + "\""), "none");
  EXPECT_EQ(problem("\"" + std::string(201, 'x') + "\""), "targetUsername is longer than 200 characters");
  EXPECT_EQ(problem("\"" + std::string(5000, 'x') + "\""), "targetUsername is longer than 200 characters");
}

TEST(GenericUsername, MayComeUnderANameOfTheMerchantsOwn) {
  const std::vector<std::string> fields{"cloudName", "orderId"};
  EXPECT_EQ(read(R"({"orderId":"1","cloudName":"@kim","items":[{}]})", fields).value().username, "kim");
  EXPECT_EQ(read(R"({"orderId":"1","cloudName":"lee","targetUsername":"kim","items":[{}]})", fields)
                .value()
                .username,
            "kim");
  EXPECT_FALSE(read(R"({"orderId":"1","cloudName":"kim","items":[{}]})"));
}

TEST(GenericItems, AreANonEmptyArrayOfAtMostTwoHundredAndFifty) {
  for (const auto bad : {"null", "[]", "{}", "\"x\"", "1"}) EXPECT_FALSE(read(with_items(bad))) << bad;
  std::string items = "{}";
  for (int i = 1; i < 250; ++i) items += ",{}";
  EXPECT_EQ(read(with_items("[" + items + "]")).value().lines.size(), 250u);
  EXPECT_THAT(problems(with_items("[" + items + ",{}]")),
              ElementsAre(FieldProblem{"items", "has more than 250 entries"}));
}

TEST(GenericItems, WithoutAnyKeyAreValid) {
  EXPECT_THAT(read(with_items("[{}]")).value().lines, ElementsAre(OrderLine{}));
  EXPECT_THAT(
      read(with_items(R"([{"sku":null,"productId":null,"title":null,"quantity":null}])")).value().lines,
      ElementsAre(OrderLine{}));
  EXPECT_THAT(read(with_items(R"([{"sku":"","productId":" ","title":""}])")).value().lines,
              ElementsAre(OrderLine{}));
}

TEST(GenericQuantity, IsAWholeNumberOfAtLeastOne) {
  const auto quantity = [](std::string_view value) {
    return read(with_items(fmt::format(R"([{{"quantity":{}}}])", value)));
  };
  EXPECT_EQ(quantity("1").value().lines[0].quantity, 1);
  EXPECT_EQ(quantity("2.0").value().lines[0].quantity, 2);
  EXPECT_EQ(quantity("1e2").value().lines[0].quantity, 100);
  for (const auto bad : {"0", "-1", "-0", "1.5", "0.9", "1e-2", "\"2\"", "true", "[]", "{}"}) {
    EXPECT_THAT(problems(with_items(fmt::format(R"([{{"quantity":{}}}])", bad))),
                ElementsAre(FieldProblem{"items[0].quantity", "must be a whole number of at least 1"}))
        << bad;
  }
}

TEST(GenericOrder, ReadsALoneSurrogateAsTheReplacementCharacter) {
  const auto event =
      read(R"({"orderId":"a\ud83c","targetUsername":"kim","items":[{"title":"\udfb8\ud83c\udfb8"}]})");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->order_id, "a\ufffd");
  EXPECT_EQ(event->lines.at(0).title, "\ufffd🎸");
}

TEST(GenericOrder, RefusesKeysGivenTwice) {
  EXPECT_THAT(
      problems(R"({"orderId":"1","orderId":"2","targetUsername":"kim","items":[{"sku":"a","sku":"b"}]})"),
      ElementsAre(FieldProblem{"orderId", "is given more than once"},
                  FieldProblem{"items[0].sku", "is given more than once"}));
  EXPECT_TRUE(read(R"({"orderId":"1","x":1,"x":2,"targetUsername":"kim","items":[{}]})"));
}

TEST(GenericOrder, LimitsEveryText) {
  const auto body = [](std::size_t email, std::size_t title) {
    return fmt::format(
        R"({{"orderId":"1","targetUsername":"kim","customerEmail":"{}","items":[{{"title":"{}"}}]}})",
        std::string(email, 'e'), std::string(title, 't'));
  };
  EXPECT_TRUE(read(body(320, 1000)));
  EXPECT_THAT(problems(body(321, 1001)),
              ElementsAre(FieldProblem{"customerEmail", "is longer than 320 bytes"},
                          FieldProblem{"items[0].title", "is longer than 1000 bytes"}));
}

TEST(GenericOrder, ReportsAtMostFiftyProblems) {
  std::string items = "1";
  for (int i = 1; i < 250; ++i) items += ",1";
  EXPECT_EQ(problems(with_items("[" + items + "]")).size(), 50u);
}

TEST(GenericOrder, MustBeAJsonObject) {
  for (const std::string body : {"", "null", "[]", "{", "{\"orderId\":\"\xff\"}"}) {
    const auto found = problems(body);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].field, "body");
  }
}

TEST(EveryReader, EitherReadsOrSaysWhyAndNeverThrows) {
  const auto payloads = std::vector{golden("provider_a_seed.json"), golden("provider_b_seed.json"),
                                    golden("generic_seed.json")};
  EXPECT_TRUE(rc::check([&](std::size_t at, char byte, bool cut) {
    for (const auto& payload : payloads) {
      auto body = payload;
      body[at % body.size()] = byte;
      if (cut) body.resize(at % body.size());
      for (const auto provider :
           {domain::Provider::provider_a, domain::Provider::provider_b, domain::Provider::generic}) {
        const auto event = testing::parse_with(provider, body);
        if (event) {
          RC_ASSERT(!event->order_id.empty());
        } else {
          RC_ASSERT(event.error().code == "INVALID_PAYLOAD" && !event.error().details.empty());
        }
      }
    }
  }));
}

Expected<OrderEvent> read_direct(std::string_view items) {
  const auto body = with_items(items);
  return parse(profile_of(domain::Provider::generic),
               {.body = body, .topic = {}, .limits = {}, .file_ids = true});
}

TEST(GenericOrder, NamesFilesWhereThatIsAllowedAlone) {
  const auto* const items = R"([{"fileId":" f-1 ","title":"Big Amp"},{"sku":"A"}])";
  const auto direct = read_direct(items).value();
  EXPECT_EQ(direct.lines[0].file_id, "f-1");
  EXPECT_EQ(direct.lines[1].file_id, "");
  EXPECT_EQ(read(with_items(items))->lines[0].file_id, "")
      << "a webhook's fileId is a member that nobody reads";
  for (const auto& wrong : std::vector<std::string>{R"("")", R"(" ")", "1", "{}", R"("a\u0001b")",
                                                    R"("a\u0000b")", '"' + std::string(201, 'x') + '"'}) {
    const auto refused = read_direct(R"([{"fileId":)" + wrong + "}]");
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().details[0].field, "items[0].fileId");
  }
  EXPECT_TRUE(read_direct(R"([{"fileId":null,"sku":"A"}])"));
}

}  // namespace
}  // namespace presetbridge::providers
