// Reads the answers of Stripe's API from their JSON, as far as purchases need them.
// Each is nothing for what is not of the API: a member that is needed and missing, of another type or longer
// than kLongestStripeId, an amount below 0 or beyond 2^53 - 1, JSON deeper than 32.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "payments/processor.h"

namespace presetbridge::payments {

inline constexpr std::size_t kLongestStripeId = 255;
inline constexpr std::size_t kLongestStripeUrl = 2'048;

struct StripeSession {
  std::string id;
  std::string url;  // empty once it is closed
  domain::PaymentFacts::Page page = domain::PaymentFacts::Page::open;
  bool paid = false;
  std::int64_t amount = 0;
  std::string currency;
  bool live = false;
  std::string reference;  // client_reference_id
  std::string account;    // of its metadata
  std::string payment;    // the payment intent
};
std::optional<StripeSession> read_stripe_session(std::string_view body);

struct StripePayment {
  std::string id;
  bool failed = false;  // it needs another method of payment, or was canceled
  std::string charge;   // the latest
};
std::optional<StripePayment> read_stripe_payment(std::string_view body);

struct StripeCharge {
  std::string id;
  std::int64_t refunded = 0;
  std::string currency;
  bool disputed = false;  // ever
  std::string receipt_url;
};
std::optional<StripeCharge> read_stripe_charge(std::string_view body);

struct StripeDispute {
  std::int64_t amount = 0;  // that it takes: 0 for one that was won, prevented, or is an inquiry
  std::string currency;
};
std::optional<std::vector<StripeDispute>> read_stripe_disputes(std::string_view body);

struct StripeRefund {
  Refund refund;
  std::string key;  // of its metadata
};
std::optional<StripeRefund> read_stripe_refund(std::string_view body);
std::optional<std::vector<StripeRefund>> read_stripe_refunds(std::string_view body);

// An event: of a webhook, and of a list. Events of objects of other kinds are notices of nothing.
std::optional<Notice> read_stripe_event(std::string_view body);
std::optional<NoticePage> read_stripe_events(std::string_view body);

// The message of an error, 500 bytes at most; empty where there is none.
std::string read_stripe_error(std::string_view body);

}  // namespace presetbridge::payments
