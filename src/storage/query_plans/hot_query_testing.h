// A query whose plan is tested, and the rows that it may name.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "storage/database.h"

namespace presetbridge::storage::testing {

struct HotQuery {
  std::string name;
  std::vector<std::string> indexes;  // those that it must use, beside primary keys
  std::function<void(Tx&)> run;
};

struct Known {
  AccountId account;
  IntegrationId integration;
  CloudAccountId cloud;
  SubscriptionId subscription;
  CustomerId customer;
  DeliveryId delivery;
};

}  // namespace presetbridge::storage::testing
