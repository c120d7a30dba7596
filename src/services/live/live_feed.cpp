#include "services/live/live_feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace presetbridge::services {
namespace {

std::optional<std::int64_t> read_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::string live_event_id(const LivePosition& position) {
  return fmt::format("{}-{}", position.generation, position.sequence);
}

std::optional<LivePosition> parse_live_event_id(std::string_view text) {
  const auto hyphen = text.find('-');
  if (hyphen == std::string_view::npos) return std::nullopt;
  const auto generation = read_number(text.substr(0, hyphen));
  const auto sequence = read_number(text.substr(hyphen + 1));
  if (!generation || !sequence) return std::nullopt;
  return LivePosition{*generation, *sequence};
}

std::string live_event(std::string_view kind, std::string_view data, std::string_view id) {
  if (id.empty()) return fmt::format("event: {}\ndata: {}\n\n", kind, data);
  return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", id, kind, data);
}

LivePosition LiveFeed::position() const {
  const std::scoped_lock lock(mutex_);
  return position_;
}

void LiveFeed::join(Reader& reader) {
  const std::scoped_lock lock(mutex_);
  readers_.insert(&reader);
}

void LiveFeed::leave(Reader& reader) {
  const std::scoped_lock lock(mutex_);
  readers_.erase(&reader);
  forget();
}

bool LiveFeed::has_readers() const {
  const std::scoped_lock lock(mutex_);
  return !readers_.empty();
}

void LiveFeed::wake_readers() {
  const std::scoped_lock lock(mutex_);
  for (auto* reader : readers_) reader->wakeup.notify();
}

LiveFeed::Taken LiveFeed::take(Reader& reader) {
  const std::scoped_lock lock(mutex_);
  if (reader.at.generation != position_.generation) {
    reader.at = position_;
    return {.text = {}, .lost = true};
  }
  const auto missing = position_.sequence - reader.at.sequence;
  if (missing <= 0) return {};
  if (missing > std::ssize(recent_)) return {.text = {}, .behind = true};
  Taken taken;
  for (auto next = recent_.end() - missing; next != recent_.end(); ++next) {
    if (!taken.text.empty() && taken.text.size() + next->size() > kLiveChunkBytes) break;
    taken.text += *next;
    ++reader.at.sequence;
  }
  forget();
  return taken;
}

void LiveFeed::move(Reader& reader, LivePosition to) {
  const std::scoped_lock lock(mutex_);
  reader.at = to;
  forget();
}

std::optional<std::int64_t> LiveFeed::append(std::int64_t generation, std::int64_t first,
                                             std::span<const storage::WrittenChange> changes) {
  const std::scoped_lock lock(mutex_);
  if (generation != position_.generation || first > position_.sequence + 1) return std::nullopt;
  const auto before = position_.sequence;
  for (const auto& change : changes) {
    if (first++ <= position_.sequence) continue;
    ++position_.sequence;
    recent_.push_back(live_event(change.kind, change.data, live_event_id(position_)));
    bytes_ += recent_.back().size();
  }
  forget();
  return position_.sequence - before;
}

void LiveFeed::restart(LivePosition position) {
  const std::scoped_lock lock(mutex_);
  if (position_.generation == position.generation) return;
  position_ = position;
  recent_.clear();
  bytes_ = 0;
}

// Forgets changes that all readers have, and the oldest of those beyond the limit. So a slow reader costs no
// memory, and a fast one never needs the database.
void LiveFeed::forget() {
  auto wanted = std::int64_t{0};
  for (const auto* reader : readers_) {
    if (reader->at.generation == position_.generation)
      wanted = std::max(wanted, position_.sequence - reader->at.sequence);
  }
  while (!recent_.empty() && (std::ssize(recent_) > wanted || bytes_ > max_stored_bytes)) {
    bytes_ -= recent_.front().size();
    recent_.pop_front();
  }
}

}  // namespace presetbridge::services
