// One step of one job (job_step.h): it takes in an answer of the platform (step_answer.cpp), and chooses what
// to ask next (step_next.cpp).
#pragma once

#include <optional>
#include <vector>

#include "domain/delivery_outcome.h"
#include "services/worker/account_trouble.h"
#include "services/worker/job_step.h"

namespace presetbridge::services {

inline constexpr int kMaxFriendshipChecks = 3;  // of one job

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
  void tell_all(std::string_view type, std::string_view message, std::optional<Millis> took,
                const std::string& data);
  void take_in_error(const Answer& answer, const cloud::CloudError& error);
  void take_in_friendship(const Call& call, cloud::FriendshipState state);
  void meet_alias(const cloud::CloudUser& user);
  void transient(domain::CallKind call, DeliveryId delivery);
  void put_off(const Call& call, bool answered = false);
  bool looked_up_for_long(const Call& call);
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

  Call go_on();
  void take_probed();
  void obey_pending();
  std::optional<Call> next_unknown_share();
  std::optional<Call> next_revocation();
  Call make_for_item(Call::Kind kind, const storage::ItemRow& item);
  std::optional<Call> next_friendship_step();
  std::optional<Call> request();
  std::optional<Call> next_share();
  Call next();
  Call finish(domain::Finding finding);
  Call make(Call::Kind kind, AccountId account, DeliveryId delivery) {
    Call call{.kind = kind, .account = account, .delivery = delivery, .user_id = customer.cloud_user_id};
    call.known = customer.friendship;
    return call;
  }
  Call make_for_first(Call::Kind kind) {
    return make(kind, set.delivery(deliveries.front())->account, deliveries.front());
  }
};

}  // namespace presetbridge::services
