#include "api/handlers/preferences_handlers.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "api/json_body.h"
#include "base/ascii.h"

namespace presetbridge::api {
namespace {

constexpr std::size_t kMostViews = 20;
constexpr TextRule kName{.max = 60};
constexpr TextRule kQuery{.min = 0, .max = 1'000, .exact = true};

bool is_alphanumeric_or(char c, std::string_view marks) {
  return is_alphanumeric(c) || marks.contains(c);
}

// `name=value`, joined by `&`, as a browser writes them. A name of one character is refused: the search
// text, `q`, would retain a buyer's name that is erased everywhere else (spec 9.6).
bool is_filter(std::string_view query) {
  while (!query.empty()) {
    const auto end = query.find('&');
    const auto parameter = query.substr(0, end);
    const auto equals = parameter.find('=');
    if (equals == std::string_view::npos || equals < 2 || end == query.size() - 1) return false;
    if (!std::ranges::all_of(parameter.substr(0, equals),
                             [](char c) { return is_alphanumeric_or(c, "-._~"); }) ||
        !std::ranges::all_of(parameter.substr(equals + 1),
                             [](char c) { return is_alphanumeric_or(c, "-._~%,:+!*'()@/"); }))
      return false;
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
  }
  return true;
}

json::array read_views(JsonFields& fields) {
  json::array views;
  if (!fields.has("views")) fields.problem("views", "is required");
  for (auto& view : fields.objects("views", kMostViews)) {
    auto name = view.text("name", kName);
    auto query = view.text("query", kQuery);
    if (!is_filter(query)) view.problem("query", "must be name=value, joined by &, without search text (q)");
    views.push_back(json::object{{"name", std::move(name)}, {"query", std::move(query)}});
  }
  return views;
}

Reply answer(const storage::PreferencesRow& row) {
  json::object body{{"version", row.version},
                    {"views", json::array{}},
                    {"shortcutsOff", false},
                    {"guideDismissedAt", nullptr}};
  if (!row.content.empty()) {
    for (const auto& [name, value] : json::parse(row.content).as_object()) body[name] = value;
  }
  auto response = json_response(200, body);
  response.headers.add("Cache-Control", "no-store");
  return response;
}

Task<Reply> show(PreferencesDeps deps, Call call) {
  const auto found = co_await deps.people.preferences(call.executor(), call.principal);
  if (!found) co_return std::unexpected(found.error());
  co_return answer(*found);
}

Task<Reply> replace(PreferencesDeps deps, Call call) {
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  const auto version = fields.optional_integer("version", 0, std::numeric_limits<std::int64_t>::max() - 1);
  json::object wanted{{"views", read_views(fields)},
                      {"shortcutsOff", fields.optional_flag("shortcutsOff").value_or(false)},
                      {"guideDismissedAt", nullptr}};
  if (const auto at = fields.optional_time("guideDismissedAt")) wanted["guideDismissedAt"] = to_iso8601(*at);
  if (auto error = body->problems()) co_return std::unexpected(*error);
  const auto written =
      co_await deps.people.set_preferences(call.executor(), call.principal, version, json::serialize(wanted));
  if (!written) co_return std::unexpected(written.error());
  co_return answer(*written);
}

}  // namespace

void add_preferences_routes(Router& router, PreferencesDeps deps) {
  const auto access = Access::needs(Permission::account);
  router.add("GET", "/api/me/preferences", access, with(deps, show));
  router.add("PUT", "/api/me/preferences", access, with(deps, replace));
}

}  // namespace presetbridge::api
