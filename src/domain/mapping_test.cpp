#include "domain/mapping.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

namespace presetbridge::domain {
namespace {

OrderLine line(std::string id, std::string sku, std::string product, std::string variant, std::string title,
               std::int64_t quantity = 1) {
  return {.line_id = std::move(id),
          .sku = std::move(sku),
          .product_id = std::move(product),
          .variant_id = std::move(variant),
          .title = std::move(title),
          .quantity = quantity,
          .current_quantity = {}};
}

Mapping mapping(std::int64_t id, MatchType type, std::string value, std::string file) {
  const bool ignores = file.empty();
  return {.id = MappingId{id},
          .type = type,
          .value = normalise_match_value(type, value),
          .action = ignores ? MappingAction::ignore : MappingAction::deliver,
          .file_id = file,
          .file_kind = ignores ? "" : "preset",
          .file_name = ignores ? "" : "Name of " + file};
}

OrderState state(std::vector<OrderLine> lines) {
  OrderState s;
  s.seen = true;
  s.lines = std::move(lines);
  return s;
}

std::vector<std::string> file_ids(const MappedOrder& mapped) {
  std::vector<std::string> ids;
  for (const OwedFile& f : mapped.files) ids.push_back(f.file_id);
  return ids;
}

TEST(MatchValues, TitlesIgnoreCaseAndTheAmountOfWhiteSpace) {
  const auto title = [](std::string_view t) { return normalise_match_value(MatchType::title, t); };
  EXPECT_EQ(title("  Lead\t\n Tone  "), "lead tone");
  EXPECT_EQ(title("\xC3\x89TUDE"), title("e\xCC\x81tude")) << "composed and decomposed";
  EXPECT_EQ(title("STRASSE"), title("stra\xC3\x9F"
                                    "e"));
  EXPECT_EQ(title("\xCE\x9F\xCE\xA3"), title("\xCE\xBF\xCF\x82")) << "final sigma";
  EXPECT_EQ(title("a\xC2\xA0\xE2\x80\x83"
                  "b"),
            "a b")
      << "no-break and em space";
  EXPECT_EQ(title("BAD \xFF BYTE"), "bad \xFF byte");
  EXPECT_EQ(title(" \t "), "");
}

TEST(MatchValues, OtherValuesAreExactButForWhiteSpaceAround) {
  EXPECT_EQ(normalise_match_value(MatchType::sku, " Ab  C\n"), "Ab  C");
  EXPECT_EQ(normalise_match_value(MatchType::product_id, "0012"), "0012");
}

TEST(MatchValues, NormalisingTwiceIsNormalisingOnce) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    for (const auto type : {MatchType::variant_id, MatchType::sku, MatchType::product_id, MatchType::title}) {
      const std::string once = normalise_match_value(type, text);
      RC_ASSERT(normalise_match_value(type, once) == once);
    }
  }));
}

TEST(MatchValues, TitlesCompareAsPeopleReadThem) {
  const auto title = [](std::string_view text) { return normalise_match_value(MatchType::title, text); };
  EXPECT_EQ(title("Rock &amp; Roll"), title("rock & roll"));
  EXPECT_EQ(title("Player&#8217;s&nbsp;&lt;Choice&gt; "), title("player’s <choice>"));
  EXPECT_EQ(title("CAF&Eacute;"), title("café"));
  EXPECT_EQ(normalise_match_value(MatchType::sku, "A&amp;B"), "A&amp;B") << "ids are compared as they are";
}

// Rows of before hold what was made of the merchant's text without reading its references.
TEST(Mapping, OfATitleThatWasStoredWithReferencesMatches) {
  Mapping old = mapping(1, MatchType::title, "x", "a");
  old.value = "rock &amp; roll";
  for (const auto* title : {"Rock &amp; Roll", "Rock & Roll"}) {
    EXPECT_EQ(file_ids(map_order(state({line("1", "", "", "", title)}), {{old}})),
              std::vector<std::string>{"a"});
  }
}

TEST(Mapping, TheMostSpecificKeyThatHasMappingsWins) {
  const OrderState order = state({line("1", "SKU", "55", "77", "Lead Tone")});
  std::vector<Mapping> mappings = {mapping(1, MatchType::title, "lead tone", "by-title")};
  EXPECT_EQ(file_ids(map_order(order, mappings)), std::vector<std::string>{"by-title"});
  mappings.push_back(mapping(2, MatchType::product_id, "55", "by-product"));
  EXPECT_EQ(file_ids(map_order(order, mappings)), std::vector<std::string>{"by-product"});
  mappings.push_back(mapping(3, MatchType::sku, "SKU", "by-sku"));
  EXPECT_EQ(file_ids(map_order(order, mappings)), std::vector<std::string>{"by-sku"});
  mappings.push_back(mapping(4, MatchType::variant_id, "77", "by-variant"));
  EXPECT_EQ(file_ids(map_order(order, mappings)), std::vector<std::string>{"by-variant"});
}

TEST(Mapping, AllMappingsOfTheKeyApplyAndAFileIsOwedOnce) {
  const OrderState order = state({line("1", "BUNDLE", "", "", "", 2), line("2", "ONE", "", "", "", 3)});
  const std::vector<Mapping> mappings = {
      mapping(2, MatchType::sku, "BUNDLE", "b"), mapping(1, MatchType::sku, "BUNDLE", "a"),
      mapping(3, MatchType::sku, "BUNDLE", "a"), mapping(4, MatchType::sku, "ONE", "a")};
  const MappedOrder mapped = map_order(order, mappings);
  ASSERT_EQ(file_ids(mapped), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(mapped.files[0].line_ids, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(mapped.files[0].quantity, 5);
  EXPECT_EQ(mapped.files[0].matched_by, MatchType::sku);
  EXPECT_EQ(mapped.files[0].name, "Name of a");
  EXPECT_EQ(mapped.files[1].quantity, 2);
  EXPECT_EQ(mapped.mapped, 2);
}

TEST(Mapping, IgnoredAndUnmappedLinesAreCountedApart) {
  const OrderState order = state({line("1", "SHIRT", "", "", ""), line("2", "", "", "", ""),
                                  line("3", "WHAT", "", "", ""), line("4", "A", "", "", "")});
  const std::vector<Mapping> mappings = {mapping(1, MatchType::sku, "SHIRT", ""),
                                         mapping(2, MatchType::sku, "A", "a")};
  const MappedOrder mapped = map_order(order, mappings);
  EXPECT_EQ(mapped.ignored, 1);
  EXPECT_EQ(mapped.unmapped, 2);
  EXPECT_EQ(mapped.mapped, 1);
}

TEST(Mapping, ARefundedLineOwesNothingMore) {
  OrderState order = state({line("1", "A", "", "", "", 2), line("2", "A", "", "", "", 1)});
  const std::vector<Mapping> mappings = {mapping(1, MatchType::sku, "A", "a")};
  order.refunds = {{.id = "r", .lines = {{"1", 2}}}};
  EXPECT_EQ(map_order(order, mappings).files[0].paid_quantity, 1);
  order.refunds[0].lines.push_back({"2", 1});
  const MappedOrder none = map_order(order, mappings);
  EXPECT_EQ(none.files[0].paid_quantity, 0);
  EXPECT_TRUE(plan_items({}, none).empty());
}

// Every line against every mapping, without an index.
std::set<std::string> naive_files(const OrderState& order, const std::vector<Mapping>& mappings) {
  std::set<std::string> files;
  for (const OrderLine& l : order.lines) {
    for (const auto& [type, value] :
         std::vector<std::pair<MatchType, std::string>>{{MatchType::variant_id, l.variant_id},
                                                        {MatchType::sku, l.sku},
                                                        {MatchType::product_id, l.product_id},
                                                        {MatchType::title, l.title}}) {
      bool matched = false;
      for (const Mapping& m : mappings) {
        if (m.type != type || m.value.empty() || m.value != normalise_match_value(type, value)) continue;
        matched = true;
        if (m.action == MappingAction::deliver) files.insert(m.file_id);
      }
      if (matched) break;
    }
  }
  return files;
}

TEST(Mapping, AgreesWithComparingEveryLineWithEveryMapping) {
  EXPECT_TRUE(rc::check([] {
    const auto word = rc::gen::element<std::string>("", "a", "A", " b", "B ");
    std::vector<Mapping> mappings;
    const int count = *rc::gen::inRange(0, 10);
    for (int i = 0; i < count; ++i) {
      mappings.push_back(mapping(i + 1, static_cast<MatchType>(*rc::gen::inRange(0, 4)), *word,
                                 *rc::gen::element<std::string>("", "f1", "f2", "f3")));
    }
    std::vector<OrderLine> lines;
    const int size = *rc::gen::inRange(0, 6);
    for (int i = 0; i < size; ++i) lines.push_back(line(std::to_string(i), *word, *word, *word, *word));
    const OrderState order = state(lines);
    const MappedOrder mapped = map_order(order, mappings);
    std::vector<std::string> ids = file_ids(mapped);
    const std::set<std::string> unique(ids.begin(), ids.end());
    RC_ASSERT(unique.size() == ids.size());
    RC_ASSERT(unique == naive_files(order, mappings));
    RC_ASSERT(mapped.mapped + mapped.ignored + mapped.unmapped == size);
  }));
}

TEST(ItemPlan, BringsTheItemsInLineWithWhatIsOwed) {
  const MappedOrder owed{
      .files = {{.file_id = "new", .kind = {}, .name = {}, .line_ids = {"1"}, .paid_quantity = 1},
                {.file_id = "back", .kind = {}, .name = {}, .line_ids = {"1"}, .paid_quantity = 1},
                {.file_id = "refunded", .kind = {}, .name = {}, .line_ids = {"2"}, .paid_quantity = 0}}};
  const std::vector<ItemNow> items = {{ItemId{1}, "back", ItemStatus::dropped, {"1"}},
                                      {ItemId{2}, "refunded", ItemStatus::owed, {"2"}},
                                      {ItemId{3}, "unmapped now", ItemStatus::owed, {"3"}},
                                      {ItemId{4}, "gone but shared", ItemStatus::shared, {"3"}},
                                      {ItemId{5}, "gone, unknown", ItemStatus::sharing, {"3"}},
                                      {ItemId{6}, "by file id", ItemStatus::owed, {}}};
  const ItemPlan plan = plan_items(items, owed);
  EXPECT_EQ(plan.add, std::vector<OwedFile>{owed.files[0]});
  EXPECT_EQ(plan.restore, std::vector<ItemId>{ItemId{1}});
  EXPECT_EQ(plan.drop, (std::vector<ItemId>{ItemId{2}, ItemId{3}}));
}

TEST(ItemPlan, ARefundDropsAnItemOnlyWhenEveryLineThatOwesItIsRefunded) {
  OrderState order = state({line("1", "A", "", "", ""), line("2", "B", "", "", "")});
  order.refunds = {{.id = "r", .lines = {{"1", 1}}}};
  const std::vector<ItemNow> items = {{ItemId{1}, "a", ItemStatus::owed, {"1"}},
                                      {ItemId{2}, "both", ItemStatus::owed, {"1", "2"}},
                                      {ItemId{3}, "shared", ItemStatus::shared, {"1"}},
                                      {ItemId{4}, "removed line", ItemStatus::owed, {"9"}},
                                      {ItemId{5}, "by file id", ItemStatus::owed, {}}};
  EXPECT_EQ(refunded_items(items, order), (std::vector<ItemId>{ItemId{1}, ItemId{4}}));
}

TEST(MappingWords, AreReadBack) {
  for (const auto type : {MatchType::variant_id, MatchType::sku, MatchType::product_id, MatchType::title}) {
    EXPECT_EQ(parse_match_type(to_string(type)), type);
  }
  for (const auto action : {MappingAction::deliver, MappingAction::ignore}) {
    EXPECT_EQ(parse_mapping_action(to_string(action)), action);
  }
  EXPECT_EQ(parse_match_type("SKU"), std::nullopt);
  EXPECT_EQ(parse_mapping_action(""), std::nullopt);
}

}  // namespace
}  // namespace presetbridge::domain
