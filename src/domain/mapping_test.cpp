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

template <class Order>
MappedOrder map_order(Order&& order, const std::vector<Mapping>& mappings) {
  return MappingIndex(mappings).map(order, MappingIndex::Lines::all);
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
  OrderState order = state({line("1", "SKU", "55", "77", "Lead Tone")});
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
  OrderState order = state({line("1", "BUNDLE", "", "", "", 2), line("2", "ONE", "", "", "", 3)});
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
}

TEST(Mapping, IgnoredAndUnmappedLinesAreCountedApart) {
  OrderState order = state({line("1", "SHIRT", "", "", ""), line("2", "", "", "", ""),
                            line("3", "WHAT", "", "", ""), line("4", "A", "", "", "")});
  const std::vector<Mapping> mappings = {mapping(1, MatchType::sku, "SHIRT", ""),
                                         mapping(2, MatchType::sku, "A", "a")};
  EXPECT_EQ(unmapped_lines(order), 0) << "not looked at yet";
  map_order(order, mappings);
  EXPECT_EQ(unmapped_lines(order), 2);
  EXPECT_EQ(order.lines[0].mapped, OrderLine::Mapped::ignored);
  EXPECT_EQ(order.lines[3].mapped, OrderLine::Mapped::owes);
  order.lines[3].mapped = OrderLine::Mapped::earlier;
  EXPECT_EQ(unmapped_lines(order), std::nullopt);
}

TEST(Mapping, ARefundedLineOwesNothingMore) {
  OrderState order = state({line("1", "A", "", "", "", 2), line("2", "A", "", "", "", 1)});
  const std::vector<Mapping> mappings = {mapping(1, MatchType::sku, "A", "a")};
  order.refunds = {{.id = "r", .lines = {{"1", 2}}}};
  EXPECT_EQ(map_order(order, mappings).files[0].paid_quantity, 1);
  order.refunds[0].lines.push_back({"2", 1});
  const MappedOrder none = map_order(order, mappings);
  EXPECT_EQ(none.files[0].paid_quantity, 0);
  EXPECT_EQ(plan_items({}, order, none).add.front().paid_quantity, 0) << "it may be paid later";
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
    OrderState order = state(lines);
    const MappedOrder mapped = map_order(order, mappings);
    std::vector<std::string> ids = file_ids(mapped);
    const std::set<std::string> unique(ids.begin(), ids.end());
    RC_ASSERT(unique.size() == ids.size());
    RC_ASSERT(unique == naive_files(order, mappings));
    RC_ASSERT(mapped.lines.size() == static_cast<std::size_t>(size));
    RC_ASSERT(MappingIndex(mappings).map(order, MappingIndex::Lines::not_mapped).lines.empty());
  }));
}

OwedFile owed(std::string file, std::vector<std::string> lines, std::int64_t paid = 1) {
  return {.file_id = std::move(file),
          .kind = {},
          .name = {},
          .line_ids = std::move(lines),
          .paid_quantity = paid};
}

TEST(MappedFiles, AreAtMostWhatADeliveryMayOwe) {
  std::vector<Mapping> mappings;
  std::vector<OrderLine> lines;
  for (int sku = 0; sku < 6; ++sku) {
    for (int i = 0; i < 100; ++i)
      mappings.push_back(mapping(sku * 100 + i + 1, MatchType::sku, "S" + std::to_string(sku),
                                 "f" + std::to_string(sku * 100 + i)));
    lines.push_back(line(std::to_string(sku), "S" + std::to_string(sku), "", "", ""));
  }
  OrderState order = state({lines.begin(), lines.begin() + 5});
  EXPECT_EQ(map_order(order, mappings).files.size(), kMaxFiles);
  order = state(lines);
  const MappedOrder mapped = map_order(order, mappings);
  EXPECT_TRUE(mapped.too_many);
  EXPECT_TRUE(mapped.files.empty());
}

TEST(ItemPlan, BringsTheItemsInLineWithWhatIsOwed) {
  const OrderState order =
      state({line("1", "A", "", "", ""), line("2", "B", "", "", "", 0), line("3", "C", "", "", "")});
  const MappedOrder mapped{.lines = {"1", "2", "3"},
                           .files = {owed("new", {"1"}), owed("back", {"1"}), owed("refunded", {"2"}, 0)}};
  const std::vector<ItemNow> items = {{ItemId{1}, "back", ItemStatus::dropped, {"1"}},
                                      {ItemId{2}, "refunded", ItemStatus::owed, {"2"}},
                                      {ItemId{3}, "unmapped now", ItemStatus::owed, {"3"}},
                                      {ItemId{4}, "gone but shared", ItemStatus::shared, {"3"}},
                                      {ItemId{5}, "gone, unknown", ItemStatus::sharing, {"3"}},
                                      {ItemId{6}, "by file id", ItemStatus::owed, {}, true}};
  const ItemPlan plan = plan_items(items, order, mapped);
  EXPECT_EQ(plan.add, std::vector<OwedFile>{mapped.files[0]});
  EXPECT_EQ(plan.owe, std::vector<ItemId>{ItemId{1}});
  EXPECT_EQ(plan.drop, (std::vector<ItemId>{ItemId{2}, ItemId{3}}));
  EXPECT_EQ(plan.refunded, std::vector<ItemId>{ItemId{2}}) << "a mapping that is gone refunds nothing";
  EXPECT_TRUE(plan_items(items, order, mapped, false).drop == std::vector<ItemId>{ItemId{2}})
      << "stale mappings were left out";
}

TEST(ItemPlan, ADeliveredFileStaysThatOfItsLineUntilTheLineIsAnotherProduct) {
  const OrderState order = state({line("1", "A", "", "", "")});
  for (const auto status : {ItemStatus::shared, ItemStatus::sharing, ItemStatus::revoking, ItemStatus::owed,
                            ItemStatus::revoked}) {
    const std::vector<ItemNow> items = {{ItemId{1}, "a", status, {"1"}}};
    MappedOrder mapped{.lines = {"1"}, .files = {owed("b", {"1"})}};
    const bool has = status == ItemStatus::shared || status == ItemStatus::revoking;
    EXPECT_EQ(plan_items(items, order, mapped).lines.empty(), has) << "mapped to another file";
    mapped.fresh = {"1"};
    EXPECT_FALSE(plan_items(items, order, mapped).lines.empty()) << "another product";
  }
}

TEST(ItemPlan, ALaterEventTouchesOnlyTheLinesThatWereChecked) {
  const OrderState order = state({line("1", "A", "", "", ""), line("2", "A", "", "", "")});
  const std::vector<ItemNow> items = {{ItemId{1}, "a", ItemStatus::shared, {"1"}},
                                      {ItemId{2}, "b", ItemStatus::owed, {"1"}}};
  const ItemPlan plan = plan_items(items, order, {.lines = {"2"}, .files = {owed("a", {"2"})}});
  EXPECT_TRUE(plan.add.empty());
  EXPECT_TRUE(plan.drop.empty());
  ASSERT_EQ(plan.lines.size(), 1u) << "the item remembers every line that owes it";
  EXPECT_EQ(plan.lines[0].second, (std::vector<std::string>{"1", "2"}));
}

TEST(ItemPlan, ALineThatWasTakenOutKeepsNoFileOfRefundedLines) {
  OrderState order = state({line("1", "A", "", "", "")});
  order.refunds = {{.id = "r", .lines = {{"1", 1}}}};
  const std::vector<ItemNow> items = {{ItemId{1}, "both", ItemStatus::shared, {"1", "9"}},
                                      {ItemId{2}, "removed alone", ItemStatus::shared, {"9"}}};
  EXPECT_EQ(plan_items(items, order, {}).refunded, std::vector<ItemId>{ItemId{1}});
}

TEST(ItemPlan, ARefundDropsAnItemOnlyWhenEveryLineThatOwesItIsRefunded) {
  OrderState order = state({line("1", "A", "", "", ""), line("2", "B", "", "", "")});
  order.refunds = {{.id = "r", .lines = {{"1", 1}}}};
  const std::vector<ItemNow> items = {{ItemId{1}, "a", ItemStatus::owed, {"1"}},
                                      {ItemId{2}, "both", ItemStatus::owed, {"1", "2"}},
                                      {ItemId{3}, "shared", ItemStatus::shared, {"1"}},
                                      {ItemId{4}, "removed line", ItemStatus::owed, {"9"}},
                                      {ItemId{5}, "removed and shared", ItemStatus::shared, {"9"}},
                                      {ItemId{6}, "by file id", ItemStatus::owed, {}, true}};
  const ItemPlan plan = plan_items(items, order, {});
  EXPECT_EQ(plan.drop, (std::vector<ItemId>{ItemId{1}, ItemId{4}}));
  EXPECT_EQ(plan.refunded, (std::vector<ItemId>{ItemId{1}, ItemId{3}}));
  EXPECT_FALSE(PaidItems(order).contains(items[0]));
  EXPECT_TRUE(PaidItems(order).contains(items[1]));
  EXPECT_TRUE(refunds_took_all(std::span(items).first(1), order));
  EXPECT_FALSE(refunds_took_all(std::span(items).first(2), order));
}

TEST(ItemPlan, WhatTheOrdersEndTookBackIsOwedAgainWhenItIsPaid) {
  const OrderState order = state({line("1", "A", "", "", "")});
  const auto item = [](int id, ItemStatus status, bool by_order, bool begun = false) {
    return ItemNow{ItemId{id}, "f" + std::to_string(id), status, {"1"}, false, by_order, begun};
  };
  const std::vector<ItemNow> items = {item(1, ItemStatus::revoked, true), item(2, ItemStatus::revoked, false),
                                      item(3, ItemStatus::revoking, true),
                                      item(4, ItemStatus::revoking, true, true),
                                      item(5, ItemStatus::revoking, false)};
  const ItemPlan plan = plan_items(items, order, {});
  EXPECT_EQ(plan.owe, std::vector<ItemId>{ItemId{1}});
  EXPECT_EQ(plan.keep, std::vector<ItemId>{ItemId{3}});
}

std::vector<ItemNow> items_of(std::size_t many, ItemStatus status, const std::string& line) {
  std::vector<ItemNow> items;
  for (std::size_t i = 0; i < many; ++i)
    items.push_back({ItemId{static_cast<std::int64_t>(i) + 1}, "f" + std::to_string(i), status, {line}});
  return items;
}
MappedOrder mapped_anew(std::size_t many, const std::string& line) {
  MappedOrder mapped{.lines = {line}};
  for (std::size_t i = 0; i < many; ++i) mapped.files.push_back(owed("new" + std::to_string(i), {line}));
  return mapped;
}

TEST(ItemPlan, NothingIsChangedBeyondWhatADeliveryMayOwe) {
  const OrderState order = state({line("1", "A", "", "", "")});
  // They are with the customer, so they count.
  const ItemPlan plan =
      plan_items(items_of(kMaxFiles - 10, ItemStatus::shared, "1"), order, mapped_anew(11, "1"), true);
  EXPECT_TRUE(plan.too_many);
  EXPECT_TRUE(plan.add.empty());
  EXPECT_TRUE(plan.lines.empty());
  EXPECT_FALSE(
      plan_items(items_of(kMaxFiles - 10, ItemStatus::shared, "1"), order, mapped_anew(10, "1"), true)
          .too_many);
  EXPECT_FALSE(plan_items(items_of(kMaxFiles, ItemStatus::owed, "1"), order, {}).too_many);
}

TEST(ItemPlan, OtherFilesTakeThePlacesOfThoseThatAreOwedNoMore) {
  const OrderState order = state({line("1", "A", "", "", "")});
  const auto plan = plan_items(items_of(300, ItemStatus::owed, "1"), order, mapped_anew(300, "1"), true);
  EXPECT_FALSE(plan.too_many);
  EXPECT_EQ(plan.add.size(), 300);
  EXPECT_EQ(plan.drop.size(), 300);
  // Rows are bounded, whatever their state.
  EXPECT_TRUE(
      plan_items(items_of(kMaxItems - 299, ItemStatus::dropped, "1"), order, mapped_anew(300, "1"), true)
          .too_many);
}

TEST(ItemPlan, ARefundDropsItsFilesWhereTooManyWouldBeAdded) {
  OrderState order = state({line("1", "A", "", "", ""), line("2", "B", "", "", "")});
  auto items = items_of(kMaxFiles - 10, ItemStatus::shared, "1");
  items.push_back({ItemId{9'999}, "g", ItemStatus::owed, {"2"}});
  order.lines[1].quantity = 0;
  const auto plan = plan_items(items, order, mapped_anew(11, "1"), true);
  EXPECT_TRUE(plan.too_many);
  EXPECT_EQ(plan.drop, std::vector<ItemId>{ItemId{9'999}});
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

TEST(FilesByName, AreOwedWhateverIsMapped) {
  auto named = line("1", "sku-a", "", "", "My file", 2);
  named.file_id = "f-9";
  auto order = state({line("2", "sku-a", "", "", ""), named});
  const std::vector mappings{mapping(1, MatchType::sku, "sku-a", "f-1")};
  auto mapped = map_order(order, mappings);
  ASSERT_EQ(file_ids(mapped), (std::vector<std::string>{"f-1", "f-9"}));
  EXPECT_EQ(matched_by(mapped.files[0]), "sku");
  EXPECT_EQ(matched_by(mapped.files[1]), "file_id");
  EXPECT_EQ(mapped.files[1].name, "My file");
  EXPECT_EQ(mapped.files[1].quantity, 2);
  EXPECT_EQ(unmapped_lines(order), 0);
  EXPECT_EQ(file_ids(map_order(order, {})), std::vector<std::string>{"f-9"});
  EXPECT_EQ(MappingIndex(mappings).find(named), nullptr);
  const auto read = decode_order_state(encode(order)).value();
  EXPECT_EQ(read.lines, order.lines) << "as it is stored";
}

TEST(FilesByName, CountTowardsWhatADeliveryMayOwe) {
  std::vector<OrderLine> lines;
  for (std::size_t i = 0; i <= kMaxFiles; ++i) {
    lines.push_back(line(std::to_string(i), "", "", "", ""));
    lines.back().file_id = "f-" + std::to_string(i);
  }
  auto order = state(lines);
  EXPECT_TRUE(map_order(order, {}).too_many);
}

}  // namespace
}  // namespace presetbridge::domain
