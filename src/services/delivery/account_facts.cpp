#include "services/delivery/account_facts.h"

#include "domain/resolution.h"
#include "domain/username.h"
#include "storage/stores/credit_store.h"

namespace presetbridge::services {
namespace {

using domain::ResolutionCode;
using storage::CredentialsStatus;

ResolutionCode cause_of(const storage::CredentialsStanding& standing,
                        const std::optional<domain::Balance>& balance) {
  if (standing.status == CredentialsStatus::missing) return ResolutionCode::credentials_missing;
  if (standing.status == CredentialsStatus::invalid)
    return standing.unreadable ? ResolutionCode::credentials_missing : ResolutionCode::credentials_invalid;
  // Credits on hold may come back: that is found out when the share is due.
  if (!balance || balance->within_reach() <= 0) return ResolutionCode::insufficient_credits;
  return ResolutionCode::none;
}

}  // namespace

void AccountFacts::read(std::span<const AccountId> accounts) {
  std::vector<AccountId> unread;
  for (const auto account : accounts) {
    if (standings_.try_emplace(account).second) unread.push_back(account);
  }
  const auto standings = find_standings(tx_, unread);
  for (std::size_t i = 0; i < unread.size(); ++i) standings_[unread[i]] = standings[i];
  for (const auto& row : find_balances(tx_, unread)) balances_[row.account] = row.balance;
}

const storage::CredentialsStanding& AccountFacts::standing(AccountId account) {
  read(std::span(&account, 1));
  return standings_[account];
}

ResolutionCode AccountFacts::cause(AccountId account) {
  if (const auto found = causes_.find(account); found != causes_.end()) return found->second;
  read(std::span(&account, 1));
  ResolutionCode cause = cause_of(standings_[account], balances_[account]);
  if (cause != ResolutionCode::none) {
    standings_[account] = lock_standing(tx_, account).value_or(storage::CredentialsStanding{});
    cause = cause_of(standings_[account], lock_balance(tx_, account));
  }
  return causes_[account] = cause;
}

std::string AccountFacts::words_of(ResolutionCode cause, const storage::DeliveryRow& row) {
  if (cause == ResolutionCode::credentials_missing && standing(row.account).unreadable)
    return std::string(domain::kUnreadableLogin);
  // It would be a name, were it shorter.
  const bool too_long = !domain::normalise_username(row.raw_username, std::string_view::npos).empty();
  if (cause == ResolutionCode::username_missing && too_long)
    return "The username that came with the order is longer than a username may be.";
  return {};
}

void AccountFacts::read_subscriptions(std::span<const AccountId> accounts) {
  std::vector<AccountId> unread;
  for (const auto account : accounts) {
    if (subscriptions_.try_emplace(account).second) unread.push_back(account);
  }
  auto read = active_subscriptions(tx_, unread);
  for (std::size_t i = 0; i < unread.size(); ++i) subscriptions_[unread[i]] = std::move(read[i]);
}

std::vector<SubscriptionId> AccountFacts::subscribers(AccountId account, std::string_view event_type,
                                                      IntegrationId integration) {
  read_subscriptions(std::span(&account, 1));
  std::vector<SubscriptionId> wanting;
  for (const auto& subscription : subscriptions_[account]) {
    if (wants(subscription, event_type, integration)) wanting.push_back(subscription.id);
  }
  return wanting;
}

std::vector<SubscriptionId> AccountFacts::subscribers_of_account(AccountId account,
                                                                 std::string_view event_type) {
  read_subscriptions(std::span(&account, 1));
  std::vector<SubscriptionId> wanting;
  for (const auto& subscription : subscriptions_[account]) {
    if (wants_of_account(subscription, event_type)) wanting.push_back(subscription.id);
  }
  return wanting;
}

}  // namespace presetbridge::services
