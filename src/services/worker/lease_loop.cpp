#include "services/worker/lease_loop.h"

#include <algorithm>
#include <utility>

#include "services/worker/fault_handling.h"
#include "storage/stores/cloud_account_store.h"

namespace presetbridge::services {
namespace {

using storage::Tx;

constexpr Millis kLockedPause{10};  // before a ready account that another transaction has locked is retried

}  // namespace

Task<void> LeaseLoop::run() {
  while (!tasks_.stopping()) {
    const Millis pause = co_await round();
    if (pause == Millis{0} && free_slots() > 0) continue;
    // When no slot is free, the end of a job wakes the loop.
    co_await tasks_.wait(free_slots() > 0 ? pause : options_.poll);
  }
}

Task<Millis> LeaseLoop::round() {
  const int slots = free_slots();
  Timestamp from = scan_.begin();
  std::optional<Timestamp> next;
  if (!busy_) {
    // Leasing writes to the disk, so an idle service first reads whether there is work.
    const auto seen = co_await ports_.async_db.read(
        ports_.scheduler, [from](Tx& tx) { return std::pair(storage::next_ready(tx, from), tx.now()); });
    if (seen) {
      next = seen->first;
      scan_.saw(from, next, seen->second);
      from = scan_.begin();
    }
  }
  const Timestamp now = ports_.clock.now();
  if (slots > 0 && now >= closed_until_ && (std::exchange(busy_, false) || (next && *next <= now))) {
    auto leased = co_await write_work<LeasedWork>(ports_, [this, from, slots, pace = pace_](Tx& tx) {
      return lease_jobs(tx, options_, from, slots, pace);
    });
    if (leased) {
      scan_.saw(from, leased->next_ready, leased->at);
      next = start(*std::move(leased));
    } else {
      next = co_await failed(std::move(leased).error());
    }
  }
  if (!next) co_return options_.poll;
  co_return std::clamp(std::max(*next, closed_until_) - ports_.clock.now(), Millis{0}, options_.poll);
}

std::optional<Timestamp> LeaseLoop::start(Leased leased) {
  pace_ = Pace::together;
  for (const auto& [account, column] : leased.unreadable) {
    ports_.log.error(
        "a queue's record could not be read; no job of it for a minute",
        {{"cloudAccount", account ? to_string(account) : std::string("all")}, {"record", column}});
    count_fault(ports_);
  }
  const auto ended = [this](const std::exception_ptr&) { ended_(); };
  for (auto& job : leased.jobs) tasks_.start_job(jobs_.run(std::move(job)), "job", ended);
  for (auto& sweep : leased.sweeps) tasks_.start_job(sweeps_.run(std::move(sweep)), "sweep", ended);
  busy_ = !leased.jobs.empty() || !leased.sweeps.empty();
  closed_until_ = leased.closed_until.value_or(Timestamp{});
  auto next = leased.next_ready;
  // A ready account from which nothing was leased is locked by another transaction for a moment.
  if (!busy_ && next) next = std::max(*next, ports_.clock.now() + kLockedPause);
  return next;
}

Task<Timestamp> LeaseLoop::failed(FailedWrite<LeasedWork> write) {
  const auto& error = write.error;
  // It is not known which of the rows that were read together is at fault, so they are read one by one.
  if (pace_ == Pace::together && !is_transient(error)) {
    pace_ = Pace::one_by_one;
    co_return Timestamp{};
  }
  pace_ = Pace::together;
  if (!storage::is_logged(error)) ports_.log.warn("no jobs could be leased", {{"error", error.message}});
  // The next lease would fail like this one, unless the work at fault is postponed.
  const bool postponed = co_await postpone_faulty(ports_, std::move(write));
  co_return ports_.clock.now() + (postponed ? Millis{0} : options_.poll);
}

}  // namespace presetbridge::services
