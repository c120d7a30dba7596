// Checks each request against what the contract says of its operation (spec 8.5): which parameters the query
// may have, and whether there is a body.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/call.h"
#include "api/router.h"

namespace presetbridge::api {

class Operations {
 public:
  // `document`: OpenAPI, as JSON. Throws std::exception if it cannot be read.
  explicit Operations(std::string_view document);

  // Takes the query of `call.request` apart into `call.query`, and refuses it or the body:
  //   a parameter that is given twice, cannot be decoded, or that the operation does not have (where it has
  //   others, they go to `call.unknown_parameters`)                                         VALIDATION_FAILED
  //   a body with members where the operation has none (but for GET), and what is no JSON    as
  //   JsonBody::parse
  // For operations with `x-any-query: true` and routes that are not in the document: a query that cannot be
  // decoded is left out, and nothing is refused.
  std::optional<Error> read(const Router::Route& route, Call& call) const;

  // The router's routes that the contract lacks, and the contract's operations that the router lacks, as
  // sentences. An operation that the router refuses by itself is there.
  std::vector<std::string> differences(const Router& router) const;

 private:
  struct Operation {
    std::vector<std::string> parameters;  // of the query
    bool any_query = false;
    bool has_body = false;
  };
  std::map<std::string, Operation, std::less<>> operations_;  // by Router::Route::operation
};

}  // namespace presetbridge::api
