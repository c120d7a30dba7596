// A fixture for the tests of erasures: a store sends privacy requests, and a test reads the texts that could name
// a person.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "services/testing.h"
#include "storage/stores/privacy_store.h"

namespace presetbridge::services::testing {

class Privacy : public ::testing::Test {
 protected:
  domain::OrderEvent request(domain::OrderEvent::Kind kind, std::vector<std::string> orders = {}) {
    return {.kind = kind,
            .provider = domain::Provider::provider_a,
            .email = "buyer@example.com",
            .order_ids = std::move(orders)};
  }
  Accepted ask(domain::OrderEvent::Kind kind, std::vector<std::string> orders = {},
               std::string body = "body") {
    std::vector<std::byte> payload(body.size());
    std::ranges::transform(body, payload.begin(), [](char c) { return static_cast<std::byte>(c); });
    auto snapshot = world.await(world.directory.find(world.scheduler, world.integration)).value();
    return world
        .await(
            world.intake.accept(world.scheduler, {snapshot, request(kind, std::move(orders)), payload, {}}))
        .value();
  }
  std::vector<storage::PrivacyRequestRow> requests() {
    return world.write([&](storage::Tx& tx) {
      return list_privacy_requests(tx, world.account, storage::PageRequest{.limit = 100}).rows;
    });
  }
  std::string customer_name(CustomerId id) {
    return world.write([&](storage::Tx& tx) { return find_customer(tx, id).value().username_key; });
  }
  // The texts of these columns, which could name a person.
  std::string everything() {
    static constexpr std::array kQueries{
        storage::Sql{"SELECT state || coalesce(username, '') || coalesce(email, '') FROM orders"},
        storage::Sql{"SELECT username_key FROM customers"},
        storage::Sql{"SELECT message || ' ' || coalesce(target_username, '') || coalesce(raw_username, '') ||"
                     " coalesce(customer_email, '') || coalesce(pending_username, '') ||"
                     " coalesce(offered_username, '') || coalesce(pending_named_by, '') FROM deliveries"},
        storage::Sql{"SELECT username || lines FROM delivery_items"},
        storage::Sql{"SELECT message || coalesce(data, '') FROM delivery_timeline"},
        storage::Sql{"SELECT key FROM delivery_keys"},
        storage::Sql{
            "SELECT target || detail || coalesce(changes, '') || coalesce(actor_name, '') FROM audit_log"},
        storage::Sql{"SELECT filter || failures FROM bulk_jobs"},
        storage::Sql{"SELECT kind || done_to || coalesce(closed_by, '') FROM privacy_requests"}};
    std::string text;
    world.write([&](storage::Tx& tx) {
      text.clear();
      for (const auto& sql : kQueries)
        tx.query(sql, [&](const storage::Row& r) { text += r.string(0) + "\n"; });
    });
    return text;
  }
  // Writes Ann's name into the items of the delivery, as a share does that names its buyer.
  void name_items(DeliveryId id) {
    world.write([&](storage::Tx& tx) {
      tx.exec({"UPDATE delivery_items SET username = 'Ann' WHERE delivery_id = $1"}, id);
    });
  }

  World world;
};

}  // namespace presetbridge::services::testing
