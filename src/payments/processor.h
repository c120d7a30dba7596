// The port to the payment processor (spec 11.3). Implemented for Stripe's API in stripe.h; faked in tests.
//
// Its answers are the processor's present state: services settle purchases by asking for it, and take its
// notices (webhooks, and those that it lists) for nothing but a reason to ask.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/task.h"
#include "base/time.h"
#include "domain/purchase.h"

namespace presetbridge::payments {

struct ProcessorError {
  enum class Kind {
    unavailable,  // away, slow or busy: try again later
    refused,      // it understood, and refuses
    malformed,    // an answer that is none of its API
  };
  Kind kind = Kind::unavailable;
  std::string message;  // for a person; holds no secret
  bool operator==(const ProcessorError&) const = default;
};
template <class T>
using ProcessorResult = std::expected<T, ProcessorError>;

struct NewCheckout {
  std::string purchase;  // id; the idempotency key too
  std::string account;
  std::string name;  // of what is bought
  std::int64_t amount = 0;
  std::string currency;
  std::string return_url;  // whither after a payment
  std::string cancel_url;  // whither from the page without one
  Timestamp expires_at;
};
struct Checkout {
  std::string session;
  std::string url;  // the hosted page
};

struct Payment {
  std::string session;
  std::string payment;      // empty: there is none yet
  std::string receipt_url;  // likewise
  domain::PaymentFacts facts;
};

// That something happened to a payment.
struct Notice {
  std::string id;
  std::string type;
  bool live = false;
  // Which: one of them at least, else it is none of our kind.
  std::string session;
  std::string payment;
  std::string purchase;  // as it was given to the page
};
struct NoticePage {
  std::vector<Notice> notices;
  std::string last;  // the id behind which the next page begins
  bool more = false;
};

// Money that was given back, or is meant to be.
struct Refund {
  enum class Status {
    succeeded,
    pending,  // it may still fail
    failed,   // nothing went back
  };
  std::string id;
  Status status = Status::succeeded;
  std::int64_t amount = 0;
};

// Thread-safe. Each call has a deadline, and resumes on the executor.
class Processor {
 public:
  virtual ~Processor() = default;
  // Whether its payments are of real money.
  virtual bool live() const = 0;
  // Repeated with the same purchase it gives the same page.
  virtual Task<ProcessorResult<Checkout>> open_checkout(Executor& executor, NewCheckout wanted) = 0;
  virtual Task<ProcessorResult<Payment>> look_up(Executor& executor, std::string session) = 0;
  // Gives so much of the payment back. For a day the same key gets the same answer, a refusal too; after
  // that it may be done again: made_refund() returns whether it was.
  virtual Task<ProcessorResult<Refund>> refund(Executor& executor, std::string payment, std::int64_t amount,
                                               std::string key) = 0;
  // The refund that refund() made under that key, in its present state; nothing: it made none.
  virtual Task<ProcessorResult<std::optional<Refund>>> made_refund(Executor& executor, std::string payment,
                                                                   std::string key) = 0;
  // The events of [since, until), newest first, behind the notice `after` (empty: from the first on).
  virtual Task<ProcessorResult<NoticePage>> notices(Executor& executor, Timestamp since, Timestamp until,
                                                    std::string after) = 0;
};

}  // namespace presetbridge::payments
