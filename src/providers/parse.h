// From the bytes of a verified webhook to what they say of an order (spec 2.6-2.11, 2.14): pure, and the only
// place that knows the platforms' payloads. Call it after verify().
//
// Errors: INVALID_PAYLOAD with every problem in `details` when the body is no JSON object (invalid UTF-8 and
// too deep nesting included), when a store's order has no order id, and when a generic payload breaks a rule
// of spec 2.9. PAYLOAD_TOO_LARGE when the body passes the limit. Nothing else: a store stops sending after a
// few refusals.
//
// A field that is null, absent or, from a store, of a wrong type or beyond its limit counts as absent, so no
// store's order is lost by a field. Numbers keep their text (spec 2.7), and whole ones are recognised by
// their value, "278.0" too (spec 8.1). A lone surrogate escape reads as U+FFFD (spec 2.11). U+0000 counts as
// a problem of the field that holds it; fields that are not read may hold anything that is JSON. A key that
// is given twice is a problem in a generic payload (which of the two was meant?); from a store the last one
// counts.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "domain/order_event.h"
#include "providers/profile.h"

namespace presetbridge::providers {

struct ParseLimits {
  std::size_t body_bytes = 1024 * 1024;
  std::size_t line_items = 250;  // a store's larger order is too_large (spec 2.9), a generic one refused
  // Over all refunds of one event, each without lines counting as one: beyond them none is read, and
  // the event is too_many_refund_lines.
  std::size_t refund_lines = 2'000;
  std::size_t username_characters = 200;
  std::size_t json_depth = 64;
};

struct ParseInput {
  std::string_view body;
  std::string_view topic;  // "": the payload decides alone
  bool test = false;       // the test header said so
  std::span<const std::string>
      username_fields;  // names that the merchant added, read after the profile's own
  ParseLimits limits;
  bool file_ids = false;  // items of a generic payload may name their files (spec 3.8); else they cannot
};

Expected<domain::OrderEvent> parse(const Profile& profile, const ParseInput& input);

}  // namespace presetbridge::providers
