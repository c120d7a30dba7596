// The whole service in one process and in virtual time, with its platform, its receivers and its power.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "history.h"
#include "keys.h"
#include "model.h"
#include "outbound.h"
#include "power.h"
#include "services/bulk/bulk_deliveries.h"
#include "services/bulk/bulk_reprocess.h"
#include "services/orders/orders.h"
#include "services/stores/integrations.h"
#include "services/testing.h"

namespace presetbridge::simulation {

class Service {
 public:
  // A call to share begins; `sure`: it is answered at once.
  using Sharing = std::function<void(const std::string& user, const std::string& file, bool sure)>;
  // A friend request begins.
  using Asking = std::function<void(const std::string& user)>;
  Service(Sharing sharing, Asking asking);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  Timestamp now() const { return world_.database.clock.now(); }
  identity::Principal merchant() const { return world_.merchant(); }
  IntegrationId store() const { return world_.integration; }
  Scheduler& scheduler() { return world_.scheduler; }
  services::DeliveryActions& actions() { return world_.actions; }
  services::Orders& orders() { return orders_; }
  Outbound& outbound() { return outbound_; }
  Keys& keys() { return keys_; }
  domain::Balance balance() { return world_.balance(); }
  const services::testing::FakeCloud& cloud() const { return world_.cloud; }
  // Runs a task to its end; virtual time stands still.
  template <class T>
  T await(Task<T> task) {
    return world_.await(std::move(task));
  }

  // Lets time pass. Where the power fails meanwhile another process begins soon after.
  void advance(Millis by);
  void crash();
  // As Power has it. Once it failed, restart() begins another process; returns the shares that were begun as
  // the power failed, whose outcome perhaps was not recorded.
  void fail_at(int commits) { power_.fail_at(commits); }
  bool may_fail() const { return power_.will_fail() || power_.failed(); }
  bool failed() const { return power_.failed(); }
  void restart();
  std::vector<std::pair<std::string, std::string>> lost_shares;

  Expected<services::Accepted> accept(domain::OrderEvent event);
  // The order of the merchant's program, by who was admitted last.
  Expected<services::Accepted> place(domain::OrderEvent event);
  // The store asks for the erasure of the buyer of these orders.
  void erase(const std::vector<std::string>& orders);
  // All texts of an order and its delivery that could name its buyer.
  std::string personal_texts(OrderId order);
  void save_mappings(const std::map<std::string, std::vector<std::string>>& by_sku);
  void save_settings(bool hold_all, bool auto_revoke);
  void save_login(const std::string& merchant);
  bool is_logged_in_as(const std::string& merchant) const { return world_.agent.user_id == merchant; }
  void grant(std::int64_t credits);
  void set_mood(const Command& command);
  // A job on many, to its end; how many it did.
  std::int64_t bulk(services::DeliveryActions::BulkAction action, storage::DeliveryFilter filter);
  std::int64_t reprocess_all();

  void answer(const std::string& user, Friend says);
  void set_weather(Weather weather);
  void set_file(const std::string& file, bool is_there);
  // The platform's truth.
  Facts facts();
  // All was quiet: trouble of before counts no more.
  void forget_trouble() { trouble_since_.reset(); }

  struct Rows {
    std::vector<storage::DeliveryRow> deliveries;
    std::vector<storage::ItemRow> items;
  };
  Rows read(const std::vector<DeliveryId>& ids);
  // A call began of what was lost when the power failed; empty: none did.
  std::string wrong() const { return wrong_; }

 private:
  services::testing::FakeCloud::Fate fate(const std::string& call, const std::string& subject);
  // Whether the intent of the call is in the database.
  bool intends(const std::string& call, const std::string& subject);
  void start_bulk();
  void stop_bulk();
  std::int64_t done_by(const storage::BulkJobRow& job);
  void wake() {
    if (world_.worker) world_.worker->wake();
  }

  Power power_;
  services::testing::World world_;
  Keys keys_;
  Asking asking_;
  services::Integrations integrations_;
  services::BulkJobs jobs_;
  services::BulkDeliveries bulk_deliveries_;
  services::BulkReprocess bulk_reprocess_;
  services::Orders orders_;
  std::unique_ptr<services::BulkWorker> bulk_worker_;
  Outbound outbound_;
  std::vector<std::unique_ptr<Timer>> answers_;
  std::vector<std::tuple<Timestamp, std::string, std::string>> begun_;
  std::string wrong_;
  Weather weather_ = Weather::fair;
  Timestamp reads_well_since_{};
  std::optional<Timestamp> trouble_since_, writes_fail_since_;
};

}  // namespace presetbridge::simulation
