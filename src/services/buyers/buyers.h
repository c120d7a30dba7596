// A buyer's view of one delivery, and actions on it, with its link (spec 13.3): no sign-in, nothing of the
// merchant but the name, nothing of the order but the bought products.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "domain/buyer.h"
#include "identity/login_failure.h"
#include "services/buyers/buyer_links.h"
#include "services/delivery/actions.h"
#include "storage/commit/async_database.h"

namespace presetbridge::services {

// The state of one bought product, for its buyer.
enum class BuyerItemState { on_its_way, delivered, taken_back };

struct BuyerItem {
  std::string name;
  std::string kind;
  BuyerItemState state = BuyerItemState::on_its_way;
};

struct BuyerView {
  domain::BuyerState state = domain::BuyerState::delayed;
  std::string merchant;
  std::string support_email;  // where buyers ask the merchant; each may be empty
  std::string support_url;
  std::string order_number;               // empty: the store gave none
  std::string username;                   // whom it is for, as it was given; empty: nobody said
  std::string sender;                     // whose friend request it is; empty: not known yet
  std::optional<Timestamp> requested_at;  // when that was sent, while it waits for the buyer
  std::optional<Timestamp> starts_at;     // Outlook::late_start
  std::vector<BuyerItem> items;           // present and owed to the buyer, or the buyer's
  bool dry_run = false;
  bool can_correct = false;
  bool can_retry = false;
  std::optional<Timestamp> can_act_at;  // while the buyer has to wait before acting again
  Timestamp updated_at;
};

// Thread-safe.
class Buyers {
 public:
  // `jobs_per_minute`, `changed`: as of DeliveryActions.
  Buyers(storage::AsyncDatabase& async_db, BuyerLinks& links, DeliveryChanges& changes, int jobs_per_minute,
         std::function<void()> changed)
      : async_db_(async_db),
        links_(links),
        changes_(changes),
        jobs_per_minute_(jobs_per_minute),
        changed_(std::move(changed)) {}

  // The delivery that the token opens; the refusals of BuyerLinks::find().
  Task<Expected<storage::DeliveryRow>> open(Executor& executor, std::string token) {
    return links_.find(executor, std::move(token));
  }
  Task<Expected<BuyerView>> view(Executor& executor, DeliveryId delivery);

  // Names the user whom it is for, and has it tried. `username`: normalised and not empty. Refused with
  // INVALID_TRANSITION where that would change nothing any more, LIMIT_REACHED after kBuyerCorrections, and
  // RATE_LIMIT_EXCEEDED within kBuyerPause of the last act.
  Task<identity::LoginResult<BuyerView>> correct(Executor& executor, DeliveryId delivery,
                                                 std::string username);
  // Has it tried again for the same user; likewise, after kBuyerRetries.
  Task<identity::LoginResult<BuyerView>> retry(Executor& executor, DeliveryId delivery);

 private:
  Task<identity::LoginResult<BuyerView>> act(Executor& executor, DeliveryId delivery, std::string username);

  storage::AsyncDatabase& async_db_;
  BuyerLinks& links_;
  DeliveryChanges& changes_;
  const int jobs_per_minute_;
  const std::function<void()> changed_;
};

}  // namespace presetbridge::services
