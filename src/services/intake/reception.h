// Reception: from what a store posted to an order that is on disk (spec 2.3). It finds the store, verifies
// the signature, checks the API key, parses and compresses the body, and has the intake take the order.
//
// The intake refuses an order whose store was changed since the store was read. Reception then reads the
// store again and begins anew, kMaxStoreReads times in all.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "base/metrics.h"
#include "base/task.h"
#include "identity/principal.h"
#include "providers/parse.h"
#include "providers/verify.h"
#include "services/intake/intake.h"
#include "services/intake/store_tally.h"
#include "services/stores/integration_directory.h"

namespace presetbridge::services {

inline constexpr std::string_view kNoSuchIntegration = "There is no such integration for this provider.";

// A request to a store's address. All that it refers to outlives the call that takes it.
struct PostedOrder {
  const providers::Profile& profile;  // of the platform that the address names
  IntegrationId integration;
  providers::HeaderValues headers;
  std::string_view body;
  std::optional<Error> body_error = {};  // the body was not read whole: the answer once the store is found
  bool trial = false;                    // the merchant tests the store (spec 9.3): no API key is asked for,
                                         // the order is a dry run, and nothing is counted as the store's
};

// An order that the merchant's own program places for a store of provider generic (spec 3.8).
struct DirectOrder {
  const identity::Principal& by;
  IntegrationId integration;
  domain::OrderEvent event;
  std::string_view body;
};

struct ReceptionPorts {
  IntegrationDirectory& integrations;
  Intake& intake;
  storage::AsyncDatabase& async_db;
  const Clock& clock;
  Metrics& metrics;
  StoreTally* tally = nullptr;  // null: what stores send is not counted
};

// Thread-safe. The ports outlive it, and it outlives the coroutines that it started.
class Reception {
 public:
  static constexpr int kMaxStoreReads = 3;

  Reception(const ReceptionPorts& ports, const providers::ParseLimits& limits)
      : ports_(ports), limits_(limits) {}

  // Resumes on `executor` once the order is on disk. Nothing: the platform's unsigned ping, which does
  // nothing. Errors: INTEGRATION_NOT_FOUND, `body_error`, INVALID_SIGNATURE, UNAUTHORIZED or FORBIDDEN (the
  // API key), INVALID_PAYLOAD, PAYLOAD_TOO_LARGE, OVERLOADED, STORAGE_UNAVAILABLE, INTERNAL_ERROR; in this
  // order.
  Task<Expected<std::optional<Accepted>>> receive(Executor& executor, PostedOrder posted);
  // Resumes on `executor` once the order is on disk. Errors: NOT_FOUND, VALIDATION_FAILED (the store's
  // provider is another), OVERLOADED, STORAGE_UNAVAILABLE, INTERNAL_ERROR.
  Task<Expected<Accepted>> place(Executor& executor, DirectOrder order);

  using Copy = IntegrationDirectory::Copy;
  // An order that is verified and parsed, and not stored.
  struct Ready {
    IncomingOrder order;
    std::optional<SeenEvent> seen;  // counted as the store's
  };
  // The store that the order was posted for. Errors: INTEGRATION_NOT_FOUND, OVERLOADED, STORAGE_UNAVAILABLE.
  Task<Expected<Copy>> find_store(Executor& executor, const PostedOrder& posted);
  // All that receive() does with a store before anything is stored. Nothing: a ping.
  Task<Expected<std::optional<Ready>>> read(Executor& executor, const PostedOrder& posted, Copy store);
  // Has the intake take what `make` returns, which it calls again where the store was changed meanwhile.
  // Nothing: `make` returned nothing.
  using Make = std::function<Task<Expected<std::optional<Ready>>>()>;
  Task<Expected<std::optional<Accepted>>> take(Executor& executor, Make make);

  const providers::ParseLimits& limits() const { return limits_; }

 private:
  // One that the signature verifies with: `copy`, or a newer one of the store. INVALID_SIGNATURE, or the
  // error of reading the newer one: after a 401 a store may never repeat its order.
  Task<Expected<Copy>> verify(Executor& executor, const PostedOrder& posted, Copy copy);
  // spec 2.4: in whose usage the order counts.
  Task<Expected<ApiKeyId>> check_key(Executor& executor, const PostedOrder& posted, Copy store);
  const ReceptionPorts ports_;
  const providers::ParseLimits limits_;
};

}  // namespace presetbridge::services
