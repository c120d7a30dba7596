#include "services/worker/maintenance.h"

#include <algorithm>

#include "services/worker/account_tasks.h"
#include "services/worker/account_trouble.h"
#include "services/worker/fault_at.h"
#include "services/worker/faulty_work.h"
#include "services/worker/leasing.h"
#include "storage/stores/cloud_account_store.h"

namespace presetbridge::services {
namespace {

using storage::Tx;

constexpr Millis kGather{10};           // wake-ups
constexpr Millis kEveryLease{60'000};   // full scans for leases that ran out, however long ago
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
      expired_(kEveryLease),
      wakeup_(ports.scheduler) {}

Task<void> Maintenance::run() {
  while (!tasks_.stopping()) {
    const Timestamp began = ports_.clock.now();
    const bool more = co_await round(began);
    if (more) worked_();
    // Each order that is accepted wakes: one round for many of them.
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
  // Mostly some milliseconds; the longer it takes, the longer it may.
  return std::min(leases, std::clamp(*held / 8, kHeldAccountTask, kLongHold / 30));
}

Task<bool> Maintenance::round(Timestamp now) {
  const bool leases = leases_.take(now);
  const Timestamp from = leases ? expired_.begin(now) : Timestamp{};
  deliveries_aside_.forget_until(now);
  postponed_account_tasks_.forget_until(now);
  // What is aside, or may not begin yet, is found too: it must not fill the list.
  const int aside = deliveries_aside_.size();
  const int tasks = kMostAccountTasks + postponed_account_tasks_.size() + account_task_starts_.held();
  auto waiting = co_await ports_.async_db.read(
      ports_.scheduler, [leases, from, aside, tasks, turn = dry_run_turn_](Tx& tx) {
        Waiting found{.at = tx.now(),
                      .expired = leases && storage::any_lease_expired(tx, from, tx.now()),
                      .probes = {},
                      .tasks = storage::find_account_tasks(tx, tasks),
                      .writers = {},
                      .dry_run_turn = turn,
                      .dry_runs = {}};
        found.dry_runs = dry_runs_in_turn(tx, found.dry_run_turn, aside);
        if (leases) found.probes = storage::find_due_probes(tx, tx.now(), kMostProbes);
        if (std::ranges::any_of(found.tasks, [](const auto& task) { return !task.done_to; }))
          found.writers = storage::order_writers(tx);
        return found;
      });
  if (!waiting) co_return false;
  if (leases && !waiting->expired) expired_.saw(from, std::nullopt, waiting->at);
  const bool taken = waiting->expired && co_await take_over(from);
  co_await start_probes(std::move(waiting->probes));
  account_task_starts_.hold_back(waiting->tasks, waiting->writers, now);
  dry_run_turn_ = waiting->dry_run_turn;
  const bool dry = co_await complete_dry_runs(std::move(waiting->dry_runs));
  const bool done = co_await do_account_tasks(std::move(waiting->tasks));
  co_return taken || dry || done;
}

Task<bool> Maintenance::take_over(Timestamp from) {
  auto taken = co_await write_at<LeasePlace>(
      ports_, [this, from](Tx& tx) { return take_over_expired(tx, ports_.changes, from, kMostTakenOver); });
  if (taken && *taken > 0)
    ports_.log.info("leases that ran out were taken over", {{"count", std::int64_t{*taken}}});
  const bool more = taken ? *taken > 0 : co_await isolate(ports_, std::move(taken).error());
  if (more) leases_.hasten();
  co_return more;
}

Task<void> Maintenance::start_probes(std::vector<CloudAccountId> due) {
  for (const auto id : due) {
    if (tasks_.stopping()) co_return;
    auto done = co_await ports_.async_db.write(
        ports_.scheduler, [this, id](Tx& tx) { start_probe(tx, ports_.changes.ids(), id); });
    if (done || is_passing(done.error())) continue;
    ports_.log.error("a failed delivery could not be tried again; another in an hour",
                     {{"cloudAccount", to_string(id)}, {"error", done.error().message}});
    count_fault(ports_);
    co_await ports_.async_db.write(ports_.scheduler, [id](Tx& tx) { storage::postpone_probe(tx, id); });
  }
  if (!due.empty()) worked_();
}

Task<bool> Maintenance::complete_dry_runs(std::vector<DeliveryId> waiting) {
  std::erase_if(waiting, [this](DeliveryId id) { return deliveries_aside_.contains({AccountId{}, id}); });
  if (waiting.empty()) co_return false;
  const auto done =
      co_await write_at<DeliveryId>(ports_, [&](Tx& tx) { run_dry(tx, ports_.changes, waiting); });
  if (done) co_return true;
  const auto& [error, at] = done.error();
  if (is_passing(error) || !at) co_return false;
  ports_.log.error("a test order that fails here is left alone for some minutes",
                   {{"delivery", to_string(at)}, {"error", error.message}});
  count_fault(ports_);
  deliveries_aside_.put({AccountId{}, at}, ports_.clock.now() + kSetAside);
  co_return true;  // the others
}

Task<bool> Maintenance::do_account_tasks(std::vector<storage::AccountTask> waiting) {
  bool more = false;
  for (const auto& task : waiting) {
    if (tasks_.stopping()) break;
    if (postponed_account_tasks_.contains({task.account, task.kind})) continue;
    Aside aside;
    for (const auto& [place, until] : deliveries_aside_.all())
      if (place.first == task.account) aside.insert(place.second);
    const auto done = co_await write_at<DeliveryId>(
        ports_, [&](Tx& tx) { return do_account_task_batch(tx, ports_.changes, task, aside); });
    const auto later = ports_.clock.now() + kSetAside;
    if (!done && is_passing(done.error().error)) continue;
    const DeliveryId at = done ? DeliveryId{} : done.error().at;
    if (!done) {
      ports_.log.error("an account task that fails here is left alone for some minutes",
                       {{"account", to_string(task.account)},
                        {"accountTask", storage::to_string(task.kind)},
                        {"delivery", at ? to_string(at) : std::string()},
                        {"error", done.error().error.message}});
      count_fault(ports_);
    }
    // One delivery at fault is left out; without one the whole account task waits.
    if (!done && at) deliveries_aside_.put({task.account, at}, later);
    if (done ? *done == AccountTaskProgress::waiting : !at)
      postponed_account_tasks_.put({task.account, task.kind}, later);
    more = more || (done ? *done != AccountTaskProgress::waiting : bool{at});
  }
  co_return more;
}

}  // namespace presetbridge::services
