// What the contract says of an operation that holds for each request alike (spec 8.5): which parameters its
// query may have, and whether there is a body.
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
  //   a parameter that the operation does not have, is given twice or cannot be decoded    VALIDATION_FAILED
  //   a body with members where the operation has none (GET aside), and what is no JSON    as JsonBody::parse
  // An operation with `x-any-query: true`, and a route that is not in the document, take any query that can
  // be decoded, and no query if it cannot.
  std::optional<Error> read(const Router::Route& route, Call& call) const;

 private:
  struct Operation {
    std::vector<std::string> parameters;  // of the query
    bool any_query = false;
    bool has_body = false;
  };
  std::map<std::string, Operation, std::less<>> operations_;  // by Router::Route::operation
};

}  // namespace presetbridge::api
