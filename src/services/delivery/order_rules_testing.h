// A fixture with one store, whose events and settings the tests of an order's rules change (spec 2.6, 2.11, 3.1,
// 3.10, 3.11).
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "services/testing.h"
#include "storage/stores/integration_store.h"

namespace presetbridge::services::testing {

class OrderRules : public ::testing::Test {
 protected:
  template <class Change>
  void set_store(Change change) {
    world.write([&](storage::Tx& tx) {
      auto row = *lock_integration(tx, world.integration);
      change(row);
      update_integration(tx, row);
    });
  }
  void auto_revoke() {
    set_store([](auto& row) { row.auto_revoke = true; });
  }
  void hold_all() {
    set_store([](auto& row) { row.hold_all = true; });
  }
  // Maps the SKU to one more file; an empty one ignores the SKU.
  void map(const std::string& sku, const std::string& file) { map_all(sku, {file}); }
  void map_all(const std::string& sku, const std::vector<std::string>& files) {
    world.write([&](storage::Tx& tx) {
      auto row = *lock_integration(tx, world.integration);
      auto mappings = find_mappings(tx, world.integration);
      for (const auto& file : files) {
        const bool ignore = file.empty();
        mappings.push_back({{world.ids.make<MappingId>(), domain::MatchType::sku, sku,
                             ignore ? domain::MappingAction::ignore : domain::MappingAction::deliver, file,
                             ignore ? "" : "preset", ignore ? "" : "File " + file},
                            sku,
                            false});
      }
      replace_mappings(tx, world.integration, mappings);
      update_integration(tx, row);
    });
  }
  void unmap(const std::string& sku) {
    erase_mappings([&](const auto& m) { return m.value == sku; });
  }
  void unmap_file(const std::string& sku, const std::string& file) {
    erase_mappings([&](const auto& m) { return m.value == sku && m.file_id == file; });
  }
  template <class Which>
  void erase_mappings(Which which) {
    world.write([&](storage::Tx& tx) {
      auto row = *lock_integration(tx, world.integration);
      auto mappings = find_mappings(tx, world.integration);
      std::erase_if(mappings, [&](const auto& m) { return which(m.mapping); });
      replace_mappings(tx, world.integration, mappings);
      update_integration(tx, row);
    });
  }
  void resume_mappings() {
    world.write([&](storage::Tx& tx) {
      add_account_task(tx, world.account, storage::AccountTaskKind::resume_mappings);
    });
    world.worker->wake();
    settle();
  }
  domain::OrderEvent named(const std::string& name, int minute, std::vector<std::string> skus = {"sku-1"}) {
    auto event = later(world, "1", std::move(skus), minute);
    event.username = event.raw_username = name;
    return event;
  }
  domain::OrderEvent paid(int minute, domain::Payment payment, std::vector<std::string> skus = {"sku-1"}) {
    auto event = later(world, "1", std::move(skus), minute);
    event.payment = payment;
    return event;
  }
  static domain::OrderEvent refund(const std::string& id, std::vector<domain::RefundLine> lines) {
    domain::OrderEvent event{
        .kind = domain::OrderEvent::Kind::refund, .provider = domain::Provider::provider_a, .order_id = "1"};
    event.refunds = {{id, std::move(lines)}};
    return event;
  }
  Expected<DeliveryView> retry(DeliveryId id, std::optional<std::string> name = std::nullopt) {
    return world.await(world.actions.retry(world.scheduler, world.merchant(), id, std::move(name)));
  }
  Expected<DeliveryView> approve(DeliveryId id) {
    return world.await(world.actions.approve(world.scheduler, world.merchant(), id));
  }
  Expected<DeliveryView> revoke(DeliveryId id, RevokeQuery which = {}) {
    return world.await(world.actions.revoke(world.scheduler, world.merchant(), id, std::move(which)));
  }
  DeliveryId deliver(domain::OrderEvent event) { return world.deliver(std::move(event)); }
  void settle(Millis time = std::chrono::minutes{2}) { world.settle(time); }
  bool has(const std::string& user, const std::string& file) const {
    return world.cloud.shares.contains({user, file});
  }
  std::optional<domain::ReviewReason> reason(DeliveryId id) {
    return world.delivery(id).review_reasons.gravest();
  }

  World world;
};

}  // namespace presetbridge::services::testing
