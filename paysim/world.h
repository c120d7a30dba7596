// The simulated payment processor: sessions, charges, refunds and disputes in memory, and the events that
// tell of them. Pure: time and chance come in. Not thread-safe. What is refused throws StripeError.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "records.h"

namespace presetbridge::paysim {

struct WorldLimits {
  std::size_t sessions = 100'000;
  std::size_t session_bytes = 128UL * 1024 * 1024;  // of what the sessions were asked to be
  std::size_t events = 20'000;                      // then the oldest is forgotten
  std::size_t event_bytes = 96UL * 1024 * 1024;
};

// Money of one currency, in minor units, since the world began.
struct Book {
  std::int64_t taken = 0;       // by charges that succeeded
  std::int64_t refunded = 0;    // by refunds that did not fail
  std::int64_t withdrawn = 0;   // for disputes
  std::int64_t reinstated = 0;  // of it, after disputes that were won
  std::int64_t net() const { return taken - refunded - withdrawn + reinstated; }
};

class World {
 public:
  World(Random& random, std::string api_version, WorldLimits limits = {})
      : random_(random), api_version_(std::move(api_version)), limits_(limits) {}

  // What objects name as their pages.
  void set_page_url(std::string url) { page_url_ = std::move(url); }
  const std::string& page_url() const { return page_url_; }
  const std::string& api_version() const { return api_version_; }

  // `bytes`: how long the request was. 503 where there is no room for more.
  Session& create_session(NewSession asked, std::size_t bytes, Timestamp now);
  // The buyer pays, on the page. With `late` an expired session is paid too, as by a buyer whose payment was
  // under way when it expired.
  void pay(Session& session, Method method, bool late, Timestamp now);
  // The buyer's card is declined; the session stays open.
  void decline(Session& session, Timestamp now);
  // The money of an asynchronous method comes, or does not.
  void settle_payment(Session& session, bool succeeds, Timestamp now);
  void expire(Session& session, Timestamp now);
  // Refunds `amount`, or what is left if that is nothing. `pending`: it stays so until settle_refund().
  Refund& refund(Charge& charge, std::optional<std::int64_t> amount, std::optional<std::string> reason,
                 Metadata metadata, bool pending, Timestamp now);
  void settle_refund(Refund& refund, bool succeeds, Timestamp now);
  // `amount`: all of the charge if that is nothing. `inquiry`: a question of the bank's, which takes no
  // money.
  Dispute& dispute(Charge& charge, std::optional<std::int64_t> amount, std::string reason, bool inquiry,
                   Timestamp now);
  // An inquiry becomes a dispute: the money is withdrawn.
  void escalate(Dispute& dispute, Timestamp now);
  void respond(Dispute& dispute, Timestamp now);
  void close(Dispute& dispute, bool won, Timestamp now);

  // Lets happen what is due: sessions expire.
  void settle(Timestamp now);
  // When settle() next has something to do; nothing: never, as it stands.
  std::optional<Timestamp> next_due() const;

  Session* session(std::string_view id) { return sessions_.find(id); }
  Intent* intent(std::string_view id) { return intents_.find(id); }
  Charge* charge(std::string_view id) { return charges_.find(id); }
  Refund* refund(std::string_view id) { return refunds_.find(id); }
  Dispute* dispute(std::string_view id) { return disputes_.find(id); }
  std::deque<Session>& sessions() { return sessions_.all(); }
  std::deque<Charge>& charges() { return charges_.all(); }
  std::deque<Refund>& refunds() { return refunds_.all(); }
  std::deque<Dispute>& disputes() { return disputes_.all(); }
  const std::map<std::string, Book>& books() const { return books_; }

  // The newest events, the oldest first.
  const std::deque<std::shared_ptr<const Event>>& events() const { return events_; }
  // Those that happened since the last call.
  std::vector<std::shared_ptr<const Event>> take_new_events() { return std::exchange(new_events_, {}); }

 private:
  std::string new_id(std::string_view prefix);
  Charge& attempt(Session& session, Method method, Timestamp now);
  void take(Charge& charge);
  void withdraw(Dispute& dispute, Timestamp now);
  void publish(std::string_view type, const Session& session, Timestamp now);
  void publish(std::string_view type, const Charge& charge, Timestamp now);
  void publish(std::string_view type, const Refund& refund, Timestamp now);
  void publish(std::string_view type, const Dispute& dispute, Timestamp now);
  void publish(std::string_view type, boost::json::object object, Timestamp now);
  Book& book_of(const Charge& charge) { return books_[charge.intent->session->asked.currency]; }

  Random& random_;
  const std::string api_version_;
  const WorldLimits limits_;
  std::string page_url_;
  Shelf<Session> sessions_;
  Shelf<Intent> intents_;
  Shelf<Charge> charges_;
  Shelf<Refund> refunds_;
  Shelf<Dispute> disputes_;
  std::multimap<Timestamp, Session*> open_;  // by when they expire
  std::size_t session_bytes_ = 0;
  std::map<std::string, Book> books_;
  std::size_t event_bytes_ = 0;
  std::deque<std::shared_ptr<const Event>> events_;
  std::vector<std::shared_ptr<const Event>> new_events_;
};

}  // namespace presetbridge::paysim
