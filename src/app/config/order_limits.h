// The configured limits of what a store's order may hold (spec 2.14).
#pragma once

#include "app/config/config.h"
#include "providers/parse.h"

namespace presetbridge::app {

inline providers::ParseLimits order_limits(const Config& config) {
  return {.body_bytes = static_cast<std::size_t>(config.limits_body_bytes),
          .line_items = static_cast<std::size_t>(config.limits_line_items),
          .refund_lines = static_cast<std::size_t>(config.limits_refund_lines),
          .username_characters = static_cast<std::size_t>(config.limits_username_characters),
          .json_depth = static_cast<std::size_t>(config.limits_json_depth)};
}

}  // namespace presetbridge::app
