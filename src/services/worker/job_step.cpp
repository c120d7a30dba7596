#include "services/worker/job_step.h"

#include <algorithm>
#include <map>
#include <set>

#include "domain/trouble.h"
#include "services/delivery/items.h"
#include "services/delivery/routing.h"
#include "services/worker/account_trouble.h"
#include "services/worker/job_end.h"
#include "services/worker/step.h"
#include "storage/stores/cloud_account_store.h"

namespace presetbridge::services {
namespace {

using cloud::FriendshipState;
using domain::Finding;
using domain::ResolutionCode;
using storage::Friendship;
using storage::Tx;

// Whether the step may hold, release or spend a credit because of the answer.
bool may_spend(const Answer& answer) {
  if (answer.call.as<ShareFile>() != nullptr || answer.call.as<FindShare>() != nullptr) return true;
  const auto* const state = std::get_if<FriendshipState>(&answer.value);
  return (state && *state == FriendshipState::friends) ||
         (answer.friendship && *answer.friendship && **answer.friendship == FriendshipState::friends);
}

// A name that leads to a known customer's user goes on as that customer's: their row is locked with those of
// the jobs, in the order of customers.
void lock_known_users(Tx& tx, std::span<const JobAnswer> answers) {
  if (!tx.others_write()) return;
  std::vector<storage::CloudUserKey> users;
  std::vector<CustomerId> customers;
  for (const auto& [job, answer] : answers) {
    customers.push_back(job.customer);
    const auto* const user = answer ? std::get_if<cloud::CloudUser>(&answer->value) : nullptr;
    if (user != nullptr) users.push_back({job.cloud_account, user->id});
  }
  const auto of_jobs = customers.size();
  for (const auto& known : find_customers_by_cloud_user(tx, users)) {
    if (std::ranges::find(customers, known.id) == customers.end()) customers.push_back(known.id);
  }
  if (customers.size() > of_jobs) hold_customers(tx, std::move(customers));
}

// Adds to each call the standing of the login that it is made with.
void add_logins(Tx& tx, std::span<JobCall> calls) {
  std::map<AccountId, storage::CredentialsStanding> logins;
  for (const auto& next : calls) {
    if (next.call) logins[next.call->account];
  }
  std::vector<AccountId> accounts;
  for (const auto& [account, login] : logins) accounts.push_back(account);
  const auto found = find_standings(tx, accounts);
  for (std::size_t i = 0; i < accounts.size(); ++i) logins[accounts[i]] = found[i];
  for (auto& next : calls) {
    if (next.call) next.call->login = logins[next.call->account];
  }
}

}  // namespace

void JobSteps::advance(Tx& tx, std::span<const JobAnswer> answers, std::span<JobCall> next) {
  std::vector<CustomerId> customers;
  for (const auto& [job, answer] : answers) customers.push_back(job.customer);
  DeliverySet set(tx, changes_, std::move(customers));
  const auto troubled = lock(set, answers);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    next[i].job = answers[i].job;
    advance(set, next[i], answers[i].answer, troubled.contains(answers[i].job.cloud_account));
  }
  set.save();
  add_logins(tx, next);
}

// In the order of docs/decisions/0018-order-of-locks.md, and before the first step: a later step may need a
// row that comes, in that order, before one that an earlier step has locked.
std::set<CloudAccountId> JobSteps::lock(DeliverySet& set, std::span<const JobAnswer> answers) {
  lock_known_users(set.tx(), answers);
  std::set<CloudAccountId> all;
  std::set<CloudAccountId> answered;
  CloudAccountId last_in_trouble;
  for (const auto& [job, answer] : answers) {
    const auto customer = set.customer(job.customer);
    if (!customer) continue;
    all.insert(job.cloud_account);
    if (customer->friendship == Friendship::friends) set.expect_spending(job.customer);
    if (customer->probed_delivery) {
      if (const auto* const probed = set.delivery(customer->probed_delivery))
        set.expect_account(probed->account);
    }
    if (!answer) {
      set.expect_beginning(job.customer);
      continue;
    }
    answered.insert(job.cloud_account);
    if (const auto* const user = std::get_if<cloud::CloudUser>(&answer->value)) {
      set.expect_user(job.cloud_account, user->id);
      // A file that costs one customer nothing may cost this user a credit.
      set.expect_beginning(job.customer);
    }
    if (may_spend(*answer)) set.expect_spending(job.customer);
    const auto* const error = answer->error();
    // For a share the account that pays, for a refused login the account that has it.
    const bool refused = error != nullptr && login_fault(*error);
    if (const auto* const request = answer->call.item()) set.expect_account(request->account);
    if (refused) set.expect_account(answer->call.account);
    // Holds of accounts without a login may be released.
    for (const auto& [account, outcome] : job.without_login) set.expect_account(account);
    if (error != nullptr) last_in_trouble = std::max(last_in_trouble, job.cloud_account);
  }
  set.lock();
  std::set<CloudAccountId> troubled;
  if (!answered.empty()) {
    const std::vector<CloudAccountId> asked(answered.begin(), answered.end());
    for (const auto id : accounts_in_trouble(set.tx(), asked)) troubled.insert(id);
  }
  if (!troubled.empty()) last_in_trouble = std::max(last_in_trouble, *troubled.rbegin());
  // The accounts that steps wake are locked right before the commit (Tx::wake), by rising id. That keeps the
  // order for those after the last one in trouble; the others are locked now.
  const std::vector<CloudAccountId> accounts(all.begin(), all.upper_bound(last_in_trouble));
  lock_cloud_accounts(set.tx(), accounts);
  return troubled;
}

void JobSteps::advance(DeliverySet& set, JobCall& next, const std::optional<Answer>& answer,
                       bool in_trouble) {
  Job& job = next.job;
  auto customer = set.customer(job.customer);
  next.lost = !customer || customer->fence != job.fence || !customer->lease_expires_at;
  if (next.lost) return;
  // The lease of a job that begins is new, as a rule.
  if (answer || job.expires_at - set.now() < options_.lease * 3 / 4)
    customer->lease_expires_at = job.expires_at = set.now() + options_.lease;

  Step step(*this, set, job, std::move(*customer), in_trouble);
  if (!answer) step.update_clocks();
  if (answer) step.take_in(*answer);
  if (!answer && job.shutting_down) return step.finish(Finding::shutting_down);
  next.call = step.choose_call();
}

// No friend request is sent for a delivery that cannot be paid (spec 3.6).
void JobSteps::Step::fail_without_credit() {
  if (customer.friendship == Friendship::friends) return;
  std::erase_if(deliveries, [&](DeliveryId id) {
    const AccountId account = set.delivery(id)->account;
    if (!set.without_credit(account) && !probes(id)) return false;
    if (set.balance(account).available() > 0) return false;
    const auto items = set.items(id);
    if (tally(items, *set.delivery(id)).owed == 0 || any_free(set, customer, items)) return false;
    return fail_unpaid(id);
  });
}

bool JobSteps::Step::only_reads_buyer() const {
  if (customer.cloud_user_id.empty()) return true;
  const bool known = customer.friendship == Friendship::none ||
                     customer.friendship == Friendship::requested ||
                     customer.friendship == Friendship::friends;
  return !known && job.friendship_checks == 0;
}

bool JobSteps::Step::fail_unpaid(DeliveryId id) {
  if (!probes(id))
    return conclude(set, job, customer, id, Finding::permanent, ResolutionCode::insufficient_credits);
  set.save();  // is_in_trouble() reads deliveries
  const bool troubled = is_in_trouble(set.tx(), job.cloud_account);
  // The look-up of a name or a friendship costs nothing, and perhaps the trouble waits for one.
  if (troubled && only_reads_buyer()) return false;
  if (troubled || set.balance(set.delivery(id)->account).within_reach() > 0) return true;
  progress(id);
  if (auto& row = *set.delivery(id); row.status == domain::DeliveryStatus::queued)
    set.apply(row, {.cause = domain::Cause::known_cause, .code = ResolutionCode::insufficient_credits});
  return true;
}

std::optional<Call> JobSteps::Step::choose_call() {
  deliveries = take_deliveries(set, job, customer);
  take_probed();
  obey_pending();
  end_settled();
  std::erase_if(deliveries, [&](DeliveryId id) {
    return job.postponed.contains(id) || job.without_login.contains(set.delivery(id)->account);
  });
  fail_without_credit();
  auto call = next_call();
  if (call && customer != set.customer(customer.id)) set.put(customer);
  return call;
}

}  // namespace presetbridge::services
