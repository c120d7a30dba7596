// A fixture with two people and the keys of their accounts.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "identity/testing.h"
#include "services/accounts/accounts.h"
#include "services/accounts/api_keys.h"
#include "storage/stores/integration_store.h"

namespace presetbridge::services::testing {

class ApiKeysTest : public ::testing::Test {
 protected:
  ApiKeysTest() {
    ann_ = person("ann");
    bob_ = person("bob");
  }
  identity::Principal person(const std::string& sub) {
    Accounts accounts(world_.async_db, world_.ids, identity::Signup::open);
    return world_
        .await(accounts.principal_of(world_.scheduler, {"https://id.example", sub, sub + "@example.com", {}}))
        .value();
  }
  IssuedApiKey create(const identity::Principal& by, NewApiKey wanted = {.name = "Shop"}) {
    return world_.await(keys_.create(world_.scheduler, by, std::move(wanted))).value();
  }
  Expected<ApiKey> change(const identity::Principal& by, ApiKeyId id, ApiKeyChange wanted) {
    return world_.await(keys_.change(world_.scheduler, by, id, std::move(wanted)));
  }
  Expected<IssuedApiKey> rotate(ApiKeyId id, Millis overlap) {
    return world_.await(keys_.rotate(world_.scheduler, ann_, id, overlap));
  }
  KeyCheck admit(const std::string& secret) { return world_.await(keys_.admit(world_.scheduler, secret)); }
  std::string code(const std::string& secret) {
    const auto check = admit(secret);
    return check.principal ? "ok" : check.principal.error().code;
  }
  // Requests of which the first is not answered before the last has come, by the order of the answers.
  std::vector<KeyCheck> admit_together(const std::string& secret, std::size_t requests) {
    std::vector<KeyCheck> checks;
    world_.async_db.submit([](storage::Tx&) {},
                           [&](const std::exception_ptr&, storage::Completions&) {
                             for (std::size_t i = 0; i < requests; ++i) {
                               spawn(keys_.admit(world_.scheduler, secret),
                                     [&](auto outcome) { checks.push_back(std::move(*outcome.value)); });
                             }
                           });
    world_.scheduler.run();
    return checks;
  }
  std::uint64_t units() const { return world_.async_db.stats().units; }
  ApiKey read(ApiKeyId id) { return world_.await(keys_.get(world_.scheduler, ann_, id)).value(); }
  IntegrationId integration(const identity::Principal& of) {
    storage::IntegrationRow row;
    row.id = world_.ids.make<IntegrationId>();
    row.account = of.account;
    row.name = "Store";
    row.encrypted_secret = {std::byte{1}};
    world_.db->write([&](storage::Tx& tx) { storage::insert_integration(tx, row); });
    return row.id;
  }

  identity::testing::World world_;
  ApiKeys keys_{world_.async_db, world_.ids, world_.random, world_.clock(), world_.log, {}};
  identity::Principal ann_, bob_;
};

}  // namespace presetbridge::services::testing
