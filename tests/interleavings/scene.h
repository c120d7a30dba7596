// One merchant on three nodes over one PostgreSQL: the desk, where what a pair of use cases begins with is
// made and where all comes to rest behind it, and two nodes that the use cases run on, stepped.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "node.h"
#include "stepper.h"

namespace presetbridge::interleavings {

// The databases of all scenes, one after the other.
class Stage {
 public:
  Stage();
  // Empties it.
  void clear();
  // The tables that hold rows of scenes.
  const std::vector<std::string>& tables() const { return tables_; }

  ManualClock clock;
  Stepper stepper;

 private:
  friend class Scene;
  bool waits_for_lock(int actor);

  storage::testing::TemporaryPostgres server_{storage::testing::TemporaryPostgres::Kind::quick};
  std::unique_ptr<storage::Database> desk_;
  std::array<std::unique_ptr<storage::Database>, kActors> stepped_;
  std::vector<std::string> tables_;
  int cleared_ = 0;
};

struct Merchant {
  std::int64_t credits = 10;
  bool login = true;        // as m-1, and valid
  int jobs_per_minute = 0;  // 0: no limit
};

class Scene {
 public:
  // An account with a store of provider_a whose sku-1 .. sku-3 are file-1 .. file-3, a subscription to all
  // events, and somebody who watches.
  Scene(Stage& stage, const Merchant& merchant);

  // --- of an event
  // As a store of provider_a tells of it that sends later events too: it stands so at `minute`.
  static domain::OrderEvent order(const std::string& id, const std::string& user,
                                  std::vector<std::string> skus, int minute = 1);
  static domain::OrderEvent refund(const std::string& id, const std::string& refund,
                                   std::vector<domain::RefundLine> lines);
  static domain::OrderEvent cancelled(const std::string& id, int minute);

  // --- what is there before
  // Accepted at the desk, and then known by the order's id.
  void accepted(domain::OrderEvent event);
  // The same, and what the worker can do is done.
  void delivered(domain::OrderEvent event);
  // The node's worker, begun now, takes what is due and comes to the first call of that name, which the
  // platform has done, or not (`fate`), and answers when it is released.
  void hold_at(Node& node, const std::string& call, FakeCloud::Fate fate);
  void set_integration(const std::function<void(storage::IntegrationRow&)>& change);
  PurchaseId paid_purchase(std::int64_t credits);

  DeliveryId delivery(const std::string& order) const { return deliveries_.at(order); }
  // What the desk's worker can do is done, and the worker ends.
  void settle();
  // A sweep is due now.
  void make_sweep_due();

  // All workers end what they have in hand, and the desk's does what is left within `time`.
  void rest(Millis time = Millis{65'000});
  identity::Principal merchant() const {
    return {.account = account, .permissions = identity::PermissionSet::all()};
  }

  Stage& stage;

 private:
  static services::WorkerOptions options(const Merchant& merchant);
  const services::WorkerOptions options_;

 public:
  Surroundings world{stage.clock};
  Node desk{*stage.desk_, world, 1, options_};
  std::array<Node, kActors> nodes{Node{*stage.stepped_[0], world, 2, options_},
                                  Node{*stage.stepped_[1], world, 3, options_}};
  AccountId account;
  IntegrationId integration;
  SubscriptionId subscription;
  PurchaseId purchase;              // that somebody has paid; none
  std::vector<std::string> faults;  // of use cases, and of how it came to rest

 private:
  std::map<std::string, DeliveryId> deliveries_;
};

}  // namespace presetbridge::interleavings
