// The merchant's API keys, the program that uses them, and what the specification says of both (spec 6).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "history.h"
#include "power.h"
#include "services/accounts/api_keys.h"
#include "services/testing.h"

namespace presetbridge::simulation {

class Keys {
 public:
  Keys(services::testing::World& world, Power& power);

  // The process ends, and another one begins: it knows of the keys what is stored.
  void restart();
  // Each returns what is wrong; empty: nothing.
  std::string change(const Command& command);
  // A request of the program: it is let in exactly while its key is in force and has requests left.
  std::string ask(std::uint32_t which);
  // The principal of the last request; nothing: it was refused.
  const std::optional<identity::Principal>& admitted() const { return admitted_; }
  // The last request made a delivery.
  void made_delivery() { ++keys_.at(last_).deliveries; }
  // Every key is as it was made, and has counted what was done with it.
  std::string judge();

 private:
  struct Key {
    ApiKeyId id;
    std::string secret;
    std::int64_t limit = 0;
    bool active = true;
    std::optional<Timestamp> expires_at = {};
    bool other_store = false;
    bool rotated = false;
    std::vector<Timestamp> requests = {};
    std::int64_t deliveries = 0;
  };
  Timestamp now() const { return world_.database.clock.now(); }
  bool is_in_force(const Key& key) const {
    return key.active && (!key.expires_at || now() < *key.expires_at);
  }
  std::int64_t used(const Key& key) const;
  std::size_t choose(std::uint32_t which) const;
  std::string rotate(std::size_t at, Millis overlap);

  services::testing::World& world_;
  Power& power_;
  IntegrationId other_store_;
  std::unique_ptr<services::ApiKeys> service_;
  std::vector<Key> keys_;
  std::size_t last_ = 0;  // whose request was the last one
  std::optional<identity::Principal> admitted_;
};

}  // namespace presetbridge::simulation
