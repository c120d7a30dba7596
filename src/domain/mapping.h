// From the lines of an order to the files that it owes (spec 2.10).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
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
  bool by_file = false;                   // the first line that owes it names it itself (spec 3.8)
  bool operator==(const OwedFile&) const = default;
};

// By what the file was matched, in words: a match type, or kByFile.
inline constexpr std::string_view kByFile = "file_id";
std::string_view matched_by(const OwedFile& file);

inline constexpr std::size_t kMaxFiles = 500;    // that one delivery may owe (spec 2.14)
inline constexpr std::size_t kMaxItems = 1'000;  // of one delivery, with those that it owes no more

// The result of mapping the lines of an order.
struct MappedOrder {
  std::vector<std::string> lines;  // the ids of the examined lines, with a match or not
  std::vector<std::string> fresh;  // those of them that are new, or another product than before
  std::vector<OwedFile> files;     // in the order of the lines, then of the mappings' ids
  bool too_many = false;           // more than kMaxFiles: `files` holds none
  bool operator==(const MappedOrder&) const = default;
};

// How many lines of the order have no mapping; nothing where a program of before has mapped some of them. None
// are known of an order that is too large to be read.
std::optional<std::int64_t> unmapped_lines(const OrderState& order);

// The mappings of one integration, looked up by what the lines carry. Worth keeping between orders: building
// it costs as much as all its mappings. Thread-safe once built.
class MappingIndex {
 public:
  explicit MappingIndex(std::span<const Mapping> mappings);
  enum class Lines {
    all,
    not_mapped  // new ones, and those that are another product now (spec 2.6)
  };
  // Notes in the lines what came of them. A line that names its file owes that, by no mapping.
  MappedOrder map(OrderState& order, Lines which) const;
  // Notes in the order how many files its lines owe, where these are more than a delivery may owe. Not `too_many`:
  // only what was noted before is counted again. The lines of an order that is too large are not known.
  void note_excess(OrderState& order, bool too_many) const;
  // The match of the line: the type that wins, and all mappings of that key; nothing: it matches none.
  struct Match {
    MatchType type;
    std::vector<MappingId> mappings;
  };
  std::optional<Match> match(const OrderLine& line) const;
  // The mappings of the line, by their ids; null: there are none. Valid as long as this is.
  const std::vector<Mapping>* find(const OrderLine& line) const;

 private:
  using ByValue = std::unordered_map<std::string, std::vector<Mapping>>;
  std::array<ByValue, 4> by_type_;
};

// An item of the delivery's present customer, as it stands.
struct ItemNow {
  ItemId id;
  std::string file_id;
  ItemStatus status = ItemStatus::owed;
  std::vector<std::string> line_ids;  // the lines that owe it
  bool by_file = false;               // ordered by file id, not by lines (spec 3.8): no mapping changes it
  bool revoked_by_order = false;      // it is, or is being, taken back because the order ended (spec 3.10)
  bool revocation_begun = false;      // ... and whether the platform did that is not known
};

// The changes that adapt the items of a delivery to the files that its order owes now.
struct ItemPlan {
  std::vector<OwedFile> add;  // no item has this file yet; without a paid quantity: it may be paid later
  // -> owed: what was dropped and is wanted again; and, where the order is paid again, what was taken back
  // because the order had ended (spec 3.10). That is `revoked`, and `revoke_failed` where nobody knows
  // whether the customer still has it (revocation_begun): a job shares it again, which makes no second share
  // and, as the item was charged, costs nothing. A file that a person took back is in neither list. While the
  // delivery waits for a person, `revoke_failed` stays as it is until they approve
  // (services/delivery/items.cpp).
  std::vector<ItemId> owe;
  // -> shared: what is there still, though it was to be taken back for that reason: it was not asked for yet,
  // or the platform refused it.
  std::vector<ItemId> keep;
  std::vector<ItemId> drop;      // owed -> dropped: refunded, removed, or mapped to something else since
  std::vector<ItemId> refunded;  // every line that owes it is refunded, reached the customer or not
  // Items that are owed by other lines than before: by these.
  std::vector<std::pair<ItemId, std::vector<std::string>>> lines;
  // With `add` the delivery would have more than kMaxFiles, or kMaxItems: nothing is added, and each item stays
  // that of its lines, but for lines that are new or another product.
  bool too_many = false;
  bool operator==(const ItemPlan&) const = default;
};
// `mapped`: what its lines owe now, as far as they were checked; those of other lines owe what they did.
// `complete`: a line that maps to nothing owes nothing; otherwise (stale mappings were left out) what it did.
// An item that has reached the customer stays that of its lines while they are the product that they were (spec
// 2.10). One whose share may have been made follows the mappings: it is not shared again if it was not.
// Costs as much as items, lines and refunds together.
ItemPlan plan_items(std::span<const ItemNow> items, const OrderState& order, const MappedOrder& mapped,
                    bool complete = true);

// Whether a line that owes an item has any paid quantity left. Costs as much as the order's lines and refunds
// once, then as much as the item's lines. The order outlives it.
class PaidItems {
 public:
  explicit PaidItems(const OrderState& order);
  bool contains(const ItemNow& item) const;

 private:
  std::unordered_set<std::string_view> paid_lines_;
};
// Whether it is refunds, and not the mappings, that left nothing of these items to deliver.
bool refunds_took_all(std::span<const ItemNow> items, const OrderState& order);

}  // namespace presetbridge::domain
