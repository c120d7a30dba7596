#include "run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "run_state.h"

namespace presetbridge::simulation {
namespace {

using namespace std::chrono_literals;

constexpr Millis kQuiet = 5h;
constexpr Millis kProbe = 1h;
constexpr Millis kAllRetries = 34h;  // of an event, with what a receiver that does not answer holds up

}  // namespace

void Run::rest(bool at_the_end) {
  service_.set_weather(Weather::fair);
  const auto had = service_.facts().has.size();
  // Deliveries that failed as cloud_unavailable are tried one an hour (spec 3.5), and one whose file is missing
  // tells nothing of the others. A credit that one gives back goes to the next at the next maintenance.
  const auto failed = std::ranges::count_if(rows_, [](const auto& entry) {
    return entry.second.status == DeliveryStatus::failed &&
           (entry.second.resolution == ResolutionCode::cloud_unavailable ||
            entry.second.resolution == ResolutionCode::insufficient_credits);
  });
  pass(kQuiet + failed * kProbe);
  // All orders are seen as they are now before any is judged.
  check(false);
  if (!wrong_.empty()) return;
  check(true);
  if (!wrong_.empty()) return;
  std::vector<DeliveryId> ids;
  for (const auto& [order, id] : deliveries_) ids.push_back(id);
  wrong_ = compare_books(service_, model_, ids);
  if (wrong_.empty()) wrong_ = service_.keys().judge();
  for (const auto& [order, state] : model_.orders()) {
    if (wrong_.empty() && state.erased) wrong_ = names_left(order);
  }
  model_.quiet();
  // Trouble ends with a write that succeeds, or with the work that set its clock (spec 3.5). A delivery that nobody
  // approves stays failed for it.
  if (service_.facts().has.size() > had || !model_.any_unavailable(service_.now())) service_.forget_trouble();
  if (wrong_.empty()) wrong_ = service_.outbound().judge_all(false);
  if (!at_the_end || !wrong_.empty()) return;
  service_.outbound().all_well();
  pass(kAllRetries);
  check(false);
  if (wrong_.empty()) wrong_ = service_.outbound().judge_all(true);
}

void Run::check(bool quiet) {
  if (!service_.wrong().empty()) wrong_ = service_.wrong();
  if (!wrong_.empty()) return;
  for (const auto& [user, file] : std::exchange(service_.lost_shares, {}))
    model_.share_begins(user, file, false);
  auto known = service_.facts();
  known.one_login = !moved_;
  known.tried = std::exchange(tried_, 0) + std::exchange(held_, known.held);
  std::vector<DeliveryId> ids;
  for (const auto& [order, id] : deliveries_) ids.push_back(id);
  const auto [rows, items] = service_.read(ids);
  const auto problem = service_.outbound().check([&](std::int64_t id) {
    const auto found =
        std::ranges::find(deliveries_, DeliveryId{id}, &std::pair<const std::string, DeliveryId>::second);
    return found == deliveries_.end() ? std::string() : found->first;
  });
  for (const auto& said : service_.outbound().said) note("    " + said);
  for (const auto& order : service_.outbound().waiting) model_.waits(order);
  if (!problem.empty()) {
    wrong_ = problem;
    return;
  }
  for (const auto& [order, id] : deliveries_) {
    const auto& row = *std::ranges::find(rows, id, &storage::DeliveryRow::id);
    rows_[order] = row;
    const bool erased = model_.orders().at(order).erased;
    const auto seen =
        see(row, items, erased ? std::optional(model_.delivery(order)->username) : std::nullopt);
    if (with_story_) {
      auto text = fmt::format("    order {}: {}", order, to_text(seen));
      if (std::exchange(last_said_[order], text) != text) note(text);
    }
    auto wrong = quiet ? model_.finish(order, seen, known) : model_.seen(order, seen, known);
    if (wrong.empty())
      wrong =
          service_.outbound().judge(order, row, seen, model_.delivery(order)->dry_run, asked(order, seen));
    if (wrong.empty()) continue;
    wrong_ = fmt::format("order {}: {}\n  the service: {}\n  the model:   {}", order, wrong, to_text(seen),
                         to_text(*model_.delivery(order)));
    return;
  }
  for (const auto& [id, order] : model_.orders()) {
    const int times = service_.outbound().unmapped(id);
    if (times < order.unmapped_least || times > order.unmapped_most)
      wrong_ = fmt::format("order {}: {} times it was said to have unmapped lines, and should be {} to {}",
                           id, times, order.unmapped_least, order.unmapped_most);
  }
}

std::optional<Finding> run(const History& history, bool with_story) {
  try {
    return Run(with_story).go(history);
  } catch (const std::exception& e) {
    return Finding{0, fmt::format("it threw: {}", e.what()), {}};
  }
}

}  // namespace presetbridge::simulation
