#include "services/bulk/bulk_jobs.h"

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "identity/audit.h"
#include "services/accounts/account_lock.h"
#include "storage/stores/api_key_store.h"
#include "storage/stores/credential_store.h"
#include "storage/stores/people_store.h"

namespace presetbridge::services {
namespace {

using identity::IntegrationScope;
using storage::BulkJobRow;
using storage::Tx;

constexpr int kTurn = 200;
constexpr int kMaxPrepared = 3;  // as often what has changed meanwhile is prepared again
// Jobs of other nodes, and those that could not go on.
constexpr Millis kPollAgain{5'000};

void note_failure(BulkJobRow& job, const std::string& id, const Error& error) {
  ++job.failed;
  auto failures = boost::json::parse(job.failures).as_array();
  if (failures.size() >= kMostBulkFailures) return;
  failures.push_back(boost::json::object{{"id", id}, {"code", error.code}, {"message", error.message}});
  job.failures = boost::json::serialize(failures);
}

// It is not the storage that waits for better times.
bool is_final(const Error& error) {
  return !storage::is_logged(error) && error.code != "OVERLOADED";
}

void finish(BulkJobRow& job, Timestamp now) {
  job.finished_at = now;
  // The search terms may be personal data.
  job.filter = "{}";
}

// Whether the key that asked for the job may still write deliveries of all its stores, or the person is of the
// account.
bool caller_may(Tx& tx, const BulkJobRow& job) {
  const auto actor = domain::parse_actor(job.actor);
  if (!actor) return true;
  if (actor->kind == domain::Actor::Kind::user)
    return find_person(tx, job.account, UserId{actor->id}).has_value();
  if (actor->kind != domain::Actor::Kind::api_key) return true;
  const auto key = find_api_key(tx, job.account, ApiKeyId{actor->id});
  return key && key->active && (!key->expires_at || *key->expires_at > tx.now()) &&
         identity::PermissionSet::from_text(key->permissions).has(identity::Permission::deliveries_write) &&
         IntegrationScope::from_text(key->integration_ids)
             .includes(IntegrationScope::from_text(job.integration_ids));
}

// The job, if it is where `known` says; nothing: another node has it, or had.
std::optional<BulkJobRow> lock_as_known(Tx& tx, const BulkJobRow& known) {
  auto job = lock_bulk_job(tx, known.id);
  if (!job || job->finished_at || job->done_to != known.done_to) return std::nullopt;
  return job;
}

}  // namespace

Task<Expected<BulkJobRow>> BulkJobs::add(Executor& executor, identity::Principal by, NewBulkJob wanted) {
  BulkJobRow job{.id = ids_.make<BulkJobId>(),
                 .account = by.account,
                 .action = std::string(wanted.action),
                 .actor = to_string(by.actor()),
                 .integration_ids = by.integrations.to_text(),
                 .filter = std::move(wanted.filter),
                 .as_of = wanted.as_of,
                 .total = wanted.total,
                 .total_is_exact = wanted.total_is_exact,
                 .eligible = wanted.eligible,
                 .excluded = std::move(wanted.excluded)};
  auto added = co_await async_db_.write(executor, [&](Tx& tx) -> Expected<void> {
    lock_account_of(tx, by);
    if (count_bulk_jobs_under_way(tx, by.account) >= kMostBulkJobs)
      return fail("LIMIT_REACHED", "Five such jobs are under way: wait until one has ended.");
    job.created_at = tx.now();
    insert_bulk_job(tx, job);
    const auto asked = job.action + ".asked";
    identity::audit(tx, ids_, by, {.action = asked, .target = to_string(job.id)});
    return {};
  });
  if (!added) co_return std::unexpected(added.error());
  asked_();
  co_return job;
}

Task<Expected<BulkJobRow>> BulkJobs::get(Executor& executor, identity::Principal by, BulkJobId id) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) -> Expected<BulkJobRow> {
    auto job = find_bulk_job(tx, id);
    if (!job || job->account != by.account ||
        !by.integrations.includes(IntegrationScope::from_text(job->integration_ids)))
      return fail("NOT_FOUND", "There is no such job.");
    return std::move(*job);
  });
}

void BulkWorker::start() {
  tasks_.start_loop(loop(), "jobs on many");
}

void BulkWorker::stop(Callback stopped) {
  tasks_.stop(std::move(stopped));
}

BulkAction* BulkWorker::action_of(const BulkJobRow& job) const {
  const auto found =
      std::ranges::find_if(actions_, [&](const BulkAction* action) { return action->name() == job.action; });
  return found == actions_.end() ? nullptr : *found;
}

Task<void> BulkWorker::loop() {
  bool went_on = false;  // in this round
  while (!tasks_.stopping()) {
    auto next = co_await async_db_.read(scheduler_, [this](Tx& tx) { return next_bulk_job(tx, last_); });
    if (next && *next) {
      last_ = **next;
      const auto step = co_await turn(last_);
      went_on = went_on || step == Step::went_on;
      continue;
    }
    const bool rest = !next || !went_on;
    last_ = {};
    went_on = false;
    if (rest && !tasks_.stopping()) co_await tasks_.wait(kPollAgain);
  }
}

Task<BulkWorker::Step> BulkWorker::turn(BulkJobId id) {
  std::optional<BulkJobRow> job;
  BulkAction::Found found;
  bool stopped = false;
  auto selection = co_await async_db_.read(scheduler_, [&](Tx& tx) {
    job = find_bulk_job(tx, id);
    // A job whose `as_of` is to come waits for that time. Clocks of nodes differ by less than a poll's pause.
    if (!job || job->finished_at || job->as_of > tx.now() + kPollAgain || action_of(*job) == nullptr) {
      job.reset();
      return;
    }
    stopped = action_of(*job)->ends_with_its_caller() && !caller_may(tx, *job);
    if (!stopped) found = action_of(*job)->find(tx, *job, kTurn);
  });
  if (job && !selection && is_final(selection.error())) {
    log_.error("a job on many cannot go on",
               {{"job", to_string(job->id)}, {"error", selection.error().message}});
    co_return co_await give_up(*job, "The selection can no longer be read: choose again.");
  }
  if (!selection || !job) co_return Step::failed;
  if (stopped)
    co_return co_await give_up(*job,
                               "It was stopped: the API key or person that asked for it may do nothing now.");
  for (const auto one_id : found.ids) {
    if (tasks_.stopping()) co_return Step::went_on;
    if (const auto step = co_await one(*action_of(*job), *job, one_id); step != Step::went_on) co_return step;
  }
  if (!found.ids.empty()) changed_();
  co_return co_await advance(*job, found.next);
}

Task<BulkWorker::Step> BulkWorker::one(BulkAction& action, BulkJobRow& job, std::int64_t id) {
  for (int tried = 0; tried < kMaxPrepared; ++tried) {
    Error failure;
    auto prepared = co_await action.prepare(scheduler_, job, id);
    if (prepared) {
      bool again = false;
      auto done = co_await async_db_.write(scheduler_, [&](Tx& tx) -> std::optional<BulkJobRow> {
        again = false;
        auto row = lock_as_known(tx, job);
        if (!row) return std::nullopt;
        const auto result = (*prepared)(tx);
        again = !result;
        if (again) return std::nullopt;
        row->done_to = id;
        if (*result) {
          ++row->done;
        } else {
          note_failure(*row, action.id_text(id), result->error());
        }
        update_bulk_job(tx, *row);
        return row;
      });
      if (done && *done) {
        job = std::move(**done);
        co_return Step::went_on;
      }
      if (done && again) continue;
      if (done) co_return Step::elsewhere;
      failure = done.error();
    } else {
      failure = prepared.error();
    }
    if (!is_final(failure)) co_return Step::failed;
    // Refused after all, or a fault: it must not hold up the others.
    if (failure.code == "INTERNAL_ERROR")
      log_.error("one of many could not be done",
                 {{"job", to_string(job.id)}, {"id", action.id_text(id)}, {"error", failure.message}});
    auto noted = co_await async_db_.write(scheduler_, [&](Tx& tx) -> std::optional<BulkJobRow> {
      auto row = lock_as_known(tx, job);
      if (!row) return std::nullopt;
      row->done_to = id;
      note_failure(*row, action.id_text(id), failure);
      update_bulk_job(tx, *row);
      return row;
    });
    if (!noted) co_return Step::failed;
    if (!*noted) co_return Step::elsewhere;
    job = std::move(**noted);
    co_return Step::went_on;
  }
  co_return Step::failed;
}

Task<BulkWorker::Step> BulkWorker::advance(BulkJobRow& job, std::optional<std::int64_t> next) {
  auto advanced = co_await async_db_.write(scheduler_, [&](Tx& tx) {
    auto row = lock_as_known(tx, job);
    if (!row) return false;
    if (next) {
      row->done_to = *next;
    } else {
      finish(*row, tx.now());
    }
    update_bulk_job(tx, *row);
    return true;
  });
  if (!advanced) co_return Step::failed;
  co_return *advanced ? Step::went_on : Step::elsewhere;
}

Task<BulkWorker::Step> BulkWorker::give_up(const BulkJobRow& job, const char* fault) {
  auto ended = co_await async_db_.write(scheduler_, [&](Tx& tx) {
    auto row = lock_as_known(tx, job);
    if (!row) return false;
    finish(*row, tx.now());
    row->fault = fault;
    update_bulk_job(tx, *row);
    return true;
  });
  if (!ended) co_return Step::failed;
  co_return *ended ? Step::went_on : Step::elsewhere;
}

}  // namespace presetbridge::services
