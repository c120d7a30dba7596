// What a store's platform asked for on behalf of a buyer or of the shop (spec 2.11, 9.6): carried out at
// once, and kept, without a personal field, for the merchant to see and close.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "storage/database.h"
#include "storage/page.h"

namespace presetbridge::storage {

enum class PrivacyKind {
  customer_redact,  // the buyer's personal fields are erased
  shop_redact,      // those of all orders of the shop are
  data_request,     // the merchant has to give the buyer what is known of them
};
std::string_view to_string(PrivacyKind kind);

struct PrivacyRequestRow {
  PrivacyRequestId id;
  AccountId account;
  IntegrationId integration;
  PrivacyKind kind = PrivacyKind::data_request;
  Timestamp received_at;
  // Orders that it names; of shop_redact: that were erased so far.
  std::int64_t orders = 0;
  std::string done_to;                      // shop_redact: the last order key dealt with
  std::optional<Timestamp> carried_out_at;  // nothing: under way, or the store has to send it again
  std::optional<Timestamp> closed_at;
  std::string closed_by;  // domain::to_string(Actor); empty while open
};

// `key` is the same for the same request of an integration sent again: then that row is returned, as it
// stands, and nothing is written. A shop's that is carried out keeps its row, and the same is a new one: the
// shop may have come back since.
PrivacyRequestRow add_privacy_request(Tx& tx, const PrivacyRequestRow& row, Blob key);
void end_privacy_request(Tx& tx, PrivacyRequestId id);

// The orders that a data request names, as the store calls them: kMostOrdersNamed at most are kept, the first
// of them. Those of a request that has them stay.
inline constexpr std::size_t kMostOrdersNamed = 500;
void add_orders_named(Tx& tx, PrivacyRequestId id, std::span<const std::string> order_keys);
struct OrderNamed {
  std::int64_t number = 0;  // counts down
  std::string order_key;
  OrderId order;             // none: the store has told of no such order
  bool delivered = false;    // there is a delivery, which has the order's number
  std::string order_number;  // for people; empty: it has none
};
// In the order in which they were given; none of a request that a program of before took.
Page<OrderNamed> list_orders_named(Tx& tx, const PrivacyRequestRow& request, const PageRequest& page);

// The next request of a shop after this one (none: the oldest) that is not carried out and that no other
// transaction works on, locked.
std::optional<PrivacyRequestRow> lock_shop_redaction(Tx& tx, PrivacyRequestId after);
// Writes orders and done_to.
void advance_shop_redaction(Tx& tx, const PrivacyRequestRow& row);

// Newest first; `open`: only those that the merchant has not closed. Those of other stores than these are
// left out (none: of all): then a page looks through 5,000 requests at most, and may be short and have a next
// one.
Page<PrivacyRequestRow> list_privacy_requests(Tx& tx, AccountId account, const PageRequest& page,
                                              bool open = false,
                                              const std::vector<IntegrationId>& stores = {});
std::optional<PrivacyRequestRow> find_privacy_request(Tx& tx, AccountId account, PrivacyRequestId id);
// The merchant has done what is theirs. False: the account has no such open request.
bool close_privacy_request(Tx& tx, AccountId account, PrivacyRequestId id, std::string_view by);

}  // namespace presetbridge::storage
