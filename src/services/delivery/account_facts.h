// What the deliveries of one unit of work need to know of their accounts, read once instead of once a
// delivery. Lives inside one transaction and one unit: another unit may change what it holds.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "domain/credits.h"
#include "domain/delivery.h"
#include "storage/stores/credential_store.h"
#include "storage/stores/delivery_store.h"
#include "storage/stores/event_store.h"

namespace presetbridge::services {

class AccountFacts {
 public:
  explicit AccountFacts(storage::Tx& tx) : tx_(tx) {}

  storage::Tx& tx() { return tx_; }
  // Reads at once what standing() and cause() would read for one account after the other.
  void read(std::span<const AccountId> accounts);
  const storage::CredentialsStanding& standing(AccountId account);
  // What keeps the account's deliveries from being worked on at all: the login, or the credits; none if
  // nothing does. A cause found is locked and read again, so that the transaction that writes the failure
  // cannot miss its fix (spec 3.6).
  domain::ResolutionCode cause(AccountId account);
  // What a merchant reads of a cause known without a job where its usual words say too little; else empty.
  std::string words_of(domain::ResolutionCode cause, const storage::DeliveryRow& row);
  // Reads at once what subscribers() would read for one account after the other.
  void read_subscriptions(std::span<const AccountId> accounts);
  // Active subscriptions that want events of this type from this integration.
  std::vector<SubscriptionId> subscribers(AccountId account, std::string_view event_type,
                                          IntegrationId integration);
  // The same of an event of the whole account.
  std::vector<SubscriptionId> subscribers_of_account(AccountId account, std::string_view event_type);

 private:
  storage::Tx& tx_;
  std::unordered_map<AccountId, storage::CredentialsStanding> standings_;
  std::unordered_map<AccountId, std::optional<domain::Balance>> balances_;
  std::unordered_map<AccountId, domain::ResolutionCode> causes_;
  std::unordered_map<AccountId, std::vector<storage::ActiveSubscription>> subscriptions_;
};

}  // namespace presetbridge::services
