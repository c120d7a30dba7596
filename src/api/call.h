// One request on its way to a handler, and what a handler answers with.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json.hpp>

#include "api/errors.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/task.h"
#include "identity/login_failure.h"
#include "identity/principal.h"
#include "net/http.h"
#include "net/key_budget.h"

namespace presetbridge::api {

namespace json = boost::json;

// An answer, or an Error that becomes one (errors.h).
using Reply = Expected<net::HttpResponse>;

struct Call {
  net::HttpRequest request;
  std::string_view route;  // the pattern that matched, for logs and metrics
  std::vector<std::pair<std::string_view, std::string>> params;  // of the path, decoded
  std::vector<std::pair<std::string, std::string>> query;        // decoded, in order; one of a name each
  // Parameters of the query that the operation does not have, where it has some: QueryFields reports them.
  std::vector<FieldProblem> unknown_parameters;
  identity::Principal principal;  // of open routes: none
  // For a route that checks access itself (Access::proven), to be called by its handler: reads the query, and
  // returns the error of query or body by the contract. Empty for other routes: theirs are checked already.
  std::function<std::optional<Error>(Call&)> contract;

  Executor& executor() const { return *request.executor; }
  // A parameter that the route's pattern names.
  const std::string& param(std::string_view name) const;
  // The parameter as an id; NOT_FOUND when the text is not one, as for an id that does not exist.
  template <class AnyId>
  Expected<AnyId> id(std::string_view name) const {
    return read_id(param(name), AnyId{});
  }
  std::optional<std::string_view> query_value(std::string_view name) const;

 private:
  template <class Kind>
  static Expected<Id<Kind>> read_id(std::string_view text, Id<Kind>) {
    if (auto id = parse_id<Kind>(text)) return *id;
    return std::unexpected(not_found("resource"));
  }
};

net::HttpResponse json_response(int status, const json::value& body);
net::HttpResponse no_content();  // 204
// With Retry-After, in whole seconds, where the failure knows when to come again.
Reply login_failed(const identity::LoginFailure& failure);
// 429, to come again then: the budget of the caller's network or account is used up.
Reply too_often(Millis wait);
// Takes one of the budget of the caller's account; returns how long until there is one again, where none was
// left.
Millis take(net::KeyBudget& budget, const Call& call);

}  // namespace presetbridge::api
