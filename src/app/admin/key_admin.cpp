#include "app/admin/key_admin.h"

#include <boost/json/array.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/admin/admin_request.h"
#include "base/split.h"

namespace presetbridge::app {
namespace {

namespace json = boost::json;
using services::KeyKinds;

Expected<KeyKinds> kinds_of(const json::object& request) {
  KeyKinds kinds;
  for (const auto& name : split(text_of(request, "kinds"), ',')) {
    const auto kind = services::parse_key_kind(name);
    if (!kind) return fail("VALIDATION_FAILED", "There are no keys of the kind " + name + ".");
    kinds.insert(*kind);
  }
  if (kinds.empty()) return fail("VALIDATION_FAILED", "Some kind of keys is needed.");
  return kinds;
}

// Passes on the errors that the channel has a status for; the operator reads the other reasons as text.
std::unexpected<Error> for_channel(const Error& error) {
  const bool known =
      error.code == "STORAGE_UNAVAILABLE" || error.code == "OVERLOADED" || error.code == "INTERNAL_ERROR";
  return known ? std::unexpected(error) : fail("CONFLICT", error.message);
}

json::array texts(const std::vector<std::string>& all) {
  json::array shown;
  for (const auto& one : all) shown.emplace_back(one);
  return shown;
}

}  // namespace

Task<Expected<json::object>> KeyAdmin::run(Executor& executor, json::object request) {
  const auto command = text_of(request, "command");
  if (command == "keys") {
    const auto standing = co_await rotation_.standing(executor);
    if (!standing) co_return for_channel(standing.error());
    json::array keys;
    for (const auto& one : *standing) {
      keys.push_back(json::object{{"kind", to_string(one.kind)},
                                  {"newest", one.newest},
                                  {"old", texts(one.old)},
                                  {"waiting", one.waiting}});
    }
    co_return json::object{{"keys", std::move(keys)}};
  }
  const auto kinds = kinds_of(request);
  if (!kinds) co_return std::unexpected(kinds.error());
  const bool begin = integer_of(request, "begin") != 0;
  if (command == "turn-keys") {
    const auto step = co_await rotation_.turn(executor, *kinds, begin);
    if (!step) co_return for_channel(step.error());
    json::array nodes;
    for (const auto& node : step->nodes)
      nodes.push_back(json::object{{"name", node.name}, {"lacks", texts(node.lacks)}});
    co_return json::object{{"phase", to_string(step->phase)}, {"nodes", std::move(nodes)},
                           {"lookedAt", step->counts.read},   {"resealed", step->counts.resealed},
                           {"left", step->counts.left()},     {"unreadable", step->counts.unreadable}};
  }
  if (command != "drop-keys") co_return fail("VALIDATION_FAILED", "There is no such command of keys.");
  const auto step = co_await rotation_.drop(executor, *kinds, begin, integer_of(request, "now") != 0);
  if (!step) co_return for_channel(step.error());
  json::array dropped;
  for (const auto& one : step->kinds) {
    dropped.push_back(
        json::object{{"kind", to_string(one.kind)}, {"dropped", texts(one.dropped)}, {"kept", one.reason}});
  }
  co_return json::object{
      {"done", step->done}, {"lookedAt", step->counts.read}, {"kinds", std::move(dropped)}};
}

}  // namespace presetbridge::app
