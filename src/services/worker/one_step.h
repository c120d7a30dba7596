// One step of one job (job_step.h): it takes in an answer of the platform (step_answer.cpp; step_error.cpp),
// and chooses what to ask next (step_next.cpp).
#pragma once

#include <optional>
#include <vector>

#include "domain/delivery_outcome.h"
#include "services/delivery/items.h"
#include "services/worker/account_trouble.h"
#include "services/worker/job_step.h"

namespace presetbridge::services {

inline constexpr int kMaxFriendshipChecks = 3;  // of one job

struct JobSteps::Step {
  Step(JobSteps& owner, DeliverySet& all, Job& j, storage::CustomerRow c, bool trouble, OutageTurn& o)
      : steps(owner), set(all), job(j), customer(std::move(c)), in_trouble(trouble), outage(o) {}

  JobSteps& steps;
  DeliverySet& set;
  Job& job;
  storage::CustomerRow customer;
  const bool in_trouble;               // the cloud account is
  OutageTurn& outage;                  // what becomes of that
  std::vector<DeliveryId> deliveries;  // in processing; at the end the failed one that is probed

  void take_in(const Answer& answer);
  void tell_all(domain::TimelineType type, std::string_view message, std::optional<Millis> took,
                const std::string& data);
  void take_in_result(const Answer& answer, const FindUser& call, const cloud::CloudUser& user);
  void take_in_result(const Answer& answer, const FindFriendship& call, cloud::FriendshipState state);
  void take_in_result(const Answer& answer, const RequestFriendship& call, cloud::FriendshipState state);
  void take_in_result(const Answer& answer, const WithdrawRequest& call, std::monostate);
  void take_in_result(const Answer& answer, const ShareFile& call, const cloud::Share& share);
  void take_in_result(const Answer& answer, const FindShare& call, const std::optional<cloud::Share>& share);
  void take_in_result(const Answer& answer, const RevokeShare& call, std::monostate);
  void take_in_error(const Answer& answer, const cloud::CloudError& error);
  void take_back_intent(const Call& call);
  void take_in_friendship(const Call& call, cloud::FriendshipState state);
  void meet_alias(const cloud::CloudUser& user);
  void transient(domain::CallKind call, DeliveryId delivery);
  void retry(const Call& call, bool answered = false);
  void put_off(const Call& call, const ItemRequest& its, bool answered);
  bool looked_up_for_long(const Call& call);
  void fail_those_that_wait_for(const ItemRequest& its);
  void fail_unavailable(DeliveryId id);
  void lose_login(const Answer& answer, const cloud::CloudError& error);
  bool has_other_names();
  void forget_user();
  void fail_without_credit();
  void succeeded(const Answer& answer);
  void note(OutageTurn turn) {
    if (turn != OutageTurn::none) outage = turn;
  }
  void keep_clock();
  void progress(DeliveryId delivery);
  bool probes(DeliveryId delivery);
  bool probe_has_ended(domain::Finding finding);

  // The next call; nothing: the job has ended.
  std::optional<Call> go_on();
  void take_probed();
  void obey_pending();
  std::optional<Call> next();
  domain::Finding ended_with();
  void finish(domain::Finding finding);

  // Each one's next call, if it has one.
  std::optional<Call> next_unknown_share();
  std::optional<Call> next_revocation();
  std::optional<Call> next_friendship_step();
  std::optional<Call> request();
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
  // Of the user whose the item is: the name may be somebody else's by now.
  ItemRequest request_for(const storage::ItemRow& item) const {
    return {.item = item.id, .user_id = user_of(item, customer), .file_id = item.file_id};
  }
};

}  // namespace presetbridge::services
