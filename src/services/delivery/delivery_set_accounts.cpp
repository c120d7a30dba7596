#include "services/delivery/delivery_set.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace presetbridge::services {
namespace {

using domain::ResolutionCode;
using storage::CredentialsStatus;

}  // namespace

// ---------------------------------------------------------------- credits

void DeliverySet::lock() {
  read_open();
  std::set<AccountId> wanted = expected_accounts_;
  for (const auto customer : spending_) {
    for (const auto id : open(customer)) wanted.insert(rows_.deliveries.at(id).row.account);
  }
  std::set<AccountId> asked;
  for (const auto customer : beginning_) {
    for (const auto id : open(customer)) asked.insert(rows_.deliveries.at(id).row.account);
  }
  for (const auto& [id, balance, low_at] : find_balances(tx_, std::vector(asked.begin(), asked.end()))) {
    if (balance.available() > 0) continue;
    without_credit_.insert(id);
    wanted.insert(id);
  }
  read_balances(wanted);
}

void DeliverySet::read_balances(const std::set<AccountId>& wanted) {
  std::vector<AccountId> unread;
  std::ranges::copy_if(wanted, std::back_inserter(unread),
                       [&](AccountId id) { return !rows_.balances.contains(id); });
  for (const auto& [id, balance, low_at] : lock_balances(tx_, unread)) {
    rows_.balances[id].row = balance;
    rows_.credits_low_at[id] = low_at.value_or(changes_.credits_low_at());
  }
}

const domain::Balance& DeliverySet::balance(AccountId account) {
  if (!rows_.balances.contains(account)) read_balances({account});
  return rows_.balances.at(account).row;
}

void DeliverySet::set_balance(AccountId account, const domain::Balance& balance) {
  rows_.balances.at(account) = {balance, true};
}

void DeliverySet::spend(AccountId account) {
  const auto before = balance(account);
  set_balance(account, domain::spend(before, 1).value());
  // A released hold leaves the credits within reach as they were, so none is notified twice.
  notify_if_low(account, before);
}

void DeliverySet::notify_if_low(AccountId account, const domain::Balance& before) {
  const auto& after = balance(account);
  const auto threshold = rows_.credits_low_at.at(account);
  if (before.within_reach() > threshold && after.within_reach() <= threshold)
    record_.credits_low.push_back({account, after, threshold});
}

// ---------------------------------------------------------------- logins and subscriptions

void DeliverySet::read_standings(std::span<const AccountId> accounts) {
  std::vector<AccountId> unread;
  for (const auto account : accounts) {
    if (rows_.standings.try_emplace(account).second) unread.push_back(account);
  }
  const auto standings = find_standings(tx_, unread);
  for (std::size_t i = 0; i < unread.size(); ++i) rows_.standings[unread[i]].row = standings[i];
  for (const auto& row : find_balances(tx_, unread)) rows_.standings[row.account].balance = row.balance;
}

const storage::CredentialsStanding& DeliverySet::standing(AccountId account) {
  read_standings(std::span(&account, 1));
  return rows_.standings[account].row;
}

ResolutionCode DeliverySet::cause_of(AccountId account, const StandingEntry& standing) const {
  const auto& login = standing.row;
  if (login.status == CredentialsStatus::missing) return ResolutionCode::credentials_missing;
  if (login.status == CredentialsStatus::invalid)
    return login.unreadable ? ResolutionCode::credentials_missing : ResolutionCode::credentials_invalid;
  const auto locked = rows_.balances.find(account);
  const auto balance = locked == rows_.balances.end() ? standing.balance : locked->second.row;
  // Credits on hold may come back: whether they do is known when the share is due.
  return balance && balance->within_reach() > 0 ? ResolutionCode::none : ResolutionCode::insufficient_credits;
}

ResolutionCode DeliverySet::cause(AccountId account) {
  read_standings(std::span(&account, 1));
  auto& standing = rows_.standings[account];
  const auto cause = cause_of(account, standing);
  if (cause == ResolutionCode::none || std::exchange(standing.locked, true)) return cause;
  standing.row = lock_standing(tx_, account).value_or(storage::CredentialsStanding{});
  read_balances({account});
  return cause_of(account, standing);
}

void DeliverySet::read_subscriptions(std::span<const AccountId> accounts) {
  std::vector<AccountId> unread;
  for (const auto account : accounts) {
    if (rows_.subscriptions.try_emplace(account).second) unread.push_back(account);
  }
  auto read = active_subscriptions(tx_, unread);
  for (std::size_t i = 0; i < unread.size(); ++i) rows_.subscriptions[unread[i]] = std::move(read[i]);
}

std::vector<SubscriptionId> DeliverySet::subscribers(AccountId account, std::string_view event_type,
                                                     IntegrationId integration) {
  read_subscriptions(std::span(&account, 1));
  std::vector<SubscriptionId> wanting;
  for (const auto& subscription : rows_.subscriptions[account]) {
    if (wants(subscription, event_type, integration)) wanting.push_back(subscription.id);
  }
  return wanting;
}

std::vector<SubscriptionId> DeliverySet::subscribers_of_account(AccountId account,
                                                                std::string_view event_type) {
  read_subscriptions(std::span(&account, 1));
  std::vector<SubscriptionId> wanting;
  for (const auto& subscription : rows_.subscriptions[account]) {
    if (wants_of_account(subscription, event_type)) wanting.push_back(subscription.id);
  }
  return wanting;
}

}  // namespace presetbridge::services
