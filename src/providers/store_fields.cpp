#include "providers/store_fields.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "base/utf8.h"
#include "base/whole_number.h"

namespace presetbridge::providers {
namespace {

using Kind = PickedValue::Kind;

std::optional<std::int64_t> whole(std::string_view text) {
  const auto digits = presetbridge::whole_number(text, kMaxIdentifierBytes);
  if (!digits) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, ec] = std::from_chars(digits->data(), digits->data() + digits->size(), value);
  if (ec == std::errc::result_out_of_range)
    value = digits->starts_with('-') ? -domain::kMaxQuantity : domain::kMaxQuantity;
  return std::clamp(value, -domain::kMaxQuantity, domain::kMaxQuantity);
}

}  // namespace

std::string identifier(const PickedValue& value) {
  if (value.is(Kind::number))
    return presetbridge::whole_number(value.text, kMaxIdentifierBytes).value_or(std::string());
  if (value.text.size() > kMaxIdentifierBytes) return {};
  if (value.is(Kind::string) && !domain::trim_unicode(value.text).empty()) return std::string(value.text);
  return {};
}

std::string nonzero_identifier(const PickedValue& value) {
  auto id = identifier(value);
  return id == "0" ? std::string{} : id;
}

std::string free_text(const PickedValue& value) {
  return value.is(Kind::string) ? std::string(cut_utf8(value.text, kMaxTextBytes)) : std::string{};
}

std::string email(const PickedValue& value) {
  return value.is(Kind::string) && value.text.size() <= kMaxEmailBytes
             ? std::string(domain::trim_unicode(value.text))
             : std::string{};
}

std::string keyword(const PickedValue& value) {
  if (!value.is(Kind::string) && !value.is(Kind::number) && !value.is(Kind::boolean)) return {};
  return lowered(value.text.substr(0, kMaxIdentifierBytes));
}

std::optional<Timestamp> timestamp(const PickedValue& value) {
  return value.is(Kind::string) ? parse_iso8601(value.text) : std::nullopt;
}

std::optional<std::int64_t> whole_number(const PickedValue& value) {
  return value.is(Kind::number) ? whole(value.text) : std::nullopt;
}

std::int64_t store_quantity(const PickedValue& value) {
  if (!value.is(Kind::number) && !value.is(Kind::string)) return 1;
  const auto quantity = whole(value.text);
  return quantity && *quantity >= 0 ? *quantity : 1;
}

void offer_username(domain::OrderEvent& event, const PickedValue& candidate, const ParseLimits& limits) {
  if (candidate.is(Kind::string)) offer_username(event, candidate.text, limits);
}

void offer_username(domain::OrderEvent& event, std::string_view candidate, const ParseLimits& limits) {
  if (!event.username.empty()) return;
  event.username = domain::normalise_username(candidate, limits.username_characters);
  if (!event.username.empty() || (event.raw_username.empty() && !domain::trim_unicode(candidate).empty())) {
    event.raw_username = cut_utf8(candidate, kMaxTextBytes);
  }
}

void offer_named(domain::OrderEvent& event, const PickedValue& list,
                 std::initializer_list<std::string_view> keys, const domain::FieldNames& names,
                 const ParseLimits& limits) {
  for (const auto& entry : list.elements()) {
    if (!event.username.empty()) return;
    if (std::ranges::any_of(keys, [&](const auto key) { return names.contains(entry[key].text); })) {
      offer_username(event, entry["value"], limits);
    }
  }
}

void read_lines(domain::OrderEvent& event, const PickedValue& lines, std::size_t limit, bool truncated,
                domain::OrderLine (*read_line)(const PickedValue& line)) {
  event.lines_given = lines.is_list();
  const auto elements = lines.elements();
  const bool too_many = elements.size() > limit;
  event.too_large = too_many || truncated;
  if (too_many && !truncated)
    event.excess = {.lines = std::ssize(elements), .limit = static_cast<std::int64_t>(limit)};
  if (too_many) return;
  event.lines.reserve(elements.size());
  for (const auto& line : elements) {
    if (line.is(Kind::object)) event.lines.push_back(read_line(line));
  }
}

std::unexpected<Error> no_order_id(std::string_view field) {
  return fail("INVALID_PAYLOAD", "The payload has no order id.",
              {{std::string(field), "is required: a string or an integer"}});
}

}  // namespace presetbridge::providers
