// From the lines of an order to the files that it owes (spec 2.10).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "domain/delivery.h"
#include "domain/order.h"

namespace presetbridge::domain {

// Most specific first: for each line, the first type of which a mapping matches wins.
enum class MatchType { variant_id, sku, product_id, title };
std::string_view to_string(MatchType type);
std::optional<MatchType> parse_match_type(std::string_view text);

enum class MappingAction { deliver, ignore };
std::string_view to_string(MappingAction action);
std::optional<MappingAction> parse_mapping_action(std::string_view text);

struct Mapping {
  MappingId id;
  MatchType type = MatchType::sku;
  std::string value;  // normalised
  MappingAction action = MappingAction::deliver;
  std::string file_id;    // empty for ignore
  std::string file_kind;  // as the cloud platform says
  std::string file_name;
};

// The form in which match values are stored and compared. All: white space at both ends removed. Title: also
// read as HTML (domain/html_text.h), white space runs to one space, and Unicode NFC with full case folding.
// Text that is not UTF-8 folds A-Z only. Empty matches nothing.
std::string normalise_match_value(MatchType type, std::string_view value);

// A file that an order owes, once, whatever its lines and their quantities.
struct OwedFile {
  std::string file_id;
  std::string kind;
  std::string name;
  MatchType matched_by = MatchType::sku;  // of the first line that owes it
  std::vector<std::string> line_ids;      // every line that owes it
  std::int64_t quantity = 0;              // as ordered, over those lines
  std::int64_t paid_quantity = 0;         // 0: not owed any more (spec 2.11)
  bool operator==(const OwedFile&) const = default;
};

struct MappedOrder {
  std::vector<OwedFile> files;  // in the order of the lines, then of the mappings' ids
  std::int64_t mapped = 0;      // lines that owe a file
  std::int64_t ignored = 0;     // lines whose mappings only ignore
  std::int64_t unmapped = 0;    // lines with no mapping
  bool operator==(const MappedOrder&) const = default;
};

// The mappings of one integration, looked up by what the lines carry. Worth keeping between orders: building
// it costs as much as all its mappings. Thread-safe once built.
class MappingIndex {
 public:
  explicit MappingIndex(std::span<const Mapping> mappings);
  MappedOrder map(const OrderState& order) const;

 private:
  using ByValue = std::unordered_map<std::string, std::vector<Mapping>>;
  const std::vector<Mapping>* find(const OrderLine& line) const;
  std::array<ByValue, 4> by_type_;
};

// MappingIndex(mappings).map(order).
MappedOrder map_order(const OrderState& order, std::span<const Mapping> mappings);

// An item as it stands.
struct ItemNow {
  ItemId id;
  std::string file_id;
  ItemStatus status = ItemStatus::owed;
  std::vector<std::string>
      line_ids;  // the lines that owe it; empty: ordered by file id, not by line (spec 3.8)
};

// What brings the items of a delivery in line with what the order owes now. Items that reached the customer,
// or may have
// (`sharing`), are never touched.
struct ItemPlan {
  std::vector<OwedFile> add;    // no item has this file yet
  std::vector<ItemId> restore;  // dropped -> owed: paid again
  std::vector<ItemId> drop;     // owed -> dropped: refunded, removed, or mapped to something else since
  bool empty() const { return add.empty() && restore.empty() && drop.empty(); }
  bool operator==(const ItemPlan&) const = default;
};
// After new lines, or with the mappings read again (retry, reprocess). Items ordered by file id are left
// alone.
ItemPlan plan_items(std::span<const ItemNow> items, const MappedOrder& owed);

// After refunds alone: the items `owed` of which every line has no paid quantity left, whatever the mappings
// say by now.
std::vector<ItemId> refunded_items(std::span<const ItemNow> items, const OrderState& order);

}  // namespace presetbridge::domain
