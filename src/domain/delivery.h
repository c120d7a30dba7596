// The words of a delivery: its statuses, codes, actions, actors and event names. The strings are what the
// database and the API hold, so they never change. spec 3.1, 3.3, 3.6, 3.7, 10.1.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"

namespace presetbridge::domain {

enum class DeliveryStatus {
  queued,
  processing,
  waiting_for_friendship,
  completed,
  failed,
  in_review,
  invalidated
};
inline constexpr std::array<std::string_view, 7> kDeliveryStatusNames = {
    "queued", "processing", "waiting_for_friendship", "completed", "failed", "in_review", "invalidated"};

// spec 3.7. `sharing`: the intent is committed and the call's outcome not yet known (spec 3.9).
enum class ItemStatus {
  owed,
  sharing,
  shared,
  already_shared,
  delivered_by_hand,
  dropped,
  revoking,
  revoked,
  revoke_failed
};
inline constexpr std::array<std::string_view, 9> kItemStatusNames = {
    "owed",    "sharing",  "shared",  "already_shared", "delivered_by_hand",
    "dropped", "revoking", "revoked", "revoke_failed"};

// Why a delivery failed, and so what fixes it (spec 3.6; texts in resolution.h). `none` is the empty string.
enum class ResolutionCode {
  none,
  username_missing,
  username_not_found,
  friend_request_declined,
  friendship_timeout,
  blocked_by_customer,
  credentials_missing,
  credentials_invalid,
  preset_not_found,
  preset_not_shareable,
  insufficient_credits,
  cloud_unavailable,
  cloud_rejected,
  order_too_large,
  internal_error
};
inline constexpr std::array<std::string_view, 15> kResolutionCodeNames = {"",
                                                                          "username_missing",
                                                                          "username_not_found",
                                                                          "friend_request_declined",
                                                                          "friendship_timeout",
                                                                          "blocked_by_customer",
                                                                          "credentials_missing",
                                                                          "credentials_invalid",
                                                                          "preset_not_found",
                                                                          "preset_not_shareable",
                                                                          "insufficient_credits",
                                                                          "cloud_unavailable",
                                                                          "cloud_rejected",
                                                                          "order_too_large",
                                                                          "internal_error"};

// Outbound events (spec 10.1).
enum class EventType {
  delivery_queued,
  delivery_waiting_for_friendship,
  delivery_completed,
  delivery_failed,
  delivery_invalidated,
  delivery_reopened,
  order_unmapped,
  credits_low,
  subscription_failing,
  webhook_test  // of one subscription alone: cannot be subscribed to
};
inline constexpr std::array<std::string_view, 10> kEventTypeNames = {
    "delivery.queued",      "delivery.waiting_for_friendship",
    "delivery.completed",   "delivery.failed",
    "delivery.invalidated", "delivery.reopened",
    "order.unmapped",       "credits.low",
    "subscription.failing", "webhook.test"};

// Who keeps an invalidated delivery invalidated: only what the order did can be undone by the order
// (spec 3.1).
enum class InvalidatedBy { nobody, order, merchant };
inline constexpr std::array<std::string_view, 3> kInvalidatedByNames = {"", "order", "merchant"};

// Why a delivery is in review (spec 3.1), gravest first.
enum class ReviewReason { high_risk, payment_withdrawn, too_large, held, reopened };
inline constexpr std::array<std::string_view, 5> kReviewReasonNames = {"high_risk", "payment_withdrawn",
                                                                       "too_large", "held", "reopened"};

// All the reasons that stand; the gravest shows.
class ReviewReasons {
 public:
  ReviewReasons() = default;
  ReviewReasons(ReviewReason reason) { add(reason); }
  void add(ReviewReason reason) { bits_.set(static_cast<std::size_t>(reason)); }
  void add(const ReviewReasons& reasons) { bits_ |= reasons.bits_; }
  void remove(ReviewReason reason) { bits_.reset(static_cast<std::size_t>(reason)); }
  void remove(const ReviewReasons& reasons) { bits_ &= ~reasons.bits_; }
  bool has(ReviewReason reason) const { return bits_.test(static_cast<std::size_t>(reason)); }
  bool none() const { return bits_.none(); }
  std::optional<ReviewReason> gravest() const;
  bool operator==(const ReviewReasons&) const = default;

 private:
  std::bitset<kReviewReasonNames.size()> bits_;
};

// A request for a delivery that came while a job had it (spec 3.3), weakest first: of two, the stronger stays
// (see combine).
enum class PendingActionKind {
  none,
  refresh,  // the order, its refunds or the mappings changed: read the items again, then go on
  retry,    // attempt again at once, with `username` if that is not empty
  cloud_account_changed,
  review,     // for the reasons that wait with it
  reopen,     // to review, by the merchant
  stop,       // the order was cancelled or refunded: drop what is not shared
  erase,      // spec 9.6
  invalidate  // by the merchant, with a reason
};
inline constexpr std::array<std::string_view, 9> kPendingActionKindNames = {
    "", "refresh", "retry", "cloud_account_changed", "review", "reopen", "stop", "erase", "invalidate"};

// Who did something. `id` is that of the user or key, else 0.
struct Actor {
  enum class Kind { system, order, user, api_key, buyer };
  Kind kind = Kind::system;
  std::int64_t id = 0;

  static Actor system() { return {}; }
  static Actor order() { return {Kind::order, 0}; }
  static Actor user(UserId id) { return {Kind::user, id.value}; }
  static Actor api_key(ApiKeyId id) { return {Kind::api_key, id.value}; }
  static Actor buyer() { return {Kind::buyer, 0}; }  // who has the delivery's link (spec 13.3)

  // Neither the account's people nor a program of theirs: the store's order, or the buyer.
  bool is_customer_side() const { return kind == Kind::order || kind == Kind::buyer; }
  bool operator==(const Actor&) const = default;
};

// A corrected username, whatever else is asked with it: who gave it, and when (spec 2.6).
struct PendingName {
  std::string username;  // normalised; empty: there is none
  Actor actor;
  std::optional<Timestamp> given;  // nothing where a program of before wrote it
  bool operator==(const PendingName&) const = default;
};

struct PendingAction {
  PendingActionKind kind = PendingActionKind::none;
  std::string reason;  // the merchant's text, or order_cancelled, order_refunded, erased
  Actor actor;
  PendingName name = {};
  ReviewReasons reviews = {};  // none where the kind is weaker than `review`
  // A stop that came after a merchant had asked to reopen: the actor is that merchant. It ends the reopening only
  // where nothing was shared (spec 3.1).
  bool stops_a_reopening() const {
    return kind == PendingActionKind::stop && reviews.has(ReviewReason::reopened);
  }
  bool operator==(const PendingAction&) const = default;
};

// To review for these reasons, of which there are some.
PendingAction pending_review(const ReviewReasons& reasons);

// The pending action once `next` is requested besides `current`: the stronger of both (on a tie the newer),
// all reasons of a review, and the newest name. A stop remembers a reopening that it comes after.
PendingAction combine(const PendingAction& current, const PendingAction& next);

// `pending` without the requests that the order has withdrawn: its stop, and the reasons `settled`. The
// merchant's requests, other reasons and a corrected name still wait.
PendingAction without_stop(PendingAction pending, const ReviewReasons& settled);

// "system", "order", "usr_…", "key_…", "buyer".
std::string to_string(const Actor& actor);
std::optional<Actor> parse_actor(std::string_view text);

constexpr std::string_view to_string(DeliveryStatus s) {
  return kDeliveryStatusNames[static_cast<std::size_t>(s)];
}
constexpr std::string_view to_string(ItemStatus s) {
  return kItemStatusNames[static_cast<std::size_t>(s)];
}
constexpr std::string_view to_string(ResolutionCode c) {
  return kResolutionCodeNames[static_cast<std::size_t>(c)];
}
constexpr std::string_view to_string(EventType t) {
  return kEventTypeNames[static_cast<std::size_t>(t)];
}
constexpr std::string_view to_string(InvalidatedBy b) {
  return kInvalidatedByNames[static_cast<std::size_t>(b)];
}
constexpr std::string_view to_string(ReviewReason r) {
  return kReviewReasonNames[static_cast<std::size_t>(r)];
}
// The names, comma-separated, gravest first; nothing for what that did not make.
std::optional<ReviewReason> parse_review_reason(std::string_view text);
std::string to_string(const ReviewReasons& reasons);
std::optional<ReviewReasons> parse_review_reasons(std::string_view text);
constexpr std::string_view to_string(PendingActionKind k) {
  return kPendingActionKindNames[static_cast<std::size_t>(k)];
}

// Nothing for any other text; the empty text is `none` or `nobody` where that exists.
std::optional<DeliveryStatus> parse_delivery_status(std::string_view text);
std::optional<ItemStatus> parse_item_status(std::string_view text);
std::optional<ResolutionCode> parse_resolution_code(std::string_view text);
std::optional<EventType> parse_event_type(std::string_view text);
std::optional<InvalidatedBy> parse_invalidated_by(std::string_view text);
std::optional<PendingActionKind> parse_pending_action_kind(std::string_view text);

}  // namespace presetbridge::domain
