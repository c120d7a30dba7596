#include "domain/mapping.h"

#include <utf8proc.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/ascii.h"
#include "base/utf8.h"
#include "domain/html_text.h"
#include "domain/names.h"
#include "domain/utf8_map.h"

namespace presetbridge::domain {
namespace {

constexpr std::array<std::string_view, 4> kTypeNames = {"variant_id", "sku", "product_id", "title"};
constexpr std::array<std::string_view, 2> kActionNames = {"deliver", "ignore"};
constexpr std::size_t kMostNameBytes = 200;  // of a file's name

std::string_view value_of(const OrderLine& line, MatchType type) {
  switch (type) {
    case MatchType::variant_id:
      return line.variant_id;
    case MatchType::sku:
      return line.sku;
    case MatchType::product_id:
      return line.product_id;
    case MatchType::title:
      return line.title;
  }
  return {};
}

bool is_space(utf8proc_int32_t c) {
  if ((c >= 0x09 && c <= 0x0D) || c == 0x85) return true;
  const auto category = utf8proc_category(c);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

// Without white space at both ends; each run of it inside becomes one space if `collapse`. Bytes that are not
// UTF-8 stay.
std::string trim(std::string_view text, bool collapse) {
  std::string out;
  std::string gap;  // white space met since the last other character
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  auto left = static_cast<utf8proc_ssize_t>(text.size());
  while (left > 0) {
    utf8proc_int32_t c = 0;
    const utf8proc_ssize_t read = utf8proc_iterate(at, left, &c);
    const auto size = static_cast<std::size_t>(std::max<utf8proc_ssize_t>(read, 1));
    const std::string_view bytes(reinterpret_cast<const char*>(at), size);
    if (read > 0 && is_space(c)) {
      gap += bytes;
    } else {
      if (!gap.empty() && !out.empty()) out += collapse ? std::string_view(" ") : std::string_view(gap);
      gap.clear();
      out += bytes;
    }
    at += size;
    left -= static_cast<utf8proc_ssize_t>(size);
  }
  return out;
}

std::string fold(const std::string& text) {
  auto folded = utf8_map(text, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD);
  return folded ? *std::move(folded) : lowered(text);
}

// A file that a line names itself takes the line's title, where it has one.
OwedFile named_file(const OrderLine& line) {
  return {.file_id = line.file_id,
          .kind = {},
          .name = std::string(cut_utf8(line.title, kMostNameBytes)),
          .line_ids = {},
          .by_file = true};
}

}  // namespace

std::string_view matched_by(const OwedFile& file) {
  return file.by_file ? kByFile : to_string(file.matched_by);
}

std::string_view to_string(MatchType type) {
  return kTypeNames[static_cast<std::size_t>(type)];
}
std::string_view to_string(MappingAction action) {
  return kActionNames[static_cast<std::size_t>(action)];
}

std::optional<MatchType> parse_match_type(std::string_view text) {
  return parse_name<MatchType>(kTypeNames, text);
}
std::optional<MappingAction> parse_mapping_action(std::string_view text) {
  return parse_name<MappingAction>(kActionNames, text);
}

std::string normalise_match_value(MatchType type, std::string_view value) {
  if (type != MatchType::title) return trim(value, false);
  return fold(trim(decode_html(value), true));
}

MappingIndex::MappingIndex(std::span<const Mapping> mappings) {
  for (const Mapping& mapping : mappings) {
    if (mapping.value.empty()) continue;
    // A title that an earlier version normalised may hold character references still.
    const bool as_html = mapping.type == MatchType::title && mapping.value.contains('&');
    std::string value = as_html ? normalise_match_value(mapping.type, mapping.value) : mapping.value;
    by_type_[static_cast<std::size_t>(mapping.type)][std::move(value)].push_back(mapping);
  }
  for (ByValue& type : by_type_) {
    for (auto& [value, list] : type) std::ranges::sort(list, {}, &Mapping::id);
  }
}

const std::vector<Mapping>* MappingIndex::find(const OrderLine& line) const {
  if (!line.file_id.empty()) return nullptr;
  for (std::size_t t = 0; t < by_type_.size(); ++t) {
    if (by_type_[t].empty()) continue;
    const auto type = static_cast<MatchType>(t);
    const auto found = by_type_[t].find(normalise_match_value(type, value_of(line, type)));
    if (found != by_type_[t].end()) return &found->second;
  }
  return nullptr;
}

std::optional<MappingIndex::Match> MappingIndex::match(const OrderLine& line) const {
  const std::vector<Mapping>* const mappings = find(line);
  if (mappings == nullptr) return std::nullopt;
  Match match{.type = mappings->front().type, .mappings = {}};
  for (const Mapping& mapping : *mappings) match.mappings.push_back(mapping.id);
  return match;
}

MappedOrder MappingIndex::map(OrderState& order, Lines which) const {
  using Mapped = OrderLine::Mapped;
  MappedOrder result;
  const PaidQuantities paid(order);
  std::unordered_map<std::string_view, std::size_t> place;  // of each file id in result.files
  // `key` stays where it is as long as `place`.
  const auto owe = [&](const OrderLine& line, std::string_view key, const auto& make) {
    if (result.too_many) return;
    const auto [at, fresh] = place.try_emplace(key, result.files.size());
    if (fresh) {
      result.too_many = result.files.size() == kMaxFiles;
      if (result.too_many) return;
      result.files.push_back(make());
    }
    OwedFile& file = result.files[at->second];
    // Two mappings of one key may name the same file.
    if (!file.line_ids.empty() && file.line_ids.back() == line.line_id) return;
    file.line_ids.push_back(line.line_id);
    file.quantity += line.quantity;
    file.paid_quantity += paid.of(line);
  };
  for (OrderLine& line : order.lines) {
    if (which == Lines::not_mapped && line.mapped != Mapped::not_yet) continue;
    result.lines.push_back(line.line_id);
    if (line.mapped == Mapped::not_yet) result.fresh.push_back(line.line_id);
    if (!line.file_id.empty()) {
      line.mapped = Mapped::owes;
      owe(line, line.file_id, [&] { return named_file(line); });
      continue;
    }
    const std::vector<Mapping>* const mappings = find(line);
    line.mapped = mappings == nullptr ? Mapped::nothing : Mapped::ignored;
    if (mappings == nullptr) continue;
    for (const Mapping& mapping : *mappings) {
      if (mapping.action != MappingAction::deliver) continue;
      line.mapped = Mapped::owes;
      owe(line, mapping.file_id, [&] {
        return OwedFile{.file_id = mapping.file_id,
                        .kind = mapping.file_kind,
                        .name = mapping.file_name,
                        .matched_by = mapping.type,
                        .line_ids = {}};
      });
    }
  }
  if (result.too_many) result.files.clear();
  return result;
}

void MappingIndex::note_excess(OrderState& order, bool too_many) const {
  if (order.too_large || !(too_many || order.excess)) return;
  std::unordered_set<std::string_view> files;
  for (const OrderLine& line : order.lines) {
    if (!line.file_id.empty()) files.insert(line.file_id);
    const std::vector<Mapping>* const mappings = find(line);
    if (mappings == nullptr) continue;
    for (const Mapping& mapping : *mappings) {
      if (mapping.action == MappingAction::deliver) files.insert(mapping.file_id);
    }
  }
  order.excess.reset();
  if (files.size() > kMaxFiles) order.excess = {.files = std::ssize(files), .limit = std::int64_t{kMaxFiles}};
}

std::optional<std::int64_t> unmapped_lines(const OrderState& order) {
  if (order.too_large) return 0;
  const auto are = [&](OrderLine::Mapped mapped) {
    return std::ranges::count(order.lines, mapped, &OrderLine::mapped);
  };
  if (are(OrderLine::Mapped::earlier) > 0) return std::nullopt;
  return are(OrderLine::Mapped::nothing);
}

namespace {

// The lines of an order that have a paid quantity left, and those that it has at all.
class LinesNow {
 public:
  explicit LinesNow(const OrderState& order) {
    const PaidQuantities paid(order);
    for (const OrderLine& line : order.lines) is_paid_.emplace(line.line_id, paid.of(line) > 0);
  }
  bool known(std::string_view line) const { return is_paid_.contains(line); }
  bool paid(std::string_view line) const {
    const auto found = is_paid_.find(line);
    return found != is_paid_.end() && found->second;
  }

 private:
  std::unordered_map<std::string_view, bool> is_paid_;
};

// Whether the customer has the file, as far as is known. One that is being taken back is gone soon.
bool is_with_customer(const ItemNow& item) {
  switch (item.status) {
    case ItemStatus::shared:
    case ItemStatus::already_shared:
    case ItemStatus::delivered_by_hand:
    case ItemStatus::revoke_failed:
      return true;
    case ItemStatus::revoking:
      return !item.revocation_begun;
    case ItemStatus::owed:
    case ItemStatus::sharing:
    case ItemStatus::dropped:
    case ItemStatus::revoked:
      break;
  }
  return false;
}

void plan_item(const ItemNow& item, const std::vector<std::string>& line_ids, const LinesNow& lines,
               bool is_paid, ItemPlan& plan) {
  const bool wanted = std::ranges::any_of(line_ids, [&](const auto& id) { return lines.paid(id); });
  if (item.status == ItemStatus::owed && !wanted) plan.drop.push_back(item.id);
  if (item.status == ItemStatus::dropped && wanted) plan.owe.push_back(item.id);
  // Only a payment gives again what the order took back (spec 3.10).
  if (item.revoked_by_order && wanted && is_paid) {
    const bool untouched = !item.revocation_begun;
    const bool failed = item.status == ItemStatus::revoke_failed;
    // Where nobody knows whether it is there still it is shared again.
    if (item.status == ItemStatus::revoked || (failed && !untouched)) plan.owe.push_back(item.id);
    // A file that the platform refused to take back is still shared.
    if ((item.status == ItemStatus::revoking || failed) && untouched) plan.keep.push_back(item.id);
  }
  // A line that is not in the order any more was taken out of it, which is no refund; nor does it keep the file where
  // the others are refunded (spec 2.11).
  if (!wanted && std::ranges::any_of(line_ids, [&](const auto& id) { return lines.known(id); }))
    plan.refunded.push_back(item.id);
}

}  // namespace

ItemPlan plan_items(std::span<const ItemNow> items, const OrderState& order, const MappedOrder& mapped,
                    bool complete) {
  const LinesNow lines(order);
  std::unordered_map<std::string_view, const OwedFile*> files;
  std::unordered_set<std::string_view> owing;  // lines that owe a file by the mappings of now
  for (const OwedFile& file : mapped.files) {
    files.emplace(file.file_id, &file);
    owing.insert(file.line_ids.begin(), file.line_ids.end());
  }
  std::unordered_set<std::string_view> checked;
  for (const auto& line : mapped.lines) {
    if (complete || owing.contains(line)) checked.insert(line);
  }
  const std::unordered_set<std::string_view> fresh(mapped.fresh.begin(), mapped.fresh.end());
  ItemPlan plan;
  // An order with too many files changes nothing.
  if (mapped.too_many) {
    plan.too_many = true;
    return plan;
  }
  std::unordered_set<std::string_view> held;
  for (const ItemNow& item : items) {
    held.insert(item.file_id);
    if (item.by_file) continue;
    std::vector<std::string> owed_by;
    const bool delivered = is_with_customer(item);
    for (const auto& line : item.line_ids) {
      if (!checked.contains(line) || (delivered && !fresh.contains(line))) owed_by.push_back(line);
    }
    if (const auto file = files.find(item.file_id); file != files.end()) {
      for (const auto& line : file->second->line_ids) {
        if (checked.contains(line)) owed_by.push_back(line);
      }
    }
    std::ranges::sort(owed_by);
    owed_by.erase(std::ranges::unique(owed_by).begin(), owed_by.end());
    std::vector<std::string> before = item.line_ids;
    std::ranges::sort(before);
    if (owed_by != before) plan.lines.emplace_back(item.id, owed_by);
    plan_item(item, owed_by, lines, order.payment() == Payment::deliver, plan);
  }
  for (const OwedFile& file : mapped.files) {
    if (!held.contains(file.file_id)) plan.add.push_back(file);
  }
  if (plan.add.empty()) return plan;
  const std::unordered_set<ItemId> owe(plan.owe.begin(), plan.owe.end());
  const auto stay_dropped = std::ranges::count_if(items, [&](const ItemNow& item) {
    return item.status == ItemStatus::dropped && !owe.contains(item.id);
  });
  const std::size_t left = items.size() - static_cast<std::size_t>(stay_dropped) - plan.drop.size();
  if (left + plan.add.size() <= kMaxFiles && items.size() + plan.add.size() <= kMaxItems) return plan;
  // The items stay those of their lines, but for lines that are another product now; a refund drops them all the
  // same.
  plan = plan_items(items, order, {.lines = mapped.fresh, .fresh = mapped.fresh}, true);
  plan.too_many = true;
  return plan;
}

PaidItems::PaidItems(const OrderState& order) {
  const PaidQuantities paid(order);
  for (const OrderLine& line : order.lines) {
    if (paid.of(line) > 0) paid_lines_.insert(line.line_id);
  }
}

bool PaidItems::contains(const ItemNow& item) const {
  return item.by_file ||
         std::ranges::any_of(item.line_ids, [&](const auto& id) { return paid_lines_.contains(id); });
}

bool refunds_took_all(std::span<const ItemNow> items, const OrderState& order) {
  if (!order.refunded()) return false;
  const PaidItems paid(order);
  return std::ranges::all_of(
      items, [&](const ItemNow& item) { return !item.line_ids.empty() && !paid.contains(item); });
}

}  // namespace presetbridge::domain
