// For tests: a payment processor in memory, whose answers a test can hold back, lose or fail.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/testing.h"
#include "payments/processor.h"

namespace presetbridge::services::testing {

class FakeProcessor final : public payments::Processor {
 public:
  using Facts = domain::PaymentFacts;
  enum class Fate {
    answer,
    away,         // does nothing, and does not answer
    lose_answer,  // does it, and the answer is lost
    nonsense,
    refuse,  // of a refund: its key is answered so from then on
    hold,    // what it is now, answered at release()
  };
  struct Page {
    payments::NewCheckout wanted;
    std::string payment;
    Facts facts;
  };
  struct SentNotice {
    Timestamp at;
    payments::Notice notice;
  };

  // `call`: "checkout", "look_up", "refund", "made_refund", "notices".
  std::function<Fate(const std::string& call)> before;
  std::map<std::string, Page> pages;     // by session
  std::vector<SentNotice> sent_notices;  // oldest first
  std::vector<std::string> calls;
  using RefundAnswer = payments::ProcessorResult<payments::Refund>;
  struct Made {
    std::string key;
    std::string session;
    payments::Refund refund;
  };
  std::vector<Made> refunds;
  std::map<std::string, RefundAnswer> refund_keys;  // what each is answered for a day
  payments::Refund::Status refund_status = payments::Refund::Status::succeeded;  // of those to come
  bool is_live = false;
  std::size_t page_size = 3;  // of notices

  explicit FakeProcessor(const presetbridge::testing::ManualClock& clock) : clock_(clock) {}

  static std::string session_of(const std::string& purchase) { return "cs_" + purchase; }
  Facts& facts(const std::string& session) { return pages.at(session).facts; }

  // Actions of people and banks. Each makes a notice.
  void pay(const std::string& session) {
    auto& page = pages.at(session);
    page.facts.page = Facts::Page::complete;
    page.facts.paid = true;
    page.facts.payment_failed = false;
    page.payment = "pi_" + session;
    publish("checkout.session.completed", session);
  }
  void pay_later(const std::string& session) {
    auto& page = pages.at(session);
    page.facts.page = Facts::Page::complete;
    page.payment = "pi_" + session;
    publish("checkout.session.completed", session);
  }
  void fail(const std::string& session) {
    pages.at(session).facts.payment_failed = true;
    publish("checkout.session.async_payment_failed", session);
  }
  void expire(const std::string& session) {
    pages.at(session).facts.page = Facts::Page::expired;
    publish("checkout.session.expired", session);
  }
  void give_back(const std::string& session, std::int64_t all_so_far) {
    facts(session).refunded = all_so_far;
    publish("charge.refunded", session);
  }
  void fail_refund(std::size_t n) {
    auto& made = refunds.at(n);
    made.refund.status = payments::Refund::Status::failed;
    give_back(made.session, facts(made.session).refunded - made.refund.amount);
  }
  std::int64_t given_back() const {
    std::int64_t all = 0;
    for (const auto& made : refunds)
      all += made.refund.status == payments::Refund::Status::failed ? 0 : made.refund.amount;
    return all;
  }
  void dispute(const std::string& session, std::int64_t amount) {
    facts(session).disputed = amount;
    publish("charge.dispute.created", session);
  }
  void publish(const std::string& type, const std::string& session) {
    const auto& page = pages.at(session);
    payments::Notice notice{
        .id = "evt_" + std::to_string(sent_notices.size()), .type = type, .live = is_live};
    notice.payment = page.payment;
    if (type.starts_with("checkout.")) {
      notice.session = session;
      notice.purchase = page.wanted.purchase;
    }
    sent_notices.push_back({clock_.now(), std::move(notice)});
  }
  std::int64_t taken() const {
    std::int64_t all = 0;
    for (const auto& [session, page] : pages) {
      if (page.facts.paid)
        all += page.wanted.amount - std::min(page.wanted.amount, page.facts.refunded + page.facts.disputed);
    }
    return all;
  }

  std::size_t held() const { return held_.size(); }
  // Answers the one that has waited as the `n`th.
  void release(std::size_t n = 0) {
    auto resume = std::move(held_.at(n));
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(n));
    resume();
  }
  void release_all() {
    while (!held_.empty()) release();
  }

  bool live() const override { return is_live; }
  Task<payments::ProcessorResult<payments::Checkout>> open_checkout(Executor& executor,
                                                                    payments::NewCheckout wanted) override {
    return run<payments::Checkout>(executor, "checkout",
                                   [this, wanted]() -> payments::ProcessorResult<payments::Checkout> {
                                     const auto session = session_of(wanted.purchase);
                                     pages.try_emplace(session, Page{wanted,
                                                                     {},
                                                                     {.purchase = wanted.purchase,
                                                                      .account = wanted.account,
                                                                      .amount = wanted.amount,
                                                                      .currency = wanted.currency,
                                                                      .live = is_live}});
                                     return payments::Checkout{session, "https://pay.example/" + session};
                                   });
  }
  Task<payments::ProcessorResult<payments::Payment>> look_up(Executor& executor,
                                                             std::string session) override {
    return run<payments::Payment>(
        executor, "look_up", [this, session]() -> payments::ProcessorResult<payments::Payment> {
          const auto found = pages.find(session);
          if (found == pages.end()) return error(payments::ProcessorError::Kind::refused);
          const auto& page = found->second;
          return payments::Payment{session, page.payment,
                                   page.facts.paid ? "https://pay.example/receipt" : "", page.facts};
        });
  }
  Task<RefundAnswer> refund(Executor& executor, std::string payment, std::int64_t amount,
                            std::string key) override {
    return run<payments::Refund>(
        executor, "refund", [this, payment, amount, key] { return refund_once(payment, amount, key); },
        [this, key] {
          return refund_keys.emplace(key, error(payments::ProcessorError::Kind::refused)).first->second;
        });
  }
  Task<payments::ProcessorResult<std::optional<payments::Refund>>> made_refund(Executor& executor,
                                                                               std::string payment,
                                                                               std::string key) override {
    return run<std::optional<payments::Refund>>(
        executor, "made_refund",
        [this, payment, key]() -> payments::ProcessorResult<std::optional<payments::Refund>> {
          for (const auto& made : refunds) {
            if (made.key == key && pages.at(made.session).payment == payment) return made.refund;
          }
          return std::nullopt;
        });
  }
  Task<payments::ProcessorResult<payments::NoticePage>> notices(Executor& executor, Timestamp since,
                                                                Timestamp until, std::string after) override {
    return run<payments::NoticePage>(
        executor, "notices",
        [this, since, until, after]() -> payments::ProcessorResult<payments::NoticePage> {
          const auto known = [&](const SentNotice& one) { return one.notice.id == after; };
          if (!after.empty() && std::ranges::none_of(sent_notices, known))
            return error(payments::ProcessorError::Kind::refused);
          payments::NoticePage page;
          bool behind = after.empty();
          for (auto one = sent_notices.rbegin(); one != sent_notices.rend(); ++one) {
            if (behind && one->at >= since && one->at < until) {
              page.more = page.notices.size() == page_size;
              if (page.more) break;
              page.notices.push_back(one->notice);
              page.last = one->notice.id;
            }
            if (one->notice.id == after) behind = true;
          }
          return page;
        });
  }

 private:
  static std::unexpected<payments::ProcessorError> error(payments::ProcessorError::Kind kind) {
    return std::unexpected(payments::ProcessorError{kind, "planted"});
  }
  RefundAnswer refund_once(const std::string& payment, std::int64_t amount, const std::string& key) {
    if (const auto known = refund_keys.find(key); known != refund_keys.end()) return known->second;
    for (auto& [session, page] : pages) {
      if (page.payment != payment || amount > page.facts.amount - page.facts.refunded) continue;
      payments::Refund made{"re_" + std::to_string(refunds.size()), refund_status, amount};
      refunds.push_back({key, session, made});
      if (made.status != payments::Refund::Status::failed) give_back(session, page.facts.refunded + amount);
      return refund_keys.emplace(key, made).first->second;
    }
    return refund_keys.emplace(key, error(payments::ProcessorError::Kind::refused)).first->second;
  }
  template <class T>
  Task<payments::ProcessorResult<T>> run(Executor& executor, std::string call,
                                         std::function<payments::ProcessorResult<T>()> effect,
                                         std::function<payments::ProcessorResult<T>()> refusal = {}) {
    using Kind = payments::ProcessorError::Kind;
    calls.push_back(call);
    const Fate fate = before ? before(call) : Fate::answer;
    if (fate == Fate::away) co_return error(Kind::unavailable);
    auto result = fate == Fate::refuse ? refusal() : effect();
    if (fate == Fate::lose_answer) co_return error(Kind::unavailable);
    if (fate == Fate::nonsense) co_return error(Kind::malformed);
    if (fate == Fate::hold)
      co_await suspend<int>(executor, [this](auto resume) { held_.emplace_back([resume] { resume(0); }); });
    co_return result;
  }

  const presetbridge::testing::ManualClock& clock_;
  std::vector<std::function<void()>> held_;
};

}  // namespace presetbridge::services::testing
