// Lists, searches and counts of deliveries (spec 8.5, 9.4), each of a bounded cost, whatever the account's
// history.
//
// One of the filters finds deliveries by an index, newest first, at most kDeliveryScanLimit a page, and the
// others are checked on each of these. The first of this list that is set is the one: an order's id, a
// search, a file, refunded, dry runs, resolution codes, then status (in review, where a reason of a review
// is set) and store together, then all.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "domain/delivery.h"
#include "storage/database.h"
#include "storage/page.h"
#include "storage/stores/delivery_store.h"

namespace presetbridge::storage {

// A page is searched in so many deliveries, and so many are counted.
inline constexpr int kDeliveryScanLimit = 10'000;

struct DeliveryFilter {
  AccountId account;
  std::vector<domain::DeliveryStatus> statuses;            // empty: all
  std::vector<domain::ResolutionCode> codes;               // empty: all
  std::vector<domain::ReviewReason> reviews;               // in review, and this reason shows; empty: all
  std::optional<std::vector<IntegrationId>> integrations;  // nothing: all of the account
  std::string order_key;                                   // exactly
  // The beginning of an order's number or id, of a username or of an e-mail address, whatever the case.
  std::string search;
  std::string file_id;  // of one of its files
  std::optional<bool> dry_run;
  std::optional<bool> refunded;
  // Half open: at or after `…_from`, before `…_to`.
  std::optional<Timestamp> created_from;
  std::optional<Timestamp> created_to;
  std::optional<Timestamp> updated_from;
  std::optional<Timestamp> updated_to;
  bool oldest_first = false;
  // `before` is the last id of the previous page, whichever the order.
  PageRequest page;
};

// A page may be short, even empty, and still have a next one: then kDeliveryScanLimit deliveries were searched.
Page<DeliveryRow> list_deliveries(Tx& tx, const DeliveryFilter& filter);

struct DeliveryCount {
  std::int64_t count = 0;  // kDeliveryScanLimit at most
  bool exact = true;       // false: there may be more
};
struct FoundDelivery {
  DeliveryId id;
  domain::DeliveryStatus status;
  domain::ResolutionCode code;
  std::optional<domain::ReviewReason> review;  // that shows; nothing: it is not in review
};
// Counts the deliveries of all pages. `each` is called for each that is counted, in no order.
DeliveryCount count_deliveries(Tx& tx, const DeliveryFilter& filter,
                               const std::function<void(const FoundDelivery&)>& each = {});
// Whether the delivery, which the filter has found, still fits it, by those filters whose result an action
// on the delivery, or the worker, may have changed since.
bool is_still(const DeliveryFilter& filter, const DeliveryRow& row);

}  // namespace presetbridge::storage
