// One step of one job (job_step.h): it takes in an answer of the platform (step_answer.cpp, failed calls
// step_error.cpp) and chooses the next call (step_next.cpp).
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "domain/delivery_outcome.h"
#include "services/delivery/items.h"
#include "services/worker/account_trouble.h"
#include "services/worker/job_step.h"

namespace presetbridge::services {

inline constexpr int kMaxFriendshipChecks = 3;  // of one job

// Lives within a transaction. The rows that it reads are locked (JobSteps::lock); those that it changes are
// written by DeliverySet::save().
struct JobSteps::Step {
  Step(JobSteps& owner, DeliverySet& all, Job& j, storage::CustomerRow c, bool trouble)
      : steps(owner), set(all), job(j), customer(std::move(c)), in_trouble(trouble) {}

  JobSteps& steps;
  DeliverySet& set;
  Job& job;
  storage::CustomerRow customer;       // written back to the set by choose_call() and end_job()
  const bool in_trouble;               // the cloud account has trouble (domain/trouble.h)
  std::vector<DeliveryId> deliveries;  // in processing, and last the failed one that the job probes, if any

  void take_in(const Answer& answer);
  // Adds the entry to the timeline of each delivery in processing.
  void note_all(domain::TimelineType type, std::string_view message, std::optional<Millis> took,
                const std::string& data);
  void take_in_result(const Answer& answer, const FindUser& call, const cloud::CloudUser& user);
  void take_in_result(const Answer& answer, const FindFriendship& call, cloud::FriendshipState state);
  void take_in_result(const Answer& answer, const RequestFriendship& call, cloud::FriendshipState state);
  void take_in_result(const Answer& answer, const WithdrawRequest& call, std::monostate);
  void take_in_result(const Answer& answer, const ShareFile& call, const cloud::Share& share);
  void take_in_result(const Answer& answer, const FindShare& call, const std::optional<cloud::Share>& share);
  void take_in_result(const Answer& answer, const RevokeShare& call, std::monostate);
  void take_in_error(const Answer& answer, const cloud::CloudError& error);
  // Undoes the intent of a call that had no effect. A share of before that may exist is taken back, where its
  // order has ended meanwhile. A revocation is not begun any more, unless an earlier call may have had its
  // effect.
  void undo_intent(const Call& call);
  void take_in_friendship(const Call& call, cloud::FriendshipState state);
  // Records the user that the customer's name leads to. If another customer is known as that user, hands
  // the deliveries to that customer and ends the job.
  void take_in_user(const cloud::CloudUser& user);
  // Ends the job. Counts the failure, unless the worker is stopping or the job probes the delivery.
  void end_transient(domain::CallKind call, DeliveryId delivery);
  // Postpones the delivery if the call is for one file, else ends the job. `answered`: the platform refused
  // the call, so the failure does not count towards an outage.
  void retry(const Call& call, bool answered = false);
  void postpone(const Call& call, const ItemRequest& request, bool answered);
  bool unknown_for_long(const Call& call);
  void fail_dependent(const ItemRequest& request);
  void fail_unavailable(DeliveryId id);
  void lose_login(const Answer& answer, const cloud::CloudError& error);
  // From here on the job makes no call with the account's login, and has ended its deliveries with `outcome`.
  void go_on_without(AccountId account, JobOutcome outcome);
  // Nobody can look up the share of the call's item, because of `why`: it counts as not made.
  void give_up_look_up(const Call& call, std::string_view why);
  bool has_other_names();
  void forget_user();
  void fail_without_credit();
  // Whether the next call for the customer's deliveries is the first look-up of who the buyer is, or of what they
  // answered.
  bool only_reads_buyer() const;
  // The delivery fails as insufficient_credits. A probed one does so unless the cloud account is paused, or
  // a credit on hold may come back: then its failure stays as it is. Returns whether the job is done with it.
  bool fail_unpaid(DeliveryId id);
  // Ends the trouble of the calls whose success the answer shows.
  void end_trouble(const Answer& answer);
  void update_clocks();
  // Called when a write for this delivery has succeeded.
  void progress(DeliveryId delivery);
  bool probes(DeliveryId delivery);
  // Whether the job is to look up a share of the delivery that was begun.
  bool has_due_look_up(DeliveryId id);
  bool probe_has_ended(domain::Finding finding);

  // Returns the next call; nothing: the job has ended.
  std::optional<Call> choose_call();
  void take_probed();
  void obey_pending();
  void end_settled();
  std::optional<Call> next_call();
  // The finding of a job that makes no further call.
  domain::Finding final_finding();
  void finish(domain::Finding finding);

  // Whether a delivery under way, or the probed one, asks for a new friend request in place of the pending one.
  bool asks_anew();
  // The first account whose valid login is of the job's cloud user, and which the job has not lost.
  std::optional<AccountId> usable_login();
  // Returns the account whose login makes the calls for items of an account: its own; where the job has lost
  // that, usable_login(). A login of the same cloud user sees the same shares, whichever account has stored it.
  std::function<std::optional<AccountId>(AccountId)> login_for_items();
  // Each returns the next call of its kind, if there is one.
  std::optional<Call> next_unknown_share();
  std::optional<Call> next_revocation();
  std::optional<Call> next_friendship_step();
  std::optional<Call> next_request();
  std::optional<Call> next_share();
  template <class Request>
  Call make(Request request, AccountId account, DeliveryId delivery) {
    return {.request = std::move(request),
            .account = account,
            .delivery = delivery,
            .known = customer.friendship};
  }
  template <class Request>
  Call make_for_first(Request request) {
    return make(std::move(request), set.delivery(deliveries.front())->account, deliveries.front());
  }
  // Names the item's user: the customer's name may lead to somebody else by now.
  ItemRequest request_for(const storage::ItemRow& item) const {
    return {.item = item.id,
            .account = item.account,
            .user_id = user_of(item, customer),
            .file_id = item.file_id};
  }
};

}  // namespace presetbridge::services
