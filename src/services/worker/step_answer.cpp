#include "services/worker/step.h"

#include <algorithm>
#include <type_traits>

#include "domain/trouble.h"
#include "services/delivery/routing.h"
#include "services/worker/former_login.h"
#include "services/worker/item_steps.h"
#include "services/worker/job_end.h"
#include "services/worker/share_ledger.h"
#include "storage/stores/account_task_store.h"
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

constexpr Millis kOtherUser{60'000};  // until a job whose login is of another cloud user is made again

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

// Whether an intent of this service made the share: this one, or an earlier one for the item that was given
// up meanwhile.
bool is_of(ItemId item, const std::string& intent_key, const cloud::Share& share) {
  return share.idempotency_key == intent_key || share.idempotency_key.starts_with(to_string(item) + "-");
}

// The calls whose success the answer shows: the call itself, for a read whatever it says; and a write that
// may have had its effect and that a read finds done (spec 3.5).
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
  if (answer.took) end_wait_for_login(set, call);
  if ((answer.other_user || no_login) && out_of_reach(set, job, call)) {
    if (call.as<RevokeShare>() == nullptr) return give_up_look_up(call, kLoginReplaced);
    undo_intent(call);
    return end_revocation(set, call.delivery, call.item()->item, RevocationEnd::failed, kLoginReplaced);
  }
  if (answer.other_user) {
    // The account's login is of another cloud user by now: an account task is about to move its deliveries
    // there (spec 3.11).
    undo_intent(call);
    const Timestamp again = set.now() + kOtherUser;
    return go_on_without(call.account,
                         {.kind = JobOutcome::Kind::account_paused, .retry_at = again, .settle_at = again});
  }
  end_trouble(answer);
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
  note_all(domain::TimelineType::looked_up, "The cloud platform found the customer.", answer.took,
           timeline_data({{"username", customer.username_key}, {"userId", user.id}}));
  take_in_user(user);
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
    note_all(domain::TimelineType::accepted, "A friend request was sent, and accepted at once.", answer.took,
             {});
  job.request_sent = true;
  take_in_friendship(answer.call, state);
}

void JobSteps::Step::take_in_result(const Answer&, const WithdrawRequest&, std::monostate) {
  // The platform gives this answer also where the customer had declined, or accepted, before.
  customer.withdraw = false;
  customer.friendship = Friendship::unknown;
  customer.requested_at.reset();
}

void JobSteps::Step::take_in_result(const Answer& answer, const ShareFile& request,
                                    const cloud::Share& share) {
  const DeliveryId delivery = answer.call.delivery;
  // A share that stood before this call and that no intent of the item made is somebody else's: it costs
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

void JobSteps::Step::note_all(domain::TimelineType type, std::string_view message, std::optional<Millis> took,
                              const std::string& data) {
  for (const auto id : set.open(customer.id)) {
    const auto& row = *set.delivery(id);
    if (row.status != DeliveryStatus::processing) continue;
    // One that was erased meanwhile has no username, and its timeline names nobody.
    set.add_timeline_entry(row, domain::Actor::system(), std::string(message),
                           {.type = type, .duration = took, .data = row.username.empty() ? "" : data});
  }
}

void JobSteps::Step::end_trouble(const Answer& answer) {
  for (const auto call : proved_by(answer, customer.withdraw || asks_anew())) {
    customer.failing = domain::after_success(customer.failing, call, answer.call.delivery);
    if (in_trouble) {
      set.save();  // note_success() reads deliveries
      note_success(set.tx(), job.cloud_account, call);
    }
    if (call != CallKind::request_friendship) continue;
    // A request is for all deliveries of the customer, the probed one too.
    progress(answer.call.delivery);
    progress(customer.probed_delivery);
  }
}

// The clock of a failure ends with the work that set it. It stands still while that work is due and not
// leased: the time of an outage counts against no delivery (spec 3.5).
void JobSteps::Step::update_clocks() {
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
  const Millis waited = std::max(set.now() - customer.due_at, Millis{0});
  for (auto& row : customer.failing) row.since = std::min(row.since + waited, set.now());
}

// Whether the job probes this failed delivery: a failure of its calls is not noted anywhere.
bool JobSteps::Step::probes(DeliveryId id) {
  if (!id || id != customer.probed_delivery) return false;
  const auto* const row = set.delivery(id);
  return row != nullptr && row->status == DeliveryStatus::failed && row->customer == customer.id;
}

// If the delivery had failed as cloud_unavailable, it goes on, and with it all deliveries that failed in the
// same trouble, if that is over (spec 3.5).
void JobSteps::Step::progress(DeliveryId id) {
  const auto failed = [&] {
    auto* const row = id ? set.delivery(id) : nullptr;
    const bool so = row != nullptr && row->status == DeliveryStatus::failed &&
                    row->resolution == ResolutionCode::cloud_unavailable;
    return so ? row : nullptr;
  };
  const auto* const row = failed();
  if (row == nullptr) return;
  if (row->failed_trouble)
    add_account_task(set.tx(), row->account, storage::AccountTaskKind::resume_unavailable);
  conclude_settled(set, id);  // perhaps nothing more is owed
  if (auto* const owing = failed()) resume(set, *owing);
}

// Another name may have led to this user before: friendship and shares are in the row of that customer then.
void JobSteps::Step::take_in_user(const cloud::CloudUser& user) {
  const auto known = set.customer_of_user(customer.cloud_account, user.id);
  if (!known || known->id == customer.id) {
    customer.cloud_user_id = user.id;
    return;
  }
  const auto open = set.open(customer.id);
  // There may be more than were read: the next job hands those over.
  job.more_deliveries = std::ssize(open) == kMostOpenOfCustomer;
  for (const auto id : open) {
    // This job obeys the pending action: from here on the delivery is the other customer's, and in no job.
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
  // The failed deliveries, too: a probe or a late acceptance, which resumes them, finds them by that
  // customer.
  set.save();
  for (auto* const row : set.adopt(lock_failed_of_customer(set.tx(), customer.id))) {
    row->customer = known->id;
    set.changed(*row);
  }
  set.enqueue(known->id, friends ? domain::JobClass::share : domain::JobClass::first_request, set.now());
  wake_cloud_account(set.tx(), customer.cloud_account, set.now());
  job.outcome = {.kind = JobOutcome::Kind::retried};
}

void JobSteps::Step::take_in_friendship(const Call& call, FriendshipState state) {
  // A sweep saw the acceptance while this call was on its way.
  if (customer.friendship == Friendship::friends && state == FriendshipState::requested) return;
  // Or a sweep saw a refusal meanwhile, and no sweep reports that again. The next look-up shows which of the
  // two is newer.
  const bool overtaken = state == FriendshipState::requested && customer.friendship != call.known;
  customer.friendship = overtaken ? Friendship::unknown : as_friendship(state);
  if (state == FriendshipState::requested && !customer.requested_at) customer.requested_at = set.now();
}

}  // namespace presetbridge::services
