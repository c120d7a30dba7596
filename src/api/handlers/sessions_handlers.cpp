#include "api/handlers/sessions_handlers.h"

#include "api/optional_json.h"
#include "api/page.h"
#include "api/query_fields.h"

namespace presetbridge::api {
namespace {

Task<Reply> list(SessionsDeps deps, Call call) {
  const auto page = page_request(call);
  if (!page) co_return std::unexpected(page.error());
  auto found = co_await deps.sessions.list(call.executor(), call.principal, *page);
  if (!found) co_return std::unexpected(found.error());
  const auto& own = call.principal.person->session;
  co_return page_response(*found, [&](const storage::SessionRow& row) {
    return json::object{{"id", to_string(row.id)},
                        {"kind", row.browser ? "browser" : "program"},
                        {"current", own && own->id == row.id},
                        {"createdAt", to_iso8601(row.created_at)},
                        {"lastUsedAt", to_iso8601(row.last_used_at)},
                        {"expiresAt", to_iso8601(row.expires_at)},
                        {"network", text_or_null(row.network)},
                        {"userAgent", text_or_null(row.user_agent)}};
  });
}

Task<Reply> end(SessionsDeps deps, Call call) {
  const auto id = call.id<SessionId>("session");
  if (!id) co_return std::unexpected(id.error());
  auto ended = co_await deps.sessions.end(call.executor(), call.principal, *id);
  if (!ended) co_return std::unexpected(ended.error());
  co_return no_content();
}

Task<Reply> end_all(SessionsDeps deps, Call call) {
  QueryFields query(call);
  const bool others = query.optional_flag("others").value_or(false);
  if (auto error = query.problems()) co_return std::unexpected(*error);
  auto ended = others ? co_await deps.sessions.end_others(call.executor(), call.principal)
                      : co_await deps.sessions.end_all(call.executor(), call.principal);
  if (!ended) co_return std::unexpected(ended.error());
  co_return no_content();
}

}  // namespace

void add_sessions_routes(Router& router, SessionsDeps deps) {
  const auto people = Access::needs(Permission::account);
  router.add("GET", "/api/account/sessions", people, with(deps, list));
  router.add("DELETE", "/api/account/sessions", people, with(deps, end_all));
  router.add("DELETE", "/api/account/sessions/{session}", people, with(deps, end));
}

}  // namespace presetbridge::api
