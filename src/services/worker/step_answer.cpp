#include "services/worker/one_step.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <stdexcept>

#include "domain/delivery_outcome.h"
#include "domain/resolution.h"
#include "domain/retry_schedule.h"
#include "domain/trouble.h"
#include "services/delivery/items.h"
#include "services/delivery/routing.h"
#include "services/worker/account_trouble.h"
#include "services/worker/former_login.h"
#include "services/worker/item_steps.h"
#include "services/worker/job_end.h"
#include "services/worker/share_ledger.h"
#include "storage/chore_store.h"
#include "storage/cloud_account_store.h"
#include "storage/delivery_store.h"

namespace presetbridge::services {
namespace {

using cloud::CloudError;
using cloud::FriendshipState;
using domain::CallKind;
using domain::DeliveryStatus;
using domain::Finding;
using domain::ItemStatus;
using domain::ResolutionCode;
using storage::Friendship;
using storage::Tx;

constexpr Millis kWithoutLogin{15 * 60'000};
constexpr Millis kOtherUser{60'000};

Friendship as_friendship(FriendshipState state) {
  switch (state) {
    case FriendshipState::none:
      return Friendship::none;
    case FriendshipState::requested:
      return Friendship::requested;
    case FriendshipState::friends:
      return Friendship::friends;
    case FriendshipState::declined:
      return Friendship::declined;
    case FriendshipState::blocked:
      return Friendship::blocked;
  }
  return Friendship::unknown;
}

// The second of the two calls of Call::then_friendship.
Call friendship_call(Call call) {
  call.kind = Call::Kind::friendship;
  return call;
}

// Whether an intent of ours made it: this one, or one of before for the item that was given up meanwhile.
bool is_of(ItemId item, const std::string& intent_key, const cloud::Share& share) {
  return share.idempotency_key == intent_key || share.idempotency_key.starts_with(to_string(item) + "-");
}

CallKind kind_of(const Call& call) {
  switch (call.kind) {
    case Call::Kind::find_user:
      return CallKind::find_user;
    case Call::Kind::friendship:
      return CallKind::friendship;
    case Call::Kind::request_friendship:
      return CallKind::request_friendship;
    case Call::Kind::withdraw:
      return CallKind::withdraw;
    case Call::Kind::share:
      return CallKind::share;
    case Call::Kind::find_share:
      return CallKind::find_share;
    case Call::Kind::revoke:
      return CallKind::revoke;
    case Call::Kind::done:
    case Call::Kind::lost:
      break;
  }
  throw std::logic_error("no call of the platform");
}

// The calls whose success an answer shows. A read is one whatever it says; a write that may have had its
// effect is found done by a read (spec 3.5).
std::vector<CallKind> proved_by(const Answer& answer, bool withdrawing) {
  const Call& call = answer.call;
  std::vector<CallKind> proved;
  const auto prove_friendship = [&](FriendshipState state) {
    const bool stands = state == FriendshipState::requested || state == FriendshipState::friends;
    const bool asked = call.kind == Call::Kind::request_friendship;
    const bool sent = asked || (call.known == Friendship::requesting && !withdrawing);
    if (!asked) proved.push_back(CallKind::friendship);
    if (stands && sent) proved.push_back(CallKind::request_friendship);
  };
  if (const auto* const error = std::get_if<CloudError>(&answer.value)) {
    // A definite no is an answer, too.
    const bool is_read = call.kind == Call::Kind::find_user || call.kind == Call::Kind::friendship ||
                         call.kind == Call::Kind::find_share;
    if (is_read && error->kind == CloudError::Kind::user_not_found) proved.push_back(kind_of(call));
    return proved;
  }
  if (const auto* const state = std::get_if<FriendshipState>(&answer.value)) {
    prove_friendship(*state);
    return proved;
  }
  proved.push_back(kind_of(call));
  if (answer.friendship && *answer.friendship) prove_friendship(**answer.friendship);
  const auto* const share = std::get_if<std::optional<cloud::Share>>(&answer.value);
  if (share != nullptr && *share) proved.push_back(CallKind::share);
  return proved;
}

}  // namespace

void JobSteps::Step::take_in(const Answer& answer) {
  const Call& call = answer.call;
  const auto* const failure = answer.error();
  const bool no_login = failure != nullptr && login_fault(*failure);
  if ((answer.other_user || no_login) && out_of_reach(set, job, call)) {
    if (call.kind == Call::Kind::revoke)
      return end_revocation(set, call.delivery, call.item, ItemStatus::revoke_failed, kLoginReplaced);
    count_as_absent(set, call.delivery, call.item, kLoginReplaced);
    return conclude_looked_up(set, customer.id, call);
  }
  if (answer.other_user) {
    // The account's login is of another cloud user by now: its deliveries are about to be moved there
    // (spec 3.11).
    if (call.kind == Call::Kind::share) settle_absent(set, call.delivery, call.item);
    if (call.kind == Call::Kind::request_friendship) customer.friendship = Friendship::none;
    job.account_trouble = job.stop_calling = true;
    job.retry_at = job.settle_at = set.now() + kOtherUser;
    return;
  }
  succeeded(answer);
  if (const auto* error = std::get_if<CloudError>(&answer.value)) return take_in_error(answer, *error);
  switch (call.kind) {
    case Call::Kind::find_user:
      job.name_resolved = true;
      tell_all("looked_up", "The cloud platform found the customer.", answer.took,
               told_of({{"username", customer.username_key},
                        {"userId", std::get<cloud::CloudUser>(answer.value).id}}));
      meet_alias(std::get<cloud::CloudUser>(answer.value));
      if (!answer.friendship || job.stop_calling) return;
      if (*answer.friendship) {
        ++job.friendship_checks;
        return take_in_friendship(call, **answer.friendship);
      }
      return take_in_error({.call = friendship_call(call), .login_version = answer.login_version},
                           answer.friendship->error());
    case Call::Kind::friendship:
    case Call::Kind::request_friendship:
      if (call.kind == Call::Kind::request_friendship &&
          std::get<FriendshipState>(answer.value) == FriendshipState::friends)
        tell_all("accepted", "A friend request was sent, and accepted at once.", answer.took, {});
      return take_in_friendship(call, std::get<FriendshipState>(answer.value));
    case Call::Kind::withdraw:
      // The answer is the same where the customer had declined, or accepted, before.
      customer.withdraw = false;
      customer.friendship = Friendship::unknown;
      customer.requested_at.reset();
      return;
    case Call::Kind::share: {
      const auto& share = std::get<cloud::Share>(answer.value);
      // A share that stood before this call and is not of this intent was made by somebody else: it costs
      // nothing (spec 3.9).
      const bool ours = !share.existed || is_of(call.item, call.idempotency_key, share);
      settle_found(set, call.delivery, call.item, ours, share.shared_at, answer.took);
      progress(call.delivery);
      return revoke_if_ended(set, call.delivery);
    }
    case Call::Kind::find_share: {
      const auto& share = std::get<std::optional<cloud::Share>>(answer.value);
      const auto* const item = set.item(call.delivery, call.item);
      if (item == nullptr || item->status != ItemStatus::sharing) return;
      if (share) {
        const bool ours = share->idempotency_key.empty() || is_of(call.item, item->intent_key, *share);
        settle_found(set, call.delivery, call.item, ours, share->shared_at);
      } else {
        settle_absent(set, call.delivery, call.item);
      }
      conclude_looked_up(set, customer.id, call);
      if (share) progress(call.delivery);
      return revoke_if_ended(set, call.delivery);
    }
    case Call::Kind::revoke:
      return end_revocation(set, call.delivery, call.item, ItemStatus::revoked);
    case Call::Kind::done:
    case Call::Kind::lost:
      return;
  }
}

// The same of each delivery that the job works on.
void JobSteps::Step::tell_all(std::string_view type, std::string_view message, std::optional<Millis> took,
                              const std::string& data) {
  for (const auto id : set.open(customer.id)) {
    const auto& row = *set.delivery(id);
    if (row.status != DeliveryStatus::processing) continue;
    set.note(row, domain::Actor::system(), std::string(message),
             {.type = std::string(type), .duration = took, .data = data});
  }
}

void JobSteps::Step::succeeded(const Answer& answer) {
  for (const auto call : proved_by(answer, customer.withdraw || customer.ask_anew)) {
    customer.failing = domain::after_success(customer.failing, call, answer.call.delivery);
    if (in_trouble) {
      set.save();  // it looks at deliveries
      note(note_success(set.tx(), job.cloud_account, call));
    }
    if (call != CallKind::request_friendship) continue;
    // The whole customer's: the probed delivery's too.
    progress(answer.call.delivery);
    progress(customer.probed_delivery);
  }
}

// The clock of a failure ends with the work that set it, and stands still while that has no turn: in an
// outage no tries are lost (spec 3.5).
void JobSteps::Step::keep_clock() {
  if (customer.failing.empty()) return;
  const auto open = set.open(customer.id);
  const auto items = set.items_of(customer.id);
  const auto any = [&](DeliveryId id, ItemStatus status) {
    return std::ranges::any_of(
        items, [&](const auto* item) { return item->delivery == id && item->status == status; });
  };
  std::erase_if(customer.failing, [&](const domain::FailingCall& row) {
    const auto id = row.delivery;
    if (!id) return !customer.withdraw;
    if (row.call == CallKind::revoke) return !any(id, ItemStatus::revoking);
    return std::ranges::find(open, id) == open.end() && !any(id, ItemStatus::sharing);
  });
  const Millis no_turn = std::max(set.now() - customer.due_at, Millis{0});
  for (auto& row : customer.failing) row.since = std::min(row.since + no_turn, set.now());
}

// Whether this is the failed delivery that the job tries: nothing is told of what fails for it.
bool JobSteps::Step::probes(DeliveryId id) {
  if (!id || id != customer.probed_delivery) return false;
  const auto* const row = set.delivery(id);
  return row != nullptr && row->status == DeliveryStatus::failed && row->customer == customer.id;
}

// A write for this delivery was done: if it had failed as cloud_unavailable, it goes on, and with it what
// failed in the same trouble, if that is over (spec 3.5).
void JobSteps::Step::progress(DeliveryId id) {
  const auto failed = [&] {
    auto* const row = id ? set.delivery(id) : nullptr;
    const bool so = row != nullptr && row->status == DeliveryStatus::failed &&
                    row->resolution == ResolutionCode::cloud_unavailable;
    return so ? row : nullptr;
  };
  const auto* const row = failed();
  if (row == nullptr) return;
  if (row->failed_trouble) add_chore(set.tx(), row->account, storage::ChoreKind::resume_unavailable);
  conclude_settled(set, id);  // perhaps nothing more is owed
  if (auto* const owing = failed()) set.directly([&](Tx& tx) { resume(tx, set.changes(), *owing); });
}

// The platform's user of this name may be one whom another name led to already: friendship and shares are
// that row's.
void JobSteps::Step::meet_alias(const cloud::CloudUser& user) {
  const auto known = set.customer_of_user(customer.cloud_account, user.id);
  if (!known || known->id == customer.id) {
    customer.cloud_user_id = user.id;
    return;
  }
  for (const auto id : set.open(customer.id)) {
    // What waits for the job is obeyed by it: from here on the delivery is in none, and is that row's.
    if (const auto& asked = *set.delivery(id); asked.status == domain::DeliveryStatus::processing &&
                                               asked.pending.kind != domain::PendingActionKind::none)
      conclude(set, job, customer, id, Finding::worked, ResolutionCode::none);
    auto& row = *set.delivery(id);
    if (row.customer != customer.id || !is_open(row)) continue;
    row.customer = known->id;
    set.changed(row);
    if (row.status == DeliveryStatus::processing)
      set.apply(row, {.cause = domain::Cause::refreshed, .keep_pending = true});
  }
  const bool friends = known->friendship == Friendship::friends;
  set.directly([&](Tx& tx) {
    // The failed ones, too: what resumes them, as a probe or a late acceptance, comes to that row.
    auto failed = lock_failed_of_customer(tx, customer.id);
    std::vector<storage::DeliveryRow*> moved;
    for (auto& row : failed) {
      row.customer = known->id;
      moved.push_back(&row);
    }
    update_deliveries(tx, moved);
    enqueue_customer(tx, known->id, friends ? domain::JobClass::share : domain::JobClass::first_request,
                     tx.now());
  });
  wake_cloud_account(set.tx(), customer.cloud_account, set.now());
  job.stop_calling = true;
}

void JobSteps::Step::take_in_friendship(const Call& call, FriendshipState state) {
  if (call.kind == Call::Kind::friendship) ++job.friendship_checks;
  if (call.kind == Call::Kind::request_friendship) job.request_sent = true;
  // A sweep saw the acceptance while this call was on its way.
  if (customer.friendship == Friendship::friends && state == FriendshipState::requested) return;
  // Or a refusal, which it will not tell again: whether that, or this answer, is the newer, the platform
  // knows.
  const bool overtaken = state == FriendshipState::requested && customer.friendship != call.known;
  customer.friendship = overtaken ? Friendship::unknown : as_friendship(state);
  if (customer.friendship == Friendship::requested && !customer.requested_at)
    customer.requested_at = set.now();
}

void JobSteps::Step::take_in_error(const Answer& answer, const CloudError& error) {
  const Call& call = answer.call;
  const bool mutating_share = call.kind == Call::Kind::share;
  if (mutating_share && error.effect_unknown) {
    // The hold stays until a settlement looks the share up, when the call can have no effect any more.
    if (auto* const item = set.item(call.delivery, call.item); item && item->status == ItemStatus::sharing) {
      item->settle_after = set.now() + steps.call_timeout_;
      set.changed(*item);
    }
    return put_off(call);
  }
  if (mutating_share) settle_absent(set, call.delivery, call.item);
  if (call.kind == Call::Kind::find_share &&
      (error.kind == CloudError::Kind::user_not_found || error.kind == CloudError::Kind::file_not_found)) {
    settle_absent(set, call.delivery, call.item);
    return conclude_settled(set, call.delivery, call.item);
  }
  const bool gone = error.kind == CloudError::Kind::user_not_found;
  const bool unreachable =
      error.kind == CloudError::Kind::blocked || error.kind == CloudError::Kind::not_friends;
  if (call.kind == Call::Kind::find_share && unreachable) {
    // An answer: the platform looks shares up, if not this one.
    if (in_trouble) {
      set.save();  // it looks at deliveries
      note(note_success(set.tx(), job.cloud_account, CallKind::find_share));
    }
    return put_off(call, true);
  }
  if (call.kind == Call::Kind::revoke && (gone || unreachable)) {
    // Nobody is left to take it from, or nobody who can be reached: asking again would never end.
    return end_revocation(set, call.delivery, call.item,
                          gone ? ItemStatus::revoked : ItemStatus::revoke_failed);
  }
  if (call.kind == Call::Kind::request_friendship && !error.effect_unknown)
    customer.friendship = Friendship::none;

  switch (error.kind) {
    case CloudError::Kind::unavailable:
    case CloudError::Kind::malformed:
      return put_off(call);
    case CloudError::Kind::rate_limited:
      set.save();  // it looks at deliveries
      note(note_rate_limit(set.tx(), job.cloud_account, kind_of(call), call.delivery, error.retry_after));
      job.account_trouble = job.stop_calling = true;
      return;
    case CloudError::Kind::login_refused:
    case CloudError::Kind::credentials_unreadable:
      return lose_login(answer, error);
    case CloudError::Kind::session_refused:
      // The worker logs in again for the next call; a second refusal is trouble.
      if (++job.session_retries > 1) transient(kind_of(call), call.delivery);
      return;
    case CloudError::Kind::user_not_found:
      forget_user();
      // The user of before is gone: somebody else may have the name now, but not other names of theirs.
      if (call.kind == Call::Kind::find_user || job.name_resolved || has_other_names())
        job.failed_all = ResolutionCode::username_not_found;
      return;
    case CloudError::Kind::blocked:
      customer.friendship = Friendship::blocked;
      job.failed_all = ResolutionCode::blocked_by_customer;
      return;
    case CloudError::Kind::not_friends:
      customer.friendship = Friendship::unknown;
      if (job.friendship_checks >= kMaxFriendshipChecks) transient(kind_of(call), call.delivery);
      return;
    case CloudError::Kind::file_not_found:
    case CloudError::Kind::not_shareable:
    case CloudError::Kind::rejected:
      break;
    default:
      return put_off(call);
  }
  const auto code = error.kind == CloudError::Kind::file_not_found  ? ResolutionCode::preset_not_found
                    : error.kind == CloudError::Kind::not_shareable ? ResolutionCode::preset_not_shareable
                                                                    : ResolutionCode::cloud_rejected;
  if (call.kind == Call::Kind::revoke) {
    end_revocation(
        set, call.delivery, call.item,
        code == ResolutionCode::preset_not_found ? ItemStatus::revoked : ItemStatus::revoke_failed);
  } else if (call.kind == Call::Kind::withdraw) {
    customer.withdraw = customer.ask_anew = false;
    customer.friendship = Friendship::unknown;
  } else if (call.kind == Call::Kind::find_share) {
    put_off(call, true);
  } else if (call.item) {
    job.failed_items[call.item] = code;
  } else {
    job.failed_all = code;
  }
}

void JobSteps::Step::lose_login(const Answer& answer, const CloudError& error) {
  switch (refuse_login(set.tx(), answer.call.account, answer.login_version, *login_fault(error))) {
    case LoginVerdict::refused:
      job.failed_all = ResolutionCode::credentials_invalid;
      break;
    case LoginVerdict::unreadable:
      job.failed_words = domain::kUnreadableLogin;
      [[fallthrough]];
    case LoginVerdict::missing:
      job.failed_all = ResolutionCode::credentials_missing;
      break;
    case LoginVerdict::changed:
      if (++job.session_retries > 1) transient(kind_of(answer.call), answer.call.delivery);
      return;
  }
  job.failed_account = answer.call.account;
  // What has to be settled waits for a login.
  job.settle_at = set.now() + kWithoutLogin;
}

// Whether an open delivery is for the same user under another name.
bool JobSteps::Step::has_other_names() {
  return std::ranges::any_of(set.open(customer.id), [&](DeliveryId id) {
    return set.delivery(id)->username != customer.username_key;
  });
}

// The name leads to nobody, or to somebody else. What is still to be settled or taken back is the user's of
// before: each item tells whose it is, and those of before that did not do so from now on.
void JobSteps::Step::forget_user() {
  const auto& user = customer.cloud_user_id;
  for (auto* const item : set.items_of(customer.id)) {
    if (user.empty() || !item->user_id.empty()) continue;
    const bool told = std::ranges::any_of(set.items(item->delivery), [&](const auto* other) {
      return other->file_id == item->file_id && other->user_id == user;
    });
    if (told) continue;
    item->user_id = user;
    set.changed(*item);
  }
  customer.cloud_user_id.clear();
  customer.friendship = Friendship::unknown;
  customer.requested_at.reset();
  customer.friendship_changed_at.reset();
}

void JobSteps::Step::transient(CallKind call, DeliveryId delivery) {
  job.stop_calling = true;
  if (job.shutting_down) return;  // what ended the call was this side
  const bool settles = call == CallKind::find_share || call == CallKind::revoke;
  if (!settles && probes(delivery)) return;
  set.save();  // it looks for queued deliveries
  const auto noted = note_failure(set.tx(), customer, call, delivery, steps.random_.u64());
  note(noted.outage);
  job.account_trouble = noted.paused;
  job.retry_at = noted.retry_at;
  if (noted.paused || noted.retry_at) return;
  if (call == CallKind::withdraw && !delivery) {
    customer.withdraw = false;  // whoever comes next finds out whether the request stands
    return;
  }
  job.failed_all = ResolutionCode::cloud_unavailable;
  job.settle_at = set.now() + domain::kRetryCeiling;
}

// What fails for one file is its delivery's own trouble (spec 3.5): the job goes on without that one, so that
// each delivery costs it one such call.
void JobSteps::Step::put_off(const Call& call, bool answered) {
  const bool revokes = call.kind == Call::Kind::revoke;
  if (!call.item || job.shutting_down) return transient(kind_of(call), call.delivery);
  auto& until = (revokes ? job.revocations_put_off : job.put_off)[call.delivery];
  until = set.now();
  if (call.kind == Call::Kind::share && probes(call.delivery)) return;
  const auto row = domain::failing_row(customer.failing, kind_of(call), call.delivery);
  set.save();  // it looks for queued deliveries
  const auto noted =
      note_failure(set.tx(), customer, kind_of(call), call.delivery, steps.random_.u64(), answered);
  note(noted.outage);
  job.account_trouble = job.stop_calling = noted.paused;
  if (noted.retry_at) until = *noted.retry_at;
  const bool over = call.kind == Call::Kind::find_share && looked_up_for_long(call);
  if (!over && (noted.paused || noted.retry_at)) return;
  if (revokes) {
    // The delivery's other files have their turn, each once, before they are given up too.
    job.revocations_put_off.erase(call.delivery);
    end_revocation(set, call.delivery, call.item, ItemStatus::revoke_failed,
                   "the cloud platform did not do it for three days");
    domain::put_failing_row(customer.failing, kind_of(call), call.delivery, row);
    return;
  }
  until = set.now() + domain::kRetryCeiling;
  ensure_probe(set.tx(), job.cloud_account, until);
  if (call.kind == Call::Kind::find_share) {
    count_as_absent(set, call.delivery, call.item, "the cloud platform did not tell for three days");
    conclude_looked_up(set, customer.id, call);
  }
  fail_unavailable(call.delivery);
}

// Fails one of the customer's open deliveries that is tried no more, whether this job works on it or not.
void JobSteps::Step::fail_unavailable(DeliveryId id) {
  const auto open = set.open(customer.id);
  if (std::ranges::find(open, id) == open.end()) return;
  auto& row = *set.delivery(id);
  if (row.status == DeliveryStatus::processing) {
    conclude(set, job, customer, id, Finding::permanent, ResolutionCode::cloud_unavailable);
  } else if (row.status == DeliveryStatus::queued) {
    set.apply(row, {.cause = domain::Cause::known_cause, .code = ResolutionCode::cloud_unavailable});
  }
}

// A share holds its credit for three days at most, whatever else failed for its delivery or the account
// meanwhile.
bool JobSteps::Step::looked_up_for_long(const Call& call) {
  const auto* const item = set.item(call.delivery, call.item);
  return item != nullptr && item->status == ItemStatus::sharing &&
         set.now() - *item->settle_after >= domain::kRetryLimit;
}

}  // namespace presetbridge::services
