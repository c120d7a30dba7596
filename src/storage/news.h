// What a transaction did that the log and the metrics tell of: each end of an order and of a delivery, the
// platform's going and coming back, and the trouble of receivers (spec 10.1, 12.3). It is gathered in
// Tx::news() and told by AsyncDatabase once the transaction is durable, so that nothing is told that did not
// happen. What PostgreSQL committed while its answer was lost is not told. Ids and words of ours alone: no
// personal data, no text from outside but the store's id of the order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "domain/delivery_machine.h"
#include "domain/resolution.h"
#include "storage/changes.h"

namespace presetbridge::storage {

// A store's event was taken in.
struct OrderNews {
  enum class Kind { accepted, ignored, repeated };
  Kind kind;
  OrderId order;          // none: the event told of no order that is stored
  std::string order_key;  // the store's id of the order
  AccountId account;
  IntegrationId integration;
  std::string outcome;  // accepted, repeated: the delivery's status, if there is one; else why none was made
};

// A delivery came to an end: completed, failed, invalidated, or in review, where a person has to decide.
struct DeliveryNews {
  DeliveryId delivery;
  std::string order_key;
  AccountId account;
  IntegrationId integration;
  domain::DeliveryStatus status;
  domain::ResolutionCode code;
  domain::Cause cause;
};

// Work of a cloud account was stopped for trouble of the platform, or goes on again.
struct PlatformNews {
  CloudAccountId cloud_account;
  std::string_view trouble;  // a literal; empty: it is over
};

// A receiver of outbound webhooks has failed for long (spec 10.1).
struct SubscriptionNews {
  SubscriptionId subscription;
  AccountId account;
  std::string_view state;  // a literal: failing, off (turned off), gone (it said so)
  Timestamp failing_since;
};

// A purchase of credits changed (spec 11.3).
struct PurchaseNews {
  PurchaseId purchase;
  AccountId account;
  std::string_view state;  // a literal
  std::string currency;
  // Money in the currency's smallest unit, by this change: paid, taken back by refunds and disputes, and
  // given back by disputes that were won.
  std::int64_t paid = 0;
  std::int64_t taken_back = 0;
  std::int64_t given_back = 0;
};

struct News {
  std::vector<OrderNews> orders;
  std::vector<DeliveryNews> deliveries;
  std::vector<PlatformNews> platform;
  std::vector<SubscriptionNews> subscriptions;
  std::vector<WrittenChanges> changes;  // of watched accounts: for who reads them live
  std::vector<PurchaseNews> purchases;
  bool empty() const {
    return orders.empty() && deliveries.empty() && platform.empty() && subscriptions.empty() &&
           changes.empty() && purchases.empty();
  }
};

}  // namespace presetbridge::storage
