// What the service may do by itself, and what it must have done when all is quiet.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model.h"

namespace presetbridge::simulation {
namespace {

using domain::InvalidatedBy;
using domain::Payment;
using namespace std::chrono_literals;
using State = Promise::State;

constexpr Millis kFriendshipWait = 14 * 24h;  // spec 3.5
constexpr Millis kAcceptanceCounts = 90 * 24h;
constexpr Millis kTroubleLimit = 72h;
constexpr Millis kAtTheLatest = 4h;  // backoff and probes of an hour, and what they find

bool is_open(DeliveryStatus status) {
  return status == DeliveryStatus::queued || status == DeliveryStatus::processing ||
         status == DeliveryStatus::waiting_for_friendship;
}
Standing standing_of(const Seen& seen) {
  switch (seen.status) {
    case DeliveryStatus::completed:
      return Standing::completed;
    case DeliveryStatus::failed:
      return Standing::failed;
    case DeliveryStatus::in_review:
      return Standing::in_review;
    case DeliveryStatus::invalidated:
      return Standing::invalidated;
    default:
      return Standing::open;
  }
}
bool was_shared(ItemStatus status) {
  return status == ItemStatus::shared || status == ItemStatus::already_shared ||
         status == ItemStatus::revoking || status == ItemStatus::revoked ||
         status == ItemStatus::revoke_failed;
}
bool has_now(ItemStatus status) {
  return status == ItemStatus::shared || status == ItemStatus::already_shared;
}
Friend friendship(const Facts& facts, const std::string& user) {
  const auto found = facts.friends.find(user);
  return found == facts.friends.end() ? Friend::none : found->second;
}

// Whether the order can have ended for the reason.
bool explains_end(const Order& order, Payment payment, std::string_view reason) {
  if (reason == "order_cancelled") return payment == Payment::cancelled;
  if (reason == "order_refunded") return payment == Payment::refunded || !order.refunds.empty();
  return reason == "nothing_to_deliver";
}

}  // namespace

bool Model::may_fail(const Delivery& d, ResolutionCode code, const Facts& facts) const {
  const auto user = user_of(d.username);
  if (code == ResolutionCode::username_missing) return d.username.empty();
  if (d.dry_run) return false;
  switch (code) {
    case ResolutionCode::username_not_found:
      return !d.username.empty() && user.empty();
    case ResolutionCode::friend_request_declined:
      return friendship(facts, user) == Friend::declined;
    case ResolutionCode::blocked_by_customer:
      return friendship(facts, user) == Friend::blocked;
    case ResolutionCode::friendship_timeout:
      return d.first_waited && facts.now - *d.first_waited >= kFriendshipWait;
    case ResolutionCode::insufficient_credits:
      return facts.credits - facts.tried < count(d, State::owed);
    case ResolutionCode::preset_not_found:
      return std::ranges::any_of(d.promises, [&](const auto& p) {
        return p.first.first == present(d) && p.second.state == State::owed &&
               facts.missing.contains(p.first.second);
      });
    case ResolutionCode::cloud_unavailable:
      return facts.now - facts.trouble_since.value_or(facts.now) >= kTroubleLimit;
    default:
      return false;
  }
}

void Model::adopt(Delivery& d, const Seen& seen) const {
  d.standing = standing_of(seen);
  d.code = seen.code;
  d.reviews = seen.reviews;
  d.by = seen.by;
  d.reason = seen.reason;
  d.username = seen.username;
  std::map<std::pair<std::string, std::string>, Promise> promises;
  for (const auto& item : seen.items) {
    // What was delivered by hand was so whatever the name.
    const bool here =
        item.name.empty() || user_of(item.name).empty() || item.status == ItemStatus::delivered_by_hand;
    const auto user = here ? present(d) : user_of(item.name);
    Promise promise;
    switch (item.status) {
      case ItemStatus::owed:
      case ItemStatus::sharing:
        break;
      case ItemStatus::dropped:
        promise.state = State::dropped;
        break;
      case ItemStatus::delivered_by_hand:
        promise.state = State::by_hand;
        break;
      case ItemStatus::shared:
      case ItemStatus::already_shared:
      case ItemStatus::revoke_failed:
        promise.state = State::shared;
        break;
      case ItemStatus::revoking:
      case ItemStatus::revoked:
        promise.state = item.by_order ? State::taken_by_order : State::taken_by_merchant;
        break;
    }
    promise.stuck = item.status == ItemStatus::revoke_failed;
    promise.settling = item.status == ItemStatus::revoking;
    promise.spent = item.spent;
    promise.was_shared = was_shared(item.status) || item.spent;
    if (const auto known = d.promises.find({user, item.file}); known != d.promises.end()) {
      promise.unknown = known->second.unknown;
      promise.may_be_taken = known->second.may_be_taken;
      promise.may_go = known->second.may_go;
      promise.foreign = known->second.foreign;
    }
    // An item that the user has comes before another one, and so does one that is owed again under a new name.
    const auto [at, first] = promises.try_emplace({user, item.file}, promise);
    const bool again = promise.state == State::owed &&
                       (at->second.state == State::dropped || at->second.state == State::taken_by_order ||
                        at->second.state == State::taken_by_merchant);
    promise.was_shared = promise.was_shared || at->second.was_shared;
    if (!first && (delivered(promise.state) || again)) at->second = promise;
  }
  d.promises = std::move(promises);
}

std::string Model::seen(const std::string& id, const Seen& seen, const Facts& facts) {
  auto& d = *delivery(id);
  const Timestamp last_seen = std::exchange(d.last_seen, facts.now);
  revoked_lately_ = revoked_lately_ || auto_revoke;
  long_trouble_ = long_trouble_ || (facts.trouble_since && facts.now - *facts.trouble_since >= kTroubleLimit);
  const bool waited = std::exchange(d.waits, seen.action_waits);
  if (d.waits) return {};  // what was begun is settled first (spec 3.3)
  if (orders_.at(id).erased && seen.status != DeliveryStatus::completed &&
      seen.status != DeliveryStatus::invalidated)
    return "its buyer was erased, and it is not over";
  // A job that meets a file that is missing finds that its line is mapped to another by now. A job that resumed a failed
  // delivery has perhaps failed it again since the last look, for another cause, or drops the file.
  const bool drops = std::ranges::any_of(seen.items, [&](const SeenItem& item) {
    return !item.former && item.status == ItemStatus::dropped && facts.missing.contains(item.file);
  });
  const bool goes_on = d.standing == Standing::failed &&
                       (seen.status != DeliveryStatus::failed || seen.code != d.code || drops);
  if ((d.standing == Standing::open || goes_on) && std::ranges::any_of(d.promises, [&](const auto& p) {
        return p.second.state == State::owed && facts.missing.contains(p.first.second);
      }))
    replace_missing(orders_.at(id), d, false);
  // The items of an order that is over say nothing: the order is mapped again when it goes on.
  if (d.replacing && !d.racing && d.standing != Standing::invalidated) {
    for (const auto& item : seen.items) {
      if (item.former || item.status == ItemStatus::dropped) continue;
      const bool known =
          std::ranges::any_of(d.promises, [&](const auto& p) { return p.first.second == item.file; });
      // An approval maps lines that are new since the order was stopped, and a bulk job perhaps all.
      const bool mapped = std::ranges::any_of(orders_.at(id).lines, [&](const Line& line) {
        return line.perhaps.contains(item.file) ||
               (line.files && std::ranges::find(*line.files, item.file) != line.files->end());
      });
      if (!known && !mapped && !d.replacing->has(item.file))
        return fmt::format("{} takes the place of a missing file, and no line that owed one is mapped to it",
                           item.file);
    }
  }
  if (d.open_question) {
    auto& order = orders_.at(id);
    if (std::exchange(order.perhaps_approved, false) && seen.status != DeliveryStatus::in_review)
      note_approval(order);
    adopt(d, seen);
  }
  if (auto wrong = check_replaced(orders_.at(id), d); !wrong.empty()) return wrong;
  if (seen.username != d.username) {
    if (!d.racing) return fmt::format("it goes to {}, not to {}", seen.username, d.username);
    d.username = seen.username;
  }
  for (const auto& item : seen.items) {
    if (!was_shared(item.status)) continue;
    const auto user = item.name.empty() ? present(d) : user_of(item.name);
    const auto at = d.promises.find({user, item.file});
    if (at == d.promises.end()) {
      return fmt::format("{} was shared with {}, to whom it was never owed", item.file, user);
    }
    auto& promise = at->second;
    promise.settling = item.status == ItemStatus::revoking;
    promise.stuck = item.status == ItemStatus::revoke_failed;
    promise.spent = item.spent;
    promise.foreign = item.status == ItemStatus::already_shared && moved_;
    // What is being taken back and is owed again is given again once that is done.
    const bool before = std::exchange(promise.was_shared, true);
    const bool again = before && promise.state == State::owed && !has_now(item.status);
    if (again) continue;
    if ((promise.may_be_taken || promise.may_go) && promise.state == State::shared &&
        item.status == ItemStatus::revoked) {
      promise.state = State::taken_by_order;
      promise.may_be_taken = promise.may_go = false;
    }
    // A file that another delivery gives is not taken back (spec 3.10).
    if (promise.state == State::taken_by_order && has_now(item.status) &&
        given_elsewhere(id, user, item.file))
      promise.state = State::shared;
    if (promise.state != State::owed && promise.state != State::dropped) continue;
    if (promise.state == State::dropped && !promise.unknown && !has_now(item.status) && before) continue;
    // A rehearsal makes no call: whether it ended before the order did is not seen. Calls that began before an action are
    // settled before it; share_begins() judges those that begin later.
    const bool settled = (d.dry_run && d.racing) || waited;
    if (promise.state == State::dropped && !promise.unknown && !settled)
      return fmt::format("{} was shared with {}, to whom it was not owed any more", item.file, user);
    if (has_now(item.status) && !facts.has.contains({user, item.file}) && !auto_revoke && !moved_ &&
        !d.dry_run)
      return fmt::format("{} is said to be shared with {}, who does not have it", item.file, user);
    promise.state = has_now(item.status) ? State::shared : State::taken_by_order;
  }
  if (d.dry_run && (seen.status == DeliveryStatus::waiting_for_friendship ||
                    std::ranges::any_of(seen.items, &SeenItem::spent)))
    return "a test order asks somebody, or costs something";
  const bool owes = count(d, State::owed) > 0;
  const bool any = std::ranges::any_of(
      d.promises, [&](const auto& p) { return p.first.first == present(d) && delivered(p.second.state); });
  // Until another name of the same user is resolved nobody knows that they have it already.
  const bool unresolved = std::ranges::any_of(seen.items, [&](const SeenItem& item) {
    return item.status == ItemStatus::owed && item.name.empty() &&
           std::ranges::any_of(seen.items, [&](const SeenItem& other) {
             return other.former && other.file == item.file && user_of(other.name) == present(d);
           });
  });
  // Nobody knows either that files which were taken back were theirs.
  d.unresolved = unresolved || std::ranges::any_of(seen.items, [&](const SeenItem& item) {
                   return !item.name.empty() && (item.former || item.name != seen.username) &&
                          user_of(item.name) == present(d) && !has_now(item.status) &&
                          item.status != ItemStatus::owed && item.status != ItemStatus::dropped;
                 });
  d.renamed = std::ranges::any_of(seen.items, [&](const SeenItem& item) {
    return item.former && user_of(item.name) == present(d) &&
           std::ranges::any_of(seen.items, [&](const SeenItem& other) {
             return !other.former && other.file == item.file &&
                    (other.status == ItemStatus::owed || other.status == ItemStatus::dropped);
           });
  });
  if ((d.standing == Standing::open || d.standing == Standing::failed) && !owes && any && !unresolved &&
      !is_open(seen.status)) {
    d.standing = Standing::completed;
    d.code = ResolutionCode::none;
  }

  // The job that has it ends it with its next step; so does the next job.
  const bool begins =
      (seen.status == DeliveryStatus::queued && !d.racing) || seen.status == DeliveryStatus::processing;
  if (begins && d.standing != Standing::open && !owes) {
    d.ends_later = true;
    return {};
  }
  const Standing standing = standing_of(seen);
  // A job that had begun before the action perhaps gave all that was owed.
  const bool given = waited && standing == Standing::completed && any;
  if ((d.racing || given) && standing != d.standing) {
    // The order in which a share and a command came about is the service's to choose.
    d.standing = standing;
    d.code = seen.code;
    d.reviews = seen.reviews;
    d.by = seen.by;
    d.reason = seen.reason;
  } else if (d.standing == Standing::open && standing == Standing::failed) {
    if (!may_fail(d, seen.code, facts)) return fmt::format("it must not fail as {}", to_string(seen.code));
    d.standing = standing;
    d.code = seen.code;
  } else if (d.standing == Standing::failed && standing == Standing::failed && d.code != seen.code) {
    if (!may_fail(d, seen.code, facts)) return fmt::format("it must not fail as {}", to_string(seen.code));
    d.code = seen.code;
  } else if (d.standing == Standing::failed && standing == Standing::in_review &&
             !unapproved(orders_.at(id)).none() && seen.reviews == unapproved(orders_.at(id))) {
    // Its cause is gone, and something else stands against it.
    d.standing = standing;
    d.code = ResolutionCode::none;
    d.reviews = seen.reviews;
  } else if (d.standing == Standing::failed && standing == Standing::open) {
    // Nor does a file that is back resume anything: only a mapping does.
    if (d.code == ResolutionCode::username_missing || d.code == ResolutionCode::username_not_found ||
        d.code == ResolutionCode::preset_not_found)
      return "it is tried again, and nobody asked for that";
    d.standing = standing;
    d.code = ResolutionCode::none;
  } else if (standing != d.standing) {
    return "it is not what it should be";
  }
  // A later event may find that a delivery already in review has an order that is too large.
  if (d.standing == Standing::in_review && orders_.at(id).too_large &&
      seen.reviews.has(ReviewReason::too_large))
    d.reviews.add(ReviewReason::too_large);
  // An edit added files while a job had the delivery: they are held, and a person has reopened it since.
  if (standing == Standing::in_review && d.racing && hold_all && seen.reviews.has(ReviewReason::held))
    d.reviews.add(ReviewReason::held);
  if (standing == Standing::in_review && seen.reviews.gravest() != d.reviews.gravest())
    return "it is in review for another reason";
  // Edits and refunds together may have left nothing: which did it, nobody can say.
  const bool by_both = !orders_.at(id).refunds.empty() && d.by == InvalidatedBy::order &&
                       (d.reason == "nothing_to_deliver" || d.reason == "order_refunded") &&
                       (seen.reason == "nothing_to_deliver" || seen.reason == "order_refunded");
  // A job, or a share, was under way while the order ended in one way and then in another.
  const auto& its = orders_.at(id);
  const bool by_either = (d.racing || d.ends_later) && d.by == InvalidatedBy::order &&
                         explains_end(its, payment(its), seen.reason);
  if (standing == Standing::invalidated &&
      (seen.by != d.by || (seen.reason != d.reason && !by_both && !by_either)))
    return "it is invalidated for another reason";
  if (by_either) d.reason = seen.reason;

  if (d.code != ResolutionCode::cloud_unavailable) d.failed_since.reset();
  if (d.code == ResolutionCode::cloud_unavailable && !d.failed_since) d.failed_since = last_seen;

  const bool explains = standing == Standing::failed || seen.reviews.has(ReviewReason::too_large);
  if (!seen.reason.empty() && standing != Standing::invalidated)
    return "its reason outlives the state that it explains";
  if (seen.code != ResolutionCode::none && !explains) return "its code outlives the state that it explains";

  // Every wait has an end.
  if (!is_open(seen.status)) d.waits_since.reset();
  if (seen.status == DeliveryStatus::waiting_for_friendship) {
    if (!d.first_waited) d.first_waited = last_seen;
    if (!d.waits_since) d.waits_since = facts.now;
    // Nobody is given up whose answer cannot be asked for.
    if (facts.now - std::max(*d.waits_since + kFriendshipWait, facts.reads_well_since) >= kAtTheLatest &&
        facts.reads_well_since < facts.now)
      return "it waits for more than 14 days";
  }
  const bool tries = seen.status == DeliveryStatus::queued || seen.status == DeliveryStatus::processing;
  if (!tries || !facts.writes_fail_since) {
    d.queued_since.reset();
  } else {
    if (!d.queued_since) d.queued_since = facts.now;
    // Failing reads, its own trouble and the account's, which takes none of its tries, follow each other at most, after those of
    // deliveries that share the same file with the same user before it.
    const auto before = std::ranges::count_if(orders_, [&](const auto& entry) {
      if (entry.first == id || !entry.second.delivery) return false;
      return std::ranges::any_of(entry.second.delivery->promises, [&](const auto& p) {
        return p.second.state == State::owed && d.promises.contains(p.first);
      });
    });
    if (facts.now - std::max(*d.queued_since, *facts.writes_fail_since) >=
        (3 + before) * kTroubleLimit + kAtTheLatest)
      return "it is tried without an end";
  }
  return {};
}

bool Model::given_elsewhere(const std::string& id, const std::string& user, const std::string& file) const {
  return std::ranges::any_of(orders_, [&](const auto& entry) {
    if (entry.first == id || !entry.second.delivery || entry.second.delivery->dry_run) return false;
    const auto at = entry.second.delivery->promises.find({user, file});
    return at != entry.second.delivery->promises.end() &&
           (at->second.state == State::owed || at->second.state == State::shared);
  });
}

std::string Model::compare_items(const std::string& id, const Seen& seen) {
  auto& d = *delivery(id);
  // What a delivery that is over owes has no meaning until it goes on; then the order says it.
  // One that is too large to be read does not say it.
  const auto& order = orders_.at(id);
  const bool over = is_stopped(order) || order.too_large || d.standing == Standing::invalidated;
  auto expected = d.promises;
  for (const auto& item : seen.items) {
    // They were named, renamed and named again: the newer one tells. Until the name is resolved nobody knows
    // that what was delivered is theirs; what was taken back may be owed beside it.
    const bool twin = item.former && user_of(item.name) == present(d) &&
                      std::ranges::any_of(seen.items, [&](const SeenItem& other) {
                        const bool again =
                            (item.status == ItemStatus::revoked && other.status == ItemStatus::owed) ||
                            other.status == ItemStatus::delivered_by_hand;
                        const bool theirs = other.name.empty() || user_of(other.name) == present(d);
                        return !other.former && theirs && other.file == item.file &&
                               (!other.name.empty() || item.status == ItemStatus::dropped || again);
                      });
    if (twin) continue;
    // What was delivered by hand was so whatever the name.
    const bool here =
        item.name.empty() || user_of(item.name).empty() || item.status == ItemStatus::delivered_by_hand;
    const auto user = here ? present(d) : user_of(item.name);
    const auto at = expected.find({user, item.file});
    if (at == expected.end()) {
      if (item.status == ItemStatus::dropped) continue;
      // Another name for the same user: until it is resolved nobody knows that they have it.
      if (item.status == ItemStatus::owed && item.name.empty() &&
          (d.standing != Standing::completed || !unapproved(orders_.at(id)).none()) &&
          d.promises.contains({user, item.file}))
        continue;
      if (over && item.status == ItemStatus::owed) {
        d.promises.try_emplace({user, item.file});
        continue;
      }
      return fmt::format("{} of {} is {}, and was never owed", item.file, user, to_string(item.status));
    }
    const auto state = at->second.state;
    const bool taken = is_taken(state);
    // The job that was under way obeyed the refund after the store began to want files taken back.
    const bool late = d.racing && revoked_lately_ && !paid_files(order).contains(item.file);
    // Another name for the same user, not resolved yet: what they had is recorded with the name of before.
    const bool again = item.status == ItemStatus::dropped || (over && item.status == ItemStatus::owed);
    const bool beside =
        item.status == ItemStatus::owed && std::ranges::any_of(seen.items, [&](const SeenItem& other) {
          return other.former && other.file == item.file && user_of(other.name) == user &&
                 other.status == ItemStatus::revoked;
        });
    if (taken && (again || beside) && item.name.empty()) {
      if (beside && !over) d.promises[at->first].state = State::owed;
      expected.erase(at);
      continue;
    }
    bool fits = false;
    switch (item.status) {
      case ItemStatus::owed:
        // Paid again while it was over, and then refunded; or after a revocation that failed.
        fits = state == State::owed || at->second.stuck ||
               (over && (state == State::dropped || state == State::taken_by_order));
        if (fits) d.promises[at->first].state = State::owed;
        break;
      case ItemStatus::shared:
      case ItemStatus::already_shared:
        // The service does not take back a share that another of the merchant's users made.
        fits = state == State::shared || (state == State::taken_by_order && at->second.foreign) ||
               ((state == State::taken_by_order || state == State::taken_by_merchant) &&
                given_elsewhere(id, user, item.file));
        break;
      case ItemStatus::delivered_by_hand:
        fits = state == State::by_hand;
        break;
      case ItemStatus::dropped:
        fits = state == State::dropped || (over && state == State::owed);
        if (fits) d.promises[at->first].state = State::dropped;
        break;
      case ItemStatus::revoked:
        fits = state == State::taken_by_order || state == State::taken_by_merchant ||
               at->second.may_be_taken || at->second.may_go ||
               (state == State::dropped && at->second.was_shared) || (state == State::shared && late) ||
               (state == State::owed && at->second.was_shared && payment(order) != domain::Payment::deliver);
        if (fits && state == State::shared) d.promises[at->first].state = State::taken_by_order;
        break;
      case ItemStatus::revoke_failed:
        // Paid again in review, or without a buyer: what perhaps was taken back stays known until a merchant decides.
        fits = (long_trouble_ || moved_) &&
               (delivered(state) || (order.erased && at->second.was_shared) ||
                d.standing == Standing::in_review || d.standing == Standing::invalidated ||
                payment(order) != domain::Payment::deliver) &&
               state != State::by_hand;
        if (fits) d.promises[at->first] = {.state = State::shared, .stuck = true};
        break;
      case ItemStatus::sharing:
      case ItemStatus::revoking:
        break;
    }
    if (!fits)
      return fmt::format("{} of {} is {}, and should be {}", item.file, user, to_string(item.status),
                         to_text(state));
    expected.erase(at);
  }
  for (const auto& [whom, promise] : expected) {
    if (over && promise.state == State::owed) {
      d.promises.erase(whom);
    } else if (promise.state != State::dropped)
      return fmt::format("{} of {} should be {}, and is not there", whom.second, whom.first,
                         to_text(promise.state));
  }
  return {};
}

std::int64_t Model::owed_by_open() const {
  std::int64_t owed = 0;
  for (const auto& [id, order] : orders_) {
    if (order.delivery && order.delivery->standing == Standing::open && !order.delivery->dry_run)
      owed += count(*order.delivery, State::owed);
  }
  return owed;
}

std::string Model::finish(const std::string& id, const Seen& what, const Facts& facts) {
  if (auto wrong = seen(id, what, facts); !wrong.empty()) return wrong;
  const auto& order = orders_.at(id);
  auto& d = *delivery(id);
  if (what.action_waits) return "an action waits for ever";
  if (what.status == DeliveryStatus::processing) return "a job of it never ends";
  if (what.status == DeliveryStatus::queued) return "it is left undone";
  if (auto wrong = compare_items(id, what); !wrong.empty()) return wrong;
  if (d.replacing && d.replacing->must && what.status == DeliveryStatus::failed &&
      what.code == ResolutionCode::preset_not_found && unapproved(order).none() && !order.too_large &&
      !is_stopped(order)) {
    std::set<std::string> owed;
    for (const auto& [whom, promise] : d.promises) {
      if (whom.first == present(d) && promise.state == State::owed) owed.insert(whom.second);
    }
    // One of its lines has got another file.
    const bool went_on = std::ranges::any_of(order.lines, [&](const Line& line) {
      const auto replaced = d.replacing->lines.find(line.id);
      return replaced != d.replacing->lines.end() &&
             std::ranges::any_of(replaced->second, [&](const std::string& file) {
               const auto at = d.promises.find({present(d), file});
               return at != d.promises.end() && at->second.state != State::dropped &&
                      std::ranges::find(*line.files, file) == line.files->end();
             });
    });
    const bool sure = std::ranges::any_of(
        d.replacing->lines, [&](const auto& line) { return !d.replacing->unsure.contains(line.first); });
    if (sure && owed == d.replacing->missing && !went_on)
      return "a mapping was saved that replaces a missing file, and it is not resumed";
  }
  if (what.refunded != (payment(order) == domain::Payment::refunded ||
                        order.told == domain::Payment::refunded || !order.refunds.empty()))
    return "its flag `refunded` is wrong";
  if (what.cancelled != (payment(order) == domain::Payment::cancelled))
    return "its flag `cancelled` is wrong";
  const auto user = user_of(d.username);
  const auto state = friendship(facts, user);
  if (d.standing == Standing::open) {
    if (what.status != DeliveryStatus::waiting_for_friendship) return "it is left undone";
    if (state == Friend::friends) return "it waits, and they are friends";
    // The platform of tests holds one friendship of a buyer, whoever of the merchant's users asked.
    if (state == Friend::none && facts.one_login) return "it waits, and nobody was asked";
    if (state == Friend::declined || state == Friend::blocked) return "it waits for somebody who said no";
  }
  // Where something stands against the order, a fixed cause alone does not resume it.
  if (d.standing == Standing::failed && unapproved(order).none()) {
    if (d.code == ResolutionCode::cloud_unavailable && facts.now - *d.failed_since < kProbesFor)
      return "the platform is back, and it is not resumed";
    if (d.code == ResolutionCode::insufficient_credits && facts.credits > owed_by_open())
      return "there are credits, and it is not resumed";
    const bool in_time = !d.first_waited || facts.now - *d.first_waited < kAcceptanceCounts;
    if (d.code == ResolutionCode::friendship_timeout && state == Friend::friends && facts.one_login &&
        in_time)
      return "they are friends now, and it is not resumed";
  }
  return {};
}

std::string Model::compare_shares(const Facts& facts) const {
  if (moved_) return {};
  for (const auto& [user, file] : facts.has) {
    const bool promised = std::ranges::any_of(orders_, [&](const auto& entry) {
      if (!entry.second.delivery || entry.second.delivery->dry_run) return false;
      const auto at = entry.second.delivery->promises.find({user, file});
      if (at == entry.second.delivery->promises.end()) return false;
      // A person may mark as delivered by hand what the user has under another spelling of the name.
      const auto& promise = at->second;
      return promise.state == State::shared || (promise.state == State::by_hand && promise.was_shared);
    });
    if (!promised) return fmt::format("{} has {}, which no delivery gives", user, file);
  }
  for (const auto& [id, order] : orders_) {
    if (!order.delivery || order.delivery->dry_run) continue;
    for (const auto& [whom, promise] : order.delivery->promises) {
      if (promise.state == State::shared && !promise.stuck && !facts.has.contains(whom))
        return fmt::format("{} does not have {}, which order {} gave", whom.first, whom.second, id);
    }
  }
  return {};
}

}  // namespace presetbridge::simulation
