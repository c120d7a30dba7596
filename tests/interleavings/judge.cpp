#include "judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "domain/order.h"
#include "storage/stores/credit_store.h"
#include "storage/stores/delivery_store.h"
#include "storage/stores/order_store.h"
#include "storage/stores/purchase_store.h"

namespace presetbridge::interleavings {
namespace {

using domain::DeliveryStatus;
using domain::ItemStatus;
using domain::ResolutionCode;
using storage::Row;
using storage::Sql;
using storage::Tx;

class Judge {
 public:
  Judge(Scene& scene, Tx& tx) : scene_(scene), tx_(tx) {
    static constexpr Sql kDeliveries{"SELECT id FROM deliveries ORDER BY id"};
    tx.query(kDeliveries, [&](const Row& row) { ids_.push_back(row.id<DeliveryId>(0)); });
    balance_ = find_balance(tx, scene.account).value();
    standing_ = find_standing(tx, scene.account).value();
  }

  std::vector<std::string> faults() {
    for (const auto id : ids_) of_delivery(find_delivery(tx_, id).value());
    of_queue();
    of_books();
    of_purchase();
    of_shares();
    of_changes();
    return std::move(faults_);
  }

  std::string outcome() {
    std::string text;
    for (const auto id : ids_) {
      const auto row = find_delivery(tx_, id).value();
      text += fmt::format("order {}: {} {} {} {}{}{};", row.order_key, to_string(row.status),
                          to_string(row.resolution), row.reason, row.username,
                          row.refunded ? " refunded" : "", row.cancelled ? " cancelled" : "");
      std::set<std::string> items;
      for (const auto& item : find_items(tx_, id))
        items.insert(fmt::format(" {} {}{}{}", item.file_id, to_string(item.status),
                                 item.spent ? " spent" : "", item.former ? " former" : ""));
      for (const auto& item : items) text += item;
      text += '\n';
    }
    for (const auto& [what, share] : scene_.world.cloud.shares)
      text += fmt::format("{} has {};", what.first, what.second);
    if (const auto row = find_purchase(tx_, scene_.purchase)) {
      text += fmt::format("{}, {} of {} credits reversed, {} given back;", to_string(row->standing.state),
                          row->standing.reversed, row->standing.granted, row->standing.refunded);
    }
    return text + fmt::format(" {} credits, {} debt, login {}\n", balance_.available(), balance_.debt,
                              to_string(standing_.status));
  }

 private:
  template <class... A>
  void fault(fmt::format_string<A...> text, A&&... arguments) {
    faults_.push_back(fmt::format(text, std::forward<A>(arguments)...));
  }

  void of_delivery(const storage::DeliveryRow& row) {
    const auto items = find_items(tx_, row.id);
    if (row.status == DeliveryStatus::queued || row.status == DeliveryStatus::processing)
      fault("order {} is {} for ever", row.order_key, to_string(row.status));
    if (row.pending.kind != domain::PendingActionKind::none || !row.pending.name.username.empty())
      fault("order {}: what was asked ({}) waits for ever", row.order_key, to_string(row.pending.kind));
    if (row.status == DeliveryStatus::failed) of_failure(row, items);
    bool delivered = false;
    for (const auto& item : items) {
      if (item.status == ItemStatus::sharing || item.status == ItemStatus::revoking)
        fault("order {}: {} is {} for ever", row.order_key, item.file_id, to_string(item.status));
      if (item.former) continue;
      delivered = delivered || item.status == ItemStatus::shared ||
                  item.status == ItemStatus::already_shared || item.status == ItemStatus::delivered_by_hand ||
                  item.status == ItemStatus::revoked;
      if (row.status == DeliveryStatus::completed && item.status == ItemStatus::owed)
        fault("order {} is completed and owes {}", row.order_key, item.file_id);
      if ((item.status == ItemStatus::shared || item.status == ItemStatus::already_shared) &&
          !scene_.world.cloud.shares.contains({item.user_id, item.file_id}))
        fault("order {}: {} of {} is {}, and they have it not", row.order_key, item.file_id, item.user_id,
              to_string(item.status));
    }
    if (row.status == DeliveryStatus::completed && !delivered)
      fault("order {} is completed and nothing was delivered", row.order_key);
    of_events(row);
    of_erasure(row);
  }

  // No row of an erased order says who it was for (spec 9.6). Keys hold a name case-folded.
  void of_erasure(const storage::DeliveryRow& row) {
    const auto order = find_order(tx_, OrderId{row.id.value});
    const auto state = order ? domain::decode_order_state(order->state) : domain::OrderState{};
    if (!state || !state->erased) return;
    if (!state->username.empty()) fault("order {} is erased and names {}", row.order_key, state->username);
    static constexpr Sql kRows{
        "SELECT CAST(d AS TEXT) FROM deliveries d WHERE d.id = $1"
        " UNION ALL SELECT CAST(i AS TEXT) FROM delivery_items i WHERE i.delivery_id = $1"
        " UNION ALL SELECT CAST(l AS TEXT) FROM delivery_timeline l WHERE l.delivery_id = $1"
        " UNION ALL SELECT convert_from(e.body, 'UTF8') FROM outbound_events e WHERE e.delivery_id = $1"};
    tx_.query(kRows, row.id, [&](const Row& r) {
      for (const std::string_view name : {"Ann", "Bob"})
        if (r.text(0).contains(name))
          fault("order {} is erased and names {}: {}", row.order_key, name, r.text(0));
    });
    static constexpr Sql kNames{"SELECT key FROM delivery_keys WHERE delivery_id = $1 AND account_id = $2"};
    tx_.query(kNames, row.id, row.account, [&](const Row& r) {
      if (r.text(0).starts_with('u')) fault("order {} is erased and found by {}", row.order_key, r.text(0));
    });
  }

  // The cause of a failure stands still: had it ended, the delivery would have been resumed.
  void of_failure(const storage::DeliveryRow& row, const std::vector<storage::ItemRow>& items) {
    const auto& cloud = scene_.world.cloud;
    const auto gone = [&](const storage::ItemRow& item) {
      return item.status == ItemStatus::owed && cloud.unknown_files.contains(item.file_id);
    };
    bool stands = false;
    switch (row.resolution) {
      case ResolutionCode::insufficient_credits:
        stands = balance_.available() <= 0;
        break;
      case ResolutionCode::credentials_missing:
        stands = standing_.status == storage::CredentialsStatus::missing;
        break;
      case ResolutionCode::credentials_invalid:
        stands = standing_.status == storage::CredentialsStatus::invalid;
        break;
      case ResolutionCode::preset_not_found:
        stands = std::ranges::any_of(items, gone);
        break;
      case ResolutionCode::username_missing:
        stands = row.username.empty();
        break;
      case ResolutionCode::username_not_found:
        stands = cloud.unknown_users.contains(row.username);
        break;
      case ResolutionCode::friend_request_declined:
        stands = std::ranges::any_of(cloud.friendships, [](const auto& one) {
          return one.second == cloud::FriendshipState::declined;
        });
        break;
      default:
        break;
    }
    if (!stands)
      fault("order {} stays failed as {} without a cause", row.order_key, to_string(row.resolution));
  }

  // None lost, none invented, the last one tells of the end.
  void of_events(const storage::DeliveryRow& row) {
    static constexpr Sql kEvents{
        "SELECT sequence, type FROM outbound_events WHERE delivery_id = $1 ORDER BY sequence"};
    std::int64_t expected = 0;
    std::string last;
    tx_.query(kEvents, row.id, [&](const Row& r) {
      if (!r.text(1).starts_with("delivery.")) return;
      if (r.int64(0) != ++expected)
        fault("order {}: event {} is numbered {}", row.order_key, expected, r.int64(0));
      last = r.string(1);
    });
    if (expected != row.sequence) fault("order {}: {} events of {}", row.order_key, expected, row.sequence);
    const bool ended = row.status == DeliveryStatus::completed || row.status == DeliveryStatus::failed ||
                       row.status == DeliveryStatus::invalidated;
    if (ended && last != fmt::format("delivery.{}", to_string(row.status)))
      fault("order {} is {}, and {} was told last", row.order_key, to_string(row.status), last);
  }

  void of_queue() {
    static constexpr Sql kQueue{
        "SELECT username_key, queue_state, CASE WHEN due_at <= $1 THEN 1 ELSE 0 END, lease_expires_at"
        " FROM customers"};
    tx_.query(kQueue, tx_.now(), [&](const Row& r) {
      if (r.int64(1) == 1 && r.flag(2)) fault("{} is due, and no job comes", r.string(0));
      if (!r.is_null(3)) fault("{} is leased for ever", r.string(0));
    });
    static constexpr Sql kAccountTasks{"SELECT chore FROM account_chores"};
    tx_.query(kAccountTasks, [&](const Row& r) { fault("the account task {} is left", r.string(0)); });
    if (storage::any_forgotten_account(tx_)) fault("the cloud account is forgotten");
  }

  void of_books() {
    std::int64_t spent = 0;
    std::int64_t bought = 0;
    for (const auto& entry : list_ledger(tx_, scene_.account, {}, 1'000)) {
      if (entry.kind == domain::LedgerEntryKind::spend) spent += entry.credits;
      if (entry.kind == domain::LedgerEntryKind::purchase) bought += entry.credits;
    }
    // What was taken back may be shared again.
    const auto revoked = scene_.world.cloud.count("revoke");
    std::int64_t shared = 0;
    for (const auto& [what, times] : scene_.world.cloud.share_effects) {
      if (times > 1 + revoked) fault("{} got {} {} times", what.first, what.second, times);
      shared += times;
    }
    if (balance_.held != 0) fault("{} credits are on hold for ever", balance_.held);
    if (balance_.spent != spent) fault("{} credits are spent, {} in the ledger", balance_.spent, spent);
    if (balance_.spent > shared || balance_.spent + revoked < shared)
      fault("{} credits are spent for {} shares", balance_.spent, shared);
    if (balance_.purchased != bought)
      fault("{} credits are bought, {} in the ledger", balance_.purchased, bought);
    const auto activity = services::testing::sum_activity(tx_);
    if (activity.stored != activity.counted) fault("the statistics are not those of the deliveries");
  }

  // The purchase stands as the processor has it, and the ledger as the purchase does.
  void of_purchase() {
    const auto row = find_purchase(tx_, scene_.purchase);
    if (!row) return;
    std::int64_t reversed = 0;
    for (const auto& entry : list_ledger(tx_, scene_.account, {}, 1'000)) {
      if (entry.kind == domain::LedgerEntryKind::reversal && entry.purchase == row->id)
        reversed += entry.credits;
    }
    const auto& processor = scene_.world.processor;
    const auto refunded = processor.pages.at(row->session).facts.refunded;
    if (row->standing.refunded != refunded)
      fault("{} were given back, and the purchase says {}", refunded, row->standing.refunded);
    if (reversed != row->standing.reversed || balance_.reversed + balance_.debt != reversed)
      fault("{} credits are reversed, {} in the ledger", row->standing.reversed, reversed);
  }

  // What a user has, somebody is told of.
  void of_shares() {
    std::set<std::pair<std::string, std::string>> told;
    for (const auto id : ids_)
      for (const auto& item : find_items(tx_, id))
        if (item.status == ItemStatus::shared || item.status == ItemStatus::already_shared ||
            item.status == ItemStatus::revoke_failed)
          told.emplace(item.user_id, item.file_id);
    for (const auto& [what, share] : scene_.world.cloud.shares)
      if (!told.contains(what)) fault("{} has {}, and no delivery tells of it", what.first, what.second);
  }

  void of_changes() {
    static constexpr Sql kChanges{
        "SELECT CAST(count(*) AS BIGINT), CAST(COALESCE(max(sequence), 0) AS BIGINT) FROM account_changes"};
    tx_.query(kChanges, [&](const Row& r) {
      if (r.int64(0) != r.int64(1)) fault("of {} live changes {} are there", r.int64(1), r.int64(0));
    });
  }

  Scene& scene_;
  Tx& tx_;
  std::vector<DeliveryId> ids_;
  domain::Balance balance_;
  storage::CredentialsStanding standing_;
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> judge(Scene& scene) {
  auto faults = scene.desk.write([&](Tx& tx) { return Judge(scene, tx).faults(); });
  for (const auto& said : scene.faults) faults.push_back(said);
  for (const auto* node : {&scene.desk, scene.nodes.data(), &scene.nodes[1]})
    if (!node->log.text().empty()) faults.push_back("the log says: " + node->log.text());
  return faults;
}

std::string outcome(Scene& scene) {
  return scene.desk.write([&](Tx& tx) { return Judge(scene, tx).outcome(); });
}

}  // namespace presetbridge::interleavings
