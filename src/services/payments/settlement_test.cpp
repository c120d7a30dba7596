// Histories of purchases, drawn from seeds: people who pay, banks that are slow, refunds and disputes;
// webhooks that come late, twice, in any order, forged or never; packs whose price changes; questions that
// hang; processes that die between two steps and storage that fails them. At each step the books are right,
// and at the end they say what the processor says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "payments/stripe_reading.h"
#include "payments/stripe_signature.h"
#include "services/payments/payments_testing.h"

namespace presetbridge::services {
namespace {

using domain::PurchaseState;
using storage::Database;
using storage::DbError;
using storage::PurchaseRow;
using Fate = testing::FakeProcessor::Fate;

// Fails some transactions: before they began, or after the commit and before its answer.
class FailingDatabase final : public Database {
 public:
  enum class Failure { none, before, after };
  explicit FailingDatabase(std::unique_ptr<Database> inner) : inner_(std::move(inner)) {}
  std::function<Failure()> failure;

  Durability commit(const storage::TxFn& fn) override {
    const auto how = failure ? failure() : Failure::none;
    if (how == Failure::before) throw DbError(DbError::Kind::unavailable, "planted");
    const auto durability = inner_->commit(fn);
    if (how == Failure::after) throw DbError(DbError::Kind::unavailable, "planted");
    return durability;
  }
  void sync() override { inner_->sync(); }
  void read(const storage::TxFn& fn) override { inner_->read(fn); }
  std::string_view engine() const override { return inner_->engine(); }

 private:
  std::unique_ptr<Database> inner_;
};

// Hours of virtual time are cheap when little polls in them.
const Reconciliation::Pace kPace{.poll = std::chrono::minutes{1}, .notices = std::chrono::minutes{2}};

class Histories : public ::testing::Test {
 protected:
  Histories()
      : world_([this](std::unique_ptr<Database> inner) {
          auto failing = std::make_unique<FailingDatabase>(std::move(inner));
          database_ = failing.get();
          return failing;
        }) {}

  int roll(int sides) { return static_cast<int>(chance_() % static_cast<unsigned>(sides)); }
  template <class T>
  T& any(std::vector<T>& of) {
    return of[static_cast<std::size_t>(roll(static_cast<int>(of.size())))];
  }

  void begin(unsigned seed) {
    chance_.seed(seed);
    people_.clear();
    bought_.clear();
    reprice();
    for (int i = 0; i < 2; ++i)
      people_.push_back(world_.new_account(std::to_string(seed) + "-" + std::to_string(i)));
    first_notice_ = world_.processor.sent_notices.size();
    world_.processor.before = [this](const std::string&) {
      switch (roll(12)) {
        case 0:
          return Fate::away;
        case 1:
          return Fate::lose_answer;
        case 2:
          return Fate::nonsense;
        case 3:
        case 4:
          return Fate::hold;
        default:
          return Fate::answer;
      }
    };
    database_->failure = [this] {
      switch (roll(25)) {
        case 0:
          return FailingDatabase::Failure::before;
        case 1:
          return FailingDatabase::Failure::after;
        default:
          return FailingDatabase::Failure::none;
      }
    };
  }

  void step() {
    auto& processor = world_.processor;
    if (bought_.empty() || roll(8) == 0) return buy();
    const auto session = any(bought_).session;
    auto& facts = processor.facts(session);
    switch (roll(16)) {
      case 0:
      case 1:
        return processor.pay(session);  // also after it has expired
      case 2:
        return facts.paid ? void() : processor.pay_later(session);
      case 3:
        return facts.paid ? void() : processor.fail(session);
      case 4:
        return facts.paid ? void() : processor.expire(session);
      case 5:
        if (facts.paid)
          processor.give_back(session,
                              facts.refunded + roll(static_cast<int>(facts.amount - facts.refunded) + 1));
        return;
      case 6:  // opened, or won
        if (facts.paid)
          processor.dispute(session, roll(2) == 0 ? 0 : roll(static_cast<int>(facts.amount) + 1));
        return;
      case 7:
      case 8:
        return webhook();
      case 9:
        return background(world_.settlement.settle(world_.scheduler, any(bought_).id));
      case 10:
        if (processor.held() > 0)
          processor.release(static_cast<std::size_t>(roll(static_cast<int>(processor.held()))));
        return world_.scheduler.run();
      case 11:
        return world_.scheduler.advance(Millis{roll(600'000)});
      case 12:
        return die();
      case 13:
        return forged_webhook();
      case 14:
        return reprice();
      default:
        return spend();
    }
  }

  void buy() {
    const auto& by = any(people_);
    std::optional<Expected<PurchaseRow>> done;
    spawn(shops_.back()->buy(world_.scheduler, by, roll(2) == 0 ? "small" : "large"), [this](auto outcome) {
      // A page that was given out can be paid.
      if (outcome.value && *outcome.value && !(**outcome.value).url.empty()) {
        bought_.push_back(**outcome.value);
        all_bought_.push_back((**outcome.value).id);
      }
    });
    world_.scheduler.run();
  }
  void webhook() {
    auto& sent = world_.processor.sent_notices;
    if (sent.size() == first_notice_) return;
    const auto from = static_cast<int>(first_notice_);
    const auto& notice =
        sent[static_cast<std::size_t>(from + roll(static_cast<int>(sent.size()) - from))].notice;
    EXPECT_TRUE(take(body_of(notice), kSecret, {}));
  }
  // A webhook by a sender without the secret, a very old one, or one altered on its way, with any content.
  void forged_webhook() {
    payments::Notice lie{.id = "evt_forged", .type = "checkout.session.completed"};
    lie.session = any(bought_).session;
    lie.purchase = to_string(any(bought_).id);
    const auto calls = world_.processor.calls.size();
    switch (roll(3)) {
      case 0:
        EXPECT_FALSE(take(body_of(lie), "whsec_somebody_elses", {}));
        break;
      case 1:
        EXPECT_FALSE(take(body_of(lie), kSecret, std::chrono::minutes{roll(2) == 0 ? 6 : -6}));
        break;
      default:
        EXPECT_FALSE(take(body_of(lie), kSecret, {}, " "));
    }
    EXPECT_EQ(world_.processor.calls.size(), calls) << "nobody was asked";
    // A webhook that the processor itself signed is not believed either: the processor is asked.
    EXPECT_TRUE(take(body_of(lie), kSecret, {}));
  }
  static std::string body_of(const payments::Notice& notice) {
    const bool page = !notice.session.empty();
    const auto text = [](const std::string& id) { return id.empty() ? "null" : '"' + id + '"'; };
    const auto object =
        page ? R"({"id":")" + notice.session +
                   R"(","object":"checkout.session","payment_status":"paid","client_reference_id":)" +
                   text(notice.purchase) + R"(,"payment_intent":)" + text(notice.payment) + "}"
             : R"({"id":"ch_1","object":"charge","payment_intent":)" + text(notice.payment) + "}";
    return R"({"id":")" + notice.id + R"(","object":"event","type":")" + notice.type +
           R"(","livemode":false,"data":{"object":)" + object + "}}";
  }
  // As the endpoint does it. False: it is refused.
  bool take(std::string body, const std::string& secret, Millis ago, const std::string& added = "") {
    const auto now = world_.db.clock.now();
    const auto at = std::to_string(to_unix_ms(now - ago) / 1'000);
    const auto header = "t=" + at + ",v1=" + crypto::hex_encode(crypto::hmac_sha256(secret, at + "." + body));
    body += added;
    const std::array secrets{crypto::SecretString(kSecret)};
    if (payments::verify_stripe(header, body, secrets, now) != payments::StripeVerdict::valid) return false;
    auto notice = payments::read_stripe_event(body);
    EXPECT_TRUE(notice);
    if (notice) background(world_.purchases.noticed(world_.scheduler, std::move(*notice)));
    return true;
  }
  // Changes the packs for sale: other prices, or one pack less. Open pages keep theirs.
  void reprice() {
    auto options = testing::PaymentsWorld::options();
    for (auto& pack : options.packs) pack.amount += roll(500);
    options.packs.front().credits += roll(30);
    if (roll(3) == 0) options.packs.pop_back();
    shops_.push_back(
        std::make_unique<Purchases>(world_.async_db, world_.ids, &world_.settlement, std::move(options)));
  }
  template <class T>
  void background(Task<T> task) {
    spawn(std::move(task), [](auto) {});
    world_.scheduler.run();
  }
  // Ends the process: answers to its queries reach nobody, or come much too late.
  void die() {
    dying_.push_back(std::move(world_.reconciliation));
    dying_.back()->stop([] {});
    world_.start_reconciliation(kPace);
  }
  void spend() {
    const auto failure = std::exchange(database_->failure, {});
    const auto& by = any(people_);
    if (const auto left = world_.balance(by).available(); left > 0)
      world_.spend(by, 1 + roll(static_cast<int>(std::min<std::int64_t>(left, 60))));
    database_->failure = failure;
  }

  // On threads, as the service does it: transactions of several writers run at the same time. How many were
  // taken.
  int take_at_once(const std::vector<payments::Notice>& notices) {
    const bool postgres = world_.db->engine() == "postgres";
    storage::AsyncDatabase async_db(*world_.db, world_.log,
                                    {.writers = postgres ? 4 : 1, .max_units = postgres ? 1U : 256U});
    storage::testing::Mailbox mailbox;
    Settlement settlement(async_db, world_.changes, world_.processor, world_.log, [] {});
    Purchases purchases(async_db, world_.ids, &settlement, testing::PaymentsWorld::options());
    std::size_t done = 0;
    int good = 0;
    for (const auto& notice : notices) {
      spawn(purchases.noticed(mailbox, notice), [&](auto outcome) {
        ++done;
        good += outcome.value && outcome.value->has_value() ? 1 : 0;
      });
    }
    mailbox.run_until([&] { return done == notices.size(); });
    async_db.shutdown();
    return good;
  }

  void expect_sound_books() {
    for (const auto& by : people_) {
      const auto balance = world_.balance(by);
      EXPECT_GE(balance.available(), 0);
      EXPECT_GE(balance.debt, 0);
      EXPECT_TRUE(balance.available() == 0 || balance.debt == 0);
      std::int64_t sum = 0;
      std::map<PurchaseId, int> grants;
      auto entries = world_.entries(by);
      std::ranges::reverse(entries);
      for (const auto& entry : entries) {
        if (entry.kind == domain::LedgerEntryKind::purchase) EXPECT_EQ(++grants[entry.purchase], 1);
        const bool takes =
            entry.kind == domain::LedgerEntryKind::spend || entry.kind == domain::LedgerEntryKind::reversal;
        if (entry.kind != domain::LedgerEntryKind::debt_paid) sum += takes ? -entry.credits : entry.credits;
        EXPECT_EQ(entry.balance_after, sum);
      }
      EXPECT_EQ(balance.within_reach(), sum);
    }
  }

  void come_to_rest() {
    world_.processor.before = {};
    database_->failure = {};
    // Pending queries are answered when all notices have long been read.
    world_.scheduler.advance(std::chrono::minutes{15});
    world_.processor.release_all();
    world_.scheduler.run();
    world_.scheduler.advance(std::chrono::hours{2});
    world_.processor.release_all();
    world_.scheduler.run();
  }

  void expect_what_the_processor_says() {
    std::map<AccountId, domain::Balance> expected;
    for (const auto& one : bought_) {
      const auto& facts = world_.processor.facts(one.session);
      const auto row = world_.row(one.id);
      const auto back = std::min(one.amount, facts.refunded + facts.disputed);
      EXPECT_EQ(row.standing.granted, facts.paid ? one.credits : 0) << to_string(one.id);
      const auto reversed = facts.paid ? (one.credits * back + one.amount - 1) / one.amount : 0;
      EXPECT_EQ(row.standing.reversed, reversed) << to_string(one.id);
      expected[one.account].purchased += row.standing.granted;
      expected[one.account].reversed += reversed;
    }
    // All accounts together have what the processor took.
    std::int64_t money = 0;
    for (const auto id : all_bought_) {
      const auto row = world_.row(id);
      const auto& standing = row.standing;
      if (standing.granted > 0)
        money += row.amount - std::min(row.amount, standing.refunded + standing.disputed);
    }
    EXPECT_EQ(money, world_.processor.taken());
    for (const auto& by : people_) {
      const auto balance = world_.balance(by);
      EXPECT_EQ(balance.purchased, expected[by.account].purchased);
      EXPECT_EQ(balance.reversed + balance.debt, expected[by.account].reversed);
    }
  }

  static constexpr const char* kSecret = "whsec_of_the_endpoint";

  // Before the world, whose database it is.
  FailingDatabase* database_ = nullptr;
  testing::PaymentsWorld world_;
  std::mt19937 chance_;
  std::vector<identity::Principal> people_;
  std::vector<PurchaseRow> bought_;     // those whose page somebody was given
  std::vector<PurchaseId> all_bought_;  // likewise, of all seeds
  std::vector<std::unique_ptr<Purchases>> shops_;
  std::size_t first_notice_ = 0;
  std::vector<std::unique_ptr<Reconciliation>> dying_;
};

TEST_F(Histories, EndWithTheBooksAsTheProcessorHasThem) {
  world_.start_reconciliation(kPace);
  std::int64_t granted = 0;
  std::int64_t reversed = 0;
  for (unsigned seed = 1; seed <= 15; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    begin(seed);
    for (int i = 0; i < 60; ++i) {
      step();
      expect_sound_books();
      if (HasFailure()) break;
    }
    come_to_rest();
    expect_sound_books();
    expect_what_the_processor_says();
    if (HasFailure()) break;
    for (const auto& one : bought_) {
      const auto standing = world_.row(one.id).standing;
      granted += standing.granted;
      reversed += standing.reversed;
    }
  }
  // The histories are no empty ones.
  EXPECT_GT(granted, 3'000);
  EXPECT_GT(reversed, 1'000);
  world_.stop_reconciliation();
}

TEST_F(Histories, FiftyWebhooksAtOnceGrantOnce) {
  const auto bought = world_.buy();
  world_.processor.pay(bought.session);
  world_.processor.give_back(bought.session, 950);
  const auto& notice = world_.processor.sent_notices.front().notice;
  const std::vector<payments::Notice> all(50, notice);
  EXPECT_EQ(take_at_once(all), 50);
  EXPECT_THAT(world_.ledger(), ::testing::ElementsAre("purchase 100", "reversal 50 by refund"));
}

TEST_F(Histories, FiftyWebhooksAtOnceOfPurchasesOfOneAccountLeaveItsBooksRight) {
  people_ = {world_.me};
  for (int i = 0; i < 10; ++i) {
    bought_.push_back(world_.buy(i % 2 == 0 ? "small" : "large"));
    all_bought_.push_back(bought_.back().id);
    const auto& session = bought_.back().session;
    world_.processor.pay(session);
    world_.processor.pay(session);
    world_.processor.give_back(session, 100 * i);
    world_.processor.dispute(session, 50 * i);
    world_.processor.dispute(session, i % 3 == 0 ? 0 : 70 * i);
  }
  std::vector<payments::Notice> all;
  for (const auto& one : world_.processor.sent_notices) all.push_back(one.notice);
  std::ranges::shuffle(all, chance_);
  ASSERT_EQ(all.size(), 50u);
  EXPECT_EQ(take_at_once(all), 50);
  expect_what_the_processor_says();
  std::map<PurchaseId, int> grants;
  for (const auto& entry : world_.entries(world_.me))
    grants[entry.purchase] += entry.kind == domain::LedgerEntryKind::purchase;
  EXPECT_EQ(grants.size(), 10u);
  for (const auto& [id, times] : grants) EXPECT_EQ(times, 1) << to_string(id);
}

}  // namespace
}  // namespace presetbridge::services
