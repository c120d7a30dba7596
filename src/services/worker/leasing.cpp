#include "services/worker/leasing.h"

#include <algorithm>
#include <array>
#include <deque>

#include "domain/account_pause.h"
#include "domain/delivery_outcome.h"
#include "domain/job_class.h"
#include "domain/rate_window.h"
#include "domain/sweep_schedule.h"
#include "services/worker/job_end.h"
#include "storage/cloud_account_store.h"
#include "storage/customer_store.h"

namespace presetbridge::services {
namespace {

using domain::JobClass;
using storage::CloudAccountRow;
using storage::CustomerRow;
using storage::QueueState;
using storage::Tx;

constexpr Millis kQueueWindow{60'000};

// The due work of one account, by class, as far as it was read.
class DueWork {
 public:
  DueWork(Tx& tx, const CloudAccountRow& account, int most) {
    auto due = lock_due_customers(tx, account.id, tx.now(), most + 1);
    all_read_ = static_cast<int>(due.size()) <= most;
    for (auto& customer : due) queues_[index(customer.job_class)].push_back(std::move(customer));
    if (!all_read_) {
      // The first classes filled the page: a later one that has work must be seen too, or it would never have
      // its turn.
      for (std::size_t c = 0; c < queues_.size(); ++c) {
        if (!queues_[c].empty()) continue;
        if (auto one = lock_due_customer_of_class(tx, account.id, static_cast<JobClass>(c), tx.now())) {
          queues_[c].push_back(std::move(*one));
        }
      }
    }
    sweep_ = account.sweep_due_at && *account.sweep_due_at <= tx.now() && !account.sweep_lease_expires_at;
  }

  domain::JobClassSet classes() const {
    domain::JobClassSet set;
    for (std::size_t c = 0; c < queues_.size(); ++c) set[c] = !queues_[c].empty();
    set[index(JobClass::sweep)] = sweep_;
    return set;
  }
  void take_sweep() { sweep_ = false; }
  CustomerRow take(JobClass job_class) {
    auto& queue = queues_[index(job_class)];
    auto customer = std::move(queue.front());
    queue.pop_front();
    return customer;
  }
  // Whether everything that was due has been taken.
  bool exhausted() const { return all_read_ && classes().none(); }

 private:
  static std::size_t index(JobClass c) { return static_cast<std::size_t>(c); }
  std::array<std::deque<CustomerRow>, domain::kJobClasses> queues_;
  bool sweep_ = false;
  bool all_read_ = true;
};

void lease_customer(Tx& tx, JobSteps& steps, const WorkerOptions& options, CustomerRow customer,
                    bool troubled, Leased& leased) {
  customer.queue_state = QueueState::leased;
  customer.fence += 1;
  customer.lease_owner = options.owner;
  customer.lease_expires_at = tx.now() + options.lease;
  Job job{.customer = customer.id,
          .cloud_account = customer.cloud_account,
          .fence = customer.fence,
          .expires_at = *customer.lease_expires_at,
          .clears_trouble = troubled};
  Call call = steps.begin(tx, job, std::move(customer));
  if (call.kind != Call::Kind::done) leased.jobs.emplace_back(std::move(job), std::move(call));
}

SweepLease lease_sweep(Tx& tx, const WorkerOptions& options, CloudAccountRow& account) {
  account.sweep_fence += 1;
  account.sweep_lease_expires_at = tx.now() + options.lease;
  // A full one that did not come to its end goes on where it was.
  if (!account.full_sweep_under_way &&
      domain::full_sweep_due(
          {.last_sweep_at = account.last_sweep_at, .last_full_sweep_at = account.last_full_sweep_at},
          tx.now())) {
    account.full_sweep_under_way = true;
    account.sweep_cursor.clear();
  }
  return {account.id, account.sweep_fence, account.sweep_cursor, tx.now()};
}

void lease_of_account(Tx& tx, JobSteps& steps, const WorkerOptions& options, CloudAccountRow& account,
                      int most, Leased& leased, LeasePlace& at) {
  const Timestamp now = tx.now();
  const bool limited = options.jobs_per_minute > 0;
  // Nobody knows what a record that cannot be read forbids: the queue is closed for a minute, and goes on
  // with a fresh one.
  auto decoded = domain::decode_account_pause(account.pause);
  auto pause = decoded ? *std::move(decoded) : domain::after_rate_limit({}, kQueueWindow, now);
  if (!decoded) {
    leased.unreadable.emplace_back(account.id, "pause");
    account.pause = domain::encode(pause);
  }
  auto log = domain::RateWindow::decode(options.jobs_per_minute, kQueueWindow, account.start_log);
  auto window = log ? *std::move(log) : domain::RateWindow::full(options.jobs_per_minute, kQueueWindow, now);
  if (!log && limited) {
    leased.unreadable.emplace_back(account.id, "start_log");
    account.start_log = window.encode();
  }

  const auto allowed_at = domain::next_job_at(pause, now);
  if (!allowed_at || *allowed_at > now) {
    account.ready_at = allowed_at;
    account.blocked_until = allowed_at.value_or(now);
    return update_cloud_account(tx, account);
  }
  const bool troubled = pause != domain::AccountPause{};
  const bool probing = pause.reason == domain::PauseReason::outage;
  if (probing) most = 1;

  auto turns = domain::JobTurns::decode(account.job_turns);
  DueWork due(tx, account, limited ? std::min(most, options.jobs_per_minute) : most);

  for (int taken = 0; taken < most; ++taken) {
    if (due.classes().none() || (limited && !window.peek(now).allowed)) break;
    const auto job_class = turns.choose(due.classes());
    if (limited) window.admit(now);
    if (probing) pause = domain::after_probe_started(std::move(pause), now);
    if (*job_class == JobClass::sweep) {
      due.take_sweep();
      leased.sweeps.push_back(lease_sweep(tx, options, account));
    } else {
      auto customer = due.take(*job_class);
      at.customer = customer.id;
      lease_customer(tx, steps, options, std::move(customer), troubled, leased);
      at.customer = {};
    }
  }

  account.start_log = limited ? window.encode() : std::vector<std::byte>{};
  account.job_turns = turns.encode();
  account.pause = domain::encode(pause);
  account.blocked_until = limited ? window.next_free(now).value_or(now) : now;
  if (probing)
    account.blocked_until = std::max(account.blocked_until, domain::next_job_at(pause, now).value_or(now));
  std::optional<Timestamp> next = due.exhausted() ? next_due(tx, account.id) : std::optional(now);
  if (account.sweep_due_at && !account.sweep_lease_expires_at) {
    next = next ? std::min(*next, *account.sweep_due_at) : *account.sweep_due_at;
  }
  account.ready_at = next ? std::optional(std::max(*next, account.blocked_until)) : std::nullopt;
  update_cloud_account(tx, account);
}

}  // namespace

Leased lease_jobs(Tx& tx, JobSteps& steps, const WorkerOptions& options, int slots, LeasePlace& at) {
  Leased leased;
  at = {};
  auto accounts = lock_ready_accounts(tx, tx.now(), slots);
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    const int left = slots - static_cast<int>(leased.jobs.size() + leased.sweeps.size());
    if (left <= 0) break;
    const int share = std::max(1, left / static_cast<int>(accounts.size() - i));
    at.cloud_account = accounts[i].id;
    lease_of_account(tx, steps, options, accounts[i], share, leased, at);
  }
  at = {};
  leased.next_ready = next_ready(tx);
  return leased;
}

int take_over_expired(Tx& tx, DeliveryChanges& changes, int limit, LeasePlace& at) {
  at = {};
  const auto expired = lock_expired_leases(tx, tx.now(), limit);
  for (const auto id : expired) {
    at = {.cloud_account = {}, .customer = id};
    auto customer = lock_customer(tx, id);
    if (!customer) continue;
    at.cloud_account = customer->cloud_account;
    Job dead{.customer = customer->id, .cloud_account = customer->cloud_account};
    customer->fence += 1;
    end_job(tx, changes, dead, *customer, domain::Finding::lease_lost);
  }
  at = {};
  const auto sweeps = lock_expired_sweeps(tx, tx.now(), limit);
  for (auto account : sweeps) {
    account.sweep_fence += 1;
    account.sweep_lease_expires_at.reset();
    account.sweep_due_at = tx.now();
    account.ready_at = std::max(tx.now(), account.blocked_until);
    update_cloud_account(tx, account);
  }
  return static_cast<int>(expired.size() + sweeps.size());
}

void set_aside(Tx& tx, const LeasePlace& at) {
  const Timestamp until = tx.now() + kSetAside;
  if (!at.customer) return postpone_cloud_account(tx, at.cloud_account, until);
  set_customer_aside(tx, at.customer, until);
}

}  // namespace presetbridge::services
