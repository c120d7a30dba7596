// What merchants may ask for, and what comes of it (spec 3.1, 3.10, 3.11).
#include <algorithm>

#include "model.h"

namespace presetbridge::simulation {
namespace {

using domain::InvalidatedBy;
using domain::Payment;
using State = Promise::State;

}  // namespace

Model::Answer Model::may_retry(const std::string& order, const std::string& name) const {
  const auto& d = *delivery(order);
  if (d.open_question) return Answer::either;
  const bool with_name = !name.empty() && name != d.username;
  if (d.racing) return Answer::either;
  switch (d.standing) {
    case Standing::open:
      return with_name ? Answer::yes : Answer::either;  // it goes on by itself
    case Standing::failed:
      return Answer::yes;
    case Standing::in_review:
      return with_name ? Answer::yes : name.empty() ? Answer::no : Answer::either;
    case Standing::completed:
    case Standing::invalidated:
      return Answer::no;
  }
  return Answer::either;
}
Model::Answer Model::may_reopen(const std::string& order) const {
  const auto& d = *delivery(order);
  if (d.open_question) return Answer::either;
  if (d.racing || d.standing == Standing::open) return Answer::either;  // while a job has it, it is taken
  return d.standing == Standing::in_review ? Answer::no : Answer::yes;
}
Model::Answer Model::may_approve(const std::string& order) const {
  const auto& d = *delivery(order);
  if (d.open_question) return Answer::either;
  if (d.racing) return Answer::either;
  // What is too large cannot be approved while there is nothing to serve (spec 3.1).
  const bool serves = std::ranges::any_of(d.promises, [&](const auto& p) {
    return p.first.first == present(d) && p.second.state != State::dropped;
  });
  if (d.standing == Standing::in_review && d.reviews.has(ReviewReason::too_large) && !serves)
    return Answer::no;
  return d.standing == Standing::in_review ? Answer::yes : Answer::no;
}
Model::Answer Model::may_invalidate(const std::string& order) const {
  const auto& d = *delivery(order);
  if (d.open_question) return Answer::either;
  if (d.racing) return Answer::either;
  return d.standing == Standing::invalidated ? Answer::no : Answer::yes;
}
Model::Answer Model::may_complete(const std::string& order) const {
  const auto& d = *delivery(order);
  if (d.open_question) return Answer::either;
  if (d.racing || d.standing == Standing::open) return Answer::either;
  return d.standing == Standing::in_review || d.standing == Standing::failed ? Answer::yes : Answer::no;
}
Model::Answer Model::may_revoke(const std::string& order) const {
  const auto& d = *delivery(order);
  if (d.open_question) return Answer::either;
  if (d.racing) return Answer::either;
  if (std::ranges::any_of(d.promises, [](const auto& p) {
        return p.second.stuck || p.second.may_be_taken || p.second.settling;
      }))
    return Answer::either;
  return count(d, State::shared) > 0 ? Answer::yes : Answer::no;
}

void Model::retry(const std::string& id, const std::string& name, Timestamp now) {
  auto& order = orders_.at(id);
  auto& d = *order.delivery;
  ask(order, d);
  if (!name.empty()) rename(order, d, name, now);
  if (order.too_large) d.open_question = true;
  // spec 3.11: mappings are read again for what is not shared.
  for (auto& line : order.lines) {
    std::vector<std::string> kept;
    for (const auto& file : line.files.value_or(std::vector<std::string>{})) {
      const auto at = d.promises.find({present(d), file});
      if (at != d.promises.end() && delivered(at->second.state)) kept.push_back(file);
    }
    map_line(line);
    for (const auto& file : kept) {
      if (std::ranges::find(*line.files, file) == line.files->end()) line.files->push_back(file);
    }
  }
  align(order, d);
  if (d.standing == Standing::in_review) return;
  d.first_waited = d.waits_since = std::nullopt;
  resume(order, d, false);
}

void Model::ask(const Order& order, Delivery& d) {
  command(d);
  // What a stopped order owes is known when it is paid again, and of one that is too large when it is read.
  if (is_stopped(order) || order.too_large) d.open_question = true;
}

void Model::reopen(const std::string& order) {
  auto& d = *delivery(order);
  command(d);
  d.standing = Standing::in_review;
  d.reviews = ReviewReason::reopened;
  d.code = ResolutionCode::none;
  d.by = InvalidatedBy::nobody;
  d.reason.clear();
}

void Model::approve(const std::string& id) {
  auto& order = orders_.at(id);
  auto& d = *order.delivery;
  ask(order, d);
  order.approved_unpaid = payment(order) == Payment::awaiting_payment;
  order.approved_risk = order.high_risk;
  order.approved_size = order.too_large;
  const auto paid = paid_files(order);
  for (auto& [whom, promise] : d.promises) {
    if (whom.first == present(d) && paid.contains(whom.second) &&
        (promise.state == State::taken_by_merchant || promise.state == State::taken_by_order)) {
      promise.state = State::owed;
    }
  }
  d.first_waited = d.waits_since = std::nullopt;
  resume(order, d, false);
}

void Model::invalidate(const std::string& order) {
  auto& d = *delivery(order);
  command(d);
  d.standing = Standing::invalidated;
  d.by = InvalidatedBy::merchant;
  d.reason = "mistaken";
  d.reviews = {};
  d.code = ResolutionCode::none;
}

void Model::complete(const std::string& id) {
  auto& order = orders_.at(id);
  auto& d = *order.delivery;
  ask(order, d);
  d.standing = Standing::completed;
  d.code = ResolutionCode::none;
  d.reviews = {};
  d.reason.clear();
  for (auto& [whom, promise] : d.promises) {
    // What was begun is settled first.
    d.open_question = d.open_question || promise.unknown;
    if (whom.first == present(d) && promise.state == State::owed) promise.state = State::by_hand;
  }
}

void Model::revoke(const std::string& order) {
  auto& d = *delivery(order);
  for (auto& [whom, promise] : d.promises) {
    const bool taking = promise.state == State::taken_by_order && promise.settling;
    if (whom.first == present(d) && (promise.state == State::shared || taking))
      promise.state = State::taken_by_merchant;
  }
}

}  // namespace presetbridge::simulation
