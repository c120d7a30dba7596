// The events of a transaction that are logged and counted: each end of an order and of a delivery, the platform's
// outages and their ends, the trouble of receivers (spec 10.1, 12.3), and purchases (spec 11.3). Gathered in
// Tx::news(); AsyncDatabase reports them once the transaction is durable, so that nothing is reported that did not
// happen. A transaction that PostgreSQL committed while its answer was lost is not reported. They hold ids and
// words of ours alone: no personal data, no text from outside but the store's id of the order.
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

// A store's event was received.
struct OrderNews {
  enum class Kind { accepted, ignored, repeated };
  Kind kind;
  OrderId order;          // none: the event's order is not stored
  std::string order_key;  // the store's id of the order
  AccountId account;
  IntegrationId integration;
  std::string outcome;  // accepted, repeated: the delivery's status, if there is one; else why there is none
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

// Work of a cloud account was stopped by trouble of the platform, or was resumed.
struct PlatformNews {
  CloudAccountId cloud_account;
  std::string_view trouble;  // a literal; empty: it is over
};

// A receiver of outbound webhooks has failed for long (spec 10.1).
struct SubscriptionNews {
  SubscriptionId subscription;
  AccountId account;
  std::string_view state;  // a literal: failing, off (turned off), gone (by the receiver's own answer)
  Timestamp failing_since;
};

// A purchase of credits changed (spec 11.3).
struct PurchaseNews {
  PurchaseId purchase;
  AccountId account;
  std::string_view state;  // a literal
  std::string currency;
  // Money that this change moved, in the currency's smallest unit: paid, taken back by refunds and disputes, and
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
  std::vector<WrittenChanges> changes;  // of watched accounts: for live readers
  std::vector<PurchaseNews> purchases;
  bool empty() const {
    return orders.empty() && deliveries.empty() && platform.empty() && subscriptions.empty() &&
           changes.empty() && purchases.empty();
  }
};

}  // namespace presetbridge::storage
