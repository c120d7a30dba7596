// What the specification says must hold: written from it alone, without queue, leases, batches or storage.
//
// - What is commanded has its effect at once; told(), retry() and the others say which.
// - What the service does by itself is seen() and must be allowed: a model of its own pace would be a second
// service.
// - When all is quiet, nothing may be left undone: finish() says what must have become of each delivery.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "domain/delivery.h"
#include "domain/order_event.h"

namespace presetbridge::simulation {

using domain::DeliveryStatus;
using domain::ItemStatus;
using domain::ResolutionCode;
using domain::ReviewReason;
using domain::ReviewReasons;

// What a merchant sees of a delivery.
struct SeenItem {
  std::string file;
  std::string name;  // of whom it is owed to; may be empty until it is shared
  ItemStatus status = ItemStatus::owed;
  bool former = false;
  bool spent = false;
  bool by_order = false;  // taken back by the order, not by a person
  bool operator==(const SeenItem&) const = default;
};
struct Seen {
  DeliveryStatus status = DeliveryStatus::queued;
  ResolutionCode code = ResolutionCode::none;
  ReviewReasons reviews;
  domain::InvalidatedBy by = domain::InvalidatedBy::nobody;
  std::string reason;
  std::string username;
  bool refunded = false;
  bool cancelled = false;
  bool action_waits = false;
  std::vector<SeenItem> items;
};

// The platform's truth about a buyer.
enum class Friend { none, requested, friends, declined, blocked };
struct Facts {
  Timestamp now{};
  std::map<std::string, Friend> friends;              // by user
  std::set<std::pair<std::string, std::string>> has;  // (user, file)
  std::int64_t credits = 0;                           // available
  std::int64_t held = 0;                              // credits
  std::int64_t tried = 0;  // shares that were under way since the last look; each held a credit for a while
  std::optional<Timestamp> trouble_since;  // the platform is not well, or has not been since the last quiet
  Timestamp reads_well_since{};            // the platform can be asked
  std::optional<Timestamp> writes_fail_since;  // no write can succeed
  std::set<std::string> missing;               // files that the platform does not have
  bool one_login = true;                       // the merchant has been one user of the platform all the time
};

inline constexpr Millis kProbesFor = std::chrono::hours{30 * 24};  // of a failed delivery (spec 3.5)

// The user that a name leads to; empty: nobody.
std::string user_of(const std::string& name);

struct Promise {
  enum class State { owed, shared, by_hand, dropped, taken_by_order, taken_by_merchant };
  State state = State::owed;
  bool unknown = false;  // a share was begun whose outcome nobody knows
  bool was_shared = false;
  bool spent = false;     // the share cost a credit, when it was last seen
  bool settling = false;  // it is being taken back
  // Owed by a line, too, that is no more, or another product now: whether it is taken back is not specified.
  bool may_be_taken = false;
  bool may_go = false;  // refunded before the store wanted files taken back
  bool stuck = false;   // the platform would not take it back for 72 hours
  // The platform had it as shared, perhaps by the merchant's former user: then it is not the service's to take back.
  bool foreign = false;
};
inline bool delivered(Promise::State state) {
  return state != Promise::State::owed && state != Promise::State::dropped;
}
inline bool is_taken(Promise::State state) {
  return state == Promise::State::taken_by_order || state == Promise::State::taken_by_merchant;
}
enum class Standing { open, completed, failed, in_review, invalidated };
struct Delivery {
  Standing standing = Standing::open;
  ResolutionCode code = ResolutionCode::none;
  ReviewReasons reviews;
  domain::InvalidatedBy by = domain::InvalidatedBy::nobody;
  std::string reason;
  std::string username;
  Timestamp named_at{};
  std::set<std::string> paid;  // files, when the order was last looked at
  std::set<std::string> left;  // files of lines that were taken out, or became another product
  std::map<std::pair<std::string, std::string>, Promise> promises;  // by (user, file); of every customer
  bool dry_run = false;     // everything but the platform and credits (spec 2.11)
  bool racing = false;      // something was commanded while a share was under way
  bool ends_later = false;  // nothing is owed any more, and a job has not ended it yet
  bool waits = false;       // for a job that is under way: an action, or a name (spec 3.3)
  // Something came about of which the specification does not say what it comes to: until all is quiet, the
  // model takes over what it is shown.
  bool open_question = false;
  bool unresolved = false;  // its name is perhaps another one of a user who has its files, or had them
  bool renamed = false;     // its files are recorded for another name of its buyer, which is not resolved yet
  std::optional<Timestamp> failed_since;  // as cloud_unavailable
  std::optional<Timestamp> first_waited;  // since creation, retry or approval; not after that
  std::optional<Timestamp> waits_since;   // without a break; not before that
  std::optional<Timestamp> queued_since;
  Timestamp last_seen{};
  // Files that are missing, and the lines that owe them, now mapped to others (spec 2.6): a job that meets them,
  // or a mapping that is saved, puts these in their stead.
  struct Replacing {
    std::set<std::string> missing;
    std::map<std::string, std::set<std::string>> lines;  // with the files that each is mapped to
    std::set<std::string> unsure;  // lines that perhaps owe nothing, or get nothing else
    bool must = false;             // a mapping was saved
    bool has(const std::string& file) const {
      return std::ranges::any_of(lines, [&](const auto& line) { return line.second.contains(file); });
    }
  };
  std::optional<Replacing> replacing;
};
struct Line {
  std::string id, sku;
  std::int64_t quantity = 1;
  std::optional<std::vector<std::string>> files;  // what the mappings made of it
  bool unmapped = false;                          // no mapping was there, not even one that ignores it
  std::set<std::string> perhaps = {};             // what a bulk job that perhaps changed it mapped it to
  bool perhaps_mapped = false;                    // by such a job, to something or to nothing
};
struct Order {
  bool seen = false;
  std::vector<Line> lines;
  domain::Payment told = domain::Payment::deliver;
  bool trashed = false, trash_timed = false;
  bool high_risk = false;
  bool test = false;
  bool erased = false;            // its buyer was: nobody is delivered to any more (spec 9.6)
  bool too_large = false;         // the newest event was not read: the lines are those of before
  bool perhaps_approved = false;  // by a bulk job: if it was, it left the review
  bool approved_unpaid = false, approved_risk = false, approved_size = false;
  std::string username;
  Timestamp username_at{};  // when the store said it
  std::optional<Timestamp> updated_at, lines_at, told_at;
  std::map<std::string, std::vector<domain::RefundLine>> refunds;
  std::optional<Delivery> delivery;
  // How many order.unmapped there must have been, and may.
  int unmapped_least = 0, unmapped_most = 0;
  bool perhaps_unmapped = false;  // lines that the model has as mapped are perhaps recorded as unmapped
};

class Model {
 public:
  enum class Answer { yes, no, either };

  bool hold_all = false;
  bool auto_revoke = false;

  void told(const domain::OrderEvent& event, Timestamp now);
  // The store wants refunded files taken back from now on. Those that were refunded before may stay or go.
  void want_back();
  // Whether the service must take, refuse, or may do either; what it did is told afterwards by the same name.
  Answer may_retry(const std::string& order, const std::string& name) const;
  // A retry that keeps the friend request and awaits its answer again.
  Answer may_keep_waiting(const std::string& order) const;
  Answer may_reopen(const std::string& order) const;
  Answer may_approve(const std::string& order) const;
  Answer may_invalidate(const std::string& order) const;
  Answer may_complete(const std::string& order) const;
  // Whether it is known which files the order pays for, and it does.
  bool pays_for_files(const std::string& order) const {
    return !orders_.at(order).too_large && !paid_files(orders_.at(order)).empty();
  }
  Answer may_revoke(const std::string& order) const;
  Answer may_reprocess(const std::string& order) const;
  void retry(const std::string& order, const std::string& name, Timestamp now);
  void reopen(const std::string& order);
  void approve(const std::string& order);
  void invalidate(const std::string& order);
  void complete(const std::string& order);
  void revoke(const std::string& order);
  // Perhaps makes a delivery.
  void reprocess(const std::string& order);
  // The store has asked for the erasure of the order's buyer.
  void erase(const std::string& order);
  // The action was perhaps done. One that reprocesses maps the whole order, and may find lines that nothing is
  // mapped to any more.
  void perhaps(const std::string& order);
  void perhaps_approved(const std::string& order) { orders_.at(order).perhaps_approved = true; }
  // An event says that the buyer's answer is awaited: the wait has begun since the last look.
  void waits(const std::string& order);
  // These mappings are saved while the platform does not have the `missing` files.
  void mapped(std::map<std::string, std::vector<std::string>> saved, const std::set<std::string>& missing);
  // A login of another cloud user is saved, and all mappings with it.
  void moved();
  // Whether the (user, file) was being shared as another cloud user's login was saved: after an hour that
  // counts as not made (spec 3.11).
  bool perhaps_free(const std::pair<std::string, std::string>& what) const {
    return perhaps_free_.contains(what);
  }

  // A call to share begins; `sure`: it will be answered at once. Empty: it may; else why it must not.
  std::string share_begins(const std::string& user, const std::string& file, bool sure);
  // A friend request begins, likewise.
  std::string request_begins(const std::string& user) const;
  // Each returns what is wrong; empty: nothing.
  std::string seen(const std::string& order, const Seen& seen, const Facts& facts);
  std::string finish(const std::string& order, const Seen& seen, const Facts& facts);

  const std::map<std::string, Order>& orders() const { return orders_; }
  Delivery* delivery(const std::string& order);
  const Delivery* delivery(const std::string& order) const;
  // What the platform must hold, and what it must have cost; empty: it does.
  std::string compare_shares(const Facts& facts) const;
  // Whether any delivery is failed as cloud_unavailable, and still probed.
  bool any_unavailable(Timestamp now) const {
    return std::ranges::any_of(orders_, [&](const auto& entry) {
      const auto& d = entry.second.delivery;
      return d && d->standing == Standing::failed && d->failed_since && now - *d->failed_since < kProbesFor;
    });
  }
  // After everything was compared: no share is unknown any more.
  void quiet();

 private:
  void take(const domain::OrderEvent& event, Timestamp now);
  static void take_lines(Order& order, const domain::OrderEvent& event);
  void make_delivery(Order& order);
  void map_line(Line& line) const;
  // The whole order, as it is mapped now; what was delivered stays.
  void map_all(Order& order);
  void note_unmapped(Order& order) const;
  static void note_approval(Order& order);
  static void resolve(Order& order, const Delivery::Replacing& replaced);
  static std::set<std::pair<std::string, std::string>> unmapped(const Order& order);
  // The order was perhaps mapped; these lines had no mapping before.
  static void count_unmapped(Order& order, const std::set<std::pair<std::string, std::string>>& before,
                             bool sure);
  void replace_missing(const Order& order, Delivery& d, bool must) const;
  static bool is_paid(const Order& order, const Line& line);
  std::set<std::string> paid_files(const Order& order) const;
  std::string check_replaced(const Order& order, const Delivery& d) const;
  static domain::Payment payment(const Order& order);
  static bool is_stopped(const Order& order);
  static ReviewReasons unapproved(const Order& order);
  static std::string present(const Delivery& d);
  static int count(const Delivery& d, Promise::State state);
  // Credits that go to deliveries under way, should they come so far (spec 3.6).
  std::int64_t owed_by_open() const;
  // Whether anything became owed, as it does not for an order that is over; whether anything ceased to be.
  std::pair<bool, bool> align(const Order& order, Delivery& d);
  void take_back(Delivery& d);
  void rename(const Order& order, Delivery& d, const std::string& name, Timestamp now);
  void resume(const Order& order, Delivery& d, bool by_store);
  void conclude(const Order& order, Delivery& d, bool refunded);
  static void command(Delivery& d);
  static void ask(const Order& order, Delivery& d);
  bool may_fail(const Delivery& d, ResolutionCode code, const Facts& facts) const;
  bool given_elsewhere(const std::string& order, const std::string& user, const std::string& file) const;
  void adopt(Delivery& d, const Seen& seen) const;
  std::string compare_items(const std::string& order, const Seen& seen);

  std::map<std::string, Order> orders_;
  std::map<std::string, std::vector<std::string>> mappings_;  // by sku; no files: ignored
  bool revoked_lately_ = false;  // the store wanted files taken back at some time since all was quiet
  bool long_trouble_ = false;    // the platform was not well for 72 hours
  // The platform of tests keeps shares by buyer and file, and knows nothing of whose files they are: after
  // that it does not tell who has what.
  bool moved_ = false;
  std::set<std::pair<std::string, std::string>> perhaps_free_;
};

std::string to_text(Promise::State state);
std::string to_text(const Delivery& d);
std::string to_text(const Seen& seen);

}  // namespace presetbridge::simulation
