#include "services/worker/maintenance.h"

#include <algorithm>

#include "services/worker/account_tasks.h"
#include "services/worker/account_trouble.h"
#include "services/worker/fault_handling.h"
#include "services/worker/leasing.h"
#include "services/worker/work_fault.h"
#include "storage/stores/cloud_account_store.h"

namespace presetbridge::services {
namespace {

using storage::Tx;

constexpr Millis kGather{10};           // wake-ups, for one round
constexpr Millis kFullScans{60'000};    // for leases that ran out, however long ago
constexpr int kMostTakenOver = 200;     // in one transaction
constexpr int kMostProbes = 200;        // in one round
constexpr int kMostAccountTasks = 50;   // in one round
constexpr Millis kHeldAccountTask{20};  // until one that may not begin yet is read again, at least
constexpr Millis kLongHold{30'000};     // longer than transactions of the service last

}  // namespace

Maintenance::Maintenance(const WorkerPorts& ports, const WorkerOptions& options, const BackgroundTasks& tasks,
                         std::function<void()> worked)
    : ports_(ports),
      tasks_(tasks),
      worked_(std::move(worked)),
      leases_(options.maintenance),
      held_warning_(kLongHold),
      expired_(kFullScans),
      wakeup_(ports.scheduler) {}

Task<void> Maintenance::run() {
  while (!tasks_.stopping()) {
    const Timestamp began = ports_.clock.now();
    const bool more = co_await round(began);
    if (more) worked_();
    // Each order that is accepted wakes this loop: one round serves many of them.
    if (co_await wakeup_.wait(more ? Millis{1} : pause(began)) && !tasks_.stopping())
      co_await sleep_for(ports_.scheduler, kGather);
  }
}

Millis Maintenance::pause(Timestamp began) {
  const Millis leases = leases_.left(ports_.clock.now());
  const auto held = account_task_starts_.waited(began);
  if (!held) return leases;
  if (*held >= kLongHold && held_warning_.take(began)) {
    ports_.log.warn(
        "changes of logins, credits or mappings are not spread to all deliveries: a transaction that has "
        "locked orders or deliveries does not end",
        {{"accountTasks", std::int64_t{account_task_starts_.held()}}, {"seconds", held->count() / 1'000}});
  }
  // Such transactions end within milliseconds, as a rule; the longer they take, the longer is the pause.
  return std::min(leases, std::clamp(*held / 8, kHeldAccountTask, kLongHold / 30));
}

Task<bool> Maintenance::round(Timestamp now) {
  const bool leases = leases_.take(now);
  const Timestamp from = leases ? expired_.begin(now) : Timestamp{};
  postponed_deliveries_.release(now);
  postponed_account_tasks_.release(now);
  // The reads find postponed work, and tasks that may not begin yet, too: these must not fill the lists.
  const int postponed = postponed_deliveries_.size();
  const int tasks = kMostAccountTasks + postponed_account_tasks_.size() + account_task_starts_.held();
  auto due = co_await ports_.async_db.read(
      ports_.scheduler, [leases, from, postponed, tasks, last = last_with_dry_runs_](Tx& tx) {
        Found found{.at = tx.now(),
                    .expired = leases && storage::any_lease_expired(tx, from, tx.now()),
                    .probes = {},
                    .tasks = storage::find_account_tasks(tx, tasks),
                    .writers = {},
                    .last_with_dry_runs = last,
                    .dry_runs = {}};
        found.dry_runs = next_dry_runs(tx, found.last_with_dry_runs, postponed);
        if (leases) found.probes = storage::find_due_probes(tx, tx.now(), kMostProbes);
        if (std::ranges::any_of(found.tasks, [](const auto& task) { return !task.done_to; }))
          found.writers = storage::order_writers(tx);
        return found;
      });
  if (!due) co_return false;
  if (leases && !due->expired) expired_.saw(from, std::nullopt, due->at);
  const bool taken = due->expired && co_await take_over(from);
  co_await start_probes(std::move(due->probes));
  account_task_starts_.hold_back(due->tasks, due->writers, now);
  last_with_dry_runs_ = due->last_with_dry_runs;
  const bool dry = co_await do_dry_runs(std::move(due->dry_runs));
  const bool done = co_await do_account_tasks(std::move(due->tasks));
  co_return taken || dry || done;
}

Task<bool> Maintenance::take_over(Timestamp from) {
  auto taken = co_await write_work<LeasedWork>(
      ports_, [this, from](Tx& tx) { return take_over_expired(tx, ports_.changes, from, kMostTakenOver); });
  if (taken && *taken > 0)
    ports_.log.info("leases that ran out were taken over", {{"count", std::int64_t{*taken}}});
  const bool more = taken ? *taken > 0 : co_await postpone_faulty(ports_, std::move(taken).error());
  if (more) leases_.hasten();
  co_return more;
}

Task<void> Maintenance::start_probes(std::vector<CloudAccountId> accounts) {
  for (const auto id : accounts) {
    if (tasks_.stopping()) co_return;
    auto done = co_await ports_.async_db.write(
        ports_.scheduler, [this, id](Tx& tx) { start_probe(tx, ports_.changes.ids(), id); });
    if (done || is_transient(done.error())) continue;
    ports_.log.error("a failed delivery could not be tried again; another in an hour",
                     {{"cloudAccount", to_string(id)}, {"error", done.error().message}});
    count_fault(ports_);
    co_await ports_.async_db.write(ports_.scheduler, [id](Tx& tx) { storage::postpone_probe(tx, id); });
  }
  if (!accounts.empty()) worked_();
}

Task<bool> Maintenance::do_dry_runs(std::vector<DeliveryId> waiting) {
  std::erase_if(waiting, [this](DeliveryId id) { return postponed_deliveries_.contains({AccountId{}, id}); });
  if (waiting.empty()) co_return false;
  const auto done = co_await write_work<DeliveryId>(
      ports_, [&](Tx& tx) { complete_dry_runs(tx, ports_.changes, waiting); });
  if (done) co_return true;
  const auto& [error, at] = done.error();
  if (is_transient(error) || !at) co_return false;
  ports_.log.error("a test order that fails here is left alone for some minutes",
                   {{"delivery", to_string(at)}, {"error", error.message}});
  count_fault(ports_);
  postponed_deliveries_.add({AccountId{}, at}, ports_.clock.now() + kPostponement);
  co_return true;  // the others
}

Task<bool> Maintenance::do_account_tasks(std::vector<storage::AccountTask> waiting) {
  bool more = false;
  for (const auto& task : waiting) {
    if (tasks_.stopping()) break;
    if (postponed_account_tasks_.contains({task.account, task.kind})) continue;
    PostponedDeliveries postponed;
    for (const auto& [of, until] : postponed_deliveries_.all())
      if (of.first == task.account) postponed.insert(of.second);
    const auto done = co_await write_work<DeliveryId>(
        ports_, [&](Tx& tx) { return do_account_task_batch(tx, ports_.changes, task, postponed); });
    const auto later = ports_.clock.now() + kPostponement;
    if (!done && is_transient(done.error().error)) continue;
    const DeliveryId at = done ? DeliveryId{} : done.error().work;
    if (!done) {
      ports_.log.error("an account task that fails here is left alone for some minutes",
                       {{"account", to_string(task.account)},
                        {"accountTask", storage::to_string(task.kind)},
                        {"delivery", at ? to_string(at) : std::string()},
                        {"error", done.error().error.message}});
      count_fault(ports_);
    }
    // A delivery at fault is left out; where none is known, the whole account task is postponed.
    if (!done && at) postponed_deliveries_.add({task.account, at}, later);
    if (done ? *done == AccountTaskProgress::waiting : !at)
      postponed_account_tasks_.add({task.account, task.kind}, later);
    more = more || (done ? *done != AccountTaskProgress::waiting : bool{at});
  }
  co_return more;
}

}  // namespace presetbridge::services
