// Buyers who were erased: nobody is asked or given anything for their orders any more (spec 9.6).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model.h"

namespace presetbridge::simulation {

using State = Promise::State;

void Model::erase(const std::string& id) {
  auto& order = orders_.at(id);
  if (std::exchange(order.erased, true) || !order.delivery) return;
  auto& d = *order.delivery;
  command(d);
  d.replacing.reset();
  for (auto& [whom, promise] : d.promises) {
    if (promise.state == State::owed) promise.state = State::dropped;
  }
  // The order ended it while a job had it: either was first.
  if ((d.racing || d.ends_later) && d.standing == Standing::invalidated &&
      d.by == domain::InvalidatedBy::order)
    d.open_question = true;
  if (d.standing == Standing::completed || d.standing == Standing::invalidated) return;
  // It gave some of its files: then it is completed (spec 3.1), or its undelivered work is invalidated.
  if (std::ranges::any_of(d.promises, [&](const auto& p) {
        return p.first.first == present(d) && (delivered(p.second.state) || p.second.unknown);
      }))
    d.open_question = true;
  d.standing = Standing::invalidated;
  d.by = domain::InvalidatedBy::merchant;  // no payment brings it back
  d.reason = "erased";
  d.code = ResolutionCode::none;
  d.reviews = {};
}

std::string Model::request_begins(const std::string& user) const {
  for (const auto& [id, order] : orders_) {
    if (!order.delivery || order.delivery->dry_run || order.erased) continue;
    const auto& d = *order.delivery;
    if (d.open_question || d.racing || d.waits) return {};
    if ((d.standing == Standing::open || d.standing == Standing::failed) && present(d) == user) return {};
  }
  return fmt::format("{} is asked to be a friend, and no delivery that may go on is for them", user);
}

}  // namespace presetbridge::simulation
