#include "app/service/readiness.h"

#include <memory>

#include "base/wakeup.h"
#include "storage/stores/account_store.h"

namespace presetbridge::app {
namespace {

constexpr Millis kReadyWithin{2'000};  // a balancer asks every few seconds

// Whether the database takes a writing transaction, and that in time. On the thread of `home`.
Task<bool> takes_writes(Scheduler& home, storage::AsyncDatabase& async_db) {
  struct Try {
    explicit Try(Scheduler& scheduler) : ended(scheduler) {}
    Wakeup ended;
    bool well = false;
  };
  const auto one = std::make_shared<Try>(home);
  async_db.submit([](storage::Tx& tx) { storage::find_account(tx, AccountId{1}); },
                  [one, &home](const std::exception_ptr& fault, storage::Completions& wake) {
                    wake.add(home, [one, well = !fault] {
                      one->well = well;
                      one->ended.notify();
                    });
                  });
  co_await one->ended.wait(kReadyWithin);
  co_return one->well;
}

}  // namespace

Task<api::Readiness> readiness(Executor& executor, Scheduler& home, storage::AsyncDatabase& async_db,
                               const cloud::AgentProcess& agent) {
  api::Readiness readiness;
  // A writing transaction: a database that can only be read takes no order. One that writes nothing goes well
  // on a full disk too, so what others have met counts, until a write as large as an order's has gone well.
  const bool reached = co_await suspend<bool>(executor, [&home, &async_db](auto resume) {
    home.post([&home, &async_db, resume]() mutable {
      spawn(takes_writes(home, async_db),
            [resume](Outcome<bool> outcome) mutable { resume(outcome.value == true); });
    });
  });
  if (!reached || async_db.writes_in_trouble()) readiness.waiting_for.emplace_back("database");
  if (agent.pid() == 0) readiness.waiting_for.emplace_back("credential agent");
  readiness.ready = readiness.waiting_for.empty();
  co_return readiness;
}

}  // namespace presetbridge::app
