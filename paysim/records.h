// What the simulated processor remembers. Money is in minor units of a currency (cents of usd).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/time.h"
#include "form.h"

namespace presetbridge::paysim {

struct LineItem {
  std::string name;
  std::optional<std::string> description;
  std::int64_t unit_amount = 0;
  std::int64_t quantity = 1;
  std::string id;
  std::string price_id;
  std::string product_id;
};

// What a session is asked to be.
struct NewSession {
  std::vector<LineItem> items;  // at least one
  std::string currency;         // three lower-case letters
  std::string success_url;      // with {CHECKOUT_SESSION_ID} as it was given
  std::optional<std::string> cancel_url;
  std::optional<std::string> client_reference_id;
  std::optional<std::string> customer_email;
  std::optional<std::string> locale;
  std::optional<std::string> submit_type;
  std::vector<std::string> payment_method_types;
  Metadata metadata;
  Metadata payment_metadata;
  std::optional<std::string> payment_description;
  Timestamp expires_at;
};

enum class SessionStatus { open, complete, expired };
enum class Method { card, later };  // later: an asynchronous one, whose money comes after the session's end
enum class ChargeStatus { pending, succeeded, failed };
enum class RefundStatus { pending, succeeded, failed };
enum class DisputeStatus {
  needs_response,
  under_review,
  won,
  lost,
  warning_needs_response,  // an inquiry: no money has moved
  warning_under_review,
  warning_closed,
};

// As Stripe calls them.
std::string_view to_string(SessionStatus status);
std::string_view to_string(ChargeStatus status);
std::string_view to_string(RefundStatus status);
std::string_view to_string(DisputeStatus status);

struct Charge;

struct Session {
  std::string id;
  NewSession asked;
  Timestamp created;
  std::int64_t amount = 0;
  SessionStatus status = SessionStatus::open;
  bool paid = false;
  std::string intent;             // its id; empty before anybody tried to pay
  std::vector<Charge*> attempts;  // the newest last
};

// The intent of a session; what it is follows from its charges.
struct Intent {
  std::string id;
  Session* session = nullptr;
  Timestamp created;
};

struct Refund;
struct Dispute;

struct Charge {
  std::string id;
  Intent* intent = nullptr;
  Timestamp created;
  std::int64_t amount = 0;
  Method method = Method::card;
  ChargeStatus status = ChargeStatus::pending;
  std::int64_t refunded = 0;  // by refunds that did not fail
  std::vector<Refund*> refunds;
  std::vector<Dispute*> disputes;
};

struct Refund {
  std::string id;
  Charge* charge = nullptr;
  Timestamp created;
  std::int64_t amount = 0;
  RefundStatus status = RefundStatus::succeeded;
  std::optional<std::string> reason;
  Metadata metadata;
};

struct Dispute {
  std::string id;
  Charge* charge = nullptr;
  Timestamp created;
  std::int64_t amount = 0;
  DisputeStatus status = DisputeStatus::needs_response;
  std::string reason;
  std::string withdrawal;     // id of the movement that took the money; empty: none did
  std::string reinstatement;  // of the one that brought it back
  Timestamp reinstated;
};

inline bool is_over(const Dispute& dispute) {
  return dispute.status == DisputeStatus::won || dispute.status == DisputeStatus::lost ||
         dispute.status == DisputeStatus::warning_closed;
}

struct Event {
  std::string id;
  std::string type;
  Timestamp created;
  std::string body;  // the event as it is sent
};

// Records of one sort in the order made, found by id too. Their addresses last.
template <class Record>
class Shelf {
 public:
  Record& add(Record record) {
    Record& added = records_.emplace_back(std::move(record));
    by_id_.emplace(added.id, &added);
    return added;
  }
  Record* find(std::string_view id) {
    const auto found = by_id_.find(std::string(id));
    return found == by_id_.end() ? nullptr : found->second;
  }
  std::deque<Record>& all() { return records_; }
  std::size_t size() const { return records_.size(); }

 private:
  std::deque<Record> records_;
  std::unordered_map<std::string, Record*> by_id_;
};

}  // namespace presetbridge::paysim
