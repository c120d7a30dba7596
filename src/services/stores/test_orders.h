// Orders that a merchant sends themselves, as their store would (spec 9.3): written and signed as its
// platform does it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/task.h"
#include "domain/order_event.h"
#include "identity/principal.h"
#include "services/stores/integration_directory.h"

namespace presetbridge::services {

struct TestOrderWish {
  std::optional<std::string> username;    // nothing: that of the account's cloud login, if there is one
  std::optional<domain::OrderLine> line;  // nothing: of the first product that delivers a file
};
// A request to the store's address.
struct TestOrder {
  domain::Provider provider;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

// Thread-safe. All outlive this.
class TestOrders {
 public:
  TestOrders(storage::AsyncDatabase& async_db, IntegrationDirectory& directory, IdSource& ids,
             const Clock& clock)
      : async_db_(async_db), directory_(directory), ids_(ids), clock_(clock) {}
  // NOT_FOUND: another account's integration, one outside the key's scope, an archived one.
  Task<Expected<TestOrder>> make(Executor& executor, identity::Principal by, IntegrationId id,
                                 TestOrderWish wish);

 private:
  storage::AsyncDatabase& async_db_;
  IntegrationDirectory& directory_;
  IdSource& ids_;
  const Clock& clock_;
};

}  // namespace presetbridge::services
