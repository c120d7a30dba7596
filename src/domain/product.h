// Identifies the product of an order's line among the products of its store (spec 9.2).
#pragma once

#include <optional>
#include <string>

#include "domain/order_event.h"

namespace presetbridge::domain {

inline constexpr std::size_t kMaxProductTitle = 200;  // characters; a longer one is cut, and ends in …

// The line's most specific name, after its kind: its variant id, SKU, product id or normalised title. Nothing
// for a line without any.
std::optional<std::string> product_key(const OrderLine& line);
// As it is kept and shown.
std::string product_title(std::string_view title);

}  // namespace presetbridge::domain
