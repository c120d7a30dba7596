#include "services/worker/delivery_worker.h"

#include <algorithm>
#include <stdexcept>

#include "base/recurring.h"
#include "services/timed_read.h"
#include "services/worker/account_trouble.h"
#include "services/worker/chores.h"
#include "services/worker/sweep.h"
#include "storage/cloud_account_store.h"

namespace presetbridge::services {
namespace {

using cloud::CloudError;
using cloud::CloudResult;
using storage::Tx;

constexpr Millis kLocked{10};
constexpr Millis kGather{10};  // what notifies the maintenance
constexpr int kTakeOverPiece = 200;
constexpr Millis kHeldChore{20};       // until one that may not begin yet is asked for again, at least
constexpr Millis kLongHold{30'000};    // longer than transactions of the service last
constexpr Millis kEveryLease{60'000};  // looks at all that ran out, however long ago
constexpr int kMostChores = 50;        // in one round
constexpr int kMostProbes = 200;       // likewise
constexpr int kMaxSweepPages =
    100'000;  // a platform that never ends its pages must not keep a sweep for ever

// The same again may go well: nobody's row is at fault.
bool is_passing(const Error& error) {
  return error.code == "STORAGE_UNAVAILABLE" || error.code == "OVERLOADED";
}

template <class T>
void put(Answer& answer, CloudResult<T> result) {
  if (!result) {
    answer.value = result.error();
  } else if constexpr (!std::is_void_v<T>) {
    answer.value = std::move(*result);
  }
}

}  // namespace

DeliveryWorker::DeliveryWorker(WorkerPorts ports, WorkerOptions options)
    : ports_(ports),
      options_(std::move(options)),
      steps_(ports_.changes, ports_.random, options_, ports_.cloud.call_timeout()),
      answers_(ports_.commits, [this](Tx& tx, std::span<const JobAnswer> answers,
                                      std::span<JobCall> next) { steps_.advance(tx, answers, next); }),
      platform_(ports_.clock, ports_.log, ports_.metrics),
      look_(options_.maintenance),
      lease_look_(kEveryLease),
      maintenance_(ports_.scheduler),
      missed_work_(ports_.scheduler),
      tasks_(ports_.scheduler, {.log = ports_.log,
                                .message = "a task of the delivery worker failed",
                                .metrics = &ports_.metrics,
                                .counter = "presetbridge_worker_faults_total"}) {
  if (options_.lease <= ports_.cloud.call_timeout()) {
    throw std::invalid_argument("the lease must be longer than the timeout of a call to the cloud platform");
  }
}

void DeliveryWorker::start() {
  tasks_.start_loop(lease_loop(), "lease loop");
  tasks_.start_loop(maintenance_loop(), "maintenance loop");
  tasks_.start_loop(missed_work_loop(), "missed work loop");
}

void DeliveryWorker::stop(Callback stopped) {
  maintenance_.notify();
  missed_work_.notify();
  tasks_.stop(std::move(stopped));
}

// One that throws is a fault here: its lease runs out and the work is taken over.
void DeliveryWorker::start_job(Task<void> task, std::string_view what) {
  tasks_.start_job(std::move(task), what, [this](const std::exception_ptr&) {
    ports_.told();
    tasks_.wake();
  });
}

Task<void> DeliveryWorker::lease_loop() {
  Pace pace = Pace::together;
  bool busy = false;         // the last round found work
  Timestamp closed_until{};  // by the queue limit of the whole service
  while (!tasks_.stopping()) {
    const int slots = options_.max_jobs - tasks_.jobs();
    Millis pause = options_.poll;
    Timestamp from = look_.begin();
    std::optional<Timestamp> next;
    if (!busy) {
      // Looking costs no write: an idle service leaves the disk alone.
      const auto seen = co_await ports_.commits.read(
          ports_.scheduler, [from](Tx& tx) { return std::pair(storage::next_ready(tx, from), tx.now()); });
      if (seen) {
        next = seen->first;
        look_.saw(from, next, seen->second);
        from = look_.begin();
      }
    }
    const bool closed = ports_.clock.now() < closed_until;
    if (slots > 0 && !closed && (std::exchange(busy, false) || (next && *next <= ports_.clock.now()))) {
      LeasePlace at;
      auto leased = co_await ports_.commits.write(ports_.scheduler, [this, from, slots, pace, &at](Tx& tx) {
        return lease_jobs(tx, options_, from, slots, pace, at);
      });
      if (leased) {
        pace = Pace::together;
        look_.saw(from, leased->next_ready, leased->at);
        for (const auto& [account, column] : leased->unreadable) {
          ports_.log.error(
              "a queue's record could not be read; no job of it for a minute",
              {{"cloudAccount", account ? to_string(account) : std::string("all")}, {"record", column}});
          ports_.metrics.count("presetbridge_worker_faults_total");
        }
        for (auto& job : leased->jobs) {
          start_job(run_job(std::move(job)), "job");
        }
        for (auto& sweep : leased->sweeps) {
          start_job(run_sweep(std::move(sweep)), "sweep");
        }
        next = leased->next_ready;
        busy = !leased->jobs.empty() || !leased->sweeps.empty();
        // What is ready and was not given is locked by another transaction, for a moment.
        if (!busy && next) next = std::max(*next, ports_.clock.now() + kLocked);
        closed_until = leased->closed_until.value_or(Timestamp{});
      } else if (pace == Pace::together && !is_passing(leased.error())) {
        // Of many rows read at once nobody knows which was at fault.
        pace = Pace::one_by_one;
        continue;
      } else {
        if (!storage::is_told(leased.error()))
          ports_.log.warn("no jobs could be leased", {{"error", leased.error().message}});
        // The same again would fail the same, unless what was at fault is out of the way.
        const bool others = co_await isolate(leased.error(), at);
        next = ports_.clock.now() + (others ? Millis{0} : options_.poll);
        pace = Pace::together;
      }
    }
    if (next) next = std::max(*next, closed_until);
    if (next) pause = std::clamp(*next - ports_.clock.now(), Millis{0}, options_.poll);
    if (pause == Millis{0} && tasks_.jobs() < options_.max_jobs) continue;
    // With every place taken the end of a job wakes the loop.
    co_await tasks_.wait(tasks_.jobs() < options_.max_jobs ? pause : options_.poll);
  }
}

// One row that throws must not keep the work of all others: it is told of, and left alone for some minutes.
// Returns whether it is out of the way.
Task<bool> DeliveryWorker::isolate(Error error, LeasePlace at) {
  if (is_passing(error) || (!at.cloud_account && !at.customer)) co_return false;
  ports_.log.error("work that fails here is left alone for some minutes",
                   {{"cloudAccount", at.cloud_account ? to_string(at.cloud_account) : std::string()},
                    {"customer", at.customer ? to_string(at.customer) : std::string()},
                    {"error", error.message}});
  ports_.metrics.count("presetbridge_worker_faults_total");
  auto done = co_await ports_.commits.write(ports_.scheduler, [at](Tx& tx) { set_aside(tx, at); });
  if (!done && !is_passing(done.error()) && at.customer && at.cloud_account) {
    at.customer = {};
    done = co_await ports_.commits.write(ports_.scheduler, [at](Tx& tx) { set_aside(tx, at); });
  }
  co_return done.has_value();
}

Task<void> DeliveryWorker::maintenance_loop() {
  struct Waiting {
    Timestamp at;
    bool expired;
    AccountId dry_run_turn;
    std::vector<DeliveryId> dry_runs;
    std::vector<storage::Chore> chores;
    std::set<std::string> writers;
    std::vector<CloudAccountId> probes;
  };
  Recurring look_for_leases(options_.maintenance);
  Recurring tell_of_held(kLongHold);
  while (!tasks_.stopping()) {
    const Timestamp now = ports_.clock.now();
    const bool leases = look_for_leases.take(now);
    deliveries_aside_.forget_until(now);
    chores_aside_.forget_until(now);
    // What is aside, or may not begin yet, is found too: it must not fill the list.
    const int aside = deliveries_aside_.size();
    const int chores = kMostChores + chores_aside_.size() + chore_starts_.held();
    if (leases && lease_look_.take_everything(now)) lease_look_.begin_anew();
    const Timestamp from = lease_look_.begin();
    auto waiting = co_await ports_.commits.read(
        ports_.scheduler, [leases, from, aside, chores, turn = dry_run_turn_](Tx& tx) {
          Waiting found{tx.now(),
                        leases && storage::any_lease_expired(tx, from, tx.now()),
                        turn,
                        {},
                        storage::find_chores(tx, chores),
                        {},
                        {}};
          found.dry_runs = dry_runs_in_turn(tx, found.dry_run_turn, aside);
          if (leases) found.probes = storage::find_due_probes(tx, tx.now(), kMostProbes);
          if (std::ranges::any_of(found.chores, [](const auto& chore) { return !chore.done_to; }))
            found.writers = storage::order_writers(tx);
          return found;
        });
    if (waiting && leases && !waiting->expired) lease_look_.saw(from, std::nullopt, waiting->at);
    bool more = false;
    if (waiting && waiting->expired) {
      LeasePlace at;
      auto taken = co_await ports_.commits.write(ports_.scheduler, [this, from, &at](Tx& tx) {
        return take_over_expired(tx, ports_.changes, from, kTakeOverPiece, at);
      });
      if (taken && *taken > 0)
        ports_.log.info("leases that ran out were taken over", {{"count", std::int64_t{*taken}}});
      more = taken ? *taken > 0 : co_await isolate(taken.error(), at);
      if (more) look_for_leases.hasten();
    }
    if (waiting) {
      co_await start_probes(std::move(waiting->probes));
      chore_starts_.hold_back(waiting->chores, waiting->writers, now);
      dry_run_turn_ = waiting->dry_run_turn;
      const bool dry = co_await complete_dry_runs(std::move(waiting->dry_runs));
      const bool done = co_await do_chores(std::move(waiting->chores));
      more = more || dry || done;
    }
    if (more) {
      ports_.told();
      tasks_.wake();
    }
    // Each order that is accepted notifies: one look for many of them.
    Millis pause = look_for_leases.left(ports_.clock.now());
    if (const auto waited = chore_starts_.waited(now)) {
      // Mostly some milliseconds; the longer it takes, the longer it may.
      pause = std::min(pause, std::clamp(*waited / 8, kHeldChore, kLongHold / 30));
      if (*waited >= kLongHold && tell_of_held.take(now)) {
        ports_.log.warn(
            "changes of logins, credits or mappings are not spread to all deliveries: a transaction that has "
            "locked orders or deliveries does not end",
            {{"chores", std::int64_t{chore_starts_.held()}}, {"seconds", waited->count() / 1'000}});
      }
    }
    if (more) pause = Millis{1};
    if (co_await maintenance_.wait(pause) && !tasks_.stopping())
      co_await sleep_for(ports_.scheduler, kGather);
  }
}

Task<void> DeliveryWorker::missed_work_loop() {
  Recurring look_for_forgotten(options_.maintenance);  // goes through the queues of all accounts
  while (!tasks_.stopping()) {
    if (look_.take_everything(ports_.clock.now())) {
      const auto ready = co_await timed_read(ports_.commits, ports_.scheduler, ports_.clock,
                                             [](Tx& tx) { return storage::next_ready(tx, {}); });
      if (look_.saw_everything(ready.found, ready.took)) tasks_.wake();
    }
    if (!tasks_.stopping() && look_for_forgotten.take(ports_.clock.now())) {
      const auto forgotten = co_await timed_read(ports_.commits, ports_.scheduler, ports_.clock,
                                                 [](Tx& tx) { return storage::any_forgotten_account(tx); });
      look_for_forgotten.done(forgotten.took);
      if (forgotten.found && *forgotten.found) {
        const auto woken = co_await ports_.commits.write(
            ports_.scheduler, [](Tx& tx) { return storage::wake_forgotten_accounts(tx); });
        if (woken && *woken > 0) tasks_.wake();
      }
    }
    const Timestamp now = ports_.clock.now();
    co_await missed_work_.wait(std::min(look_.left(now), look_for_forgotten.left(now)));
  }
}

Task<bool> DeliveryWorker::complete_dry_runs(std::vector<DeliveryId> waiting) {
  std::erase_if(waiting, [this](DeliveryId id) { return deliveries_aside_.contains({AccountId{}, id}); });
  if (waiting.empty()) co_return false;
  DeliveryId at;
  auto done = co_await ports_.commits.write(ports_.scheduler,
                                            [&](Tx& tx) { run_dry(tx, ports_.changes, waiting, at); });
  if (done) co_return true;
  if (is_passing(done.error()) || !at) co_return false;
  ports_.log.error("a test order that fails here is left alone for some minutes",
                   {{"delivery", to_string(at)}, {"error", done.error().message}});
  ports_.metrics.count("presetbridge_worker_faults_total");
  deliveries_aside_.put({AccountId{}, at}, ports_.clock.now() + kSetAside);
  co_return true;  // the others
}

// Failed deliveries of these accounts that are tried again now (spec 3.5).
Task<void> DeliveryWorker::start_probes(std::vector<CloudAccountId> due) {
  for (const auto id : due) {
    if (tasks_.stopping()) co_return;
    auto done = co_await ports_.commits.write(ports_.scheduler, [id](Tx& tx) { start_probe(tx, id); });
    if (done || is_passing(done.error())) continue;
    ports_.log.error("a failed delivery could not be tried again; another in an hour",
                     {{"cloudAccount", to_string(id)}, {"error", done.error().message}});
    ports_.metrics.count("presetbridge_worker_faults_total");
    co_await ports_.commits.write(ports_.scheduler, [id](Tx& tx) { storage::postpone_probe(tx, id); });
  }
  if (!due.empty()) tasks_.wake();
}

Task<bool> DeliveryWorker::do_chores(std::vector<storage::Chore> waiting) {
  bool more = false;
  for (const auto& chore : waiting) {
    if (tasks_.stopping()) break;
    if (chores_aside_.contains({chore.account, chore.kind})) continue;
    Aside aside;
    for (const auto& [place, until] : deliveries_aside_.all())
      if (place.first == chore.account) aside.insert(place.second);
    DeliveryId at;
    auto done = co_await ports_.commits.write(
        ports_.scheduler, [&](Tx& tx) { return do_chore(tx, ports_.changes, chore, aside, at); });
    const auto later = ports_.clock.now() + kSetAside;
    if (!done && is_passing(done.error())) continue;
    if (!done) {
      ports_.log.error("a chore that fails here is left alone for some minutes",
                       {{"account", to_string(chore.account)},
                        {"chore", storage::to_string(chore.kind)},
                        {"delivery", at ? to_string(at) : std::string()},
                        {"error", done.error().message}});
      ports_.metrics.count("presetbridge_worker_faults_total");
    }
    // One delivery at fault is left out; without one the whole chore waits.
    if (!done && at) deliveries_aside_.put({chore.account, at}, later);
    if (done ? *done == ChoreProgress::waiting : !at) chores_aside_.put({chore.account, chore.kind}, later);
    more = more || (done ? *done != ChoreProgress::waiting : bool{at});
  }
  co_return more;
}

Task<void> DeliveryWorker::run_job(Job job) {
  const LeasePlace place{job.cloud_account, job.customer, job.fence};
  JobAnswer told{std::move(job), {}};
  while (true) {
    told.job.shutting_down = tasks_.stopping();
    auto next = co_await answers_.add(ports_.scheduler, std::move(told));
    if (!next) {
      if (is_passing(next.error())) {
        if (!storage::is_told(next.error()))
          ports_.log.error("a step of a job could not be written; its lease will run out",
                           {{"customer", to_string(place.customer)}, {"error", next.error().message}});
      } else {
        co_await isolate(next.error(), place);
      }
      break;
    }
    auto& its = next->job;
    const auto& call = next->call;
    if (call.kind == Call::Kind::done || call.kind == Call::Kind::lost) break;
    auto answer = co_await ask(call, its);
    if (!answer) {
      ports_.log.warn("a lease would not have outlasted a call to the cloud platform; it runs out",
                      {{"customer", to_string(place.customer)}});
      break;
    }
    told = {std::move(its), std::move(answer)};
  }
}

// Logs in, if need be, with what the vault has at this moment. `version`: of the login.
Task<CloudResult<cloud::Session>> DeliveryWorker::session_of(AccountId account, std::int64_t& version) {
  auto login = co_await ports_.commits.read(ports_.scheduler, [account](Tx& tx) {
    return std::pair(find_standing(tx, account), find_stored_login(tx, account));
  });
  if (!login) {
    co_return std::unexpected(
        CloudError{CloudError::Kind::unavailable, "the login could not be read", false, {}});
  }
  const auto& [standing, record] = *login;
  version = standing ? standing->version : 0;
  if (!record || standing->status == storage::CredentialsStatus::invalid) {
    const bool unreadable = standing && standing->unreadable;
    co_return std::unexpected(
        CloudError{unreadable ? CloudError::Kind::credentials_unreadable : CloudError::Kind::login_refused,
                   "there is no valid login",
                   false,
                   {}});
  }
  auto session = co_await ports_.sessions.session(account, {record->version, record->sealed});
  if (!session) saw(&session.error());  // one that is there says nothing: it may be an old one
  co_return session;
}

void DeliveryWorker::saw(const CloudError* error) {
  if (error == nullptr) return platform_.answered();
  switch (error->kind) {
    case CloudError::Kind::unavailable:
    case CloudError::Kind::malformed:
      return platform_.unanswered(error->message);
    case CloudError::Kind::credentials_unreadable:
      return;  // nobody was asked
    default:
      return platform_.answered();
  }
}

// Makes the call with the account's login. Nothing, and no call, if the job's lease would not outlast it
// (spec 3.4): asked last, as the lease was new when the step committed the intent, but a login takes its
// time.
Task<std::optional<Answer>> DeliveryWorker::ask(const Call& call, const Job& job) {
  Answer answer{.call = call, .login_version = call.login.version};
  CloudResult<cloud::Session> session;
  auto cached = ports_.sessions.cached(call.account, call.login.version);
  if (cached && call.login.status != storage::CredentialsStatus::invalid) {
    session = *std::move(cached);
  } else {
    session = co_await session_of(call.account, answer.login_version);
  }
  // A login of another cloud user must not act, and be recorded, as this one (spec 3.11).
  answer.other_user = session && session->user_id != job.cloud_user;
  // What its own login began is looked up and taken back with a session that is left of that.
  const bool begun = call.kind == Call::Kind::find_share || call.kind == Call::Kind::revoke;
  const bool replaced = call.login.cloud_account && call.login.cloud_account != job.cloud_account;
  if (begun && (answer.other_user || (!session && replaced))) {
    if (auto former = ports_.sessions.former(call.account, job.cloud_user)) {
      session = *std::move(former);
      answer.other_user = false;
    }
  }
  if (answer.other_user) {
    session = std::unexpected(
        CloudError{CloudError::Kind::unavailable, "the login is of another cloud user", false, {}});
  }
  if (!session) {
    answer.value = session.error();
    // No call was made, so nothing can have had an effect.
    std::get<CloudError>(answer.value).effect_unknown = false;
    co_return answer;
  }
  auto& cloud = ports_.cloud;
  auto& here = ports_.scheduler;
  if (ports_.clock.now() + cloud.call_timeout() >= job.expires_at) co_return std::nullopt;
  const Timestamp began = ports_.clock.now();
  switch (call.kind) {
    case Call::Kind::find_user: {
      auto user = co_await cloud.find_user(here, *session, call.username);
      if (user && call.then_friendship)
        answer.friendship = co_await cloud.friendship(here, *session, user->id);
      put(answer, std::move(user));
      break;
    }
    case Call::Kind::friendship:
      put(answer, co_await cloud.friendship(here, *session, call.user_id));
      break;
    case Call::Kind::request_friendship:
      put(answer, co_await cloud.request_friendship(here, *session, call.user_id, call.idempotency_key));
      break;
    case Call::Kind::withdraw:
      put(answer, co_await cloud.withdraw_friendship(here, *session, call.user_id));
      break;
    case Call::Kind::share:
      put(answer, co_await cloud.share(here, *session, call.file_id, call.user_id, call.idempotency_key));
      break;
    case Call::Kind::find_share:
      put(answer, co_await cloud.find_share(here, *session, call.file_id, call.user_id));
      break;
    case Call::Kind::revoke:
      put(answer, co_await cloud.revoke_share(here, *session, call.file_id, call.user_id));
      break;
    case Call::Kind::done:
    case Call::Kind::lost:
      break;
  }
  answer.took = std::max(ports_.clock.now() - began, Millis{0});  // the server's clock may be set back
  saw(answer.error());
  ports_.metrics.count("presetbridge_cloud_calls_total");
  if (const auto* error = answer.error()) {
    if (error->kind == CloudError::Kind::session_refused)
      ports_.sessions.invalidate(call.account, session->token);
    ports_.log.info("a call to the cloud platform failed", {{"account", to_string(call.account)},
                                                            {"delivery", to_string(call.delivery)},
                                                            {"error", error->message}});
    ports_.metrics.count("presetbridge_cloud_call_failures_total");
  }
  co_return answer;
}

// Whether the lease still holds. A row that throws must not keep the news of the others: what the page tells
// is then taken in one by one.
Task<bool> DeliveryWorker::take_in(const SweepLease& lease, const std::string& cursor,
                                   const cloud::FriendshipPage& page) {
  auto taken = co_await ports_.commits.write(ports_.scheduler, [&](Tx& tx) {
    return take_in_page(tx, ports_.changes, options_, lease, cursor, page);
  });
  if (taken) co_return *taken;
  const bool storage = is_passing(taken.error());
  for (std::size_t i = 0; !storage && i < page.changes.size(); ++i) {
    const cloud::FriendshipPage one{.changes = {page.changes[i]}, .next_cursor = {}, .more = false};
    auto alone = co_await ports_.commits.write(ports_.scheduler, [&](Tx& tx) {
      return take_in_page(tx, ports_.changes, options_, lease, cursor, one);
    });
    if (alone && !*alone) co_return false;
    if (!alone) sweep_failed(lease, "what a sweep told of one customer could not be written", alone.error());
  }
  if (storage) sweep_failed(lease, "a page of a sweep could not be written", taken.error());
  co_return !storage;
}

void DeliveryWorker::sweep_failed(const SweepLease& lease, const char* what, const Error& error) {
  if (!storage::is_told(error))
    ports_.log.error(what, {{"cloudAccount", to_string(lease.cloud_account)}, {"error", error.message}});
  ports_.metrics.count("presetbridge_worker_faults_total");
}

Task<void> DeliveryWorker::run_sweep(SweepLease lease) {
  auto owners = co_await ports_.commits.read(ports_.scheduler, [id = lease.cloud_account](Tx& tx) {
    return storage::accounts_of_cloud_account(tx, id);
  });
  if (!owners) {
    co_return sweep_failed(lease, "a sweep could not begin; its lease runs out", owners.error());
  }
  std::optional<CloudError> failure;
  bool own = true;
  std::string cursor = lease.cursor;
  bool more = !owners->empty();
  for (int page_number = 0; more && own && !tasks_.stopping() && page_number < kMaxSweepPages;
       ++page_number) {
    const AccountId owner = owners->front();
    std::int64_t version = 0;
    auto session = co_await session_of(owner, version);
    if (session && session->user_id != lease.cloud_user) {
      session = std::unexpected(
          CloudError{CloudError::Kind::unavailable, "the login is of another cloud user", false, {}});
    }
    if (!session) {
      failure = session.error();
      if (const auto fault = login_fault(*failure)) {
        auto noted = co_await ports_.commits.write(
            ports_.scheduler, [owner, version, fault](Tx& tx) { refuse_login(tx, owner, version, *fault); });
        if (!noted) sweep_failed(lease, "that a login was refused could not be written", noted.error());
      }
      break;
    }
    auto page =
        co_await ports_.cloud.friendships_since(ports_.scheduler, *session, cursor, options_.sweep_page);
    saw(page ? nullptr : &page.error());
    if (!page) {
      failure = page.error();
      if (failure->kind == CloudError::Kind::session_refused) {
        ports_.sessions.invalidate(owner, session->token);
      }
      break;
    }
    own = co_await take_in(lease, cursor, *page);
    more = page->more && page->next_cursor != cursor;
    cursor = page->next_cursor;
  }
  if (!failure && more && own)
    failure = CloudError{CloudError::Kind::unavailable, "the sweep was interrupted", false, {}};
  if (failure) {
    auto failed = co_await ports_.commits.write(
        ports_.scheduler, [lease, failure](Tx& tx) { fail_sweep(tx, lease, *failure); });
    if (!failed) sweep_failed(lease, "a sweep could not be ended; its lease runs out", failed.error());
  } else if (own) {
    while (!tasks_.stopping()) {
      auto expired = co_await ports_.commits.write(ports_.scheduler, [this, lease](Tx& tx) {
        return expire_waiting(tx, ports_.changes, lease, kTakeOverPiece);
      });
      // What waits too long is found again by the next sweep.
      if (!expired) sweep_failed(lease, "waiting without an answer could not be ended", expired.error());
      if (!expired || *expired < kTakeOverPiece) break;
    }
    auto ended = co_await ports_.commits.write(ports_.scheduler,
                                               [this, lease](Tx& tx) { end_sweep(tx, options_, lease); });
    if (!ended) sweep_failed(lease, "a sweep could not be ended; its lease runs out", ended.error());
  }
}

}  // namespace presetbridge::services
