// What merchants may ask for, and what comes of it (spec 3.1, 3.10, 3.11).
#include <algorithm>

#include "model.h"

namespace presetbridge::simulation {
namespace {

using domain::InvalidatedBy;
using domain::Payment;
using State = Promise::State;

// Whether an action is taken is the service's to choose. A delivery that a job has not ended yet is still in progress.
bool open(const Delivery& d) {
  return d.open_question || d.racing || d.waits || d.ends_later;
}

}  // namespace

Model::Answer Model::may_retry(const std::string& order, const std::string& name) const {
  if (orders_.at(order).erased) return Answer::no;  // there is nobody to deliver to
  const auto& d = *delivery(order);
  if (open(d)) return Answer::either;
  const bool with_name = !name.empty() && name != d.username;
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
Model::Answer Model::may_keep_waiting(const std::string& order) const {
  if (orders_.at(order).erased) return Answer::no;  // there is nobody to deliver to
  const auto& d = *delivery(order);
  if (open(d)) return Answer::either;
  const bool unanswered = d.standing == Standing::failed && d.code == ResolutionCode::friendship_timeout;
  return unanswered ? Answer::yes : Answer::no;
}
Model::Answer Model::may_reopen(const std::string& order) const {
  if (orders_.at(order).erased) return Answer::no;  // there is nobody to deliver to
  const auto& d = *delivery(order);
  if (open(d)) return Answer::either;
  if (d.standing == Standing::open) return Answer::either;  // while a job has it, it is taken
  return d.standing == Standing::in_review ? Answer::no : Answer::yes;
}
Model::Answer Model::may_approve(const std::string& order) const {
  if (orders_.at(order).erased) return Answer::no;  // there is nobody to deliver to
  const auto& d = *delivery(order);
  if (open(d)) return Answer::either;
  // What is too large cannot be approved while there is nothing to serve (spec 3.1).
  const bool serves = std::ranges::any_of(d.promises, [&](const auto& p) {
    return p.first.first == present(d) && p.second.state != State::dropped;
  });
  if (d.standing == Standing::in_review && d.reviews.has(ReviewReason::too_large)) {
    if (!serves) return Answer::no;
    if (d.renamed) return Answer::either;
  }
  return d.standing == Standing::in_review ? Answer::yes : Answer::no;
}
Model::Answer Model::may_invalidate(const std::string& order) const {
  const auto& d = *delivery(order);
  if (open(d)) return Answer::either;
  return d.standing == Standing::invalidated ? Answer::no : Answer::yes;
}
Model::Answer Model::may_complete(const std::string& id) const {
  if (orders_.at(id).erased) return Answer::no;  // there is nobody to deliver to
  const auto& d = *delivery(id);
  if (open(d)) return Answer::either;
  if (d.standing == Standing::open) return Answer::either;
  if (d.standing != Standing::in_review) return d.standing == Standing::failed ? Answer::yes : Answer::no;
  // The service refuses to mark a delivery as delivered if nothing of it is owed or shared, and the order pays for no
  // line (decision 44). Nobody knows what an order pays for that is too large.
  const auto& order = orders_.at(id);
  const bool gives = std::ranges::any_of(d.promises, [&](const auto& p) {
    return p.first.first == present(d) && p.second.state != State::dropped;
  });
  const bool paid = order.too_large ||
                    std::ranges::any_of(order.lines, [&](const Line& line) { return is_paid(order, line); });
  if (!paid && gives && d.renamed) return Answer::either;
  return gives || paid ? Answer::yes : Answer::no;
}
Model::Answer Model::may_revoke(const std::string& order) const {
  const auto& d = *delivery(order);
  if (open(d)) return Answer::either;
  if (d.dry_run) return Answer::no;
  if (std::ranges::any_of(d.promises, [](const auto& p) {
        return p.second.stuck || p.second.may_be_taken || p.second.may_go || p.second.settling ||
               p.second.foreign;
      }))
    return Answer::either;
  return count(d, State::shared) > 0 ? Answer::yes : Answer::no;
}

void Model::retry(const std::string& id, const std::string& name, Timestamp now) {
  auto& order = orders_.at(id);
  auto& d = *order.delivery;
  ask(order, d);
  d.open_question = d.open_question || d.renamed;
  if (!name.empty()) rename(order, d, name, now);
  if (order.too_large) d.open_question = true;
  // spec 3.11: mappings are read again for what is not shared.
  if (!is_stopped(order) && !order.too_large) {
    const auto before = unmapped(order);
    map_all(order);
    note_unmapped(order);
    count_unmapped(order, before, !d.open_question && !d.racing);
    align(order, d);
  }
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
  // Risk, payment and size show too: an approval covers them (spec 3.1).
  d.reviews = unapproved(orders_.at(order));
  d.reviews.add(ReviewReason::reopened);
  d.code = ResolutionCode::none;
  d.by = InvalidatedBy::nobody;
  d.reason.clear();
}

void Model::waits(const std::string& order) {
  auto& d = *delivery(order);
  if (!d.first_waited) d.first_waited = d.last_seen;
}

void Model::note_approval(Order& order) {
  order.approved_unpaid = payment(order) == Payment::awaiting_payment;
  order.approved_risk = order.high_risk;
  order.approved_size = order.too_large;
}

void Model::approve(const std::string& id) {
  auto& order = orders_.at(id);
  auto& d = *order.delivery;
  ask(order, d);
  note_approval(order);
  if (!order.too_large) {
    // A line that became another product while the order was stopped.
    const auto before = unmapped(order);
    for (auto& line : order.lines) {
      if (!line.files) map_line(line);
    }
    count_unmapped(order, before, false);
  }
  const auto paid = paid_files(order);
  d.open_question = d.open_question || std::ranges::any_of(order.lines, &Line::perhaps_mapped);
  for (auto& [whom, promise] : d.promises) {
    if (whom.first == present(d) && paid.contains(whom.second) && is_taken(promise.state)) {
      promise.state = State::owed;
    }
  }
  // A former customer's that a person took back: this one gets it.
  std::set<std::string> taken;
  for (const auto& [whom, promise] : d.promises) {
    if (promise.state == State::taken_by_merchant && paid.contains(whom.second)) taken.insert(whom.second);
  }
  for (const auto& file : taken) d.promises.try_emplace({present(d), file});
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
    // A share that was begun is settled first. A file that is being taken back, or that the platform would not take back, is
    // not delivered by hand: a payment gives it again.
    if (whom.first != present(d)) continue;
    d.open_question = d.open_question || promise.unknown || promise.settling || promise.stuck;
    if (promise.state == State::owed) promise.state = State::by_hand;
  }
}

void Model::revoke(const std::string& order) {
  auto& d = *delivery(order);
  for (auto& [whom, promise] : d.promises) {
    // The person takes over a revocation that is under way, even if the file was paid again meanwhile.
    const bool taking =
        promise.settling && (promise.state == State::taken_by_order || promise.state == State::owed);
    if (whom.first == present(d) && (promise.state == State::shared || taking))
      promise.state = State::taken_by_merchant;
  }
}

Model::Answer Model::may_reprocess(const std::string& id) const {
  const auto& order = orders_.at(id);
  if (order.erased) return Answer::no;
  if (order.delivery && open(*order.delivery)) return Answer::either;
  // What is not deliverable stays as it is (spec 9.3).
  if (!order.seen || is_stopped(order)) return Answer::no;
  if (payment(order) == Payment::awaiting_payment && !order.approved_unpaid) return Answer::no;
  if (!order.delivery) return order.too_large ? Answer::either : Answer::yes;
  const auto& d = *order.delivery;
  const bool by_merchant = d.standing == Standing::invalidated && d.by == InvalidatedBy::merchant;
  return by_merchant || order.too_large ? Answer::no : Answer::yes;
}

void Model::reprocess(const std::string& id) {
  auto& order = orders_.at(id);
  const auto before = unmapped(order);
  if (!order.delivery) {
    map_all(order);
    const bool makes = !paid_files(order).empty() || order.too_large;
    // What is refunded in all that it would deliver is perhaps not mapped.
    const bool maps =
        std::ranges::any_of(order.lines, [](const Line& l) { return l.files && !l.files->empty(); });
    count_unmapped(order, before, !order.perhaps_unmapped && (makes || !maps));
    order.perhaps_unmapped = !makes && (maps || order.perhaps_unmapped);
    // The store's next event maps its lines, if one of them is paid then.
    for (auto& line : order.lines) {
      if (!makes && !line.files->empty()) line.files.reset();
    }
    if (makes) make_delivery(order);
    return;
  }
  auto& d = *order.delivery;
  ask(order, d);
  map_all(order);
  note_unmapped(order);
  count_unmapped(order, before, !d.open_question && !d.racing);
  // An approval owes the present user what a person took back from the user of a former name (spec 3.10); a
  // reprocessing perhaps does.
  const auto paid = paid_files(order);
  for (const auto& [whom, promise] : d.promises) {
    const bool taken = is_taken(promise.state);
    if (taken && whom.first != present(d) && paid.contains(whom.second)) d.open_question = true;
  }
  const auto [more, less] = align(order, d);
  const bool owes = count(d, State::owed) > 0;
  switch (d.standing) {
    case Standing::open:
      if (less) conclude(order, d, false);
      break;
    case Standing::failed:
      // spec 3.1: it takes new items without moving; where others take the place of what is missing it goes on.
      if (d.code == ResolutionCode::preset_not_found) d.open_question = true;
      if (less) conclude(order, d, false);
      break;
    case Standing::in_review:
      // Nothing to deliver of what nobody approved: both are right.
      if (less && !owes) d.open_question = true;
      break;
    case Standing::completed:
      if (owes) resume(order, d, false);
      break;
    case Standing::invalidated:
      if (owes) {
        resume(order, d, false);
      } else if (std::ranges::any_of(d.promises, [](const auto& p) { return delivered(p.second.state); })) {
        d.open_question = true;
      }
      break;
  }
}

}  // namespace presetbridge::simulation
