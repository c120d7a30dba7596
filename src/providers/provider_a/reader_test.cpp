#include "providers/provider_a/reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "providers/testing.h"

namespace presetbridge::providers {
namespace {

using domain::OrderEvent;
using domain::OrderLine;
using domain::Payment;
using domain::Refund;
using domain::RefundLine;
using ::testing::ElementsAre;
using testing::golden;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Event = OrderEvent::Kind;

Expected<OrderEvent> read(std::string_view body, std::string_view topic = {},
                          std::span<const std::string> fields = {}) {
  return testing::parse_with(domain::Provider::provider_a, body, topic, fields);
}
// An order with an id and these further members.
OrderEvent order(std::string_view members, std::string_view topic = {},
                 std::span<const std::string> fields = {}) {
  return read(fmt::format("{{\"id\":1{}{}}}", members.empty() ? "" : ",", members), topic, fields).value();
}
std::string username(std::string_view members, std::span<const std::string> fields = {}) {
  return order(members, {}, fields).username;
}
void expect_refused(const Expected<OrderEvent>& result, const std::string& field,
                    const std::string& problem) {
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, "INVALID_PAYLOAD");
  ASSERT_EQ(result.error().details.size(), 1u);
  EXPECT_EQ(result.error().details[0].field, field);
  EXPECT_THAT(result.error().details[0].problem, HasSubstr(problem));
}

TEST(HostedOrder, OfTheSeedIsRead) {
  const auto event = read(golden("provider_a_seed.json")).value();
  EXPECT_EQ(event.kind, Event::order);
  EXPECT_EQ(event.provider, domain::Provider::provider_a);
  EXPECT_EQ(event.order_id, "6120459873310284417");
  EXPECT_EQ(event.order_number, "1234");
  EXPECT_EQ(event.email, "kim@example.com");
  EXPECT_EQ(event.username, "kim_tones");
  EXPECT_EQ(event.payment, Payment::deliver);
  EXPECT_FALSE(event.test);
  EXPECT_THAT(event.lines, ElementsAre(OrderLine{
                               "", "PRESET-CLEAN-01", "7710020033", "41980011220", "Clean Preset", 1, {}}));
}

TEST(HostedOrder, OfTenKilobytesIsReadExactly) {
  const auto event = read(golden("provider_a_order.json"), "orders/updated").value();
  EXPECT_EQ(event.order_id, "5701234567890123456");
  EXPECT_EQ(event.order_number, "#20417");
  EXPECT_EQ(event.email, "zoe@example.org");
  EXPECT_EQ(event.username, "zoe.ångström");
  EXPECT_EQ(event.raw_username, "\u200b @zoe.ångström \u00a0");
  EXPECT_EQ(event.payment, Payment::deliver);
  EXPECT_EQ(event.updated_at, parse_iso8601("2026-11-02T09:20:30Z"));
  EXPECT_THAT(event.lines, ElementsAre(OrderLine{"14839201923001", "CAP-PLX-1", "9007199254740993",
                                                 "18446744073709551615", "Plexi Crunch — Captures №1", 1, 1},
                                       OrderLine{"14839201923002", "PRE-AMB-7", "9007199254740994",
                                                 "18446744073709551614", "Ambient Pads \"Nordlys\"", 2, 2},
                                       OrderLine{"14839201923003", "", "9007199254740995",
                                                 "18446744073709551613", "澄んだクリーン", 1, 1},
                                       OrderLine{"14839201923004", "BND-METAL", "9007199254740996",
                                                 "18446744073709551612", "Modern Metal Bundle 🎸", 1, 0},
                                       OrderLine{"14839201923005", "", "", "", "T-shirt (black)", 1, 1}));
  EXPECT_THAT(event.refunds, ElementsAre(Refund{"929361463001", {RefundLine{"14839201923004", 1}}}));
  EXPECT_FALSE(event.too_large);
}

TEST(HostedOrder, DeliversByItsFinancialStatus) {
  EXPECT_EQ(order("").payment, Payment::deliver);
  const std::vector<std::pair<std::string, Payment>> known = {
      {"null", Payment::deliver},
      {"\"paid\"", Payment::deliver},
      {"\"PAID\"", Payment::deliver},
      {"\"partially_refunded\"", Payment::deliver},
      {"\"refunded\"", Payment::refunded},
      {"\"voided\"", Payment::refunded},
      {"\"pending\"", Payment::awaiting_payment},
      {"\"authorized\"", Payment::awaiting_payment},
      {"\"partially_paid\"", Payment::awaiting_payment},
      {"\"something new\"", Payment::awaiting_payment},
      {"7", Payment::awaiting_payment}};
  for (const auto& [status, payment] : known) {
    for (const auto topic : {"", "orders/paid", "orders/create", "orders/updated"}) {
      EXPECT_EQ(order("\"financial_status\":" + status, topic).payment, payment) << status << topic;
    }
  }
}

TEST(HostedOrder, StopsWhenCancelled) {
  EXPECT_EQ(order(R"("financial_status":"paid","cancelled_at":"2026-11-02T10:00:00Z")").payment,
            Payment::cancelled);
  for (const auto* none : {"null", "false", "0", R"("")", R"(" ")"})
    EXPECT_EQ(order(fmt::format(R"("financial_status":"paid","cancelled_at":{})", none)).payment,
              Payment::deliver)
        << none;
  EXPECT_EQ(order(R"("financial_status":"paid")", "orders/cancelled").payment, Payment::cancelled);
}

TEST(HostedOrder, IsATestWhenThePayloadOrTheHeaderSaysSo) {
  EXPECT_TRUE(order("\"test\":true").test);
  EXPECT_FALSE(order("\"test\":false").test);
  EXPECT_FALSE(order("\"test\":\"true\"").test);
  const auto event =
      parse(profile_of(domain::Provider::provider_a),
            {.body = "{\"id\":1}", .topic = {}, .test = true, .username_fields = {}, .limits = {}});
  EXPECT_TRUE(event.value().test);
}

TEST(HostedOrder, HasTheNameThatPeopleSeeElseItsNumber) {
  EXPECT_EQ(order(R"("name":"#1001","order_number":1001)").order_number, "#1001");
  EXPECT_EQ(order(R"("name":"  ","order_number":1001)").order_number, "1001");
  EXPECT_EQ(order(R"("name":null,"order_number":"1001-B")").order_number, "1001-B");
  EXPECT_EQ(order("").order_number, "");
}

// The platform's sample is always this order, whatever else it says.
TEST(HostedSample, IsKnownByItsOrderId) {
  for (const auto body : {R"({"id":820982911946154508})", R"({"id":820982911946154508,"test":false})",
                          R"({"id":"820982911946154508","test":true})"}) {
    for (const auto topic : {"", "orders/paid", "orders/cancelled"}) {
      const auto event = read(body, topic).value();
      EXPECT_TRUE(event.sample && event.test) << body << topic;
    }
  }
  EXPECT_TRUE(read(R"({"id":1,"order_id":820982911946154508})", "refunds/create").value().sample);
  EXPECT_TRUE(read(R"({"order_id":820982911946154508})", "orders/risk_assessment_changed").value().sample);
  EXPECT_FALSE(order("").sample);
  EXPECT_FALSE(order("\"test\":true").sample);
}

TEST(HostedSample, IsWhatTheHeaderCallsATestAndTheOrderDoesNot) {
  const auto with_header = [](std::string_view body, std::string_view topic = {}) {
    return parse(profile_of(domain::Provider::provider_a),
                 {.body = body, .topic = topic, .test = true, .username_fields = {}, .limits = {}})
        .value();
  };
  EXPECT_TRUE(with_header(R"({"id":1})").sample);
  EXPECT_TRUE(with_header(R"({"id":1,"test":false})").sample);
  const auto real = with_header(R"({"id":1,"test":true})");
  EXPECT_TRUE(real.test);
  EXPECT_FALSE(real.sample) << "an order of a shop in test mode";
  EXPECT_FALSE(with_header(R"({"id":1,"order_id":2})", "refunds/create").sample)
      << "a refund does not say what its order is";
}

TEST(HostedOrder, KnowsItsOwnTime) {
  EXPECT_EQ(order(R"("updated_at":"2026-11-02T10:20:30+01:00")").updated_at,
            parse_iso8601("2026-11-02T09:20:30Z"));
  EXPECT_EQ(order(R"("updated_at":"yesterday")").updated_at, std::nullopt);
  EXPECT_EQ(order(R"("updated_at":1700000000)").updated_at, std::nullopt);
}

TEST(HostedUsername, IsTheFirstNamedAttributeThatIsNotEmpty) {
  EXPECT_EQ(
      username(
          R"("note_attributes":[{"name":"color","value":"red"},{"name":"dsp_username","value":"a"},{"name":"vendor_username","value":"b"}])"),
      "a");
  EXPECT_EQ(
      username(
          R"("note_attributes":[{"name":"vendor_username","value":""},{"name":"cloud_username","value":"@"},{"name":"dsp_username","value":"c"}])"),
      "c");
  EXPECT_EQ(
      username(
          R"("note_attributes":[{"name":"vendor_username","value":7},{"name":"vendor_username","value":null},{"name":"vendor_username"},5,null,{"name":"vendor_username","value":"d"}])"),
      "d");
  EXPECT_EQ(username(R"("note_attributes":[{"name":"username","value":"x"}])"), "");
}

TEST(HostedUsername, IsReadFromTheNoteOnlyWhenNoAttributeNamesOne) {
  EXPECT_EQ(
      username(R"("note":"vendor username: a","note_attributes":[{"name":"vendor_username","value":"b"}])"),
      "b");
  EXPECT_EQ(
      username(
          R"("note":"hello\nVendor Username: a\nbye","note_attributes":[{"name":"vendor_username","value":" "}])"),
      "a");
  EXPECT_EQ(username(R"("note":"Username - @x")"), "x");
  EXPECT_EQ(username(R"("note":"username: my ebay one\ncloud_username = y")"), "y");
  EXPECT_EQ(username(R"("note":null)"), "");
  EXPECT_EQ(username(R"("note":["vendor username: a"])"), "");
  EXPECT_EQ(username(R"("note":"kim@example.com","email":"kim@example.com")"), "");
}

TEST(HostedUsername, MayStandInThePropertiesOfALine) {
  const auto lines = [](std::string_view properties) {
    return fmt::format(R"("line_items":[{{"sku":"A"}},{{"sku":"B","properties":{}}}])", properties);
  };
  EXPECT_EQ(username(lines(R"([{"name":"Color","value":"red"},{"name":"Cloud Username","value":"@a"}])")),
            "a");
  EXPECT_EQ(username(lines(R"([{"name":"dsp_username","value":""},{"name":"vendor_username","value":"b"}])")),
            "b");
  EXPECT_EQ(username(lines(R"([{"name":"vendor_username","value":7},null,{"name":"username","value":"c"}])")),
            "");
  EXPECT_EQ(username(lines(R"({"vendor_username":"d"})")), "");
  EXPECT_EQ(
      username(R"("note":"vendor username: note",)" + lines(R"([{"name":"vendor_username","value":"e"}])")),
      "note");
  EXPECT_EQ(username(R"("note":"Username - bare",)" + lines(R"([{"name":"vendor_username","value":"e"}])")),
            "bare");
}

TEST(HostedUsername, IsReadInOneOrderTheMerchantsNamesLast) {
  const std::vector<std::string> fields{"amp"};
  std::string own = R"("note_attributes":[{"name":"amp","value":"own-attribute"}])";
  const std::string property = R"({"name":"amp","value":"own-property"})";
  EXPECT_EQ(username(R"("line_items":[{"properties":[)" + property + "]}]", fields), "own-property");
  EXPECT_EQ(username(R"("note":"amp: own-note","line_items":[{"properties":[)" + property + "]}]", fields),
            "own-note");
  EXPECT_EQ(username(R"("note":"amp: own-note",)" + own, fields), "own-attribute");
  EXPECT_EQ(
      username(own + R"(,"line_items":[{"properties":[{"name":"vendor_username","value":"line"}]}])", fields),
      "line");
  EXPECT_EQ(username(own + R"(,"note":"username: note")", fields), "note");
  EXPECT_EQ(
      username(
          R"("note_attributes":[{"name":"amp","value":"own"},{"name":"vendor_username","value":"attribute"}])",
          fields),
      "attribute");
}

TEST(HostedUsername, IsSearchedInTheFirstTwentyThousandBytesOfANote) {
  const auto note = [](std::size_t before) {
    return username(fmt::format(R"("note":"{}\nusername: kim")", std::string(before, 'x')));
  };
  EXPECT_EQ(note(19'000), "kim");
  EXPECT_EQ(note(20'000), "");
}

TEST(HostedUsername, MayHaveNamesOfTheMerchantsOwn) {
  const std::vector<std::string> fields{"Amp Cloud Name"};
  EXPECT_EQ(username(R"("note_attributes":[{"name":"amp_cloud_name","value":"a"}])", fields), "a");
  EXPECT_EQ(username(R"("note":"Amp cloud name: b")", fields), "b");
}

TEST(HostedUsername, KeepsTheRawValueOfWhatCannotBeUsed) {
  const auto event = order(fmt::format(R"("note_attributes":[{{"name":"vendor_username","value":"{}"}}])",
                                       std::string(5000, 'x')));
  EXPECT_EQ(event.username, "");
  EXPECT_EQ(event.raw_username, std::string(1000, 'x'));
}

TEST(HostedOrder, IsNeverRefusedForAField) {
  const auto event =
      read(R"({"id":"A-1","order_number":{},"email":7,"note":1,"note_attributes":{"name":"vendor_username"},
    "line_items":"none","refunds":3,"financial_status":null,"cancelled_at":null,"updated_at":[],"test":null})")
          .value();
  EXPECT_EQ(event.order_id, "A-1");
  EXPECT_EQ(event.payment, Payment::deliver);
  EXPECT_THAT(event.lines, IsEmpty());
  const auto lines =
      order(
          R"("line_items":[null,4,{},{"sku":1e-3,"product_id":1.5,"variant_id":true,"title":5,"quantity":null}])")
          .lines;
  EXPECT_THAT(lines, ElementsAre(OrderLine{}, OrderLine{}));
}

TEST(HostedOrder, SaysWhetherItGivesItsLines) {
  for (const auto* none : {"", R"("line_items":null)", R"("line_items":"none")", R"("line_items":7)"})
    EXPECT_FALSE(order(none).lines_given) << none;
  for (const auto* some : {R"("line_items":[])", R"("line_items":[{"sku":"A"}])"})
    EXPECT_TRUE(order(some).lines_given) << some;
}

TEST(HostedOrder, CountsALineWithoutAUsableQuantityAsOne) {
  const std::vector<std::pair<std::string, std::int64_t>> known = {
      {"3", 3},  {"0", 0},     {"2.0", 2},  {"\"4\"", 4}, {"1.5", 1},
      {"-2", 1}, {"\"x\"", 1}, {"null", 1}, {"[]", 1},    {"99999999999999999999", 1'000'000}};
  for (const auto& [quantity, expected] : known) {
    EXPECT_EQ(order(fmt::format(R"("line_items":[{{"quantity":{}}}])", quantity)).lines.at(0).quantity,
              expected)
        << quantity;
  }
}

TEST(HostedOrder, DropsIdentifiersThatAreTooLongAndCutsTitles) {
  const std::string longest(255, 'x');
  const auto event = order(fmt::format(
      R"("line_items":[{{"sku":"{0}","title":"{0}{0}{0}{0}{0}"}},{{"sku":"{0}y","product_id":{1}}}])",
      longest, std::string(300, '1')));
  EXPECT_EQ(event.lines[0].sku, longest);
  EXPECT_EQ(event.lines[0].title.size(), 1000u);
  EXPECT_EQ(event.lines[1].sku, "");
  EXPECT_EQ(event.lines[1].product_id, "");
}

TEST(HostedOrder, TakesTheLastOfAKeyGivenTwice) {
  EXPECT_EQ(read(R"({"id":1,"id":2})").value().order_id, "2");
}

TEST(HostedOrder, IsTooLargeBeyondTwoHundredAndFiftyLines) {
  std::string lines = "{}";
  for (int i = 1; i < 250; ++i) lines += ",{}";
  EXPECT_EQ(order("\"line_items\":[" + lines + "]").lines.size(), 250u);
  const auto event = order("\"line_items\":[" + lines + ",{}]");
  EXPECT_TRUE(event.too_large);
  EXPECT_EQ(event.excess, (domain::OrderExcess{.lines = 251, .limit = 250}));
  EXPECT_THAT(event.lines, IsEmpty());
}

TEST(HostedOrder, NeedsAnOrderId) {
  for (const auto body : {"{}", R"({"id":null})", R"({"id":""})", R"({"id":" "})", R"({"id":1.5})",
                          R"({"id":1e-3})", R"({"id":true})", R"({"id":[1]})", R"({"id":"a\u0000b"})"}) {
    expect_refused(read(body), "id", "is required");
  }
  EXPECT_EQ(read(R"({"id":123456789012345678901234567890})").value().order_id,
            "123456789012345678901234567890");
}

// Some senders write whole numbers with a fraction of nothing.
TEST(HostedOrder, ReadsWholeNumbersInAnyNotationExactly) {
  const auto event = read(R"({"id":9007199254740993.0,"line_items":[
      {"id":2.78e2,"sku":100.00,"product_id":278.0,"variant_id":18446744073709551615.0,"quantity":2e0}]})")
                         .value();
  EXPECT_EQ(event.order_id, "9007199254740993");
  EXPECT_THAT(event.lines, ElementsAre(OrderLine{"278", "100", "278", "18446744073709551615", "", 2, {}}));
  EXPECT_EQ(order(R"("line_items":[{"sku":1e400}])").lines.at(0).sku, "") << "too long to be an id";
}

TEST(HostedOrder, ReadsALoneSurrogateAsTheReplacementCharacter) {
  const auto event = read(
      R"({"id":7,"note":"gift \ud83c","note_attributes":[{"name":"vendor_username","value":"k\udfb8m"}],"\ud800":1})");
  ASSERT_TRUE(event) << event.error().details.at(0).problem;
  EXPECT_EQ(event->username, "k\ufffdm");
  EXPECT_TRUE(read(R"({"order_id":7,"id":1,"note":"\udfff"})", "refunds/create"));
}

TEST(HostedOrder, MustBeAJsonObject) {
  expect_refused(read(""), "body", "is empty");
  expect_refused(read("[]"), "body", "must be a JSON object");
  expect_refused(read("{\"id\":1"), "body", "not valid JSON");
  expect_refused(read("{\"id\":1,\"note\":\"\xff\"}"), "body", "not valid JSON");
  EXPECT_TRUE(read("{\"id\":1,\"z\":" + testing::nested_arrays(63) + "}"));
  expect_refused(read("{\"id\":1,\"z\":" + testing::nested_arrays(64) + "}"), "body", "64 levels");
}

TEST(HostedOrder, IsRefusedBeyondTheBodyLimit) {
  std::string body = R"({"id":1,"note":""})";
  body.insert(body.size() - 2, 1024 * 1024 - body.size(), 'x');
  EXPECT_TRUE(read(body));
  body.insert(body.size() - 2, "x");
  EXPECT_EQ(read(body).error().code, "PAYLOAD_TOO_LARGE");
}

TEST(HostedRefund, NamesItsOrderAndItsLines) {
  const auto event = read(golden("provider_a_refund.json"), "refunds/create").value();
  EXPECT_EQ(event.kind, Event::refund);
  EXPECT_EQ(event.order_id, "5701234567890123456");
  EXPECT_THAT(event.refunds,
              ElementsAre(Refund{"929361463002",
                                 {RefundLine{"14839201923002", 1}, RefundLine{"14839201923005", 1}}}));
}

TEST(HostedRefund, MayNameNoLines) {
  const auto event = read(R"({"id":9,"order_id":7,"refund_line_items":[]})", "refunds/create").value();
  EXPECT_THAT(event.refunds, ElementsAre(Refund{"9", {}}));
  expect_refused(read(R"({"id":9})", "refunds/create"), "order_id", "is required");
}

std::string refund_lines(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i)
    lines += fmt::format(R"({}{{"line_item_id":{},"quantity":1}})", i == 0 ? "" : ",", i + 1);
  return lines;
}

TEST(HostedRefund, OfMoreThanTwoThousandLinesNamesNone) {
  const auto refund = [](int count) {
    return read(fmt::format(R"({{"id":9,"order_id":7,"refund_line_items":[{}]}})", refund_lines(count)),
                "refunds/create")
        .value();
  };
  EXPECT_EQ(refund(2'000).refunds.at(0).lines.size(), 2'000u);
  EXPECT_FALSE(refund(2'000).too_many_refund_lines);
  EXPECT_THAT(refund(2'001).refunds, IsEmpty());
  EXPECT_TRUE(refund(2'001).too_many_refund_lines);
}

TEST(HostedRefund, LinesOfAllRefundsOfAnOrderCountTogetherAndARefundWithoutLinesCountsAsOne) {
  const auto with = [](int first, int second, int empty) {
    std::string refunds =
        fmt::format(R"({{"id":1,"refund_line_items":[{}]}},{{"id":2,"refund_line_items":[{}]}})",
                    refund_lines(first), refund_lines(second));
    for (int i = 0; i < empty; ++i) refunds += fmt::format(R"(,{{"id":{}}})", i + 3);
    return order(fmt::format(R"("refunds":[{}])", refunds));
  };
  EXPECT_EQ(with(1'200, 800, 0).refunds.size(), 2u);
  EXPECT_TRUE(with(1'200, 801, 0).too_many_refund_lines);
  EXPECT_THAT(with(1'200, 801, 0).refunds, IsEmpty());
  EXPECT_FALSE(with(1'000, 900, 100).too_many_refund_lines);
  EXPECT_TRUE(with(1'000, 900, 101).too_many_refund_lines);
}

TEST(HostedRefund, BeyondTheLimitOfValuesHasTooManyLines) {
  std::string lines = "{}";
  for (int i = 0; i < 30'000; ++i) lines += ",{}";
  EXPECT_TRUE(
      read(fmt::format(R"({{"id":9,"order_id":7,"refund_line_items":[{}]}})", lines), "refunds/create")
          .value()
          .too_many_refund_lines);
}

TEST(HostedRisk, IsHighInAnyCaseAndFindsTheOrder) {
  const auto event = read(golden("provider_a_risk.json"), "orders/risk_assessment_changed").value();
  EXPECT_EQ(event.kind, Event::risk);
  EXPECT_EQ(event.order_id, "5701234567890123456");
  EXPECT_TRUE(event.high_risk);
  EXPECT_EQ(event.updated_at, parse_iso8601("2026-11-02T08:15:10Z"));
  const auto risk = [](std::string_view body) { return read(body, "orders/risk_assessment_changed"); };
  EXPECT_TRUE(risk(R"({"order_id":"7","risk_level":"high"})").value().high_risk);
  for (const auto level : {"\"LOW\"", "\"MEDIUM\"", "\"NONE\"", "\"PENDING\"", "null", "3"}) {
    EXPECT_FALSE(risk(fmt::format(R"({{"order_id":7,"risk_level":{}}})", level)).value().high_risk);
  }
  EXPECT_EQ(
      risk(R"({"order_id":null,"admin_graphql_api_order_id":"gid://shopify/Order/77"})").value().order_id,
      "77");
  EXPECT_EQ(risk(R"({"order_id":null,"risk_level":"HIGH"})").value().kind, Event::ignored_topic);
  EXPECT_EQ(risk(R"({"risk_level":"HIGH"})").value().kind, Event::ignored_topic);
  expect_refused(risk(R"({"order_id":1.5,"risk_level":"HIGH"})"), "order_id", "is required");
  expect_refused(risk("[]"), "body", "must be a JSON object");
}

TEST(HostedOrder, APrivacyRequestIsReadWholeOrRefused) {
  const auto body = [](int ids, int different) {
    std::string all;
    for (int i = 0; i < ids; ++i) all += (i == 0 ? "" : ",") + std::to_string(i % different);
    return R"({"orders_to_redact":[)" + all + "]}";
  };
  EXPECT_EQ(read(body(150'000, 150'000), "customers/redact").value().order_ids.size(), 150'000U);
  EXPECT_EQ(read(body(150'000, 150'000), "customers/redact").value().order_ids.back(), "149999");
  EXPECT_EQ(read(body(250'000, 10), "customers/redact").error().code, "PAYLOAD_TOO_LARGE");
}

TEST(HostedPrivacy, NamesCustomerAndOrders) {
  const auto redact = read(golden("provider_a_customer_redact.json"), "customers/redact").value();
  EXPECT_EQ(redact.kind, Event::customer_redact);
  EXPECT_EQ(redact.email, "zoe@example.org");
  EXPECT_THAT(redact.order_ids, ElementsAre("5701234567890123456", "5701234567890123457"));
  const auto request =
      read(R"({"customer":{"email":"a@b.c"},"orders_requested":[1,"2",null]})", "customers/data_request")
          .value();
  EXPECT_EQ(request.kind, Event::data_request);
  EXPECT_THAT(request.order_ids, ElementsAre("1", "2"));
  EXPECT_EQ(read(R"({"shop_id":1})", "shop/redact").value().kind, Event::shop_redact);
  expect_refused(read("[]", "shop/redact"), "body", "must be a JSON object");
}

TEST(HostedTopic, ThatIsUnknownIsIgnoredWithoutAPayloadOfItsOwn) {
  for (const auto topic :
       {"products/create", "orders/fulfilled", "orders/delete", "Orders/Paid", "orders/paid "}) {
    EXPECT_EQ(read("anything", topic).value().kind, Event::ignored_topic) << topic;
  }
}

}  // namespace
}  // namespace presetbridge::providers
