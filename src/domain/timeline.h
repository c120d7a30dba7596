// The kinds of entries in a delivery's timeline (spec 3.7). The names are those of the database and the API.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace presetbridge::domain {

// The thing that happened.
enum class TimelineType {
  order_received,
  matched,
  queued,
  looked_up,
  request_sent,
  waiting,
  accepted,
  item_shared,
  item_revoked,
  item_revoke_failed,
  put_off,
  completed,
  failed,
  in_review,
  invalidated,
  event_created,  // an outbound event was made
  action,         // somebody did it, as the entry's actor says
  note,           // written by an earlier program, which stored no type
  summary         // of many old attempts (storage/stores/timeline_summary.h)
};
inline constexpr std::array<std::string_view, 19> kTimelineTypeNames = {
    "order_received", "matched",   "queued",      "looked_up",    "request_sent",
    "waiting",        "accepted",  "item_shared", "item_revoked", "item_revoke_failed",
    "put_off",        "completed", "failed",      "in_review",    "invalidated",
    "event_told",     "action",    "note",        "summary"};

// Retention sums up old attempts and leaves actions (spec 9.6).
enum class TimelineKind {
  attempt,  // the delivery's creation, or a change of its status that the service made by itself
  // A change that the order, a person, a key or the buyer asked for, or an entry that changes no status.
  action
};
inline constexpr std::array<std::string_view, 2> kTimelineKindNames = {"attempt", "action"};

constexpr std::string_view to_string(TimelineType type) {
  return kTimelineTypeNames[static_cast<std::size_t>(type)];
}
constexpr std::string_view to_string(TimelineKind kind) {
  return kTimelineKindNames[static_cast<std::size_t>(kind)];
}
// Nothing for a name that this program does not know.
std::optional<TimelineType> parse_timeline_type(std::string_view name);
std::optional<TimelineKind> parse_timeline_kind(std::string_view name);

}  // namespace presetbridge::domain
