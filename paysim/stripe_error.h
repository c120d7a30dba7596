// A refusal in Stripe's terms.
#pragma once

#include <stdexcept>
#include <string>

namespace presetbridge::paysim {

// Leaves a handler as the error body of that status. Neither `message` nor `param` holds a key.
struct StripeError : std::runtime_error {
  StripeError(int s, std::string t, std::string c, const std::string& message, std::string p = "")
      : std::runtime_error(message), status(s), type(std::move(t)), code(std::move(c)), param(std::move(p)) {}
  int status;
  std::string type;   // "invalid_request_error", "idempotency_error", ...
  std::string code;   // empty: none
  std::string param;  // which parameter is at fault, "line_items[0][quantity]"; empty: none
};

// The parameters, or what is asked for, are at fault.
inline StripeError invalid(const std::string& message, std::string param = "", std::string code = "") {
  return {400, "invalid_request_error", std::move(code), message, std::move(param)};
}

// Nothing has that id.
inline StripeError missing(const std::string& what, const std::string& id, std::string param = "id") {
  return {404, "invalid_request_error", "resource_missing", "No such " + what + ": '" + id + "'",
          std::move(param)};
}

}  // namespace presetbridge::paysim
