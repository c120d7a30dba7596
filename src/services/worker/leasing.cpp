#include "services/worker/leasing.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>

#include "domain/delivery_outcome.h"
#include "domain/job_class.h"
#include "domain/rate_window.h"
#include "domain/sweep_schedule.h"
#include "domain/trouble.h"
#include "services/delivery/delivery_set.h"
#include "services/worker/job_end.h"
#include "services/worker/work_fault.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/delivery_customers.h"
#include "storage/stores/delivery_work.h"

namespace presetbridge::services {
namespace {

using domain::JobClass;
using storage::CloudAccountRow;
using storage::CustomerRow;
using storage::Tx;

constexpr Millis kQueueWindow{60'000};
constexpr Millis kWindowLocked{10};  // by another node: until it is read again
constexpr std::string_view kServiceWindow = "jobs";

// The due work of one account by class, as far as it was read.
class DueWork {
 public:
  // `due`: by class; more than `page` of them mean that there may be others.
  DueWork(const CloudAccountRow& account, std::vector<CustomerRow> due, int page, Timestamp now) {
    all_read_ = static_cast<int>(due.size()) <= page;
    for (auto& customer : due) add(std::move(customer));
    sweep_ = account.sweep_due_at && *account.sweep_due_at <= now && !account.sweep_lease_expires_at;
  }

  // The classes of which nothing was read, though there may be work: the first classes may have filled the
  // page, and a later one must get its share all the same.
  std::vector<JobClass> unseen() const {
    std::vector<JobClass> classes;
    for (std::size_t c = 0; !all_read_ && c < queues_.size(); ++c) {
      const auto job_class = static_cast<JobClass>(c);
      if (queues_[c].empty() && job_class != JobClass::sweep) classes.push_back(job_class);
    }
    return classes;
  }
  void add(CustomerRow customer) { queues_[index(customer.job_class)].push_back(std::move(customer)); }
  domain::JobClassSet classes() const {
    domain::JobClassSet set;
    for (std::size_t c = 0; c < queues_.size(); ++c) set[c] = !queues_[c].empty();
    set[index(JobClass::sweep)] = sweep_;
    return set;
  }
  bool sweep() const { return sweep_; }
  void take_sweep() { sweep_ = false; }
  // In an outage: the customers that a probe is to try, whenever they are due.
  void probe_first(std::vector<CustomerRow> failing) { failing_ = std::move(failing); }
  const std::vector<CustomerRow>& failing() const { return failing_; }
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
  std::vector<CustomerRow> failing_;
  bool sweep_ = false;
  bool all_read_ = true;
};

SweepLease lease_sweep(Tx& tx, const WorkerOptions& options, CloudAccountRow& account) {
  account.sweep_fence += 1;
  account.sweep_lease_expires_at = tx.now() + options.lease;
  // A full sweep that did not end goes on from its last page.
  if (!account.full_sweep_under_way &&
      domain::full_sweep_due(
          {.last_sweep_at = account.last_sweep_at, .last_full_sweep_at = account.last_full_sweep_at},
          tx.now())) {
    account.full_sweep_under_way = true;
    account.sweep_cursor.clear();
  }
  return {account.id, account.sweep_fence, account.sweep_cursor, tx.now(), account.cloud_user_id};
}

// The work that an account may start now, by its row.
struct Allowance {
  CloudAccountRow& account;
  domain::AccountTrouble trouble;
  domain::RateWindow window;
  bool probing = false;
  int most = 0;           // jobs and sweeps
  bool exhausted = true;  // no due work is left
};

// The account's allowance. Nothing while its trouble forbids every job; its row then says until when.
std::optional<Allowance> allowance_of(const WorkerOptions& options, CloudAccountRow& account, int most,
                                      Timestamp now, Leased& leased) {
  const bool limited = options.jobs_per_minute > 0;
  // Nobody knows what a record that cannot be read forbids: it is replaced by one that closes the queue for a
  // minute.
  const auto decoded = domain::decode_account_trouble(account.trouble);
  auto trouble =
      decoded ? *decoded : domain::after_rate_limit({}, domain::CallKind::find_user, {}, kQueueWindow, now);
  if (!decoded) {
    leased.unreadable.emplace_back(account.id, "trouble");
    account.trouble = domain::encode(trouble);
  }
  const auto log = domain::RateWindow::decode(options.jobs_per_minute, kQueueWindow, account.start_log);
  auto window = log ? *log : domain::RateWindow::full(options.jobs_per_minute, kQueueWindow, now);
  if (!log && limited) {
    leased.unreadable.emplace_back(account.id, "start_log");
    account.start_log = window.encode();
  }

  const Timestamp allowed_at = domain::next_job_at(trouble, now);
  if (allowed_at > now) {
    account.ready_at = account.blocked_until = allowed_at;
    return std::nullopt;
  }
  const bool probing = domain::in_outage(trouble);
  if (limited) most = std::min(most, options.jobs_per_minute);
  return Allowance{account, std::move(trouble), std::move(window), probing, most};
}

// The customer whose job starts next. Nothing: a sweep starts next, or nothing is due.
std::optional<CustomerRow> choose(Allowance& its, DueWork& due, domain::JobTurns& turns, Timestamp now) {
  if (!its.probing) {
    const auto job_class = turns.choose(due.classes());
    return job_class && *job_class != JobClass::sweep ? std::optional(due.take(*job_class)) : std::nullopt;
  }
  // A sweep is no probe: it goes on while only other calls fail.
  if (due.sweep()) return std::nullopt;
  const bool others = due.classes().any() && domain::probe_takes_others(its.trouble, now);
  const auto& failing = due.failing();
  if (!others && !failing.empty()) return failing[domain::turn_of_probe(its.trouble, failing.size(), now)];
  const auto job_class = turns.choose(due.classes());
  return job_class ? std::optional(due.take(*job_class)) : std::nullopt;
}

// Starts the due work that the queue limit and the shares of classes allow; in an outage one job, beside a
// sweep. Customers that get a lease are added to `chosen`.
void start(Tx& tx, const WorkerOptions& options, Allowance& its, DueWork& due, Leased& leased,
           std::vector<CustomerRow>& chosen) {
  const Timestamp now = tx.now();
  const bool limited = options.jobs_per_minute > 0;
  auto& account = its.account;
  auto turns = domain::JobTurns::decode(account.job_turns);
  for (int taken = 0; taken < its.most; ++taken) {
    const bool any = due.classes().any() || (its.probing && !due.failing().empty());
    if (!any || (limited && !its.window.peek(now).allowed)) break;
    auto customer = choose(its, due, turns, now);
    if (limited) its.window.admit(now);
    if (!customer) {
      due.take_sweep();
      leased.sweeps.push_back(lease_sweep(tx, options, account));
      continue;
    }
    customer->fence += 1;
    customer->lease_owner = options.owner;
    customer->lease_expires_at = now + options.lease;
    leased.jobs.push_back({.customer = customer->id,
                           .cloud_account = customer->cloud_account,
                           .cloud_user = account.cloud_user_id,
                           .fence = customer->fence,
                           .expires_at = *customer->lease_expires_at});
    chosen.push_back(*std::move(customer));
    if (!its.probing) continue;
    its.trouble = domain::after_probe_started(std::move(its.trouble), now);
    break;
  }
  account.start_log = limited ? its.window.encode() : std::vector<std::byte>{};
  account.job_turns = turns.encode();
  account.trouble = domain::encode(its.trouble);
  account.blocked_until = limited ? its.window.next_free(now).value_or(now) : now;
  account.blocked_until = std::max(account.blocked_until, domain::next_job_at(its.trouble, now));
  its.exhausted = due.exhausted();
}

// In an outage, adds to the due work the customers of the deliveries that failed in it.
void find_failing(Tx& tx, Allowance& its, DueWork& due) {
  if (!its.probing) return;
  const auto failing = find_at_work(tx, domain::failing_in_outage(its.trouble));
  due.probe_first(lock_queued_customers(tx, customers_of(tx, its.account.id, failing)));
}

void lease_jobs_of(Tx& tx, const WorkerOptions& options, std::span<CloudAccountRow> accounts, int share,
                   Leased& leased) {
  const Timestamp now = tx.now();
  std::vector<Allowance> allowed;
  std::vector<CloudAccountId> open;
  int page = 0;
  for (auto& account : accounts) {
    auto its = allowance_of(options, account, share, now, leased);
    if (!its) continue;
    open.push_back(account.id);
    page = std::max(page, its->most);
    allowed.push_back(std::move(*its));
  }

  std::vector<DueWork> due;
  std::vector<storage::ClassOfAccount> unseen;
  std::map<CloudAccountId, DueWork*> of_account;
  due.reserve(allowed.size());
  auto found = lock_due_customers(tx, open, now, page + 1);
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    auto& work = due.emplace_back(allowed[i].account, std::move(found[i]), page, now);
    of_account[open[i]] = &work;
    for (const auto job_class : work.unseen()) unseen.push_back({open[i], job_class});
  }
  for (auto& customer : lock_due_of_classes(tx, unseen, now))
    of_account.at(customer.cloud_account)->add(std::move(customer));

  std::vector<CustomerRow> chosen;
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    find_failing(tx, allowed[i], due[i]);
    start(tx, options, allowed[i], due[i], leased, chosen);
  }
  lease_customers(tx, chosen);

  const auto next = next_due(tx, open);
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    auto& account = allowed[i].account;
    // A customer that a probe is to try may not be due for long.
    const bool to_probe = allowed[i].probing && !due[i].failing().empty();
    auto ready = allowed[i].exhausted && !to_probe ? next[i] : std::optional(now);
    if (account.sweep_due_at && !account.sweep_lease_expires_at)
      ready = ready ? std::min(*ready, *account.sweep_due_at) : *account.sweep_due_at;
    account.ready_at = ready ? std::optional(std::max({*ready, account.blocked_until, now})) : std::nullopt;
  }
  update_cloud_accounts(tx, accounts);
}

// The rolling window of all starts of the service, locked; nothing where another node has it locked.
std::optional<domain::RateWindow> lock_window(Tx& tx, const WorkerOptions& options, Leased& leased) {
  const auto log = lock_service_window(tx, kServiceWindow);
  if (!log) return std::nullopt;
  const auto window = domain::RateWindow::decode(options.jobs_per_minute_total, kQueueWindow, *log);
  if (window) return window;
  leased.unreadable.emplace_back(CloudAccountId{}, "service_windows");
  const auto full = domain::RateWindow::full(options.jobs_per_minute_total, kQueueWindow, tx.now());
  put_service_window(tx, kServiceWindow, full.encode());
  return full;
}

}  // namespace

Leased lease_jobs(Tx& tx, const WorkerOptions& options, Timestamp from, int slots, Pace pace) {
  Leased leased;
  const Timestamp now = tx.now();
  const auto started = [&] { return static_cast<int>(leased.jobs.size() + leased.sweeps.size()); };
  // Before the accounts, as the slots that are divided among them are those that the service may start.
  std::optional<domain::RateWindow> window;
  if (options.jobs_per_minute_total > 0) {
    window = lock_window(tx, options, leased);
    slots = window ? std::min(slots, static_cast<int>(window->peek(now).remaining)) : 0;
    if (!window) leased.closed_until = now + kWindowLocked;
  }
  auto accounts = slots > 0 ? lock_ready_accounts(tx, from, now, slots) : std::vector<CloudAccountRow>{};
  const std::size_t batch = pace == Pace::together ? accounts.size() : 1;
  for (std::size_t first = 0; first < accounts.size(); first += batch) {
    const int left = slots - started();
    if (left <= 0) break;
    const int share = std::max(1, left / static_cast<int>(accounts.size() - first));
    const auto id = accounts[first].id;
    try {
      lease_jobs_of(tx, options, std::span(accounts).subspan(first, batch), share, leased);
    } catch (...) {
      if (pace == Pace::together) throw;
      throw WorkFault(LeasedWork{.cloud_account = id, .customer = {}});
    }
  }
  if (window) {
    for (int i = 0; i < started(); ++i) window->admit(now);
    if (started() > 0) put_service_window(tx, kServiceWindow, window->encode());
    if (const auto free = window->next_free(now); free && *free > now) leased.closed_until = free;
  }
  leased.next_ready = next_ready(tx, from);
  leased.at = now;
  return leased;
}

int take_over_expired(Tx& tx, DeliveryChanges& changes, Timestamp from, int limit) {
  const auto expired = lock_expired_leases(tx, from, tx.now(), limit);
  for (const auto id : expired) {
    LeasedWork work{.cloud_account = {}, .customer = id};
    try {
      DeliverySet set(tx, changes, {id});
      auto customer = set.customer(id);
      if (!customer) continue;
      work.cloud_account = customer->cloud_account;
      Job dead{.customer = customer->id, .cloud_account = customer->cloud_account};
      customer->fence += 1;
      end_job(set, dead, *customer, domain::Finding::lease_lost);
      set.save();
    } catch (...) {
      throw WorkFault(work);
    }
  }
  // Sweeps in a transaction of their own: it holds cloud accounts, and those come after customers.
  if (!expired.empty()) return static_cast<int>(expired.size());
  const auto sweeps = lock_expired_sweeps(tx, tx.now(), limit);
  for (auto account : sweeps) {
    account.sweep_fence += 1;
    account.sweep_lease_expires_at.reset();
    account.sweep_due_at = tx.now();
    account.ready_at = std::max(tx.now(), account.blocked_until);
    update_cloud_account(tx, account);
  }
  return static_cast<int>(sweeps.size());
}

void postpone(Tx& tx, const LeasedWork& work) {
  const Timestamp until = tx.now() + kPostponement;
  if (!work.customer) return postpone_cloud_account(tx, work.cloud_account, until);
  postpone_customer(tx, work.customer, work.fence, until);
}

}  // namespace presetbridge::services
