// The part of a step that reacts to a failed call: domain/call_reaction.h decides, these functions carry it
// out.
#include "services/worker/step.h"

#include <algorithm>
#include <stdexcept>

#include "domain/call_reaction.h"
#include "domain/resolution.h"
#include "domain/retry_schedule.h"
#include "services/worker/former_login.h"
#include "services/worker/item_steps.h"
#include "services/worker/job_end.h"
#include "services/worker/share_ledger.h"
#include "storage/stores/cloud_account_store.h"

namespace presetbridge::services {
namespace {

using cloud::CloudError;
using domain::CallKind;
using domain::DeliveryStatus;
using domain::Finding;
using domain::ItemStatus;
using domain::Reaction;
using domain::ResolutionCode;
using storage::Friendship;

constexpr Millis kWithoutLogin{15 * 60'000};  // until settlements and revocations are due again

}  // namespace

void JobSteps::Step::take_in_error(const Answer& answer, const CloudError& error) {
  const Call& call = answer.call;
  const auto kind = call.kind();
  const auto* const request = call.item();
  if (!error.effect_unknown) undo_intent(call);
  const auto [reaction, code] = domain::react(kind, error.kind, error.effect_unknown);
  switch (reaction) {
    case Reaction::retry:
      return retry(call);
    case Reaction::refused:
      return retry(call, true);
    case Reaction::unreachable:
      if (in_trouble) {
        set.save();  // note_success() reads deliveries
        note_success(set.tx(), job.cloud_account, kind);
      }
      return retry(call, true);
    case Reaction::settle_later:
      if (auto* const item = set.item(call.delivery, request->item);
          item && item->status == ItemStatus::sharing) {
        item->settle_after = set.now() + steps.call_timeout_;
        set.changed(*item);
      }
      return retry(call);
    case Reaction::pause:
      set.save();  // note_rate_limit() reads deliveries
      note_rate_limit(set.tx(), job.cloud_account, kind, call.delivery, error.retry_after);
      job.outcome = {.kind = JobOutcome::Kind::account_paused};
      return;
    case Reaction::wait: {
      const Timestamp again = set.now() + domain::kWhileBusy;
      job.outcome = {.kind = JobOutcome::Kind::account_paused, .retry_at = again, .settle_at = again};
      return;
    }
    case Reaction::lose_login:
      return lose_login(answer, error);
    case Reaction::log_in:
      // CloudCalls does, before the next call.
      if (++job.session_retries > 1) end_transient(kind, call.delivery);
      return;
    case Reaction::no_such_user:
      forget_user();
      job.outcome = JobOutcome::fail(code);
      return;
    case Reaction::user_gone:
      forget_user();
      // The former user is gone: somebody else may have this name now, but not other names of that user.
      if (job.name_resolved || has_other_names()) job.outcome = JobOutcome::fail(code);
      return;
    case Reaction::ask_friendship:
      customer.friendship = Friendship::unknown;
      if (job.friendship_checks >= kMaxFriendshipChecks) end_transient(kind, call.delivery);
      return;
    case Reaction::blocked:
      customer.friendship = Friendship::blocked;
      job.outcome = JobOutcome::fail(code);
      return;
    case Reaction::fail_all:
      job.outcome = JobOutcome::fail(code);
      return;
    case Reaction::fail_item:
      job.failed_items[request->item] = code;
      return;
    case Reaction::absent:
      settle_absent(set, call.delivery, request->item);
      return conclude_settled(set, call.delivery, request->item);
    case Reaction::revoked:
      return end_revocation(set, call.delivery, request->item, RevocationEnd::taken_back);
    case Reaction::not_revoked:
      return end_revocation(set, call.delivery, request->item, RevocationEnd::failed);
    case Reaction::end_withdrawal:
      customer.withdraw = customer.ask_anew = false;
      customer.friendship = Friendship::unknown;
      return;
    case Reaction::restart:
      break;
  }
  throw std::logic_error("no reaction of a job");
}

void JobSteps::Step::undo_intent(const Call& call) {
  if (call.as<RequestFriendship>() != nullptr) customer.friendship = Friendship::none;
  if (const auto* const revocation = call.as<RevokeShare>(); revocation && !revocation->perhaps_gone) {
    auto* const item = set.item(call.delivery, revocation->item);
    if (item != nullptr && item->status == ItemStatus::revoking) undo_revocation(set, *item);
    return;
  }
  const auto* const share = call.as<ShareFile>();
  if (share == nullptr) return;
  settle_not_made(set, call.delivery, share->item);
  const auto* const item = set.item(call.delivery, share->item);
  if (item != nullptr && item->revocation_begun) revoke_if_ended(set, call.delivery);
}

void JobSteps::Step::give_up_look_up(const Call& call, std::string_view why) {
  count_as_absent(set, call.delivery, call.item()->item, why);
  conclude_looked_up(set, customer.id, call);
  revoke_if_ended(set, call.delivery);
}

void JobSteps::Step::lose_login(const Answer& answer, const CloudError& error) {
  auto lost = JobOutcome::fail(ResolutionCode::credentials_missing);
  switch (refuse_login(set.tx(), answer.call.account, answer.login_version, *login_fault(error))) {
    case LoginVerdict::refused:
      lost.code = ResolutionCode::credentials_invalid;
      break;
    case LoginVerdict::unreadable:
      lost.message = domain::kUnreadableLogin;
      break;
    case LoginVerdict::missing:
      break;
    case LoginVerdict::changed:
      if (++job.session_retries > 1) end_transient(answer.call.kind(), answer.call.delivery);
      return;
  }
  // Settlements and revocations wait for a login.
  lost.settle_at = set.now() + kWithoutLogin;
  go_on_without(answer.call.account, std::move(lost));
}

// The deliveries end in the transaction that has locked the login, so that no fix is missed (spec 3.6).
void JobSteps::Step::go_on_without(AccountId account, JobOutcome outcome) {
  const auto finding =
      outcome.kind == JobOutcome::Kind::failed ? Finding::permanent : Finding::account_trouble;
  const auto code = outcome.code;
  job.without_login[account] = std::move(outcome);
  for (const auto id : set.open(customer.id)) {
    const auto& row = *set.delivery(id);
    if (row.account == account && row.status == DeliveryStatus::processing)
      conclude(set, job, customer, id, finding, code);
  }
}

// Whether an open delivery is for the same user under another name.
bool JobSteps::Step::has_other_names() {
  return std::ranges::any_of(set.open(customer.id), [&](DeliveryId id) {
    return set.delivery(id)->username != customer.username_key;
  });
}

// The name leads to nobody, or to somebody else. Items that are still to be settled or taken back are the
// former user's: each names its user, and those that were written without one are given it now.
void JobSteps::Step::forget_user() {
  const auto& user = customer.cloud_user_id;
  for (auto* const item : set.items_of(customer.id)) {
    if (user.empty() || !item->user_id.empty()) continue;
    const bool named = std::ranges::any_of(set.items(item->delivery), [&](const auto* other) {
      return other->file_id == item->file_id && other->user_id == user;
    });
    if (named) continue;
    item->user_id = user;
    set.changed(*item);
  }
  customer.cloud_user_id.clear();
  customer.friendship = Friendship::unknown;
  customer.requested_at.reset();
  customer.friendship_changed_at.reset();
}

void JobSteps::Step::end_transient(CallKind call, DeliveryId delivery) {
  job.outcome = {.kind = JobOutcome::Kind::retried};
  if (job.shutting_down) return;  // the stop of this service ended the call
  const bool settles = call == CallKind::find_share || call == CallKind::revoke;
  if (!settles && probes(delivery)) return;
  set.save();  // note_failure() reads deliveries
  const auto noted = note_failure(set.tx(), customer, call, delivery, steps.random_.u64());
  job.outcome->retry_at = noted.retry_at;
  if (noted.paused) job.outcome->kind = JobOutcome::Kind::account_paused;
  if (noted.paused || noted.retry_at) return;
  if (call == CallKind::withdraw && !delivery) {
    customer.withdraw = false;  // the next job finds out whether the request stands
    return;
  }
  job.outcome = JobOutcome::fail(ResolutionCode::cloud_unavailable);
  job.outcome->settle_at = set.now() + domain::kRetryCeiling;
}

void JobSteps::Step::retry(const Call& call, bool answered) {
  const auto* const request = call.item();
  if (request == nullptr || job.shutting_down) return end_transient(call.kind(), call.delivery);
  postpone(call, *request, answered);
}

// A failure for one file is its delivery's own trouble (spec 3.5): the job goes on without that delivery, so
// each delivery costs the job one such call.
void JobSteps::Step::postpone(const Call& call, const ItemRequest& request, bool answered) {
  const auto kind = call.kind();
  const bool revokes = kind == CallKind::revoke;
  auto& until = (revokes ? job.postponed_revocations : job.postponed)[call.delivery];
  until = set.now();
  if (kind == CallKind::share && probes(call.delivery)) return;
  const auto row = domain::failing_row(customer.failing, kind, call.delivery);
  set.save();  // note_failure() reads deliveries
  const auto noted = note_failure(set.tx(), customer, kind, call.delivery, steps.random_.u64(), answered);
  if (noted.paused && kind == CallKind::find_share) {
    job.looks_up_no_more = true;
    // A delivery's own unknown share is looked up before it goes on.
    for (const auto id : set.open(customer.id)) {
      if (has_due_look_up(id)) job.postponed.try_emplace(id, set.now());
    }
  } else if (noted.paused) {
    job.outcome = {.kind = JobOutcome::Kind::account_paused};
  }
  if (noted.retry_at) until = *noted.retry_at;
  const bool over = kind == CallKind::find_share && unknown_for_long(call);
  if (!over && (noted.paused || noted.retry_at)) return;
  if (revokes) {
    // The job calls once for each of the delivery's other files before it is given up too.
    job.postponed_revocations.erase(call.delivery);
    end_revocation(set, call.delivery, request.item, RevocationEnd::failed,
                   "the cloud platform did not do it for three days");
    domain::put_failing_row(customer.failing, kind, call.delivery, row);
    return;
  }
  until = set.now() + domain::kRetryCeiling;
  ensure_probe(set.tx(), job.cloud_account, until);
  if (over && answered) {
    give_up_look_up(call, "for three days the cloud platform did not say what came of it");
  } else if (over) {
    fail_dependent(request);
  }
  fail_unavailable(call.delivery);
}

// A delivery that owes nothing but the file of a share that nobody can look up fails with it once it is three
// days old; a younger one goes on waiting.
void JobSteps::Step::fail_dependent(const ItemRequest& request) {
  if (request.user_id != customer.cloud_user_id) return;
  for (const auto id : set.open(customer.id)) {
    const auto items = set.items(id);
    const auto owes = [](const storage::ItemRow* item) {
      return !item->former && (item->status == ItemStatus::owed || item->status == ItemStatus::sharing);
    };
    if (set.now() - set.delivery(id)->created_at < domain::kRetryLimit) continue;
    const bool other = std::ranges::any_of(
        items, [&](const auto* item) { return owes(item) && item->file_id != request.file_id; });
    if (!other && std::ranges::any_of(items, owes)) fail_unavailable(id);
  }
}

// Fails one of the customer's open deliveries that is retried no more, whether this job works on it or not.
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

// Whether the share could not be looked up for three days, whatever else failed for its delivery or the
// account meanwhile.
bool JobSteps::Step::unknown_for_long(const Call& call) {
  const auto* const item = set.item(call.delivery, call.item()->item);
  return item != nullptr && item->status == ItemStatus::sharing &&
         set.now() - *item->settle_after >= domain::kRetryLimit;
}

}  // namespace presetbridge::services
