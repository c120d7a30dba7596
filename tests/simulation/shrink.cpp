// Shrinking by delta debugging.
#include <algorithm>
#include <utility>

#include "run.h"

namespace presetbridge::simulation {

// What is wrong, whatever the order's number.
static std::string kind_of(const Finding& finding) {
  const auto line = finding.what.substr(0, finding.what.find('\n'));
  const auto colon = line.find(": ");
  return colon == std::string::npos ? line : line.substr(colon + 2);
}

History shrink(History history) {
  const auto finding = run(history);
  if (!finding) return history;
  const auto kind = kind_of(*finding);
  const auto shows = [&](const History& shorter) {
    const auto found = run(shorter);
    return found && kind_of(*found) == kind;
  };
  if (finding->at + 1 < history.size()) history.resize(finding->at + 1);
  // Delta debugging: ever smaller pieces are left out as long as the same is still wrong; then the waits.
  for (std::size_t part = std::max<std::size_t>(history.size() / 2, 1);;) {
    bool less = false;
    for (std::size_t at = 0; at < history.size();) {
      History shorter = history;
      const auto from = shorter.begin() + static_cast<std::ptrdiff_t>(at);
      shorter.erase(from, from + static_cast<std::ptrdiff_t>(std::min(part, history.size() - at)));
      if (shows(shorter)) {
        history = std::move(shorter);
        less = true;
      } else {
        at += part;
      }
    }
    if (part > 1) {
      part /= 2;
    } else if (!less) {
      break;
    }
  }
  for (auto& command : history) {
    if (command.wait == Millis{0}) continue;
    const auto wait = std::exchange(command.wait, Millis{0});
    if (!shows(history)) command.wait = wait;
  }
  return history;
}

}  // namespace presetbridge::simulation
