// What holds of every result of providers::parse, whatever the bytes were.
#pragma once

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "domain/username.h"
#include "providers/lone_surrogates.h"
#include "providers/parse.h"
#include "providers/store_fields.h"
#include "require.h"

namespace presetbridge::fuzz {

// A text field: within its limit, and fit for every database.
inline void require_text(std::string_view text, std::size_t max_bytes) {
  REQUIRE(text.size() <= max_bytes);
  REQUIRE(!text.contains('\0'));
}

inline void require_event(const domain::OrderEvent& event, const providers::Profile& profile) {
  using Event = domain::OrderEvent::Kind;
  using namespace providers;
  REQUIRE(event.provider == profile.provider);
  const bool about_an_order = event.kind == Event::order || event.kind == Event::refund ||
                              event.kind == Event::stop || event.kind == Event::risk;
  REQUIRE(event.order_id.empty() != about_an_order);
  require_text(event.order_id, kMaxIdentifierBytes);
  require_text(event.order_number, kMaxIdentifierBytes);
  require_text(event.email, kMaxEmailBytes);
  require_text(event.raw_username, kMaxTextBytes);
  require_text(event.username, 4 * domain::kMaxUsernameCharacters);
  REQUIRE(event.username.empty() || !event.raw_username.empty());
  REQUIRE(domain::normalise_username(event.username) == event.username);
  REQUIRE(event.lines.size() <= ParseLimits{}.line_items);
  REQUIRE(event.lines_given || event.lines.empty());
  for (const auto& line : event.lines) {
    for (const auto* id : {&line.line_id, &line.sku, &line.product_id, &line.variant_id}) {
      require_text(*id, kMaxIdentifierBytes);
    }
    require_text(line.title, kMaxTextBytes);
    REQUIRE(line.quantity >= 0 && line.quantity <= domain::kMaxQuantity);
    REQUIRE(!line.current_quantity ||
            (*line.current_quantity >= 0 && *line.current_quantity <= domain::kMaxQuantity));
  }
  std::size_t refund_lines = 0;
  for (const auto& refund : event.refunds) {
    require_text(refund.id, kMaxIdentifierBytes);
    refund_lines += std::max<std::size_t>(1, refund.lines.size());
    for (const auto& line : refund.lines) {
      REQUIRE(!line.line_id.empty());
      REQUIRE(line.quantity >= 0 && line.quantity <= domain::kMaxQuantity);
    }
  }
  REQUIRE(refund_lines <= ParseLimits{}.refund_lines);
  REQUIRE(!event.too_many_refund_lines || about_an_order);
  REQUIRE(!event.sample || event.test);
  REQUIRE(!event.trashed || event.payment == domain::Payment::cancelled);
  REQUIRE(!event.restored || (event.kind == Event::order && !event.trashed));
  for (const auto& id : event.order_ids) require_text(id, kMaxIdentifierBytes);
}

// What is repaired is JSON's escapes alone, and only where JSON's reader refuses them.
inline void require_repair(std::string_view body) {
  const auto is_json = [](std::string_view text) {
    std::error_code error;
    boost::json::parse(text, error);
    return !error;
  };
  const auto repaired = providers::without_lone_surrogates(body);
  if (!repaired) return;
  REQUIRE(repaired->size() == body.size() && !is_json(body));
  REQUIRE(!providers::without_lone_surrogates(*repaired));
  for (std::size_t i = 0; i < body.size(); ++i) {
    if ((*repaired)[i] == body[i]) continue;
    const auto escape = repaired->rfind("\\ufffd", i);
    REQUIRE(escape != repaired->npos && i - escape < 6 &&
            (body[escape + 2] == 'd' || body[escape + 2] == 'D'));
  }
}

// Reads `body` under each topic, twice: the same bytes say the same.
inline void require_parse(domain::Provider provider, std::string_view body,
                          std::span<const std::string_view> topics) {
  static const std::array<std::string, 2> fields{"amp_name", "Cloud Name"};
  const auto& profile = providers::profile_of(provider);
  require_repair(body);
  for (const auto topic : topics) {
    const providers::ParseInput input{
        .body = body, .topic = topic, .test = false, .username_fields = fields, .limits = {}};
    const auto event = providers::parse(profile, input);
    if (event) {
      require_event(*event, profile);
      const auto again = providers::parse(profile, input);
      REQUIRE(again && again->order_id == event->order_id && again->lines == event->lines &&
              again->username == event->username && again->refunds == event->refunds);
    } else {
      REQUIRE(event.error().code == "INVALID_PAYLOAD" || event.error().code == "PAYLOAD_TOO_LARGE");
      REQUIRE(event.error().code != "INVALID_PAYLOAD" || !event.error().details.empty());
      REQUIRE(event.error().details.size() <= 50);
    }
  }
}

}  // namespace presetbridge::fuzz
