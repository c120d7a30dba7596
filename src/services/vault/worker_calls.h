// Calls of a node that may not open stored logins to a worker node, while a person waits: rows of
// worker_calls, announced by the wake-ups of nodes (docs/decisions/0016-database-roles.md). No secret goes
// either way.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/background_tasks.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/wakeup.h"
#include "services/vault/stored_logins.h"
#include "storage/stores/worker_call_store.h"

namespace presetbridge::services {

// The asking side: of a node that is no worker. Thread-safe, where nothing else is said.
class AskedStoredLogins final : public StoredLogins {
 public:
  static constexpr Millis patience{20'000};  // a call to the platform takes 15 at most, as set by default
  static constexpr Millis poll{500};         // where a wake-up was lost

  // `home`: where it waits. `notify`: wakes other nodes; any thread. All outlive this.
  AskedStoredLogins(Scheduler& home, storage::AsyncDatabase& async_db, IdSource& ids, const Clock& clock,
                    std::function<void()> notify)
      : home_(home), async_db_(async_db), ids_(ids), clock_(clock), notify_(std::move(notify)) {}

  // WORKER_UNAVAILABLE: no worker has answered within `patience`.
  Task<Expected<PresetFiles>> files_of_login(Executor& executor, AccountId account,
                                             std::int64_t version) override;
  Task<Expected<PresetFiles>> files_of_session(Executor& executor, crypto::Bytes token_hash) override;
  Task<Expected<CheckedLogin>> check_login(Executor& executor, AccountId account,
                                           std::int64_t version) override;

  // There may be answers.
  void wake();
  // On `home`. Waiting and later callers get at once the error that nobody has answered.
  void stop();

 private:
  Task<Expected<std::string>> ask(Executor& executor, storage::WorkerCall call);
  Task<Expected<std::string>> asked(storage::WorkerCall call);  // on home_
  void notify();                                                // likewise

  Scheduler& home_;
  storage::AsyncDatabase& async_db_;
  IdSource& ids_;
  const Clock& clock_;
  const std::function<void()> notify_;
  std::set<Wakeup*> waiting_;  // of home_'s thread
  bool stopping_ = false;      // likewise
};

// The answering side: of a worker node. Lives on `scheduler`, where start() and stop() are called.
class WorkerCallServer {
 public:
  static constexpr int most_at_once = 16;

  // `notify` as above. All outlive this.
  WorkerCallServer(Scheduler& scheduler, storage::AsyncDatabase& async_db, StoredLogins& stored, Log& log,
                   std::function<void()> notify, Millis poll = Millis{1'000})
      : scheduler_(scheduler),
        async_db_(async_db),
        stored_(stored),
        log_(log),
        notify_(std::move(notify)),
        poll_(poll),
        tasks_(scheduler, {.log = log, .message = "a task that answers other nodes has ended by a fault"}) {}

  void start();
  // There may be calls. Any thread.
  void wake() { tasks_.wake(); }
  // Takes no more; `stopped` is called once, when those at work have ended.
  void stop(Callback stopped);

 private:
  Task<void> loop();
  Task<void> answer(storage::WorkerCall call);

  Scheduler& scheduler_;
  storage::AsyncDatabase& async_db_;
  StoredLogins& stored_;
  Log& log_;
  const std::function<void()> notify_;
  const Millis poll_;
  BackgroundTasks tasks_;  // the loop, and what answers
};

// Answers as they are stored: JSON, by whichever version of the program. Files beyond 8 MiB of text are left
// out.
std::string encode_answer(const Expected<PresetFiles>& files);
std::string encode_answer(const Expected<CheckedLogin>& login);
// INTERNAL_ERROR for what is no such answer.
Expected<PresetFiles> decode_files(std::string_view answer);
Expected<CheckedLogin> decode_login(std::string_view answer);

}  // namespace presetbridge::services
