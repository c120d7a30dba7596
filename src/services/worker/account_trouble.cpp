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

constexpr Millis kOpenAgain{15 * 60'000};  // until a login that could not be opened is checked again
constexpr int kMostProbesRead = 200;       // failed deliveries, in one transaction

// The account's trouble without the deliveries that are gone. Nothing: the text cannot be read. Then nothing
// is decided and it stays as it is: the next lease closes the queue, logs it and replaces it.
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

// Writes the account's trouble, and carries out all that the change means: the queue, its sweep, events for
// the log and the dashboard, and the account task that resumes deliveries. The account is locked.
void put(Tx& tx, storage::CloudAccountRow& account, const AccountTrouble& after) {
  const auto before = domain::decode_account_trouble(account.trouble).value();
  if (after == before) return;
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
    // The next lease computes anew what the queue limit forbids.
    account.blocked_until = now;
  }
  // A sweep that failed in the outage waits no longer than other jobs.
  if (was && !is && account.sweep_due_at && !account.sweep_lease_expires_at)
    account.sweep_due_at = std::min(*account.sweep_due_at, now);
  update_cloud_account(tx, account);
  if (opens || (was && !is)) wake_cloud_account(tx, account.id, now);
  const auto failed = domain::given_up(before, now);
  if (failed && !domain::lasts(after, *failed)) {
    for (const auto owner : accounts_of_cloud_account(tx, account.id))
      add_account_task(tx, owner, storage::AccountTaskKind::resume_unavailable);
  }
}

// After 72 h of trouble queued deliveries fail as cloud_unavailable, by an account task that goes on where it
// is instead of starting again at every probe. `tried`, the delivery of this probe, counts as queued: it is
// queued again when its job ends, and may be the only one.
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
  // Without room for the delivery's clock it is retried as late as a retry can be, until there is room.
  if (!domain::put_failing_row(customer.failing, call, delivery, after.customer))
    noted.retry_at = tx.now() + domain::kRetryCeiling;
  if (!before) return noted;
  put(tx, *account, after.account);
  give_up(tx, account->id, after.account, delivery);
  return noted;
}

void note_rate_limit(Tx& tx, CloudAccountId id, domain::CallKind call, DeliveryId delivery,
                     std::optional<Millis> retry_after) {
  auto account = lock_cloud_account(tx, id);
  auto trouble = account ? trouble_of(tx, *account) : std::nullopt;
  if (!trouble) return;
  trouble = domain::after_rate_limit(*std::move(trouble), call, delivery, retry_after, tx.now());
  put(tx, *account, *trouble);
  give_up(tx, id, *trouble, delivery);
}

void note_success(Tx& tx, CloudAccountId id, domain::CallKind call) {
  auto account = lock_cloud_account(tx, id);
  auto trouble = account ? trouble_of(tx, *account) : std::nullopt;
  if (!trouble) return;
  put(tx, *account, domain::after_success(*std::move(trouble), call, tx.now()));
}

bool is_in_trouble(Tx& tx, CloudAccountId id) {
  const auto account = find_cloud_account(tx, id);
  const auto trouble = account ? trouble_of(tx, *account) : std::nullopt;
  return !trouble || !domain::trouble_name(*trouble).empty();
}

void note_sweep_success(Tx& tx, storage::CloudAccountRow& account) {
  auto trouble = domain::decode_account_trouble(account.trouble);
  // The next lease logs and replaces a text that cannot be read; here and below.
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

// The failed delivery to try next, and those that are tried no more; nothing is locked.
struct ProbeChoice {
  std::optional<storage::DeliveryRow> next;
  std::vector<DeliveryId> too_old;
  DeliveryId scanned_to;
};

ProbeChoice choose_probe(Tx& tx, const storage::CloudAccountRow& account) {
  ProbeChoice choice{.next = {}, .too_old = {}, .scanned_to = account.probed_to};
  bool again_from_start = false;
  for (int read = 0; read < kMostProbesRead && !choice.next; ++read) {
    const auto id = next_to_probe(tx, account.id, choice.scanned_to);
    const bool all_seen = again_from_start && choice.scanned_to >= account.probed_to;
    if (all_seen || (!id && !choice.scanned_to)) break;
    choice.scanned_to = id.value_or(DeliveryId{});
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

// Gives a failed delivery whose name was changed since, and which so has no customer, the customer of its
// present name, and returns that customer's row, locked. Nothing: it is not to be probed any more, or has a
// customer by now.
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
  account->probed_to = choice.scanned_to;
  // Read under the lock that ensure_probe() takes too: a delivery that failed meanwhile is not forgotten.
  const bool any = next_to_probe(tx, id, {}).has_value();
  // Where only old ones were read, the next are read without waiting; each such scan leaves fewer.
  const bool scan_on = !choice.next && !choice.too_old.empty();
  account->probe_due_at =
      any ? std::optional(tx.now() + (scan_on ? Millis{0} : domain::kFailedProbeInterval)) : std::nullopt;
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
