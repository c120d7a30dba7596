#include "api/operations.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/json_body.h"
#include "api/unknown_name.h"

namespace presetbridge::api {
namespace {

constexpr std::array<std::pair<const char*, const char*>, 5> kMethods = {
    {{"get", "GET"}, {"put", "PUT"}, {"post", "POST"}, {"patch", "PATCH"}, {"delete", "DELETE"}}};

bool is_true(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

// The names of the parameters in the query that `holder`, a path or an operation, lists.
void add_parameters(const json::value& document, const json::object& holder,
                    std::vector<std::string>& names) {
  const auto* parameters = holder.if_contains("parameters");
  if (parameters == nullptr) return;
  for (const auto& listed : parameters->as_array()) {
    const auto* reference = listed.as_object().if_contains("$ref");
    const auto& parameter =
        reference == nullptr ? listed : document.at_pointer(reference->as_string().subview(1));
    if (parameter.at("in").as_string() == "query") names.emplace_back(parameter.at("name").as_string());
  }
}

}  // namespace

Operations::Operations(std::string_view text) {
  const auto document = json::parse(text);
  for (const auto& [path, item] : document.at("paths").as_object()) {
    for (const auto& [key, method] : kMethods) {
      const auto* described = item.as_object().if_contains(key);
      if (described == nullptr) continue;
      Operation operation;
      add_parameters(document, item.as_object(), operation.parameters);
      add_parameters(document, described->as_object(), operation.parameters);
      operation.any_query = is_true(described->as_object(), "x-any-query");
      operation.has_body = described->as_object().contains("requestBody");
      operations_.emplace(operation_of(method, path), std::move(operation));
    }
  }
}

std::optional<Error> Operations::read(const Router::Route& route, Call& call) const {
  const auto found = operations_.find(route.operation);
  auto query = parse_query(call.request.query);
  if (found == operations_.end() || found->second.any_query) {
    if (query) call.query = std::move(*query);
    return std::nullopt;
  }
  if (!query) return invalid_query({std::move(query.error())});
  const auto& operation = found->second;
  std::vector<FieldProblem> unknown;
  for (const auto& [name, value] : *query) {
    if (std::ranges::find(operation.parameters, name) != operation.parameters.end()) continue;
    if (unknown.size() == kMostUnknownNames) break;
    unknown.push_back(unknown_parameter(name, operation.parameters));
  }
  if (operation.parameters.empty() && !unknown.empty()) return invalid_query(std::move(unknown));
  call.unknown_parameters = std::move(unknown);
  call.query = std::move(*query);
  if (operation.has_body || route.method == "GET") return std::nullopt;
  const auto body = JsonBody::parse_optional(call.request);
  return body ? body->problems() : body.error();
}

std::vector<std::string> Operations::differences(const Router& router) const {
  std::vector<std::string> found;
  for (const auto& route : router.routes()) {
    if (!operations_.contains(route.operation))
      found.push_back("the contract lacks " + route.method + ' ' + route.pattern);
  }
  for (const auto& [name, operation] : operations_) {
    const auto is_it = [&name](const Router::Route& route) { return route.operation == name; };
    if (!std::ranges::any_of(router.routes(), is_it) && !router.refuses(name))
      found.push_back("no route serves " + name);
  }
  return found;
}

}  // namespace presetbridge::api
