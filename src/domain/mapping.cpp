#include "domain/mapping.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "domain/html_text.h"

namespace presetbridge::domain {
namespace {

constexpr std::array<std::string_view, 4> kTypeNames = {"variant_id", "sku", "product_id", "title"};
constexpr std::array<std::string_view, 2> kActionNames = {"deliver", "ignore"};

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

std::string fold(std::string text) {
  struct Free {
    void operator()(utf8proc_uint8_t* p) const { std::free(p); }
  };
  // The library's enumerators are bits, to be put together.
  constexpr auto how =
      static_cast<utf8proc_option_t>(  // NOLINT(clang-analyzer-optin.core.EnumCastOutOfRange)
          UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD);
  utf8proc_uint8_t* folded = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                 static_cast<utf8proc_ssize_t>(text.size()), &folded, how);
  const std::unique_ptr<utf8proc_uint8_t, Free> owned(folded);
  if (size >= 0) return std::string(reinterpret_cast<const char*>(folded), static_cast<std::size_t>(size));
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace

std::string_view to_string(MatchType type) {
  return kTypeNames[static_cast<std::size_t>(type)];
}
std::string_view to_string(MappingAction action) {
  return kActionNames[static_cast<std::size_t>(action)];
}

std::optional<MatchType> parse_match_type(std::string_view text) {
  const auto found = std::ranges::find(kTypeNames, text);
  if (found == kTypeNames.end()) return std::nullopt;
  return static_cast<MatchType>(found - kTypeNames.begin());
}
std::optional<MappingAction> parse_mapping_action(std::string_view text) {
  const auto found = std::ranges::find(kActionNames, text);
  if (found == kActionNames.end()) return std::nullopt;
  return static_cast<MappingAction>(found - kActionNames.begin());
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
  for (std::size_t t = 0; t < by_type_.size(); ++t) {
    if (by_type_[t].empty()) continue;
    const auto type = static_cast<MatchType>(t);
    const auto found = by_type_[t].find(normalise_match_value(type, value_of(line, type)));
    if (found != by_type_[t].end()) return &found->second;
  }
  return nullptr;
}

MappedOrder MappingIndex::map(const OrderState& order) const {
  MappedOrder result;
  std::unordered_map<std::string_view, std::size_t> place;  // of each file id in result.files
  for (const OrderLine& line : order.lines) {
    const std::vector<Mapping>* const mappings = find(line);
    if (mappings == nullptr) {
      ++result.unmapped;
      continue;
    }
    bool owes = false;
    for (const Mapping& mapping : *mappings) {
      if (mapping.action != MappingAction::deliver) continue;
      owes = true;
      const auto [at, fresh] = place.try_emplace(mapping.file_id, result.files.size());
      if (fresh) {
        result.files.push_back({.file_id = mapping.file_id,
                                .kind = mapping.file_kind,
                                .name = mapping.file_name,
                                .matched_by = mapping.type,
                                .line_ids = {}});
      }
      OwedFile& file = result.files[at->second];
      // Two mappings of one key may name the same file.
      if (!file.line_ids.empty() && file.line_ids.back() == line.line_id) continue;
      file.line_ids.push_back(line.line_id);
      file.quantity += line.quantity;
      file.paid_quantity += paid_quantity(order, line);
    }
    ++(owes ? result.mapped : result.ignored);
  }
  return result;
}

MappedOrder map_order(const OrderState& order, std::span<const Mapping> mappings) {
  return MappingIndex(mappings).map(order);
}

ItemPlan plan_items(std::span<const ItemNow> items, const MappedOrder& owed) {
  const auto wants = [&](const std::string& file_id) {
    return std::ranges::any_of(
        owed.files, [&](const OwedFile& f) { return f.file_id == file_id && f.paid_quantity > 0; });
  };
  ItemPlan plan;
  for (const ItemNow& item : items) {
    if (item.line_ids.empty()) continue;
    const bool wanted = wants(item.file_id);
    if (item.status == ItemStatus::owed && !wanted) plan.drop.push_back(item.id);
    if (item.status == ItemStatus::dropped && wanted) plan.restore.push_back(item.id);
  }
  for (const OwedFile& file : owed.files) {
    if (file.paid_quantity > 0 && std::ranges::find(items, file.file_id, &ItemNow::file_id) == items.end()) {
      plan.add.push_back(file);
    }
  }
  return plan;
}

std::vector<ItemId> refunded_items(std::span<const ItemNow> items, const OrderState& order) {
  const auto paid = [&](const std::string& line_id) {
    const auto line = std::ranges::find(order.lines, line_id, &OrderLine::line_id);
    return line != order.lines.end() && paid_quantity(order, *line) > 0;
  };
  std::vector<ItemId> dropped;
  for (const ItemNow& item : items) {
    if (item.status == ItemStatus::owed && !item.line_ids.empty() &&
        std::ranges::none_of(item.line_ids, paid)) {
      dropped.push_back(item.id);
    }
  }
  return dropped;
}

}  // namespace presetbridge::domain
