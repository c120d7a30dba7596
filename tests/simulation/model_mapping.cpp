// Mappings: the files that they give orders (spec 2.10), and their effect on deliveries whose files were
// missing (spec 2.6).
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "model.h"

namespace presetbridge::simulation {

using State = Promise::State;

void Model::map_line(Line& line) const {
  const auto found = mappings_.find(line.sku);
  line.unmapped = found == mappings_.end();
  line.files = line.unmapped ? std::vector<std::string>{} : found->second;
}

void Model::map_all(Order& order) {
  for (auto& line : order.lines) {
    std::vector<std::string> delivered_files;
    if (order.delivery) {
      for (const auto& file : line.files.value_or(std::vector<std::string>{})) {
        const auto at = order.delivery->promises.find({present(*order.delivery), file});
        if (at == order.delivery->promises.end() || !delivered(at->second.state)) continue;
        // A file that was taken back is its line's only as long as the line is mapped to it.
        const bool taken = is_taken(at->second.state);
        if (taken && (at->second.settling || at->second.stuck)) order.delivery->open_question = true;
        if (!taken) delivered_files.push_back(file);
      }
    }
    map_line(line);
    for (const auto& file : delivered_files) {
      if (std::ranges::find(*line.files, file) == line.files->end()) line.files->push_back(file);
    }
  }
}

std::set<std::pair<std::string, std::string>> Model::unmapped(const Order& order) {
  std::set<std::pair<std::string, std::string>> lines;
  for (const auto& line : order.lines) {
    if (line.files && line.unmapped) lines.emplace(line.id, line.sku);
  }
  return lines;
}

void Model::count_unmapped(Order& order, const std::set<std::pair<std::string, std::string>>& before,
                           bool sure) {
  if (std::ranges::includes(before, unmapped(order))) {
    order.unmapped_most += sure ? 0 : 1;
    return;
  }
  order.unmapped_least += sure ? 1 : 0;
  ++order.unmapped_most;
}

void Model::moved() {
  moved_ = true;
  for (auto& [id, order] : orders_) {
    if (!order.delivery) continue;
    order.delivery->open_question = true;
    // A buyer whom another user of the platform asks has 14 days from then on.
    order.delivery->first_waited = order.delivery->waits_since = std::nullopt;
    for (const auto& [whom, promise] : order.delivery->promises) {
      if (promise.unknown) perhaps_free_.insert(whom);
    }
  }
}

void Model::mapped(std::map<std::string, std::vector<std::string>> saved,
                   const std::set<std::string>& missing) {
  mappings_ = std::move(saved);
  for (auto& [id, order] : orders_) {
    if (!order.delivery || order.erased) continue;
    auto& d = *order.delivery;
    const bool met = d.standing == Standing::failed && d.code == ResolutionCode::preset_not_found;
    const bool may_meet = d.standing == Standing::open || d.standing == Standing::failed;
    const bool meets = d.open_question || d.racing ||
                       (may_meet && std::ranges::any_of(d.promises, [&](const auto& p) {
                          return p.second.state == State::owed && missing.contains(p.first.second);
                        }));
    if (met || meets) replace_missing(order, d, met && !d.open_question && !d.racing);
  }
}

void Model::perhaps(const std::string& id) {
  auto& order = orders_.at(id);
  order.delivery->open_question = true;
  ++order.unmapped_most;
  note_unmapped(order);
  auto& replacing = order.delivery->replacing;
  for (auto& line : order.lines) {
    line.perhaps_mapped = true;
    const auto mapped = mappings_.find(line.sku);
    if (mapped == mappings_.end()) continue;
    line.perhaps.insert(mapped->second.begin(), mapped->second.end());
    if (!replacing) continue;
    if (!replacing->lines.contains(line.id)) replacing->unsure.insert(line.id);
    replacing->lines[line.id].insert(mapped->second.begin(), mapped->second.end());
  }
}

// A retry or a reprocessing takes away what is mapped to nothing (spec 3.11), and does itself what a saved mapping
// does.
void Model::note_unmapped(Order& order) const {
  auto& replacing = order.delivery->replacing;
  if (!replacing) return;
  replacing->must = false;
  for (const auto& line : order.lines) {
    const auto mapped = mappings_.find(line.sku);
    if (mapped == mappings_.end() || mapped->second.empty()) replacing->unsure.insert(line.id);
  }
}

void Model::replace_missing(const Order& order, Delivery& d, bool must) const {
  if (order.too_large) return;  // its lines are not known
  Delivery::Replacing now{.missing = {}, .lines = {}, .unsure = {}, .must = must};
  for (const auto& [whom, promise] : d.promises) {
    if (whom.first == present(d) && promise.state == State::owed) now.missing.insert(whom.second);
  }
  for (const auto& line : order.lines) {
    const auto mapped = mappings_.find(line.sku);
    if (!line.files || mapped == mappings_.end() || !is_paid(order, line)) continue;
    // The file that replaced a missing one may be missing too.
    const bool replaced = d.replacing && d.replacing->lines.contains(line.id);
    const auto is_missing = [&](const std::string& file) { return now.missing.contains(file); };
    const bool sure = replaced || std::ranges::any_of(*line.files, is_missing);
    const bool owes = sure || std::ranges::any_of(line.perhaps, is_missing);
    // A mapping that is gone takes nothing away: another file must be there in its stead.
    const bool other = replaced || std::ranges::any_of(mapped->second, [&](const std::string& file) {
                         return std::ranges::find(*line.files, file) == line.files->end();
                       });
    // A file that was taken back is perhaps no longer the line's (see resolve()): then it is another one.
    const bool perhaps_other =
        line.perhaps_mapped && std::ranges::any_of(mapped->second, [&](const std::string& file) {
          const auto at = d.promises.find({present(d), file});
          return at != d.promises.end() && is_taken(at->second.state);
        });
    if (!owes || !(other || perhaps_other)) continue;
    if (!sure || !other) now.unsure.insert(line.id);
    now.lines[line.id].insert(mapped->second.begin(), mapped->second.end());
  }
  if (now.lines.empty()) return;
  d.open_question = true;
  if (d.replacing) {
    now.missing.insert(d.replacing->missing.begin(), d.replacing->missing.end());
    now.unsure.insert(d.replacing->unsure.begin(), d.replacing->unsure.end());
    for (const auto& [line, files] : d.replacing->lines) now.lines[line].insert(files.begin(), files.end());
  }
  d.replacing = std::move(now);
}

// Reads from the items what the lines owe: files that they were perhaps mapped to, or that replaced missing ones.
void Model::resolve(Order& order, const Delivery::Replacing& replaced) {
  const auto& d = *order.delivery;
  const auto is_owed = [&](const std::string& file) {
    const auto at = d.promises.find({present(d), file});
    return at != d.promises.end() && at->second.state != State::dropped;
  };
  const auto before = order.lines;
  for (auto& line : order.lines) {
    // The items do not show what a line is mapped to that nobody pays for: that stays open until it is paid again
    // (align()).
    if (!is_paid(order, line) || is_stopped(order)) {
      if (const auto others = replaced.lines.find(line.id); others != replaced.lines.end()) {
        line.perhaps.insert(others->second.begin(), others->second.end());
        line.perhaps_mapped = true;
      }
      continue;
    }
    auto candidates = std::exchange(line.perhaps, {});
    const auto others = replaced.lines.find(line.id);
    const bool replaces = others != replaced.lines.end();
    if (replaces) candidates.insert(others->second.begin(), others->second.end());
    // A file that was taken back looks alike, whether its line is mapped to it still or not.
    const bool taken =
        std::ranges::any_of(line.files.value_or(std::vector<std::string>{}), [&](const auto& file) {
          const auto at = d.promises.find({present(d), file});
          return at != d.promises.end() && is_taken(at->second.state);
        });
    // A file that another line owes too does not show it either.
    const auto of_another = [&](const std::string& file) {
      return is_owed(file) && std::ranges::any_of(before, [&](const Line& other) {
               return other.id != line.id && other.files &&
                      std::ranges::find(*other.files, file) != other.files->end();
             });
    };
    const bool both = std::ranges::any_of(line.files.value_or(std::vector<std::string>{}), of_another);
    const bool mapped = line.perhaps_mapped;
    line.perhaps_mapped = mapped && (taken || both);
    if (!line.files || (candidates.empty() && !mapped)) continue;
    // A file that another line owed before, or this one as another product, says nothing of this one: perhaps it is
    // this one's too.
    std::set<std::string> files;
    for (const auto& file : candidates) {
      const bool explained = d.left.contains(file) || of_another(file);
      if (is_owed(file)) (explained ? line.perhaps : files).insert(file);
    }
    const bool gone = replaces && !files.empty();
    for (const auto& file : *line.files) {
      const bool went = gone && replaced.missing.contains(file) && !candidates.contains(file);
      if (is_owed(file) && !went) {
        files.insert(file);
      } else if (is_owed(file)) {
        // It was there again before the line got another: nobody knows whether the line owes it still.
        order.delivery->left.insert(file);
      }
    }
    // It lost what it owed, and got a file that another line owes too.
    if (files.empty() && replaces)
      std::ranges::copy_if(candidates, std::inserter(files, files.end()), is_owed);
    line.files.emplace(files.begin(), files.end());
  }
}

void Model::quiet() {
  revoked_lately_ = auto_revoke;
  for (auto& [id, order] : orders_) {
    if (!order.delivery) continue;
    const auto replaced =
        std::exchange(order.delivery->replacing, std::nullopt).value_or(Delivery::Replacing{});
    resolve(order, replaced);
    order.delivery->racing = order.delivery->ends_later = order.delivery->open_question = false;
    for (auto& [whom, promise] : order.delivery->promises) promise.unknown = false;
  }
}

// A paid line that owed a missing file owes that still, or a file that it is mapped to since.
std::string Model::check_replaced(const Order& order, const Delivery& d) const {
  if (!d.replacing || d.racing || is_stopped(order) || order.too_large || d.standing == Standing::invalidated)
    return {};
  for (const auto& line : order.lines) {
    const auto replaced = d.replacing->lines.find(line.id);
    if (replaced == d.replacing->lines.end() || replaced->second.empty() || !is_paid(order, line) ||
        d.replacing->unsure.contains(line.id))
      continue;
    const bool owes = std::ranges::any_of(d.promises, [&](const auto& p) {
      const auto& [user, file] = p.first;
      const bool its = replaced->second.contains(file) ||
                       (line.files && std::ranges::find(*line.files, file) != line.files->end());
      // A former customer's that the merchant took back is not owed to the new one.
      return its && (user == present(d) ? p.second.state != State::dropped
                                        : p.second.state == State::taken_by_merchant);
    });
    if (!owes) return fmt::format("the paid line {} owes neither its missing file nor another", line.id);
  }
  return {};
}

}  // namespace presetbridge::simulation
