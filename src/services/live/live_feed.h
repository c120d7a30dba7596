// The newest changes of one account, as its readers on this node get them (spec 13.1): each is one text,
// however many read it.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/wakeup.h"
#include "storage/stores/change_store.h"

namespace presetbridge::services {

using LivePosition = storage::WatchPosition;

// An event's id, which clients send back as Last-Event-ID.
std::string live_event_id(const LivePosition& position);
std::optional<LivePosition> parse_live_event_id(std::string_view text);

// Server-sent events, each ended by its empty line. Without an id a client's last one stays.
std::string live_event(std::string_view kind, std::string_view data, std::string_view id = {});
inline constexpr std::string_view kLiveHeartbeat = ":\n\n";

inline constexpr std::size_t kLiveChunkBytes = 32 * 1024;  // of one write, but for one larger event

// Thread-safe.
class LiveFeed {
 public:
  // Changes that some reader has not taken are stored up to so many bytes.
  static constexpr std::size_t max_stored_bytes = 64 * 1024;

  LiveFeed(AccountId account, LivePosition position) : account_(account), position_(position) {}

  AccountId account() const { return account_; }
  LivePosition position() const;

  // Who reads is woken after what changed; `at` is where. Registered until leave().
  struct Reader {
    explicit Reader(Scheduler& scheduler) : wakeup(scheduler) {}
    Wakeup wakeup;
    LivePosition at;
  };
  void join(Reader& reader);
  void leave(Reader& reader);
  bool has_readers() const;
  void wake_readers();

  struct Taken {
    std::string text;     // may be empty: there is nothing new
    bool behind = false;  // what follows is kept no more: it is in the database
    bool lost = false;    // what follows is of another generation, which begins at the reader's new place
  };
  // Moves the reader on by what it is given.
  Taken take(Reader& reader);
  // The reader has got, or will never get, all up to there.
  void move(Reader& reader, LivePosition to);

  // How many of these were new; nothing: changes before them are missing.
  std::optional<std::int64_t> append(std::int64_t generation, std::int64_t first,
                                     std::span<const storage::WrittenChange> changes);
  // The watch is another: what was changed meanwhile is not known.
  void restart(LivePosition position);

 private:
  void forget();

  const AccountId account_;
  mutable std::mutex mutex_;        // guards all below, and the readers' places
  LivePosition position_;           // of the newest that is known
  std::deque<std::string> recent_;  // the newest ones, up to position_
  std::size_t bytes_ = 0;           // of recent_
  std::set<Reader*> readers_;
};

}  // namespace presetbridge::services
