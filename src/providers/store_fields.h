// How the fields of a store's payload are read (spec 2.7, 2.9): what is null, absent, of a wrong type or over
// its limit is absent, so that no order is refused for a field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "domain/order_event.h"
#include "domain/username.h"
#include "providers/parse.h"
#include "providers/picked_json.h"

namespace presetbridge::providers {

inline constexpr std::size_t kMaxIdentifierBytes =
    255;  // ids and SKUs: dropped when longer, since a cut one is another
inline constexpr std::size_t kMaxTextBytes = 1000;  // titles, raw usernames: cut when longer
inline constexpr std::size_t kMaxEmailBytes = 320;
// A note is read so far: more than the hosted shop lets people write (5,000 characters).
inline constexpr std::size_t kMaxNoteBytes = 20'000;

// A string that is not blank, or the digits of a whole number, however written; "" for anything else.
std::string identifier(const PickedValue& value);
// The same where the store writes 0 for none.
std::string nonzero_identifier(const PickedValue& value);
// A string, cut to kMaxTextBytes; "" for anything else.
std::string free_text(const PickedValue& value);
std::string email(const PickedValue& value);
// A string in lower case, for comparing; also the text of a number or boolean, which then equals no known
// word.
std::string keyword(const PickedValue& value);
std::optional<Timestamp> timestamp(const PickedValue& value);

// A whole number, however written ("2", "2.0", "2e0"), capped at ±domain::kMaxQuantity; nothing for anything
// else.
std::optional<std::int64_t> whole_number(const PickedValue& value);
// A whole number, or one in a string, of at least 0; else 1: a store's order is never lost for a quantity.
std::int64_t store_quantity(const PickedValue& value);

// Takes `candidate` for the event's username if it has none yet; the first that is not blank is kept as the
// raw one. Nothing but strings is looked at.
void offer_username(domain::OrderEvent& event, const PickedValue& candidate, const ParseLimits& limits);
void offer_username(domain::OrderEvent& event, std::string_view candidate, const ParseLimits& limits);

// Offers the values of those entries of a list, in its order, of which one of `keys` is one of `names`.
void offer_named(domain::OrderEvent& event, const PickedValue& list,
                 std::initializer_list<std::string_view> keys, const domain::FieldNames& names,
                 const ParseLimits& limits);

// The order's lines, in order; what is no object among them is passed over. More than `limit` make the order
// too large, and none is read. A value that is no list gives no lines. `truncated`: values of the order are missing,
// so it is too large, and nobody knows by how much.
void read_lines(domain::OrderEvent& event, const PickedValue& lines, std::size_t limit, bool truncated,
                domain::OrderLine (*read_line)(const PickedValue& line));

// The problem of a store's payload without a usable order id in `field`.
std::unexpected<Error> no_order_id(std::string_view field);

}  // namespace presetbridge::providers
