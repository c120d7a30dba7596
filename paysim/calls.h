// The calls of Stripe's API that are simulated, and what goes wrong at each.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "simulator_parts/faults.h"

namespace presetbridge::paysim {

enum class Endpoint {
  create_session,
  retrieve_session,
  list_sessions,
  expire_session,
  list_line_items,
  retrieve_payment_intent,
  retrieve_charge,
  list_charges,
  create_refund,
  retrieve_refund,
  list_refunds,
  retrieve_dispute,
  list_disputes,
  retrieve_event,
  list_events,
};
inline constexpr std::size_t kEndpoints = 15;
std::string_view to_string(Endpoint endpoint);
std::optional<Endpoint> endpoint_named(std::string_view name);

using simulator_parts::Fault;
using simulator_parts::FaultRates;
using simulator_parts::FaultStep;
using FaultPlan = simulator_parts::FaultPlan<Endpoint, kEndpoints>;

struct StripeCall {
  Endpoint endpoint;
  std::string id;  // of the object, where the path has one
};

// Nothing for a method and path that are not simulated.
std::optional<StripeCall> route(std::string_view method, std::string_view path);

}  // namespace presetbridge::paysim
