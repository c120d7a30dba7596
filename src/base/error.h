// Errors as values. An Error carries a stable code of the API (spec 8.1) or of a layer, a
// sentence for a person, and optional field problems. It never carries a secret.
#pragma once

#include <expected>
#include <string>
#include <utility>
#include <vector>

namespace presetbridge {

// One thing wrong with one field of an input, e.g. {"items[2].quantity", "must be a whole number of at least
// 1"}.
struct FieldProblem {
  std::string field;
  std::string problem;
  bool operator==(const FieldProblem&) const = default;
};

struct Error {
  std::string code;     // "INVALID_PAYLOAD", "CLOUD_UNAVAILABLE", ...
  std::string message;  // one sentence, fit to be shown
  std::vector<FieldProblem> details;
  bool operator==(const Error&) const = default;
};

template <class T, class E = Error>
using Expected = std::expected<T, E>;

inline std::unexpected<Error> fail(std::string code, std::string message,
                                   std::vector<FieldProblem> details = {}) {
  return std::unexpected(Error{std::move(code), std::move(message), std::move(details)});
}

}  // namespace presetbridge
