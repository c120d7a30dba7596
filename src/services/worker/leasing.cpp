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
#include "services/worker/fault_at.h"
#include "services/worker/job_end.h"
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
constexpr Millis kWindowInHand{10};  // of another node: until it is looked at again
constexpr std::string_view kServiceWindow = "jobs";

// The due work of one account, by class, as far as it was read.
class DueWork {
 public:
  // `due`: in class order; more than `page` of them mean that there may be others.
  DueWork(const CloudAccountRow& account, std::vector<CustomerRow> due, int page, Timestamp now) {
    all_read_ = static_cast<int>(due.size()) <= page;
    for (auto& customer : due) add(std::move(customer));
    sweep_ = account.sweep_due_at && *account.sweep_due_at <= now && !account.sweep_lease_expires_at;
  }

  // The first classes may have filled the page: a later one that has work must be seen too, or it would never
  // have its turn.
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
  // In an outage: these of the customers are to be tried, whenever they are due.
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
  // A full one that did not come to its end goes on where it was.
  if (!account.full_sweep_under_way &&
      domain::full_sweep_due(
          {.last_sweep_at = account.last_sweep_at, .last_full_sweep_at = account.last_full_sweep_at},
          tx.now())) {
    account.full_sweep_under_way = true;
    account.sweep_cursor.clear();
  }
  return {account.id, account.sweep_fence, account.sweep_cursor, tx.now(), account.cloud_user_id};
}

// What an account may do now, as its record says.
struct Turn {
  CloudAccountRow& account;
  domain::AccountTrouble trouble;
  domain::RateWindow window;
  bool probing = false;
  int most = 0;           // starts
  bool exhausted = true;  // nothing that was due is left
};

// The account's turn; nothing while its trouble forbids any job, which is written into its row.
std::optional<Turn> open_turn(const WorkerOptions& options, CloudAccountRow& account, int most, Timestamp now,
                              Leased& leased) {
  const bool limited = options.jobs_per_minute > 0;
  // Nobody knows what a record that cannot be read forbids: the queue is closed for a minute, and goes on
  // with a fresh one.
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
  return Turn{account, std::move(trouble), std::move(window), probing, most};
}

// The customer whose job starts next; nothing if that is a sweep, or nothing is due.
std::optional<CustomerRow> choose(Turn& turn, DueWork& due, domain::JobTurns& turns, Timestamp now) {
  if (!turn.probing) {
    const auto job_class = turns.choose(due.classes());
    return job_class && *job_class != JobClass::sweep ? std::optional(due.take(*job_class)) : std::nullopt;
  }
  // A sweep is no probe, and goes on while only others fail.
  if (due.sweep()) return std::nullopt;
  const bool others = due.classes().any() && domain::probe_tries_others(turn.trouble, now);
  const auto& failing = due.failing();
  if (!others && !failing.empty()) return failing[domain::turn_of_probe(turn.trouble, failing.size(), now)];
  const auto job_class = turns.choose(due.classes());
  return job_class ? std::optional(due.take(*job_class)) : std::nullopt;
}

// Starts what the queue limit and the fairness of classes allow of the due work; in an outage one job, beside
// a sweep. Customers that get a lease are added to `chosen`.
void start(Tx& tx, const WorkerOptions& options, Turn& turn, DueWork& due, Leased& leased,
           std::vector<CustomerRow>& chosen) {
  const Timestamp now = tx.now();
  const bool limited = options.jobs_per_minute > 0;
  auto& account = turn.account;
  auto turns = domain::JobTurns::decode(account.job_turns);
  for (int taken = 0; taken < turn.most; ++taken) {
    const bool any = due.classes().any() || (turn.probing && !due.failing().empty());
    if (!any || (limited && !turn.window.peek(now).allowed)) break;
    auto customer = choose(turn, due, turns, now);
    if (limited) turn.window.admit(now);
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
    if (!turn.probing) continue;
    turn.trouble = domain::after_probe_started(std::move(turn.trouble), now);
    break;
  }
  account.start_log = limited ? turn.window.encode() : std::vector<std::byte>{};
  account.job_turns = turns.encode();
  account.trouble = domain::encode(turn.trouble);
  account.blocked_until = limited ? turn.window.next_free(now).value_or(now) : now;
  account.blocked_until = std::max(account.blocked_until, domain::next_job_at(turn.trouble, now));
  turn.exhausted = due.exhausted();
}

// In an outage, the customers of the deliveries for which it is.
void find_failing(Tx& tx, Turn& turn, DueWork& due) {
  if (!turn.probing) return;
  const auto failing = find_at_work(tx, domain::failing_in_outage(turn.trouble));
  due.probe_first(lock_queued_customers(tx, customers_of(tx, turn.account.id, failing)));
}

void lease_of(Tx& tx, const WorkerOptions& options, std::span<CloudAccountRow> accounts, int share,
              Leased& leased) {
  const Timestamp now = tx.now();
  std::vector<Turn> turns;
  std::vector<CloudAccountId> open;
  int page = 0;
  for (auto& account : accounts) {
    auto turn = open_turn(options, account, share, now, leased);
    if (!turn) continue;
    open.push_back(account.id);
    page = std::max(page, turn->most);
    turns.push_back(std::move(*turn));
  }

  std::vector<DueWork> due;
  std::vector<storage::ClassOfAccount> unseen;
  std::map<CloudAccountId, DueWork*> of_account;
  due.reserve(turns.size());
  auto found = lock_due_customers(tx, open, now, page + 1);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    auto& work = due.emplace_back(turns[i].account, std::move(found[i]), page, now);
    of_account[open[i]] = &work;
    for (const auto job_class : work.unseen()) unseen.push_back({open[i], job_class});
  }
  for (auto& customer : lock_due_of_classes(tx, unseen, now))
    of_account.at(customer.cloud_account)->add(std::move(customer));

  std::vector<CustomerRow> chosen;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    find_failing(tx, turns[i], due[i]);
    start(tx, options, turns[i], due[i], leased, chosen);
  }
  lease_customers(tx, chosen);

  const auto next = next_due(tx, open);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    auto& account = turns[i].account;
    // Whom a probe is to try may not be due for long.
    const bool to_probe = turns[i].probing && !due[i].failing().empty();
    auto ready = turns[i].exhausted && !to_probe ? next[i] : std::optional(now);
    if (account.sweep_due_at && !account.sweep_lease_expires_at)
      ready = ready ? std::min(*ready, *account.sweep_due_at) : *account.sweep_due_at;
    account.ready_at = ready ? std::optional(std::max({*ready, account.blocked_until, now})) : std::nullopt;
  }
  update_cloud_accounts(tx, accounts);
}

// The rolling window of all starts of the service, locked; nothing where another node has it. `log` is what
// was read.
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
  // Before the accounts: of those ready for longest each has its share of what the service may start.
  std::optional<domain::RateWindow> window;
  if (options.jobs_per_minute_total > 0) {
    window = lock_window(tx, options, leased);
    slots = window ? std::min(slots, static_cast<int>(window->peek(now).remaining)) : 0;
    if (!window) leased.closed_until = now + kWindowInHand;
  }
  auto accounts = slots > 0 ? lock_ready_accounts(tx, from, now, slots) : std::vector<CloudAccountRow>{};
  const std::size_t piece = pace == Pace::together ? accounts.size() : 1;
  for (std::size_t first = 0; first < accounts.size(); first += piece) {
    const int left = slots - started();
    if (left <= 0) break;
    const int share = std::max(1, left / static_cast<int>(accounts.size() - first));
    const auto id = accounts[first].id;
    try {
      lease_of(tx, options, std::span(accounts).subspan(first, piece), share, leased);
    } catch (...) {
      if (pace == Pace::together) throw;
      throw FaultAt(LeasePlace{.cloud_account = id, .customer = {}});
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
    LeasePlace at{.cloud_account = {}, .customer = id};
    try {
      DeliverySet set(tx, changes, {id});
      auto customer = set.customer(id);
      if (!customer) continue;
      at.cloud_account = customer->cloud_account;
      Job dead{.customer = customer->id, .cloud_account = customer->cloud_account};
      customer->fence += 1;
      end_job(set, dead, *customer, domain::Finding::lease_lost);
      set.save();
    } catch (...) {
      throw FaultAt(at);
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

void set_aside(Tx& tx, const LeasePlace& at) {
  const Timestamp until = tx.now() + kSetAside;
  if (!at.customer) return postpone_cloud_account(tx, at.cloud_account, until);
  postpone_customer(tx, at.customer, at.fence, until);
}

}  // namespace presetbridge::services
