#include "calls.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace presetbridge::paysim {
namespace {

// `{}` in a path takes the id.
struct Known {
  Endpoint endpoint;
  std::string_view name;
  std::string_view method;
  std::string_view path;
};
constexpr std::array<Known, kEndpoints> kKnownCalls{{
    {Endpoint::create_session, "createSession", "POST", "/v1/checkout/sessions"},
    {Endpoint::retrieve_session, "retrieveSession", "GET", "/v1/checkout/sessions/{}"},
    {Endpoint::list_sessions, "listSessions", "GET", "/v1/checkout/sessions"},
    {Endpoint::expire_session, "expireSession", "POST", "/v1/checkout/sessions/{}/expire"},
    {Endpoint::list_line_items, "listLineItems", "GET", "/v1/checkout/sessions/{}/line_items"},
    {Endpoint::retrieve_payment_intent, "retrievePaymentIntent", "GET", "/v1/payment_intents/{}"},
    {Endpoint::retrieve_charge, "retrieveCharge", "GET", "/v1/charges/{}"},
    {Endpoint::list_charges, "listCharges", "GET", "/v1/charges"},
    {Endpoint::create_refund, "createRefund", "POST", "/v1/refunds"},
    {Endpoint::retrieve_refund, "retrieveRefund", "GET", "/v1/refunds/{}"},
    {Endpoint::list_refunds, "listRefunds", "GET", "/v1/refunds"},
    {Endpoint::retrieve_dispute, "retrieveDispute", "GET", "/v1/disputes/{}"},
    {Endpoint::list_disputes, "listDisputes", "GET", "/v1/disputes"},
    {Endpoint::retrieve_event, "retrieveEvent", "GET", "/v1/events/{}"},
    {Endpoint::list_events, "listEvents", "GET", "/v1/events"},
}};

// Ids are letters, digits and underscores, so nothing in them is encoded.
bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= 100 &&
         std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || c == '_'; });
}

std::optional<std::string> match(std::string_view pattern, std::string_view path) {
  const auto at = pattern.find("{}");
  if (at == std::string_view::npos) return path == pattern ? std::optional<std::string>("") : std::nullopt;
  const auto before = pattern.substr(0, at);
  const auto after = pattern.substr(at + 2);
  if (path.size() <= before.size() + after.size() || !path.starts_with(before) || !path.ends_with(after)) {
    return std::nullopt;
  }
  const auto id = path.substr(at, path.size() - before.size() - after.size());
  return is_id(id) ? std::optional<std::string>(id) : std::nullopt;
}

}  // namespace

std::string_view to_string(Endpoint endpoint) {
  return kKnownCalls[static_cast<std::size_t>(endpoint)].name;
}

std::optional<Endpoint> endpoint_named(std::string_view name) {
  const auto* found = std::ranges::find(kKnownCalls, name, &Known::name);
  if (found == kKnownCalls.end()) return std::nullopt;
  return found->endpoint;
}

std::optional<StripeCall> route(std::string_view method, std::string_view path) {
  for (const auto& known : kKnownCalls) {
    if (known.method != method) continue;
    if (auto id = match(known.path, path)) return StripeCall{known.endpoint, std::move(*id)};
  }
  return std::nullopt;
}

}  // namespace presetbridge::paysim
