// Requests of a store's platform on behalf of a buyer or of the shop (spec 2.11, 9.6): carried out at once,
// and stored, without a personal field, for the merchant to see and close.
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
  shop_redact,      // the personal fields of all orders of the shop are erased
  data_request,     // the merchant has to give the buyer their data
};
std::string_view to_string(PrivacyKind kind);

struct PrivacyRequestRow {
  PrivacyRequestId id;
  AccountId account;
  IntegrationId integration;
  PrivacyKind kind = PrivacyKind::data_request;
  Timestamp received_at;
  // The number of orders that it names; of shop_redact: that were erased so far.
  std::int64_t orders = 0;
  std::string done_to;                      // shop_redact: the last order key that was handled
  std::optional<Timestamp> carried_out_at;  // nothing: under way, or the store has to send it again
  std::optional<Timestamp> closed_at;
  std::string closed_by;  // domain::to_string(Actor); empty while open
};

// `key` identifies a request of an integration. If the integration has sent it before, its row is returned,
// and nothing is written; but a shop_redact that was carried out gets a new row beside the former one,
// since the shop may have come back meanwhile.
PrivacyRequestRow add_privacy_request(Tx& tx, const PrivacyRequestRow& row, Blob key);
void end_privacy_request(Tx& tx, PrivacyRequestId id);

// Stores the orders that a data request names, by the store's ids of them: the first kMostOrdersNamed.
// Orders that the request has already stay as they are.
inline constexpr std::size_t kMostOrdersNamed = 500;
void add_orders_named(Tx& tx, PrivacyRequestId id, std::span<const std::string> order_keys);
struct OrderNamed {
  std::int64_t number = 0;  // counts down
  std::string order_key;
  OrderId order;             // none: the store has sent no such order
  bool delivered = false;    // there is a delivery, which has the order's number
  std::string order_number;  // for people; empty: it has none
};
// In the order in which they were given; none for a request that an older program took.
Page<OrderNamed> list_orders_named(Tx& tx, const PrivacyRequestRow& request, const PageRequest& page);

// Locks the next shop_redact with an id after `after` (none: the oldest) that is not carried out and that
// no other transaction has locked.
std::optional<PrivacyRequestRow> lock_shop_redaction(Tx& tx, PrivacyRequestId after);
// Writes orders and done_to.
void advance_shop_redaction(Tx& tx, const PrivacyRequestRow& row);

// Newest first; `open`: only requests that the merchant has not closed; `stores`: only those of these
// stores (empty: of all). With `stores` a page reads 5,000 requests at most: it may be short and still have
// a next one.
Page<PrivacyRequestRow> list_privacy_requests(Tx& tx, AccountId account, const PageRequest& page,
                                              bool open = false,
                                              const std::vector<IntegrationId>& stores = {});
std::optional<PrivacyRequestRow> find_privacy_request(Tx& tx, AccountId account, PrivacyRequestId id);
// The merchant has done their part. False: the account has no such open request.
bool close_privacy_request(Tx& tx, AccountId account, PrivacyRequestId id, std::string_view by);

}  // namespace presetbridge::storage
