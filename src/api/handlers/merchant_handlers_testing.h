// A fixture for the tests of stores, mappings, subscriptions, credits and deliveries over their routes.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "api/merchant_api_testing.h"
#include "services/delivery/items.h"
#include "storage/stores/audit_store.h"
#include "storage/stores/order_store.h"

namespace presetbridge::api::testing {

class MerchantApi : public MerchantApiTest {
 protected:
  std::vector<std::string> audited() {
    std::vector<std::string> actions;
    write([&](storage::Tx& tx) {
      for (const auto& row : list_audit(tx, account_, {.limit = 100}).rows) actions.push_back(row.action);
    });
    return actions;
  }
  // The secrets with which the store's orders may be signed now.
  std::vector<std::string> signing(const Answer& store) {
    const auto snapshot = world_.await(directory_.find(world_.scheduler, integration_id(store)));
    std::vector<std::string> secrets;
    for (const auto s : (*snapshot)->secrets(world_.clock().now())) secrets.emplace_back(s);
    return secrets;
  }
  Answer put_mappings(const std::string& integration, json::array mappings) {
    return send(me_, "PUT", "/api/integrations/" + integration + "/mappings",
                json::object{{"mappings", std::move(mappings)}});
  }
  // An order's delivery that failed with `code`.
  DeliveryId add_failed(IntegrationId integration, domain::ResolutionCode code,
                        const domain::OrderState& state = {}) {
    const auto id = world_.ids.make<DeliveryId>();
    write([&](storage::Tx& tx) {
      storage::DeliveryRow row;
      row.id = id;
      row.account = account_;
      row.integration = integration;
      row.order_key = "1001";
      row.username = row.raw_username = "buyer";
      row.created_at = row.updated_at = tx.now();
      insert_orders(tx, std::array{storage::OrderRow{.id = OrderId{id.value},
                                                     .account = account_,
                                                     .integration = integration,
                                                     .order_key = row.order_key,
                                                     .outcome = domain::OrderOutcome::delivery,
                                                     .state = encode(state),
                                                     .received_at = tx.now(),
                                                     .updated_at = tx.now(),
                                                     .summary = summarise(state)}});
      storage::ItemRow item;
      item.id = world_.ids.make<ItemId>();
      item.delivery = id;
      item.account = account_;
      item.file_id = "f1";
      item.matched_by = state.lines.empty() ? "file_id" : "sku";
      if (!state.lines.empty()) item.lines = services::lines_json({state.lines.front().line_id});
      services::DeliverySet set(tx, changes_);
      services::NewDeliveries created{{row}, {{.cause = domain::Cause::order_accepted}}, {item}, {""}, {}};
      changes_.create(set, created);
      set.apply(*set.delivery(id), {.cause = domain::Cause::known_cause, .code = code});
      set.save();
    });
    return id;
  }
};

}  // namespace presetbridge::api::testing
