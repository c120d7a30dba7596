// Ids (spec 8.2): 63-bit integers inside and in the database, sortable by time; prefixed text at the API.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace presetbridge {

// A strong id. Kind supplies `static constexpr std::string_view prefix`.
template <class Kind>
struct Id {
  std::int64_t value = 0;  // 0: none
  auto operator<=>(const Id&) const = default;
  explicit operator bool() const { return value != 0; }
};

struct AccountKind {
  static constexpr std::string_view prefix = "acc";
};
struct UserKind {
  static constexpr std::string_view prefix = "usr";
};
struct ApiKeyKind {
  static constexpr std::string_view prefix = "key";
};
struct IntegrationKind {
  static constexpr std::string_view prefix = "int";
};
struct MappingKind {
  static constexpr std::string_view prefix = "map";
};
struct OrderKind {
  static constexpr std::string_view prefix = "ord";
};
struct DeliveryKind {
  static constexpr std::string_view prefix = "del";
};
struct ItemKind {
  static constexpr std::string_view prefix = "itm";
};
struct AttemptKind {
  static constexpr std::string_view prefix = "att";
};
struct SubscriptionKind {
  static constexpr std::string_view prefix = "sub";
};
struct PurchaseKind {
  static constexpr std::string_view prefix = "pur";
};
struct LedgerKind {
  static constexpr std::string_view prefix = "led";
};
struct CloudAccountKind {
  static constexpr std::string_view prefix = "cla";
};
struct CustomerKind {
  static constexpr std::string_view prefix = "cus";
};
struct PrivacyRequestKind {
  static constexpr std::string_view prefix = "prv";
};
struct EventKind {
  static constexpr std::string_view prefix = "evt";
};
struct SessionKind {
  static constexpr std::string_view prefix = "ses";
};
struct BulkJobKind {
  static constexpr std::string_view prefix = "blk";
};

using AccountId = Id<AccountKind>;
using UserId = Id<UserKind>;
using ApiKeyId = Id<ApiKeyKind>;
using IntegrationId = Id<IntegrationKind>;
using MappingId = Id<MappingKind>;
using OrderId = Id<OrderKind>;  // an order and its delivery have the same value: they are one to one
using DeliveryId = Id<DeliveryKind>;
using ItemId = Id<ItemKind>;
using AttemptId = Id<AttemptKind>;
using SubscriptionId = Id<SubscriptionKind>;
using PurchaseId = Id<PurchaseKind>;
using LedgerId = Id<LedgerKind>;
using CloudAccountId = Id<CloudAccountKind>;
using CustomerId = Id<CustomerKind>;
using PrivacyRequestId = Id<PrivacyRequestKind>;
using EventId = Id<EventKind>;
using BulkJobId = Id<BulkJobKind>;
using SessionId = Id<SessionKind>;  // of a person's sign-in

// "del_" + 13 characters of lower-case Crockford base32: sorts as the integer does.
std::string format_id(std::string_view prefix, std::int64_t value);
inline constexpr std::size_t kMostIdCharacters = 17;
// Appends the text of an id to `out`.
void append_id(std::string& out, std::string_view prefix, std::int64_t value);
// Nothing unless `text` is exactly what format_id makes of a positive value with this prefix.
std::optional<std::int64_t> parse_id(std::string_view prefix, std::string_view text);

template <class Kind>
std::string to_string(Id<Kind> id) {
  return format_id(Kind::prefix, id.value);
}
template <class Kind>
void append_id(std::string& out, Id<Kind> id) {
  static_assert(Kind::prefix.size() + 1 + 13 <= kMostIdCharacters);
  append_id(out, Kind::prefix, id.value);
}
template <class Kind>
std::optional<Id<Kind>> parse_id(std::string_view text) {
  auto v = parse_id(Kind::prefix, text);
  if (!v) return std::nullopt;
  return Id<Kind>{*v};
}

// Makes ids that grow: 41 bits of milliseconds since 2024, 10 bits of node, 12 bits of sequence. Unique among
// nodes with different numbers; when more than 4,096 are asked of one millisecond, or the clock steps back,
// it runs ahead of the clock. Thread-safe.
class IdSource {
 public:
  // node: 0..1023.
  IdSource(const Clock& clock, int node) : clock_(clock), node_(node) {}
  std::int64_t next();
  template <class AnyId>
  AnyId make() {
    return AnyId{next()};
  }

 private:
  const Clock& clock_;
  const int node_;
  std::atomic<std::int64_t> last_{0};  // (ms << 12 | sequence) of the newest id
};

}  // namespace presetbridge

template <class Kind>
struct std::hash<presetbridge::Id<Kind>> {
  std::size_t operator()(const presetbridge::Id<Kind>& id) const noexcept {
    return std::hash<std::int64_t>{}(id.value);
  }
};
