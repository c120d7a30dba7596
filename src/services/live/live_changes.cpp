#include "services/live/live_changes.h"

#include <algorithm>
#include <utility>

#include "services/live/live_reader.h"

namespace presetbridge::services {
namespace {

using storage::Tx;

constexpr int kChangesAtOnce = 500;  // of an account, from the database
constexpr std::size_t kFeedsAtOnce = 500;
constexpr Millis kWritersPoll{10};
constexpr int kDeletedAtOnce = 1'000;

}  // namespace

Task<Expected<std::shared_ptr<net::BodyStream>>> LiveChanges::open(Scheduler& scheduler, Reading reading) {
  const auto account = reading.account;
  const auto last = parse_live_event_id(reading.last_event_id);
  const bool comes_back = !reading.last_event_id.empty();
  auto reader = co_await reader_of(scheduler, std::move(reading));
  if (!reader) co_return std::unexpected(reader.error());
  auto& feed = (*reader)->feed();
  if (last && last->generation == feed.position().generation) {
    auto known = co_await reaches(scheduler, feed, *last);
    if (!known) co_return std::unexpected(known.error());
    if (*known) {
      (*reader)->resume(*last);
      co_return std::move(*reader);
    }
  }
  if (auto settled = co_await settle(scheduler, account); !settled)
    co_return std::unexpected(settled.error());
  comes_back ? (*reader)->begin_anew() : (*reader)->begin();
  co_return std::move(*reader);
}

Task<Expected<std::shared_ptr<LiveReader>>> LiveChanges::reader_of(Scheduler& scheduler, Reading reading) {
  const auto account = reading.account;
  const auto join = [&](const FeedPtr& feed) {
    return std::make_shared<LiveReader>(*this, scheduler, feed, std::move(reading));
  };
  {
    const std::scoped_lock lock(mutex_);
    if (const auto known = feeds_.find(account); known != feeds_.end()) co_return join(known->second.feed);
  }
  const auto generation = deps_.ids.next();
  auto position = co_await deps_.async_db.write(
      scheduler, [&](Tx& tx) { return watch_account(tx, account, generation, watched_until(tx.now())); });
  if (!position) co_return std::unexpected(position.error());
  const std::scoped_lock lock(mutex_);
  auto& entry = feeds_[account];
  if (!entry.feed) entry.feed = std::make_shared<LiveFeed>(account, *position);
  // Changes that were reported between the watch's commit and now found no feed.
  unknown_.insert(account);
  tasks_.wake();
  co_return join(entry.feed);
}

Task<Expected<void>> LiveChanges::settle(Scheduler& scheduler, AccountId account) {
  {
    const std::scoped_lock lock(mutex_);
    const auto known = feeds_.find(account);
    if (known != feeds_.end() && known->second.settled) co_return Expected<void>{};
  }
  if (auto ended = co_await writers_end(scheduler); !ended) co_return std::unexpected(ended.error());
  const std::scoped_lock lock(mutex_);
  if (const auto known = feeds_.find(account); known != feeds_.end()) known->second.settled = true;
  co_return Expected<void>{};
}

Task<Expected<void>> LiveChanges::writers_end(Scheduler& scheduler) {
  std::optional<std::set<std::string>> before;
  const auto deadline = deps_.clock.now() + options_.settling;
  for (;;) {
    auto writers = co_await deps_.async_db.read(scheduler, [](Tx& tx) { return watch_writers(tx); });
    if (!writers) co_return std::unexpected(writers.error());
    if (before) std::erase_if(*writers, [&](const std::string& one) { return !before->contains(one); });
    if (writers->empty()) co_return Expected<void>{};
    if (deps_.clock.now() >= deadline)
      co_return fail("OVERLOADED", "The service is busy. Try again in a moment.");
    before = std::move(*writers);
    co_await sleep_for(scheduler, kWritersPoll);
  }
}

// A node hears of what others did a moment later than they, so a reader who was there may be ahead of it.
Task<Expected<bool>> LiveChanges::reaches(Executor& executor, const LiveFeed& feed, LivePosition position) {
  if (position.sequence <= feed.position().sequence) co_return true;
  const std::array account{feed.account()};
  auto now = co_await deps_.async_db.read(
      executor, [&](Tx& tx) { return find_watches(tx, account).front().value_or(LivePosition{}); });
  if (!now) co_return std::unexpected(now.error());
  co_return now->generation == position.generation&& position.sequence <= now->sequence;
}

Task<Expected<LiveChanges::Page>> LiveChanges::read_on(Executor& executor, const LiveFeed& feed,
                                                       LivePosition after) {
  // Not further: what the feed does not know of may not be durable yet.
  const auto known = feed.position();
  const std::array asked{storage::ChangesAsked{feed.account(), after.generation, after.sequence}};
  auto rows = co_await deps_.async_db.read(
      executor, [&](Tx& tx) { return std::move(find_changes(tx, asked, kChangesAtOnce).front()); });
  if (!rows) co_return std::unexpected(rows.error());
  Page page{.text = {}, .read_to = after.sequence};
  for (const auto& row : *rows) {
    if (row.sequence > known.sequence || known.generation != after.generation) break;
    const auto text = live_event(row.kind, row.data, live_event_id({after.generation, row.sequence}));
    if (row.sequence != page.read_to + 1 ||
        (!page.text.empty() && page.text.size() + text.size() > kLiveChunkBytes))
      break;
    page.text += text;
    page.read_to = row.sequence;
  }
  page.complete = !page.text.empty();
  co_return page;
}

void LiveChanges::left(const FeedPtr& feed) {
  const std::scoped_lock lock(mutex_);
  const auto known = feeds_.find(feed->account());
  if (known != feeds_.end() && known->second.feed == feed && !feed->has_readers()) feeds_.erase(known);
}

void LiveChanges::report(const std::vector<storage::WrittenChanges>& written) {
  if (written.empty()) return;
  std::int64_t changes = 0;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& of : written) {
      const auto known = feeds_.find(of.account);
      if (known == feeds_.end()) continue;
      const auto appended = known->second.feed->append(of.generation, of.first, of.changes);
      changes += appended.value_or(0);
      (appended ? fresh_ : unknown_).insert(of.account);
    }
    if (fresh_.empty() && unknown_.empty()) return;
  }
  deps_.metrics.count("presetbridge_live_changes_total", {}, static_cast<double>(changes));
  tasks_.wake();
}

void LiveChanges::start() {
  tasks_.start_loop(loop(), "live changes");
}

void LiveChanges::stop(Callback stopped) {
  tasks_.stop(std::move(stopped));
}

std::vector<LiveChanges::FeedPtr> LiveChanges::all_feeds() {
  std::vector<FeedPtr> feeds;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [account, entry] : feeds_) feeds.push_back(entry.feed);
  }
  std::ranges::sort(feeds, {}, &LiveFeed::account);
  return feeds;
}

void LiveChanges::wake_readers() {
  std::vector<FeedPtr> feeds;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto account : std::exchange(fresh_, {})) {
      if (const auto known = feeds_.find(account); known != feeds_.end()) feeds.push_back(known->second.feed);
    }
  }
  for (const auto& feed : feeds) feed->wake_readers();
}

Task<void> LiveChanges::loop() {
  while (!tasks_.stopping()) {
    const auto now = deps_.clock.now();
    auto pause = std::min(deletions_.left(now), renewals_.left(now));
    if (has_to_poll()) pause = std::min(pause, polls_.left(now));
    co_await tasks_.wait(pause);
    if (tasks_.stopping()) break;
    wake_readers();
    co_await poll();
    wake_readers();
    if (renewals_.take(deps_.clock.now())) co_await watch_again(all_feeds());
    if (deletions_.take(deps_.clock.now())) co_await delete_old();
    if (!tasks_.stopping()) co_await sleep_for(deps_.scheduler, options_.pace);
  }
}

bool LiveChanges::has_to_poll() {
  const std::scoped_lock lock(mutex_);
  return !unknown_.empty() || (options_.others_write && !feeds_.empty());
}

Task<void> LiveChanges::poll() {
  std::vector<FeedPtr> feeds;
  const bool due = polls_.take(deps_.clock.now());
  const bool all = options_.others_write && due;
  if (all) feeds = all_feeds();
  {
    const std::scoped_lock lock(mutex_);
    for (const auto account : std::exchange(unknown_, {})) {
      const auto known = feeds_.find(account);
      if (!all && known != feeds_.end()) feeds.push_back(known->second.feed);
    }
  }
  for (std::size_t from = 0; from < feeds.size() && !tasks_.stopping(); from += kFeedsAtOnce) {
    const auto begin = feeds.begin() + static_cast<std::ptrdiff_t>(from);
    const auto count = static_cast<std::ptrdiff_t>(std::min(kFeedsAtOnce, feeds.size() - from));
    co_await poll_feeds({begin, begin + count});
  }
}

Task<void> LiveChanges::poll_feeds(std::vector<FeedPtr> feeds) {
  struct Found {
    std::vector<std::optional<LivePosition>> watches;
    std::vector<std::size_t> whose;
    std::vector<std::vector<storage::StoredChange>> changes;
  };
  std::vector<AccountId> accounts;
  std::vector<LivePosition> known;
  for (const auto& feed : feeds) {
    accounts.push_back(feed->account());
    known.push_back(feed->position());
  }
  const auto read = [&](Tx& tx) {
    Found found{.watches = find_watches(tx, accounts), .whose = {}, .changes = {}};
    std::vector<storage::ChangesAsked> asked;
    for (std::size_t i = 0; i < accounts.size(); ++i) {
      const auto& now = found.watches[i];
      if (!now || now->generation != known[i].generation || now->sequence <= known[i].sequence) continue;
      asked.push_back({accounts[i], known[i].generation, known[i].sequence});
      found.whose.push_back(i);
    }
    found.changes = find_changes(tx, asked, kChangesAtOnce);
    return found;
  };
  // SQLite shows commits before they are durable; among the writes this read runs after they are.
  auto found = options_.others_write ? co_await deps_.async_db.read(deps_.scheduler, read)
                                     : co_await deps_.async_db.write(deps_.scheduler, read);
  if (!found) {
    failed(found.error(), "read");
    const std::scoped_lock lock(mutex_);
    unknown_.insert(accounts.begin(), accounts.end());  // looked for again in a moment
    co_return;
  }
  std::vector<FeedPtr> lost;
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    const auto& now = found->watches[i];
    if (!now || now->generation != known[i].generation) lost.push_back(feeds[i]);
  }
  std::int64_t changes = 0;
  for (std::size_t n = 0; n < found->whose.size(); ++n) {
    const auto i = found->whose[n];
    std::vector<storage::WrittenChange> texts;
    for (auto& row : found->changes[n]) texts.push_back({std::move(row.kind), std::move(row.data)});
    changes += feeds[i]->append(known[i].generation, known[i].sequence + 1, texts).value_or(0);
    const std::scoped_lock lock(mutex_);
    fresh_.insert(accounts[i]);
    if (texts.size() == kChangesAtOnce) unknown_.insert(accounts[i]);
  }
  deps_.metrics.count("presetbridge_live_changes_total", {}, static_cast<double>(changes));
  if (!lost.empty()) co_await watch_again(std::move(lost));
  const std::scoped_lock lock(mutex_);
  if (!unknown_.empty()) tasks_.wake();
}

Task<void> LiveChanges::watch_again(std::vector<FeedPtr> feeds) {
  for (std::size_t from = 0; from < feeds.size() && !tasks_.stopping(); from += kFeedsAtOnce) {
    const auto to = std::min(from + kFeedsAtOnce, feeds.size());
    std::vector<std::int64_t> generations;
    for (auto i = from; i < to; ++i) generations.push_back(deps_.ids.next());
    auto positions = co_await deps_.async_db.write(deps_.scheduler, [&](Tx& tx) {
      std::vector<LivePosition> found;
      for (auto i = from; i < to; ++i)  // in the order in which changes lock them
        found.push_back(
            watch_account(tx, feeds[i]->account(), generations[i - from], watched_until(tx.now())));
      return found;
    });
    if (!positions) {
      failed(positions.error(), "watched");
      co_return;
    }
    std::vector<std::size_t> others;
    for (auto i = from; i < to; ++i) {
      if (feeds[i]->position().generation != (*positions)[i - from].generation) others.push_back(i);
    }
    if (others.empty()) continue;
    if (auto ended = co_await writers_end(deps_.scheduler); !ended) {
      failed(ended.error(), "watched");
      co_return;
    }
    const std::scoped_lock lock(mutex_);
    for (const auto i : others) {
      feeds[i]->restart((*positions)[i - from]);
      fresh_.insert(feeds[i]->account());
    }
  }
}

Task<void> LiveChanges::delete_old() {
  for (std::int64_t deleted = kDeletedAtOnce; deleted >= kDeletedAtOnce && !tasks_.stopping();) {
    auto done = co_await deps_.async_db.write(deps_.scheduler, [&](Tx& tx) {
      delete_ended_watches(tx, tx.now(), kDeletedAtOnce);
      return delete_old_changes(tx, tx.now() - options_.retention, kDeletedAtOnce);
    });
    if (!done) {
      failed(done.error(), "deleted");
      co_return;
    }
    deleted = *done;
  }
}

void LiveChanges::failed(const Error& error, std::string_view doing) {
  if (!storage::is_logged(error))
    deps_.log.warn("live changes could not be read on", {{"doing", doing}, {"error", error.message}});
}

}  // namespace presetbridge::services
