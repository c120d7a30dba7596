#include "services/worker/job_step.h"

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
#include "storage/integration_store.h"
#include "storage/order_store.h"

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

constexpr int kMaxFriendshipChecks = 3;
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

// Whether what follows the answer may take a credit, or free or spend one.
bool may_spend(const Answer& answer) {
  if (answer.call.kind == Call::Kind::share || answer.call.kind == Call::Kind::find_share) return true;
  const auto* const state = std::get_if<FriendshipState>(&answer.value);
  return (state && *state == FriendshipState::friends) ||
         (answer.friendship && *answer.friendship && **answer.friendship == FriendshipState::friends);
}

// Gives each of the calls the login that it is made with.
void add_logins(Tx& tx, std::span<JobCall> calls) {
  std::map<AccountId, storage::CredentialsStanding> logins;
  for (const auto& [job, call, outage] : calls) {
    if (call.account) logins[call.account];
  }
  std::vector<AccountId> accounts;
  for (const auto& [account, login] : logins) accounts.push_back(account);
  const auto found = find_standings(tx, accounts);
  for (std::size_t i = 0; i < accounts.size(); ++i) logins[accounts[i]] = found[i];
  for (auto& [job, call, outage] : calls) {
    if (call.account) call.login = logins[call.account];
  }
}

}  // namespace

// One step of one job.
struct JobSteps::Step {
  Step(JobSteps& owner, WorkSet& all, Job& j, storage::CustomerRow c, bool trouble, OutageTurn& o)
      : steps(owner), set(all), job(j), customer(std::move(c)), in_trouble(trouble), outage(o) {}

  JobSteps& steps;
  WorkSet& set;
  Job& job;
  storage::CustomerRow customer;
  const bool in_trouble;               // the cloud account is
  OutageTurn& outage;                  // what becomes of that
  std::vector<DeliveryId> deliveries;  // in processing; at the end the failed one that is probed

  void take_in(const Answer& answer);
  void take_in_error(const Answer& answer, const CloudError& error);
  void take_in_friendship(const Call& call, FriendshipState state);
  void meet_alias(const cloud::CloudUser& user);
  void transient(CallKind call, DeliveryId delivery);
  void lose_login(const Answer& answer, const CloudError& error);
  void forget_user();
  void fail_without_credit();
  void succeeded(const Answer& answer);
  void note(OutageTurn turn) {
    if (turn != OutageTurn::none) outage = turn;
  }
  void keep_clock();
  void progress(DeliveryId delivery);
  bool probes(DeliveryId delivery);
  bool probe_has_ended(Finding finding);

  Call go_on();
  void take_probed();
  void obey_pending();
  std::optional<Call> next_settlement();
  std::optional<Call> next_friendship_step();
  std::optional<Call> request();
  std::optional<Call> next_share();
  Call next();
  Call finish(Finding finding);
  Call make(Call::Kind kind, AccountId account, DeliveryId delivery) {
    Call call{.kind = kind, .account = account, .delivery = delivery, .user_id = customer.cloud_user_id};
    call.known = customer.friendship;
    return call;
  }
  Call make_for_first(Call::Kind kind) {
    return make(kind, set.delivery(deliveries.front())->account, deliveries.front());
  }
};

void JobSteps::advance(Tx& tx, std::span<const JobAnswer> answers, std::span<JobCall> next) {
  std::vector<CustomerId> customers;
  for (const auto& [job, answer] : answers) customers.push_back(job.customer);
  WorkSet set(tx, changes_, std::move(customers));
  const auto troubled = lock(set, answers);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    next[i].job = answers[i].job;
    next[i].call = advance(set, next[i].job, answers[i].answer,
                           troubled.contains(answers[i].job.cloud_account), next[i].outage);
  }
  set.save();
  add_logins(tx, next);
}

// In the order that everybody keeps (docs/architecture.md): before the first of the steps, as what one of
// them does may need a row that comes before what another one has locked.
std::set<CloudAccountId> JobSteps::lock(WorkSet& set, std::span<const JobAnswer> answers) {
  std::set<CloudAccountId> all;
  std::set<CloudAccountId> answered;
  CloudAccountId last_in_trouble;
  for (const auto& [job, answer] : answers) {
    const auto customer = set.customer(job.customer);
    if (!customer) continue;
    all.insert(job.cloud_account);
    if (customer->friendship == Friendship::friends) set.expect_spending(job.customer);
    if (customer->probed_delivery) {
      if (const auto* const probed = set.delivery(customer->probed_delivery))
        set.expect_account(probed->account);
    }
    if (!answer) {
      set.expect_beginning(job.customer);
      continue;
    }
    answered.insert(job.cloud_account);
    if (const auto* const user = std::get_if<cloud::CloudUser>(&answer->value))
      set.expect_user(job.cloud_account, user->id);
    if (may_spend(*answer)) set.expect_spending(job.customer);
    const auto* const error = answer->error();
    // Of a share, the account that pays; of a login, the one whose it is.
    const bool refused = error != nullptr && login_fault(*error);
    if (answer->call.item || refused) set.expect_account(answer->call.account);
    if (error != nullptr) last_in_trouble = std::max(last_in_trouble, job.cloud_account);
  }
  set.lock();
  std::set<CloudAccountId> troubled;
  if (!answered.empty()) {
    const std::vector<CloudAccountId> asked(answered.begin(), answered.end());
    for (const auto id : accounts_in_trouble(set.tx(), asked)) troubled.insert(id);
  }
  if (!troubled.empty()) last_in_trouble = std::max(last_in_trouble, *troubled.rbegin());
  // What is woken at the end comes after these only by its id: what does not is locked now, too.
  const std::vector<CloudAccountId> accounts(all.begin(), all.upper_bound(last_in_trouble));
  lock_cloud_accounts(set.tx(), accounts);
  return troubled;
}

Call JobSteps::advance(WorkSet& set, Job& job, const std::optional<Answer>& answer, bool in_trouble,
                       OutageTurn& outage) {
  auto customer = set.customer(job.customer);
  if (!customer || customer->fence != job.fence || !customer->lease_expires_at)
    return {.kind = Call::Kind::lost};
  // A job that begins has its lease from a moment ago, as a rule.
  if (answer || job.expires_at - set.now() < options_.lease * 3 / 4)
    customer->lease_expires_at = job.expires_at = set.now() + options_.lease;

  Step step(*this, set, job, std::move(*customer), in_trouble, outage);
  if (!answer) step.keep_clock();
  if (answer) step.take_in(*answer);
  if (!answer && job.shutting_down) return step.finish(Finding::shutting_down);
  return step.go_on();
}

// A friend request must not be sent for what cannot be paid (spec 3.6): before a job's first call.
void JobSteps::Step::fail_without_credit() {
  if (customer.friendship == Friendship::friends) return;
  std::erase_if(deliveries, [&](DeliveryId id) {
    const AccountId account = set.delivery(id)->account;
    if (!set.without_credit(account) || set.balance(account).available() > 0) return false;
    std::vector<storage::ItemRow> items;
    for (const auto* const item : set.items(id)) items.push_back(*item);
    if (tally(items).owed == 0 || any_free(set.tx(), customer.id, items)) return false;
    return conclude(set, job, customer, id, Finding::permanent, ResolutionCode::insufficient_credits);
  });
}

Call JobSteps::Step::go_on() {
  deliveries = take_deliveries(set, customer);
  take_probed();
  obey_pending();
  fail_without_credit();
  Call call = next();
  if (call.kind != Call::Kind::done && customer != set.customer(customer.id)) set.put(customer);
  return call;
}

// ---------------------------------------------------------------- what came of the last call

void JobSteps::Step::take_in(const Answer& answer) {
  const Call& call = answer.call;
  if (answer.other_user) {
    // The account's login is of another cloud user by now: its deliveries are about to be moved there
    // (spec 3.11).
    if (call.kind == Call::Kind::share) settle_absent(set, call.delivery, call.item);
    if (call.kind == Call::Kind::request_friendship) customer.friendship = Friendship::none;
    if (out_of_reach(set, job, call)) {
      if (call.kind == Call::Kind::revoke)
        return end_revocation(set, call.delivery, call.item, ItemStatus::revoke_failed, kLoginReplaced);
      count_as_absent(set, call);
      return conclude_looked_up(set, customer.id, call.delivery);
    }
    job.account_trouble = job.stop_calling = true;
    job.retry_at = job.settle_at = set.now() + kOtherUser;
    return;
  }
  succeeded(answer);
  if (const auto* error = std::get_if<CloudError>(&answer.value)) return take_in_error(answer, *error);
  switch (call.kind) {
    case Call::Kind::find_user:
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
      return take_in_friendship(call, std::get<FriendshipState>(answer.value));
    case Call::Kind::withdraw:
      customer.withdraw = customer.ask_anew = false;
      customer.friendship = Friendship::none;
      customer.requested_at.reset();
      return;
    case Call::Kind::share: {
      const auto& share = std::get<cloud::Share>(answer.value);
      // A share that stood before this call and is not of this intent was made by somebody else: it costs
      // nothing (spec 3.9).
      const bool ours = !share.existed || share.idempotency_key == call.idempotency_key;
      settle_found(set, call.delivery, call.item, ours, share.shared_at);
      progress(call.delivery);
      return revoke_if_ended(set, call.delivery);
    }
    case Call::Kind::find_share: {
      const auto& share = std::get<std::optional<cloud::Share>>(answer.value);
      const auto* const item = set.item(call.delivery, call.item);
      if (item == nullptr || item->status != ItemStatus::sharing) return;
      if (share) {
        const bool ours = share->idempotency_key.empty() || share->idempotency_key == item->intent_key;
        settle_found(set, call.delivery, call.item, ours, share->shared_at);
      } else {
        settle_absent(set, call.delivery, call.item);
      }
      conclude_looked_up(set, customer.id, call.delivery);
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

void JobSteps::Step::succeeded(const Answer& answer) {
  for (const auto call : proved_by(answer, customer.withdraw || customer.ask_anew)) {
    customer.failing = domain::after_success(customer.failing, call);
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
  if (!customer.failing) return;
  const auto id = customer.failing->delivery;
  const auto open = set.open(customer.id);
  const auto items = set.items_of(customer.id);
  const bool there =
      !id ? customer.withdraw
          : std::ranges::find(open, id) != open.end() || std::ranges::any_of(items, [&](const auto* item) {
              return item->delivery == id &&
                     (item->status == ItemStatus::sharing || item->status == ItemStatus::revoking);
            });
  if (there) {
    const Millis no_turn = std::max(set.now() - customer.due_at, Millis{0});
    customer.failing->since = std::min(customer.failing->since + no_turn, set.now());
  } else {
    customer.failing.reset();
  }
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
    auto& row = *set.delivery(id);
    row.customer = known->id;
    set.changed(row);
    if (row.status == DeliveryStatus::processing)
      set.apply(row, {.cause = domain::Cause::refreshed, .keep_pending = true});
  }
  const bool friends = known->friendship == Friendship::friends;
  set.directly([&](Tx& tx) {
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
    return transient(kind_of(call), call.delivery);
  }
  if (mutating_share) settle_absent(set, call.delivery, call.item);
  if (call.kind == Call::Kind::find_share &&
      (error.kind == CloudError::Kind::user_not_found || error.kind == CloudError::Kind::file_not_found)) {
    settle_absent(set, call.delivery, call.item);
    return conclude_settled(set, call.delivery);
  }
  const bool gone = error.kind == CloudError::Kind::user_not_found;
  const bool unreachable =
      error.kind == CloudError::Kind::blocked || error.kind == CloudError::Kind::not_friends;
  if (call.kind == Call::Kind::find_share && unreachable) return transient(kind_of(call), call.delivery);
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
      return transient(kind_of(call), call.delivery);
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
      return transient(kind_of(call), call.delivery);
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
    transient(kind_of(call), call.delivery);
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

// The name leads nowhere any more; where something is still to be settled or revoked, the id is all there is
// to do it with.
void JobSteps::Step::forget_user() {
  for (const auto* const item : set.items_of(customer.id)) {
    if (item->status == ItemStatus::sharing || item->status == ItemStatus::revoking) return;
  }
  customer.cloud_user_id.clear();
  customer.friendship = Friendship::unknown;
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
  job.failed_all = ResolutionCode::cloud_unavailable;
  job.settle_at = set.now() + domain::kRetryCeiling;
}

// ---------------------------------------------------------------- what comes next

void JobSteps::Step::obey_pending() {
  std::erase_if(deliveries, [&](DeliveryId id) {
    if (set.delivery(id)->pending.kind == domain::PendingActionKind::none) return false;
    // What was begun is settled first, where it can be (spec 3.3).
    const bool settles =
        !job.stop_calling && !job.failed_all && std::ranges::any_of(set.items(id), [&](const auto* item) {
          return item->status == ItemStatus::sharing && *item->settle_after <= set.now();
        });
    if (settles) return false;
    return conclude(set, job, customer, id, Finding::worked, ResolutionCode::none);
  });
}

// A failed delivery is tried as those are that the job has, and stays as it is until it gets on (spec 3.5).
void JobSteps::Step::take_probed() {
  const auto id = customer.probed_delivery;
  if (probes(id) && set.delivery(id)->resolution == ResolutionCode::cloud_unavailable) {
    deliveries.push_back(id);
  } else {
    customer.probed_delivery = {};
  }
}

// Whether the job came to an end with the probed delivery that is not the platform's trouble: then that is
// told of it, in the place of the failure that is not true any more.
bool JobSteps::Step::probe_has_ended(Finding finding) {
  const auto id = customer.probed_delivery;
  if (job.shutting_down || std::ranges::find(deliveries, id) == deliveries.end() || !probes(id)) return false;
  if (job.failed_all) return *job.failed_all != ResolutionCode::cloud_unavailable && !job.failed_account;
  if (job.stop_calling) return false;
  if (finding == Finding::still_waiting) return true;
  const auto items = set.items(id);
  return std::ranges::any_of(items, [&](const auto* item) { return job.failed_items.contains(item->id); }) ||
         std::ranges::none_of(items, [](const auto* item) {
           return item->status == ItemStatus::owed || item->status == ItemStatus::sharing;
         });
}

Call JobSteps::Step::next() {
  if (job.failed_all) return finish(Finding::worked);
  if (job.shutting_down) return finish(Finding::shutting_down);
  if (job.stop_calling) return finish(job.account_trouble ? Finding::account_trouble : Finding::transient);
  if (auto call = next_settlement()) return *call;
  if (deliveries.empty()) return finish(Finding::worked);
  if (customer.cloud_user_id.empty()) {
    Call call = make_for_first(Call::Kind::find_user);
    call.username = customer.username_key;
    call.then_friendship =
        customer.friendship == Friendship::unknown || customer.friendship == Friendship::requesting;
    return call;
  }
  if (auto call = next_friendship_step()) return *call;
  if (customer.friendship == Friendship::unknown || customer.friendship == Friendship::none ||
      customer.friendship == Friendship::requesting) {
    // The platform's answers lead nowhere: later, and not as one who waits.
    transient(CallKind::request_friendship, deliveries.front());
    if (job.failed_all) return finish(Finding::worked);
    return finish(job.account_trouble ? Finding::account_trouble : Finding::transient);
  }
  if (customer.friendship != Friendship::friends) {
    if (customer.friendship == Friendship::declined) job.failed_all = ResolutionCode::friend_request_declined;
    if (customer.friendship == Friendship::blocked) job.failed_all = ResolutionCode::blocked_by_customer;
    return finish(Finding::still_waiting);
  }
  if (auto call = next_share()) return *call;
  return finish(Finding::worked);
}

// Unknown outcomes, revocations and requests to take back: work of the customer, whatever their deliveries'
// status.
std::optional<Call> JobSteps::Step::next_settlement() {
  if (customer.cloud_user_id.empty()) {
    for (const auto* const item : set.items_of(customer.id)) {
      if (item->status == ItemStatus::revoking)
        end_revocation(set, item->delivery, item->id, ItemStatus::revoke_failed);
    }
  }
  if (!customer.cloud_user_id.empty()) {
    for (auto* const item : set.items_of(customer.id)) {
      const bool unknown = item->status == ItemStatus::sharing && *item->settle_after <= set.now();
      if (!unknown && item->status != ItemStatus::revoking) continue;
      if (!unknown && !item->revocation_begun) {
        item->revocation_begun = true;
        set.changed(*item);
      }
      Call call = make(unknown ? Call::Kind::find_share : Call::Kind::revoke, item->account, item->delivery);
      call.item = item->id;
      call.file_id = item->file_id;
      return call;
    }
  }
  if (!customer.withdraw) return std::nullopt;
  if (!set.open(customer.id).empty() || customer.cloud_user_id.empty() || !request_pending(customer)) {
    customer.withdraw = false;
    return std::nullopt;
  }
  const auto owners = accounts_of_cloud_account(set.tx(), customer.cloud_account);
  if (owners.empty()) {
    customer.withdraw = false;
    return std::nullopt;
  }
  // Until the answer nobody knows whether the request stands: an order that comes meanwhile looks again.
  customer.friendship = Friendship::requesting;
  return make(Call::Kind::withdraw, owners.front(), {});
}

std::optional<Call> JobSteps::Step::request() {
  if (job.request_sent) return std::nullopt;
  customer.friendship = Friendship::requesting;
  customer.requested_at.reset();
  customer.ask_anew = false;
  Call call = make_for_first(Call::Kind::request_friendship);
  call.idempotency_key = to_string(customer.id) + "-" + std::to_string(customer.fence);
  return call;
}

std::optional<Call> JobSteps::Step::next_friendship_step() {
  switch (customer.friendship) {
    case Friendship::declined:
      if (customer.ask_anew && job.friendship_checks > 0) return request();
      [[fallthrough]];
    case Friendship::blocked:
      // They may have changed their mind since; asking costs less than a failure that is not true any more.
      if (job.friendship_checks > 0) return std::nullopt;
      return make_for_first(Call::Kind::friendship);
    case Friendship::unknown:
    case Friendship::requesting:
      if (job.friendship_checks >= kMaxFriendshipChecks) return std::nullopt;
      return make_for_first(Call::Kind::friendship);
    case Friendship::none:
      return request();
    case Friendship::requested: {
      if (!customer.ask_anew) return std::nullopt;
      // Until the answer nobody knows whether the request stands.
      customer.friendship = Friendship::requesting;
      return make_for_first(Call::Kind::withdraw);
    }
    case Friendship::friends:
      customer.ask_anew = false;
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Call> JobSteps::Step::next_share() {
  const auto with = [&](const std::string& file, auto... wanted) {
    return std::ranges::any_of(set.items_of(customer.id), [&](const storage::ItemRow* i) {
      return i->file_id == file && ((i->status == wanted) || ...);
    });
  };
  for (auto it = deliveries.begin(); it != deliveries.end();) {
    bool left = false;
    own_items(set, customer, *it);
    for (auto* const owed : set.items(*it)) {
      auto& item = *owed;
      if (item.former || item.status != ItemStatus::owed || job.failed_items.contains(item.id)) continue;
      if (with(item.file_id, ItemStatus::shared, ItemStatus::already_shared)) {
        item.status = ItemStatus::already_shared;
        item.customer = customer.id;
        item.shared_at = set.now();
        set.changed(item);
        continue;
      }
      // Another order's share of this file is being settled or taken back: after that.
      if (with(item.file_id, ItemStatus::sharing, ItemStatus::revoking)) continue;
      const std::string key = to_string(item.id) + "-" + std::to_string(customer.fence);
      if (!begin_share(set, item, customer.id, key, job.expires_at + steps.call_timeout_)) {
        conclude(set, job, customer, *it, Finding::permanent, ResolutionCode::insufficient_credits);
        left = true;
        break;
      }
      Call call = make(Call::Kind::share, item.account, *it);
      call.item = item.id;
      call.file_id = item.file_id;
      call.idempotency_key = key;
      return call;
    }
    it = left ? deliveries.erase(it) : std::next(it);
  }
  return std::nullopt;
}

Call JobSteps::Step::finish(Finding finding) {
  if (probe_has_ended(finding)) {
    progress(customer.probed_delivery);
    take_deliveries(set, customer);
  }
  end_job(set, job, customer, finding);
  if (job.failed_all == ResolutionCode::cloud_unavailable)
    ensure_probe(set.tx(), job.cloud_account, set.now() + domain::kFailedProbeInterval);
  const auto open = set.open(customer.id);
  const bool waits_now = std::ranges::any_of(open, [&](DeliveryId id) {
    const auto& row = *set.delivery(id);
    return row.status == DeliveryStatus::waiting_for_friendship && row.waiting_since == set.now();
  });
  if (waits_now) note_friend_request(set.tx(), job.cloud_account, set.now() + steps.options_.first_sweep);
  return {.kind = Call::Kind::done};
}

}  // namespace presetbridge::services
