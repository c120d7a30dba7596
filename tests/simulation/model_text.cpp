// Deliveries in words, for stories.
#include <fmt/format.h>

#include "model.h"

namespace presetbridge::simulation {

constexpr const char* kStandings[] = {"open", "completed", "failed", "in_review", "invalidated"};
constexpr const char* kStates[] = {"owed",    "shared",         "by_hand",
                                   "dropped", "taken_by_order", "taken_by_merchant"};

std::string to_text(Promise::State state) {
  return kStates[static_cast<std::size_t>(state)];
}

std::string to_text(const Delivery& d) {
  std::string text = kStandings[static_cast<std::size_t>(d.standing)];
  if (d.code != ResolutionCode::none) text += fmt::format(" {}", to_string(d.code));
  if (d.standing == Standing::in_review) text += fmt::format(" for {}", domain::to_string(d.reviews));
  if (d.standing == Standing::invalidated)
    text += fmt::format(" by {}: {}", domain::to_string(d.by), d.reason);
  text += fmt::format(", to {}", d.username);
  for (const auto& [whom, promise] : d.promises) {
    text += fmt::format("; {} of {} {}{}", whom.second, whom.first, to_text(promise.state),
                        promise.unknown ? " (unknown)" : "");
  }
  return text + (d.racing ? "; racing" : "");
}

std::string to_text(const Seen& seen) {
  std::string text(to_string(seen.status));
  if (seen.code != ResolutionCode::none) text += fmt::format(" {}", to_string(seen.code));
  if (!seen.reviews.none()) text += fmt::format(" for {}", domain::to_string(seen.reviews));
  if (seen.by != domain::InvalidatedBy::nobody)
    text += fmt::format(" by {}: {}", to_string(seen.by), seen.reason);
  text += fmt::format(", to {}", seen.username);
  for (const auto& item : seen.items) {
    text += fmt::format("; {} of {} {}{}", item.file, item.name, to_string(item.status),
                        item.former ? " (former)" : "");
  }
  return text + (seen.action_waits ? "; an action waits" : "");
}

}  // namespace presetbridge::simulation
