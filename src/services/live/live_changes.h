// Streams the changes of an account to the readers of its events, exactly over nodes (spec 13.1,
// docs/decisions/0032-live-changes.md). An account is watched while somebody reads, and a while longer, so
// that a reader who comes back, at whichever node, misses nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/background_tasks.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/executor.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/recurring.h"
#include "base/shared_slots.h"
#include "base/task.h"
#include "net/http.h"
#include "services/live/live_feed.h"
#include "storage/commit/async_database.h"

namespace presetbridge::services {

class LiveReader;

// open(), report() and readers() are called on any thread, all else on `scheduler`. Outlives its readers;
// destroyed after AsyncDatabase::shutdown().
class LiveChanges {
 public:
  struct Options {
    bool others_write = false;                    // other nodes change the database, too
    Millis poll{200};                             // poll interval for their changes, while there are readers
    Millis retention = std::chrono::minutes{15};  // for who was away; at least a minute
    Millis pace{20};                              // between two rounds of waking readers
    Millis settling{10'000};  // for transactions that may not know yet that the account is watched
  };
  struct Deps {
    Scheduler& scheduler;
    storage::AsyncDatabase& async_db;
    IdSource& ids;
    const Clock& clock;
    Log& log;
    Metrics& metrics;
  };
  // All outlive this.
  LiveChanges(Deps deps, Options options)
      : deps_(deps),
        options_(options),
        tasks_(deps.scheduler, {.log = deps.log, .message = "live changes have ended by a fault"}) {}

  // A stream ends after this time at the latest, and its reader asks again: so a person who was removed, or
  // whose session or account was ended, reads no longer than that.
  static constexpr Millis kLongestReading = std::chrono::minutes{1};
  struct Reading {
    AccountId account;
    std::string last_event_id;  // empty: from now on
    Timestamp until;            // when the reader may read no more, if that is sooner
    SharedSlots::Slot slot;
  };
  // A stream of server-sent events: first `hello`, which says whether it goes on where the reader was; then
  // what is changed by any transaction that is committed after that, once each, an account's in the order of
  // their commits; `reset` where that cannot be. OVERLOADED: a transaction of before did not end in time.
  Task<Expected<std::shared_ptr<net::BodyStream>>> open(Scheduler& scheduler, Reading reading);

  // Reports the changes of this node's transactions, once they are durable.
  void report(const std::vector<storage::WrittenChanges>& written);

  void start();
  // `stopped` is called once, when nothing is under way any more. Readers are ended by their server.
  void stop(Callback stopped);

 private:
  friend class LiveReader;
  using FeedPtr = std::shared_ptr<LiveFeed>;
  struct Feed {
    FeedPtr feed;
    bool settled = false;  // each transaction that may not know of the watch has ended
  };
  struct Page {
    std::string text;
    std::int64_t read_to = 0;
    bool complete = true;  // false: something before it is kept no more
  };

  // Its reader has joined the feed.
  Task<Expected<std::shared_ptr<LiveReader>>> reader_of(Scheduler& scheduler, Reading reading);
  Task<Expected<void>> settle(Scheduler& scheduler, AccountId account);
  // Each transaction has ended that may not know of watches made before.
  Task<Expected<void>> writers_end(Scheduler& scheduler);
  // Whether the account's changes go at least so far.
  Task<Expected<bool>> reaches(Executor& executor, const LiveFeed& feed, LivePosition position);
  // The changes after a reader's place, at most to the feed's, as they are sent.
  Task<Expected<Page>> read_on(Executor& executor, const LiveFeed& feed, LivePosition after);
  void left(const FeedPtr& feed);

  Task<void> loop();
  Task<void> poll();
  Task<void> poll_feeds(std::vector<FeedPtr> feeds);
  Task<void> watch_again(std::vector<FeedPtr> feeds);
  Task<void> delete_old();
  std::vector<FeedPtr> all_feeds();
  bool has_to_poll();
  void wake_readers();
  void failed(const Error& error, std::string_view doing);
  // Readers come back for as long as changes are kept, and the watch is prolonged a few times meanwhile.
  Timestamp watched_until(Timestamp now) const { return now + 2 * options_.retention; }

  const Deps deps_;
  const Options options_;
  BackgroundTasks tasks_;
  Recurring polls_{options_.poll};
  Recurring renewals_{options_.retention / 4};
  Recurring deletions_{std::chrono::seconds{30}};
  std::mutex mutex_;                           // guards feeds_, fresh_ and unknown_
  std::unordered_map<AccountId, Feed> feeds_;  // those that somebody reads here, or is about to
  std::set<AccountId> fresh_;                  // whose readers are to be woken
  std::set<AccountId> unknown_;                // of which something is missing here
};

}  // namespace presetbridge::services
