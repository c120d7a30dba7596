#include "services/worker/one_step.h"

#include <algorithm>
#include <type_traits>

#include "domain/trouble.h"
#include "services/delivery/routing.h"
#include "services/worker/former_login.h"
#include "services/worker/item_steps.h"
#include "services/worker/job_end.h"
#include "services/worker/share_ledger.h"
#include "storage/stores/chore_store.h"
#include "storage/stores/delivery_store.h"

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

// Whether an intent of ours made it: this one, or one of before for the item that was given up meanwhile.
bool is_of(ItemId item, const std::string& intent_key, const cloud::Share& share) {
  return share.idempotency_key == intent_key || share.idempotency_key.starts_with(to_string(item) + "-");
}

// The calls whose success an answer shows. A read is one whatever it says; a write that may have had its
// effect is found done by a read (spec 3.5).
std::vector<CallKind> proved_by(const Answer& answer, bool withdrawing) {
  const Call& call = answer.call;
  std::vector<CallKind> proved;
  const auto prove_friendship = [&](FriendshipState state) {
    const bool stands = state == FriendshipState::requested || state == FriendshipState::friends;
    const bool asked = call.as<RequestFriendship>() != nullptr;
    const bool sent = asked || (call.known == Friendship::requesting && !withdrawing);
    if (!asked) proved.push_back(CallKind::friendship);
    if (stands && sent) proved.push_back(CallKind::request_friendship);
  };
  if (const auto* const error = std::get_if<CloudError>(&answer.value)) {
    // A definite no is an answer, too.
    const bool is_read = call.as<FindUser>() || call.as<FindFriendship>() || call.as<FindShare>();
    if (is_read && error->kind == CloudError::Kind::user_not_found) proved.push_back(call.kind());
    return proved;
  }
  if (const auto* const state = std::get_if<FriendshipState>(&answer.value)) {
    prove_friendship(*state);
    return proved;
  }
  proved.push_back(call.kind());
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
    const ItemId item = call.item()->item;
    if (call.as<RevokeShare>() != nullptr)
      return end_revocation(set, call.delivery, item, RevocationEnd::refused, kLoginReplaced);
    count_as_absent(set, call.delivery, item, kLoginReplaced);
    return conclude_looked_up(set, customer.id, call);
  }
  if (answer.other_user) {
    // The account's login is of another cloud user by now: its deliveries are about to be moved there
    // (spec 3.11).
    take_back_intent(call);
    const Timestamp again = set.now() + kOtherUser;
    job.outcome = {.kind = JobOutcome::Kind::account_paused, .retry_at = again, .settle_at = again};
    return;
  }
  succeeded(answer);
  if (const auto* error = std::get_if<CloudError>(&answer.value)) return take_in_error(answer, *error);
  std::visit(
      [&](const auto& request) {
        using Result = typename std::remove_cvref_t<decltype(request)>::Result;
        take_in_result(answer, request, std::get<Result>(answer.value));
      },
      call.request);
}

void JobSteps::Step::take_in_result(const Answer& answer, const FindUser&, const cloud::CloudUser& user) {
  job.name_resolved = true;
  tell_all(domain::TimelineType::looked_up, "The cloud platform found the customer.", answer.took,
           timeline_data({{"username", customer.username_key}, {"userId", user.id}}));
  meet_alias(user);
  if (!answer.friendship || job.outcome) return;
  Answer second{.call = answer.call, .login_version = answer.login_version};
  const FindFriendship request{user.id};
  second.call.request = request;
  if (!*answer.friendship) return take_in_error(second, answer.friendship->error());
  take_in_result(second, request, **answer.friendship);
}

void JobSteps::Step::take_in_result(const Answer& answer, const FindFriendship&, FriendshipState state) {
  ++job.friendship_checks;
  take_in_friendship(answer.call, state);
}

void JobSteps::Step::take_in_result(const Answer& answer, const RequestFriendship&, FriendshipState state) {
  if (state == FriendshipState::friends)
    tell_all(domain::TimelineType::accepted, "A friend request was sent, and accepted at once.", answer.took,
             {});
  job.request_sent = true;
  take_in_friendship(answer.call, state);
}

void JobSteps::Step::take_in_result(const Answer&, const WithdrawRequest&, std::monostate) {
  // The answer is the same where the customer had declined, or accepted, before.
  customer.withdraw = false;
  customer.friendship = Friendship::unknown;
  customer.requested_at.reset();
}

void JobSteps::Step::take_in_result(const Answer& answer, const ShareFile& request,
                                    const cloud::Share& share) {
  const DeliveryId delivery = answer.call.delivery;
  // A share that stood before this call and is not of this intent was made by somebody else: it costs
  // nothing (spec 3.9).
  const bool ours = !share.existed || is_of(request.item, request.idempotency_key, share);
  settle_found(set, delivery, request.item, ours, share.shared_at, answer.took);
  progress(delivery);
  revoke_if_ended(set, delivery);
}

void JobSteps::Step::take_in_result(const Answer& answer, const FindShare& request,
                                    const std::optional<cloud::Share>& share) {
  const DeliveryId delivery = answer.call.delivery;
  const auto* const item = set.item(delivery, request.item);
  if (item == nullptr || item->status != ItemStatus::sharing) return;
  if (share) {
    const bool ours = share->idempotency_key.empty() || is_of(request.item, item->intent_key, *share);
    settle_found(set, delivery, request.item, ours, share->shared_at);
  } else {
    settle_absent(set, delivery, request.item);
  }
  conclude_looked_up(set, customer.id, answer.call);
  if (share) progress(delivery);
  revoke_if_ended(set, delivery);
}

void JobSteps::Step::take_in_result(const Answer& answer, const RevokeShare& request, std::monostate) {
  end_revocation(set, answer.call.delivery, request.item, RevocationEnd::taken_back);
}

// The same of each delivery that the job works on.
void JobSteps::Step::tell_all(domain::TimelineType type, std::string_view message, std::optional<Millis> took,
                              const std::string& data) {
  for (const auto id : set.open(customer.id)) {
    const auto& row = *set.delivery(id);
    if (row.status != DeliveryStatus::processing) continue;
    set.add_timeline_entry(row, domain::Actor::system(), std::string(message),
                           {.type = type, .duration = took, .data = data});
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
  if (auto* const owing = failed()) resume(set, *owing);
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
  // The failed ones, too: what resumes them, as a probe or a late acceptance, comes to that row.
  set.save();
  for (auto* const row : set.adopt(lock_failed_of_customer(set.tx(), customer.id))) {
    row->customer = known->id;
    set.changed(*row);
  }
  set.enqueue(known->id, friends ? domain::JobClass::share : domain::JobClass::first_request, set.now());
  wake_cloud_account(set.tx(), customer.cloud_account, set.now());
  job.outcome = {.kind = JobOutcome::Kind::tried_again};
}

void JobSteps::Step::take_in_friendship(const Call& call, FriendshipState state) {
  // A sweep saw the acceptance while this call was on its way.
  if (customer.friendship == Friendship::friends && state == FriendshipState::requested) return;
  // Or a refusal, which it will not tell again: whether that, or this answer, is the newer, the platform
  // knows.
  const bool overtaken = state == FriendshipState::requested && customer.friendship != call.known;
  customer.friendship = overtaken ? Friendship::unknown : as_friendship(state);
  if (state == FriendshipState::requested && !customer.requested_at) customer.requested_at = set.now();
}

}  // namespace presetbridge::services
