#include "model.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "domain/resolution.h"

namespace presetbridge::simulation {
namespace {

using domain::InvalidatedBy;
using domain::OrderEvent;
using domain::Payment;
using namespace std::chrono_literals;
using State = Promise::State;

bool of_customer(ResolutionCode code) {
  return code == ResolutionCode::username_missing || code == ResolutionCode::username_not_found ||
         code == ResolutionCode::friend_request_declined || code == ResolutionCode::friendship_timeout ||
         code == ResolutionCode::blocked_by_customer;
}

}  // namespace

std::string user_of(const std::string& name) {
  if (name.empty() || name == "Nobody") return "";
  std::string user = "u-";
  for (char c : name) user += static_cast<char>(std::tolower(c));
  return user;
}

// ---------------------------------------------------------------- orders (spec 2.6, 2.10, 2.11)

bool Model::is_paid(const Order& order, const Line& line) {
  std::int64_t left = line.quantity;
  for (const auto& [id, lines] : order.refunds) {
    for (const auto& refund : lines) {
      if (refund.line_id == line.id) left -= refund.quantity;
    }
  }
  return left > 0;
}

std::set<std::string> Model::paid_files(const Order& order) const {
  std::set<std::string> files;
  for (const auto& line : order.lines) {
    if (line.files && is_paid(order, line)) files.insert(line.files->begin(), line.files->end());
  }
  return files;
}

Payment Model::payment(const Order& order) {
  return order.trashed ? Payment::cancelled : order.told;
}
bool Model::is_stopped(const Order& order) {
  return payment(order) == Payment::cancelled || payment(order) == Payment::refunded;
}

ReviewReasons Model::unapproved(const Order& order) {
  ReviewReasons reasons;
  if (order.high_risk && !order.approved_risk) reasons.add(ReviewReason::high_risk);
  if (payment(order) == Payment::awaiting_payment && !order.approved_unpaid)
    reasons.add(ReviewReason::payment_withdrawn);
  if (order.too_large && !order.approved_size) reasons.add(ReviewReason::too_large);
  return reasons;
}

void Model::told(const OrderEvent& event, Timestamp now) {
  // spec 2.6, 3.8: the same order id returns the delivery that there is.
  if (event.provider == domain::Provider::generic && orders_[event.order_id].seen) return;
  const auto before = unmapped(orders_[event.order_id]);
  take(event, now);
  auto& order = orders_.at(event.order_id);
  // No specification says that a shop is told of lines that it has refunded before anything was delivered.
  const bool matters = order.delivery || std::ranges::includes(before, unmapped(order)) ||
                       std::ranges::any_of(order.lines, [&](const Line& line) {
                         return line.unmapped && is_paid(order, line);
                       });
  count_unmapped(order, before,
                 matters && !order.too_large && !(order.delivery && order.delivery->open_question));
}

void Model::make_delivery(Order& order) {
  auto& d = order.delivery.emplace();
  d.username = order.username;
  d.named_at = order.username_at;
  d.dry_run = order.test;
  if (!order.too_large) align(order, d);
  resume(order, d, true);
  d.open_question = false;
}

void Model::take_lines(Order& order, const OrderEvent& event) {
  for (const auto& line : order.lines) {
    const auto sold = std::ranges::find(event.lines, line.id, &domain::OrderLine::line_id);
    const bool stays = sold != event.lines.end() && sold->sku == line.sku;
    if (order.delivery && line.files && !stays)
      order.delivery->left.insert(line.files->begin(), line.files->end());
  }
  std::vector<Line> lines;
  for (const auto& sold : event.lines) {
    Line line{sold.line_id, sold.sku, sold.quantity, {}};
    const auto former = std::ranges::find(order.lines, line.id, &Line::id);
    if (former != order.lines.end() && former->sku == line.sku) {
      line = *former;
      line.quantity = sold.quantity;
    } else if (order.delivery && order.delivery->replacing) {
      order.delivery->replacing->lines.erase(line.id);  // it is another product
    }
    lines.push_back(std::move(line));
  }
  order.lines = std::move(lines);
  order.lines_at = event.updated_at;
}

void Model::take(const OrderEvent& event, Timestamp now) {
  auto& order = orders_[event.order_id];
  const Payment before = payment(order);
  const Payment told_before = order.told;
  const auto lines_before = order.lines;
  const bool risk_before = order.high_risk;
  const auto refunds_before = order.refunds.size();
  const bool large_before = order.too_large;
  const bool newer = !order.seen || !event.updated_at || *event.updated_at >= *order.updated_at;
  std::optional<std::string> name;

  for (const auto& refund : event.refunds) order.refunds.emplace(refund.id, refund.lines);
  if (event.kind == OrderEvent::Kind::risk && event.high_risk && !order.high_risk) {
    order.high_risk = true;
    order.approved_risk = false;
  }
  // One that is too large to be read says nothing of the lines.
  if (event.kind == OrderEvent::Kind::order && !event.too_large &&
      (!order.lines_at || !event.updated_at || *event.updated_at >= *order.lines_at))
    take_lines(order, event);
  // The trash hides what the payment is; an event from before it still says that.
  if (event.kind == OrderEvent::Kind::order && !event.trashed && (newer || order.trashed) &&
      (!order.told_at || !event.updated_at || *event.updated_at >= *order.told_at)) {
    order.told = event.payment;
    order.told_at = event.updated_at;
  }
  if (event.kind == OrderEvent::Kind::order && newer) {
    const bool first = !order.seen;
    order.seen = true;
    order.updated_at = event.updated_at;
    order.too_large = event.too_large;
    order.test = event.test;
    order.approved_size = order.approved_size && order.too_large && large_before;
    order.trashed = event.trashed;
    if (event.username != order.username && !event.username.empty() && !order.erased) {
      if (!first) name = event.username;
      order.username = event.username;
      order.username_at = event.updated_at.value_or(now);
    }
  } else if (event.kind == OrderEvent::Kind::order && order.username.empty() && !event.username.empty() &&
             !order.erased) {
    name = order.username = event.username;
    order.username_at = event.updated_at.value_or(now);
  }
  if (!order.seen) return;
  if (payment(order) != Payment::awaiting_payment) order.approved_unpaid = false;

  const bool deliverable = payment(order) == Payment::deliver;
  // The order's lines are mapped when it first becomes deliverable; later those that are new.
  const auto before_mapping = order.lines;
  if (!order.too_large && !order.erased && (deliverable || (order.delivery && !is_stopped(order)))) {
    for (auto& line : order.lines) {
      if (!line.files) map_line(line);
    }
  }

  if (!order.delivery) {
    if (!deliverable || order.erased) return;
    if (paid_files(order).empty() && !order.too_large) {
      // What is refunded in all that it would deliver is mapped when some of it is paid.
      const bool maps =
          std::ranges::any_of(order.lines, [](const Line& l) { return l.files && !l.files->empty(); });
      const bool unmapped =
          std::ranges::any_of(order.lines, [&](const Line& l) { return l.unmapped && is_paid(order, l); });
      if (maps && !unmapped) order.lines = before_mapping;
      if (maps && unmapped) {
        for (auto& line : order.lines) {
          if (line.files && !line.files->empty()) line.files.reset();
        }
      }
      return;
    }
    make_delivery(order);
    return;
  }
  auto& d = *order.delivery;
  command(d);
  bool owed_before = false;  // to the customer of before
  // Whose name counts depends on what was taken back, which is not specified.
  if (name && std::ranges::any_of(d.promises, [](const auto& p) { return p.second.may_be_taken; }))
    d.open_question = true;
  if (name && *name != d.username && count(d, State::shared) == 0 &&
      (!event.updated_at || *event.updated_at >= d.named_at || d.username.empty())) {
    const bool settling = std::ranges::any_of(d.promises, [](const auto& p) { return p.second.settling; });
    if (settling || count(d, State::taken_by_order) + count(d, State::taken_by_merchant) > 0)
      d.open_question = true;
    owed_before = count(d, State::owed) > 0;
    rename(order, d, *name, now);
    if (d.standing == Standing::failed && of_customer(d.code)) resume(order, d, true);
  }
  // A stopped order says what it owes when it is paid again; until then refunds and edits only lessen what
  // was approved.
  const bool revokes =
      (order.told == Payment::cancelled || order.told == Payment::refunded) && order.told != told_before;
  const bool stops = is_stopped(order) && (revokes || payment(order) != before);
  // Nobody knows of another name for the same user, not resolved yet, that they have a file.
  d.open_question = d.open_question || (stops && d.renamed);
  const auto sold = [](const Line& line) { return std::tie(line.id, line.sku, line.quantity); };
  const bool changed = order.refunds.size() != refunds_before || order.too_large != large_before ||
                       !std::ranges::equal(order.lines, lines_before, {}, sold, sold);
  const bool says = !order.too_large && (!is_stopped(order) || (changed && !stops));
  auto [more, less] = says ? align(order, d) : std::pair(false, false);
  less = less || (says && owed_before && count(d, State::owed) == 0);
  // The approval of a reopened order that is stopped reads anew what it owes.
  if (says && is_stopped(order) && (name || d.standing == Standing::in_review)) d.open_question = true;
  // An order that is too large to be read says nothing of what it owes, and no more than that is specified.
  const bool refunds = order.refunds.size() != refunds_before && auto_revoke;
  if (order.too_large && large_before && (name || refunds)) d.open_question = true;

  const auto lessen = [&] {
    if (!less || d.standing == Standing::completed || d.standing == Standing::invalidated) return;
    conclude(order, d, order.refunds.size() != refunds_before);
    // The order does not owe the files any more for which the delivery failed.
    if (d.standing == Standing::failed && domain::resumes(d.code, domain::Remedy::mapping_saved))
      resume(order, d, true);
  };
  if (order.erased) {
    // Delivered files are taken back all the same. A file stays that is paid again before that began (spec 3.10),
    // or that the platform would not take back.
    if (stops && auto_revoke && revokes) take_back(d);
    for (auto& [whom, promise] : d.promises) {
      const bool taking = promise.settling || long_trouble_;
      if (!deliverable || promise.state != State::taken_by_order || !taking) continue;
      promise.state = State::shared;
      promise.may_be_taken = true;
    }
    return;
  }
  if (is_stopped(order)) {
    if (!stops) lessen();
    if (stops) {
      // spec 2.11: a stop invalidates what is not yet shared, and takes back what is, unless it is the trash.
      if (auto_revoke && revokes) take_back(d);
      const bool any =
          count(d, State::owed) < static_cast<int>(d.promises.size()) &&
          std::ranges::any_of(
              d.promises,
              [&](const auto& p) { return p.first.first == present(d) && delivered(p.second.state); });
      if (d.standing == Standing::open || d.standing == Standing::failed ||
          d.standing == Standing::in_review) {
        if (!any) {
          d.standing = Standing::invalidated;
          d.by = InvalidatedBy::order;
          d.code = ResolutionCode::none;
          d.reviews = {};
          d.reason = payment(order) == Payment::refunded ? "order_refunded" : "order_cancelled";
        } else if (d.standing != Standing::in_review) {
          d.standing = Standing::completed;
          d.code = ResolutionCode::none;
        }
      }
    }
    return;
  }
  // Two things follow from one event: a name that is queued, or held; nothing left of what is not paid.
  if ((hold_all && name) || (less && payment(order) != before)) d.open_question = true;
  // A person reopened it while the order was stopped, and its lines owe nothing now: the review may end (spec 3.1).
  const bool was_stopped = before == Payment::cancelled || before == Payment::refunded;
  if (was_stopped && d.standing == Standing::in_review && count(d, State::owed) == 0) d.open_question = true;
  lessen();
  if (payment(order) == Payment::awaiting_payment && !order.approved_unpaid) {
    if (before != Payment::awaiting_payment) {
      if (d.standing == Standing::open) {
        d.standing = Standing::in_review;
        d.reviews = ReviewReason::payment_withdrawn;
      } else if (d.standing == Standing::in_review) {
        d.reviews.add(ReviewReason::payment_withdrawn);
      }
    }
  } else {
    if (d.standing == Standing::in_review && d.reviews.has(ReviewReason::payment_withdrawn)) {
      d.reviews.remove(ReviewReason::payment_withdrawn);
      if (hold_all) d.reviews.add(ReviewReason::held);
      if (d.reviews.none()) resume(order, d, true);
    }
    const bool owes = std::ranges::any_of(d.promises, [&](const auto& p) {
      return p.first.first == present(d) && p.second.state == State::owed;
    });
    if ((d.standing == Standing::completed && owes) ||
        (d.standing == Standing::invalidated && d.by == InvalidatedBy::order &&
         (owes || (order.too_large && !order.approved_size)))) {
      resume(order, d, true);
    } else if (d.standing == Standing::open && more && hold_all) {
      d.standing = Standing::in_review;
      d.reviews = ReviewReason::held;
    }
  }
  if (order.too_large && !large_before) {
    if (d.standing == Standing::open) {
      d.standing = Standing::in_review;
      d.reviews = ReviewReason::too_large;
    } else if (d.standing == Standing::in_review) {
      d.reviews.add(ReviewReason::too_large);
    } else if (d.standing == Standing::completed &&
               (payment(order) == Payment::deliver || order.approved_unpaid)) {
      resume(order, d, true);
    }
  }
  if (order.high_risk && !risk_before) {
    if (d.standing == Standing::open) {
      d.standing = Standing::in_review;
      d.reviews = ReviewReason::high_risk;
    } else if (d.standing == Standing::in_review) {
      d.reviews.add(ReviewReason::high_risk);
    }
  }
}

// ---------------------------------------------------------------- what is owed to whom (spec 3.10, 3.11)

std::string Model::present(const Delivery& d) {
  // A name that leads to nobody owes to nobody else's user.
  const auto user = user_of(d.username);
  return user.empty() ? "?" + d.username : user;
}

int Model::count(const Delivery& d, Promise::State state) {
  return static_cast<int>(std::ranges::count_if(
      d.promises, [&](const auto& p) { return p.first.first == present(d) && p.second.state == state; }));
}

std::pair<bool, bool> Model::align(const Order& order, Delivery& d) {
  const auto paid = paid_files(order);
  bool more = false;
  bool less = false;
  for (const auto& line : order.lines)
    d.open_question = d.open_question || (line.perhaps_mapped && is_paid(order, line));
  for (const auto& file : paid) {
    d.left.erase(file);
    if (is_stopped(order) || order.erased) break;
    // A file that a person took back from a former customer is owed again only where a person says so (spec 3.10).
    const bool taken = std::ranges::any_of(d.promises, [&](const auto& p) {
      return p.first.second == file && p.second.state == State::taken_by_merchant;
    });
    if (taken && !d.promises.contains({present(d), file})) continue;
    auto [at, made] = d.promises.try_emplace({present(d), file});
    auto& state = at->second.state;
    if (made || state == State::dropped ||
        (state == State::taken_by_order && payment(order) == Payment::deliver)) {
      state = State::owed;
      more = true;
    }
  }
  for (auto& [whom, promise] : d.promises) {
    if (paid.contains(whom.second)) {
      promise.may_go = false;
      continue;
    }
    if (promise.state == State::owed) {
      promise.state = State::dropped;
      less = true;
    } else if (promise.state == State::shared && auto_revoke && !d.dry_run) {
      // What was not paid any more before the store wanted files taken back may stay or go.
      const bool refunded =
          d.paid.contains(whom.second) && !d.left.contains(whom.second) &&
          std::ranges::any_of(order.lines, [&](const Line& line) {
            return line.files && std::ranges::find(*line.files, whom.second) != line.files->end();
          });
      if (refunded) {
        promise.state = State::taken_by_order;
      } else {
        promise.may_be_taken = true;
      }
    }
  }
  d.paid = paid;
  return {more, less};
}

void Model::want_back() {
  for (auto& [id, order] : orders_) {
    if (!order.delivery || order.delivery->dry_run) continue;
    const auto paid = paid_files(order);
    for (auto& [whom, promise] : order.delivery->promises) {
      if (promise.state == State::shared && !paid.contains(whom.second)) promise.may_go = true;
    }
  }
}

void Model::take_back(Delivery& d) {
  if (d.dry_run) return;  // nobody has it
  for (auto& [whom, promise] : d.promises) {
    const bool again = promise.state == State::owed && promise.settling;
    d.open_question = d.open_question || promise.foreign;
    if (promise.state == State::shared || again) promise.state = State::taken_by_order;
  }
}

void Model::rename(const Order& order, Delivery& d, const std::string& name, Timestamp now) {
  const auto former = present(d);
  d.username = name;
  d.named_at = now;
  d.first_waited = d.waits_since = std::nullopt;
  for (const auto& [whom, promise] : d.promises) {
    // Until the name is resolved nobody knows that they have it already.
    if (whom.first == present(d) && delivered(promise.state)) d.open_question = true;
  }
  if (present(d) == former) return;
  if (d.dry_run) {
    std::erase_if(d.promises, [](const auto& p) { return p.second.state != State::by_hand; });
  }
  // What was delivered by hand was so whatever the name.
  std::set<std::string> by_hand;
  for (const auto& [whom, promise] : d.promises) {
    if (promise.state == State::by_hand) by_hand.insert(whom.second);
  }
  // Under another of their names they perhaps had the file before it was taken back: that stays recorded.
  for (auto& [whom, promise] : d.promises) {
    if (promise.state == State::by_hand && promise.was_shared) promise.state = State::taken_by_order;
  }
  std::erase_if(d.promises, [&](const auto& p) { return p.second.state == State::by_hand; });
  for (const auto& file : by_hand) d.promises[{present(d), file}].state = State::by_hand;
  for (auto& [whom, promise] : d.promises) {
    // A file that cost a credit and was taken back stays recorded as theirs (spec 3.11), owed again since or
    // not.
    if (!delivered(promise.state) && promise.was_shared && promise.spent)
      promise.state = State::taken_by_order;
  }
  std::erase_if(d.promises, [&](const auto& p) {
    return p.first.first == former && !p.second.unknown &&
           (p.second.state == State::owed || p.second.state == State::dropped);
  });
  for (auto& [whom, promise] : d.promises) {
    if (whom.first == former && promise.state == State::owed) promise.state = State::dropped;
  }
  // What it owes nobody reads any more.
  if (order.too_large) d.open_question = true;
  for (const auto& file : paid_files(order)) {
    if (!by_hand.contains(file)) d.promises.try_emplace({present(d), file});
  }
}

// ---------------------------------------------------------------- deliveries (spec 3.1)

void Model::command(Delivery& d) {
  d.open_question = d.open_question || d.unresolved;
  // The worker completes a test order by itself, without a call.
  d.racing = d.racing || (d.dry_run && d.standing == Standing::open);
  d.racing = d.racing || d.waits || std::ranges::any_of(d.promises, [](const auto& p) {
               return p.second.unknown || p.second.stuck || p.second.settling;
             });
}

void Model::resume(const Order& order, Delivery& d, bool by_store) {
  auto reasons = unapproved(order);
  if (by_store && hold_all) reasons.add(ReviewReason::held);
  d.by = InvalidatedBy::nobody;
  d.reason.clear();
  d.code = ResolutionCode::none;
  d.reviews = {};
  if (!reasons.none()) {
    // Nothing to deliver of what nobody approved: both are right.
    if (count(d, State::owed) == 0) d.open_question = true;
    d.standing = Standing::in_review;
    d.reviews = reasons;
    return;
  }
  d.standing = Standing::open;
  d.queued_since.reset();
  conclude(order, d, false);
  if (d.standing == Standing::open && d.username.empty()) {
    d.standing = Standing::failed;
    d.code = ResolutionCode::username_missing;
  }
}

void Model::conclude(const Order&, Delivery& d, bool refunded) {
  if (count(d, State::owed) > 0) return;
  const bool any = std::ranges::any_of(
      d.promises, [&](const auto& p) { return p.first.first == present(d) && delivered(p.second.state); });
  if (any) {
    if (d.standing == Standing::in_review) return;
    d.standing = Standing::completed;
  } else {
    d.standing = Standing::invalidated;
    d.by = InvalidatedBy::order;
    d.reason = refunded ? "order_refunded" : "nothing_to_deliver";
  }
  d.code = ResolutionCode::none;
  d.reviews = {};
}

Delivery* Model::delivery(const std::string& order) {
  const auto found = orders_.find(order);
  return found == orders_.end() || !found->second.delivery ? nullptr : &*found->second.delivery;
}
const Delivery* Model::delivery(const std::string& order) const {
  return const_cast<Model*>(this)->delivery(order);
}

// ---------------------------------------------------------------- what the service does by itself

std::string Model::share_begins(const std::string& user, const std::string& file, bool sure) {
  bool owed = false;
  for (auto& [id, order] : orders_) {
    if (!order.delivery || order.delivery->dry_run) continue;
    auto& d = *order.delivery;
    owed = owed || (d.open_question && !order.erased);
    const auto at = d.promises.find({user, file});
    if (at == d.promises.end() || present(d) != user) continue;
    // Nobody knows whether a revocation that failed took the file: a payment gives it once more.
    if (at->second.stuck) owed = true;
    if (at->second.state != State::owed) continue;
    // A file that is being taken back, and is paid again, is given again as soon as it is gone.
    const bool returns = d.standing == Standing::completed && at->second.settling;
    if (d.standing != Standing::open && d.standing != Standing::failed && !returns) continue;
    at->second.unknown = at->second.unknown || !sure;
    owed = true;
  }
  // The job perhaps met a missing file whose line is mapped to this one by now: the next look judges that.
  for (auto& [id, order] : orders_) {
    if (owed) break;
    if (!order.delivery || order.delivery->dry_run) continue;
    auto& d = *order.delivery;
    const bool goes_on = d.standing == Standing::open || d.standing == Standing::failed;
    const auto at = d.promises.find({user, file});
    const bool owed_before = at != d.promises.end() && at->second.state != State::dropped;
    if (!goes_on || present(d) != user || owed_before) continue;
    replace_missing(order, d, false);
    owed = d.replacing && d.replacing->has(file);
  }
  return owed ? "" : fmt::format("{} is shared with {}, and no delivery that may go on owes it", file, user);
}

}  // namespace presetbridge::simulation
