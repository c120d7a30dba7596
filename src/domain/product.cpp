#include "domain/product.h"

#include <array>
#include <utility>

#include "base/utf8.h"
#include "domain/mapping.h"

namespace presetbridge::domain {

std::optional<std::string> product_key(const OrderLine& line) {
  const std::array<std::pair<MatchType, std::string_view>, 4> names{{
      {MatchType::variant_id, line.variant_id},
      {MatchType::sku, line.sku},
      {MatchType::product_id, line.product_id},
      {MatchType::title, line.title},
  }};
  for (const auto& [type, name] : names) {
    if (name.empty()) continue;
    auto value = normalise_match_value(type, name);
    if (!value.empty()) return std::string(to_string(type)) + ":" + value;
  }
  return std::nullopt;
}

std::string product_title(std::string_view title) {
  const auto shown = first_characters(title, kMaxProductTitle);
  return std::string(shown) + (shown.size() < title.size() ? "…" : "");
}

}  // namespace presetbridge::domain
