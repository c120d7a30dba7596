#include "services/worker/account_trouble.h"

#include <algorithm>
#include <array>
#include <set>

#include "domain/job_class.h"
#include "domain/retry_schedule.h"
#include "storage/stores/account_task_store.h"
#include "storage/stores/credential_store.h"
#include "storage/stores/delivery_customers.h"
#include "storage/stores/delivery_store.h"
#include "storage/stores/delivery_work.h"

namespace presetbridge::services {
namespace {

using domain::AccountTrouble;
using storage::Tx;

constexpr Millis kOpenAgain{15 * 60'000};  // a login that could not be opened is tried again
constexpr int kProbesLooked = 200;         // for one that is to be tried, in one transaction

// Without the deliveries that are gone. Nothing is decided from a text that cannot be read, and it is left as
// it is: the next lease closes the queue, tells of it and mends it.
std::optional<AccountTrouble> trouble_of(Tx& tx, const storage::CloudAccountRow& account) {
  auto trouble = domain::decode_account_trouble(account.trouble);
  if (!trouble) return std::nullopt;
  std::vector<DeliveryId> failing;
  for (const auto& its : trouble->calls)
    failing.insert(failing.end(), its.deliveries.begin(), its.deliveries.end());
  const auto found = find_at_work(tx, failing);
  const std::set<DeliveryId> at_work(found.begin(), found.end());
  return domain::without_gone(
      *std::move(trouble), [&](DeliveryId id) { return at_work.contains(id); }, tx.now());
}

// All that a change of trouble means for the account: `before` is what its row says.
OutageTurn put(Tx& tx, storage::CloudAccountRow& account, const AccountTrouble& after) {
  const auto before = domain::decode_account_trouble(account.trouble).value();
  if (after == before) return OutageTurn::none;
  const Timestamp now = tx.now();
  const bool was = domain::in_outage(before);
  const bool is = domain::in_outage(after);
  account.trouble = domain::encode(after);
  if (const auto name = domain::trouble_name(after); name != domain::trouble_name(before)) {
    tx.news().platform.push_back({account.id, name});
    tx.changes().push_back(changed(storage::ChangeKind::cloud, {}, account.id));
  }
  const Timestamp closed_until = domain::next_job_at(after, now);
  const bool opens = domain::next_job_at(before, now) > now && closed_until <= now;
  if (closed_until > now) {
    account.blocked_until = std::max(account.blocked_until, closed_until);
    account.ready_at = account.blocked_until;
  } else if (opens) {
    // What the queue limit forbids is worked out anew at the next lease.
    account.blocked_until = now;
  }
  // A sweep that failed with the rest waits no longer than the rest.
  if (was && !is && account.sweep_due_at && !account.sweep_lease_expires_at)
    account.sweep_due_at = std::min(*account.sweep_due_at, now);
  update_cloud_account(tx, account);
  if (opens || (was && !is)) wake_cloud_account(tx, account.id, now);
  const auto failed = domain::given_up(before, now);
  if (failed && !domain::lasts(after, *failed)) {
    for (const auto owner : accounts_of_cloud_account(tx, account.id))
      add_account_task(tx, owner, storage::AccountTaskKind::resume_unavailable);
  }
  return was == is ? OutageTurn::none : is ? OutageTurn::began : OutageTurn::ended;
}

// After 72 h of trouble what is queued fails as cloud_unavailable: a piece at a time, and not from the
// beginning at every probe. `tried`, that of this probe, is queued again when its job ends, and may be all
// that there is.
void give_up(Tx& tx, CloudAccountId id, const AccountTrouble& trouble, DeliveryId tried) {
  if (!domain::given_up(trouble, tx.now())) return;
  const auto row = tried ? find_delivery(tx, tried) : std::nullopt;
  const bool ends = row && row->status == domain::DeliveryStatus::processing;
  if (!ends && !any_queued_delivery(tx, id)) return;
  for (const auto owner : accounts_of_cloud_account(tx, id))
    continue_account_task(tx, owner, storage::AccountTaskKind::fail_unavailable);
}

}  // namespace

FailureNoted note_failure(Tx& tx, storage::CustomerRow& customer, domain::CallKind call, DeliveryId delivery,
                          std::uint64_t draw, bool answered) {
  auto account = lock_cloud_account(tx, customer.cloud_account);
  const auto before = account ? trouble_of(tx, *account) : std::nullopt;
  const auto row = domain::failing_row(customer.failing, call, delivery);
  const auto counted = answered || call == domain::CallKind::revoke ? DeliveryId{} : delivery;
  auto after = domain::after_failure(before.value_or(AccountTrouble{}), row, call, counted, tx.now(), draw);
  FailureNoted noted{.retry_at = after.retry_at, .paused = after.paused};
  if (after.customer) after.customer->delivery = row ? row->delivery : delivery;
  // Without room for its clock it is tried again as late as can be, until there is.
  if (!domain::put_failing_row(customer.failing, call, delivery, after.customer))
    noted.retry_at = tx.now() + domain::kRetryCeiling;
  if (!before) return noted;
  noted.outage = put(tx, *account, after.account);
  give_up(tx, account->id, after.account, delivery);
  return noted;
}

OutageTurn note_rate_limit(Tx& tx, CloudAccountId id, domain::CallKind call, DeliveryId delivery,
                           std::optional<Millis> retry_after) {
  auto account = lock_cloud_account(tx, id);
  auto trouble = account ? trouble_of(tx, *account) : std::nullopt;
  if (!trouble) return OutageTurn::none;
  trouble = domain::after_rate_limit(*std::move(trouble), call, delivery, retry_after, tx.now());
  const auto turn = put(tx, *account, *trouble);
  give_up(tx, id, *trouble, delivery);
  return turn;
}

OutageTurn note_success(Tx& tx, CloudAccountId id, domain::CallKind call) {
  auto account = lock_cloud_account(tx, id);
  auto trouble = account ? trouble_of(tx, *account) : std::nullopt;
  if (!trouble) return OutageTurn::none;
  return put(tx, *account, domain::after_success(*std::move(trouble), call, tx.now()));
}

void note_sweep_success(Tx& tx, storage::CloudAccountRow& account) {
  auto trouble = domain::decode_account_trouble(account.trouble);
  // One that cannot be read is the next lease's to tell of and to mend; here and below.
  if (!trouble) return;
  account.trouble =
      domain::encode(domain::after_success(*std::move(trouble), domain::CallKind::list_changes, tx.now()));
}

void note_sweep_failure(Tx& tx, storage::CloudAccountRow& account, bool rate_limited,
                        std::optional<Millis> retry_after) {
  const Timestamp now = tx.now();
  auto trouble = domain::decode_account_trouble(account.trouble);
  if (!trouble) {
    account.sweep_due_at = now + domain::kProbeInterval;
    return;
  }
  trouble = rate_limited ? domain::after_rate_limit(*std::move(trouble), domain::CallKind::list_changes, {},
                                                    retry_after, now)
                         : domain::after_sweep_failure(*std::move(trouble), now);
  account.trouble = domain::encode(*trouble);
  account.blocked_until = std::max(account.blocked_until, domain::next_job_at(*trouble, now));
  account.sweep_due_at = domain::sweep_again_at(*trouble, now);
}

namespace {

// The failed delivery whose turn it is, and those that are not tried any more; of the rows as they are, none
// locked.
struct ProbeChoice {
  std::optional<storage::DeliveryRow> next;
  std::vector<DeliveryId> too_old;
  DeliveryId looked_to;
};

ProbeChoice choose_probe(Tx& tx, const storage::CloudAccountRow& account) {
  ProbeChoice choice{.next = {}, .too_old = {}, .looked_to = account.probed_to};
  bool again_from_start = false;
  for (int looked = 0; looked < kProbesLooked && !choice.next; ++looked) {
    const auto id = next_to_probe(tx, account.id, choice.looked_to);
    const bool all_seen = again_from_start && choice.looked_to >= account.probed_to;
    if (all_seen || (!id && !choice.looked_to)) break;
    choice.looked_to = id.value_or(DeliveryId{});
    if (!id) {
      again_from_start = true;
      continue;
    }
    auto row = find_delivery(tx, *id);
    if (!row || !row->probe_until) continue;
    if (*row->probe_until <= tx.now()) {
      choice.too_old.push_back(*id);
      continue;
    }
    const auto standing = find_standing(tx, row->account);
    if (standing && standing->status == storage::CredentialsStatus::valid &&
        standing->cloud_account == account.id)
      choice.next = std::move(row);
  }
  return choice;
}

// The customer of a failed delivery that got another name since, as it is now.
std::optional<storage::CustomerRow> lock_renamed(Tx& tx, IdSource& ids, DeliveryId id) {
  auto row = lock_delivery(tx, id);
  if (!row || !row->probe_until || row->customer || row->username.empty()) return std::nullopt;
  const storage::Buyer buyer{row->cloud_account, row->username, ids.make<CustomerId>()};
  row->customer = enqueue_buyers(tx, std::array{buyer}, tx.now()).front();
  update_delivery(tx, *row);
  return lock_customer(tx, row->customer);
}

}  // namespace

void start_probe(Tx& tx, IdSource& ids, CloudAccountId id) {
  const auto seen = find_cloud_account(tx, id);
  if (!seen || !seen->probe_due_at || *seen->probe_due_at > tx.now()) return;
  auto choice = choose_probe(tx, *seen);
  const bool renamed = choice.next && !choice.next->customer;
  if (renamed) hold_customers_of(tx, std::array{choice.next->id});
  auto customer = choice.next ? lock_customer(tx, choice.next->customer) : std::nullopt;
  auto held = choice.too_old;
  if (renamed) held.push_back(choice.next->id);
  std::ranges::sort(held);
  hold_deliveries(tx, held);
  if (renamed) customer = lock_renamed(tx, ids, choice.next->id);
  if (customer && !customer->probed_delivery) {
    customer->probed_delivery = choice.next->id;
    update_customer(tx, *customer);
    enqueue_customer(tx, customer->id, domain::JobClass::retry, tx.now());
  }
  for (const auto old : choice.too_old) {
    auto row = lock_delivery(tx, old);
    if (!row) continue;
    row->probe_until.reset();
    update_delivery(tx, *row);
  }
  auto account = lock_cloud_account(tx, id);
  account->probed_to = choice.looked_to;
  // Asked under the lock that whoever fails a delivery so holds: one that failed meanwhile is not forgotten.
  const bool any = next_to_probe(tx, id, {}).has_value();
  // Where nothing but old ones was seen, the next are looked at without waiting; each look leaves fewer.
  const bool look_on = !choice.next && !choice.too_old.empty();
  account->probe_due_at =
      any ? std::optional(tx.now() + (look_on ? Millis{0} : domain::kFailedProbeInterval)) : std::nullopt;
  update_cloud_account(tx, *account);
  if (customer) wake_cloud_account(tx, id, tx.now());
}

std::optional<LoginFault> login_fault(const cloud::CloudError& error) {
  switch (error.kind) {
    case cloud::CloudError::Kind::login_refused:
      return LoginFault::refused;
    case cloud::CloudError::Kind::credentials_unreadable:
      return LoginFault::unreadable;
    default:
      return std::nullopt;
  }
}

LoginVerdict refuse_login(Tx& tx, AccountId account, std::int64_t version, LoginFault fault) {
  auto standing = lock_standing(tx, account);
  if (!standing || standing->status == storage::CredentialsStatus::missing) return LoginVerdict::missing;
  if (standing->version != version) return LoginVerdict::changed;
  const bool unreadable = fault == LoginFault::unreadable;
  const auto verdict = unreadable ? LoginVerdict::unreadable : LoginVerdict::refused;
  const bool known =
      standing->status == storage::CredentialsStatus::invalid && standing->unreadable == unreadable;
  if (known && !unreadable) return verdict;
  if (auto record = find_credentials(tx, account)) {
    if (unreadable) {
      record->check_due_at = tx.now() + kOpenAgain;
    } else {
      record->checked_at = tx.now();
      record->check_due_at.reset();
    }
    update_credentials(tx, *record);
  }
  if (known) return verdict;
  standing->status = storage::CredentialsStatus::invalid;
  standing->unreadable = unreadable;
  update_standing(tx, account, *standing);
  add_account_task(tx, account, storage::AccountTaskKind::fail_invalid_credentials);
  return verdict;
}

}  // namespace presetbridge::services
