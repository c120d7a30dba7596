// Outbound webhook subscriptions (spec 9.5). Secrets are shown when they are made and never again; they are
// stored encrypted at
// {"webhook_subscriptions.secret", id}, the one before a rotation at the same place.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/task.h"
#include "crypto/service_cipher.h"
#include "identity/principal.h"
#include "net/http_client.h"
#include "storage/commit/async_database.h"
#include "storage/page.h"
#include "storage/stores/subscription_store.h"

namespace presetbridge::services {

struct NewSubscription {
  std::string name;  // may be empty
  std::string url;
  std::optional<std::string> secret;
  std::vector<std::string> event_types;     // empty: all
  std::vector<IntegrationId> integrations;  // empty: all that the caller sees
};
// The wanted changes; absent members stay.
struct SubscriptionChange {
  std::optional<std::string> name;
  std::optional<std::string> url;
  std::optional<std::vector<std::string>> event_types;
  std::optional<std::vector<IntegrationId>> integrations;
  std::optional<bool> active;
};
// The row, if the caller may see and change it.
std::optional<storage::SubscriptionRow> visible_subscription(const identity::Principal& by,
                                                             std::optional<storage::SubscriptionRow> row);
// Whether events of stores that the caller does not see may wait, or be sent again: the subscription had other
// stores before (spec 6.2).
bool reaches_beyond(const identity::Principal& by, const storage::SubscriptionRow& row);
std::unexpected<Error> of_other_stores();

struct SubscriptionView {
  storage::SubscriptionRow row;
  storage::SubscriptionHealth health;
};
struct IssuedSubscription {
  SubscriptionView subscription;
  std::string secret;
};

// Thread-safe. A key that is limited to integrations sees, makes and changes only subscriptions to those
// (spec 6.2); others, and another account's, are NOT_FOUND.
class Subscriptions {
 public:
  static constexpr std::int64_t max_subscriptions = 100;  // an account
  static constexpr Millis default_overlap = std::chrono::hours{24};
  static constexpr Millis max_overlap = std::chrono::hours{24 * 30};

  // All outlive this. `policy`: public_https, or sandbox_receivers in sandbox mode (spec 10.5). `changed` is
  // called, on any thread, when there may be something to send.
  Subscriptions(storage::AsyncDatabase& async_db, IdSource& ids, Random& random,
                const crypto::ServiceCipher& cipher, net::AddressPolicy policy, std::function<void()> changed)
      : async_db_(async_db),
        ids_(ids),
        random_(random),
        cipher_(cipher),
        policy_(policy),
        changed_(std::move(changed)) {}

  // VALIDATION_FAILED: url, secret, an unknown event type, an integration that is not the account's or the
  // key's. LIMIT_REACHED.
  Task<Expected<IssuedSubscription>> create(Executor& executor, identity::Principal by,
                                            NewSubscription wanted);
  // Newest first.
  Task<Expected<storage::Page<SubscriptionView>>> list(Executor& executor, identity::Principal by,
                                                       storage::PageRequest page);
  Task<Expected<SubscriptionView>> get(Executor& executor, identity::Principal by, SubscriptionId id);
  Task<Expected<SubscriptionView>> change(Executor& executor, identity::Principal by, SubscriptionId id,
                                          SubscriptionChange change);
  Task<Expected<void>> remove(Executor& executor, identity::Principal by, SubscriptionId id);
  // Both secrets sign for `overlap` more (spec 10.3), beside a former one that has not ended
  // (secret_rotation.h). Nothing changes if `secret` is the subscription's already, unless `overlap` is 0,
  // which ends all former ones.
  Task<Expected<IssuedSubscription>> rotate_secret(Executor& executor, identity::Principal by,
                                                   SubscriptionId id, std::optional<std::string> secret,
                                                   Millis overlap);
  // Queues a webhook.test event, for this subscription alone; its UUID. CONFLICT while it is not active.
  Task<Expected<std::string>> test(Executor& executor, identity::Principal by, SubscriptionId id);
  // Newest first.
  Task<Expected<storage::Page<storage::AttemptRow>>> attempts(Executor& executor, identity::Principal by,
                                                              SubscriptionId id, storage::PageRequest page);

 private:
  std::vector<FieldProblem> problems_of_url(const std::string& url) const;

  storage::AsyncDatabase& async_db_;
  IdSource& ids_;
  Random& random_;
  const crypto::ServiceCipher& cipher_;
  const net::AddressPolicy policy_;
  const std::function<void()> changed_;
};

}  // namespace presetbridge::services
