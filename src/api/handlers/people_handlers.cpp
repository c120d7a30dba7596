#include "api/handlers/people_handlers.h"

#include <utility>

#include "api/json_body.h"
#include "api/optional_json.h"
#include "api/page.h"
#include "net/client_address.h"

namespace presetbridge::api {
namespace {

constexpr TextRule kToken{.max = 200, .exact = true};
constexpr TextRule kIdToken{.max = 16'000, .exact = true};

json::object person_json(const storage::PersonRow& row, const identity::Principal& by) {
  return {{"id", to_string(row.id)},
          {"email", text_or_null(row.email)},
          {"role", row.role},
          {"issuer", row.iss},
          {"joinedAt", to_iso8601(row.joined_at)},
          {"current", by.person && by.person->id == row.id}};
}

json::object invitation_json(const storage::InvitationRow& row) {
  return {{"id", to_string(row.id)},
          {"role", row.role},
          {"note", text_or_null(row.note)},
          {"createdBy", row.created_by},
          {"createdAt", to_iso8601(row.created_at)},
          {"expiresAt", to_iso8601(row.expires_at)}};
}

Task<Reply> list(PeopleDeps deps, Call call) {
  const auto page = page_request(call);
  if (!page) co_return std::unexpected(page.error());
  const auto found = co_await deps.people.list(call.executor(), call.principal, *page);
  if (!found) co_return std::unexpected(found.error());
  co_return page_response(*found,
                          [&](const storage::PersonRow& row) { return person_json(row, call.principal); });
}

Task<Reply> change(PeopleDeps deps, Call call) {
  const auto id = call.id<UserId>("person");
  if (!id) co_return std::unexpected(id.error());
  const auto current = co_await deps.people.get(call.executor(), call.principal, *id);
  if (!current) co_return std::unexpected(current.error());
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  fields.refuse_null({"role"});
  const auto role = fields.optional_choice("role", {"owner", "member"});
  fields.refuse_changes(person_json(*current, call.principal), {"current"});
  if (auto error = body->problems()) co_return std::unexpected(*error);
  // A role that is not named stays, whatever another owner makes of it meanwhile.
  if (!role) co_return json_response(200, person_json(*current, call.principal));
  const auto changed =
      co_await deps.people.set_role(call.executor(), call.principal, *id, identity::parse_role(*role));
  if (!changed) co_return std::unexpected(changed.error());
  co_return json_response(200, person_json(*changed, call.principal));
}

Task<Reply> remove(PeopleDeps deps, Call call) {
  const auto id = call.id<UserId>("person");
  if (!id) co_return std::unexpected(id.error());
  const auto removed = co_await deps.people.remove(call.executor(), call.principal, *id);
  if (!removed) co_return std::unexpected(removed.error());
  co_return no_content();
}

Task<Reply> leave(PeopleDeps deps, Call call) {
  const auto left = co_await deps.people.leave(call.executor(), call.principal);
  if (!left) co_return std::unexpected(left.error());
  co_return no_content();
}

Task<Reply> delete_account(PeopleDeps deps, Call call) {
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto name = (*body)->text("name", {.max = 100});
  if (auto error = body->problems()) co_return std::unexpected(*error);
  const auto deleted = co_await deps.deletion.run(call.executor(), call.principal, std::move(name));
  if (!deleted) co_return std::unexpected(deleted.error());
  co_return no_content();
}

Task<Reply> invite(PeopleDeps deps, Call call) {
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  const auto role = fields.choice("role", {"owner", "member"});
  auto note = fields.optional_text("note", {.max = 100});
  const auto expires_at = fields.optional_time("expiresAt");
  if (auto error = body->problems()) co_return std::unexpected(*error);
  const auto invited = co_await deps.people.invite(call.executor(), call.principal,
                                                   identity::parse_role(role), note.value_or(""), expires_at);
  if (!invited) co_return std::unexpected(invited.error());
  auto answer = invitation_json(invited->row);
  answer["url"] = deps.base_url + "/invite#" + invited->token;
  auto response = json_response(201, answer);
  response.headers.add("Cache-Control", "no-store");
  co_return response;
}

Task<Reply> invitations(PeopleDeps deps, Call call) {
  const auto page = page_request(call);
  if (!page) co_return std::unexpected(page.error());
  const auto found = co_await deps.people.invitations(call.executor(), call.principal, *page);
  if (!found) co_return std::unexpected(found.error());
  co_return page_response(*found, invitation_json);
}

Task<Reply> revoke(PeopleDeps deps, Call call) {
  const auto id = call.id<InvitationId>("invitation");
  if (!id) co_return std::unexpected(id.error());
  const auto revoked = co_await deps.people.revoke(call.executor(), call.principal, *id);
  if (!revoked) co_return std::unexpected(revoked.error());
  co_return no_content();
}

bool is_guess(const Error& error) {
  return error.code == "INVITATION_INVALID" || error.code == "UNAUTHORIZED";
}

Task<Reply> show_invitation(PeopleDeps deps, Call call) {
  if (const auto wait = deps.requests.wait(call.request); wait > Millis{0}) co_return too_often(wait);
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto token = (*body)->text("invitation", kToken);
  if (auto error = body->problems()) co_return std::unexpected(*error);
  const auto found = co_await deps.people.find_invitation(call.executor(), std::move(token));
  if (!found) {
    if (is_guess(found.error())) deps.requests.count(call.request);
    co_return std::unexpected(found.error());
  }
  auto response = json_response(200, json::object{{"accountName", found->account_name},
                                                  {"role", found->row.role},
                                                  {"expiresAt", to_iso8601(found->row.expires_at)}});
  response.headers.add("Cache-Control", "no-store");
  co_return response;
}

Task<Reply> accept(PeopleDeps deps, Call call) {
  if (const auto wait = deps.requests.wait(call.request); wait > Millis{0}) co_return too_often(wait);
  auto body = JsonBody::parse(call.request);
  if (!body) co_return std::unexpected(body.error());
  auto token = (*body)->text("invitation", kToken);
  auto id_token = (*body)->text("idToken", kIdToken);
  if (auto error = body->problems()) co_return std::unexpected(*error);
  const identity::Origin origin{net::caller_of(call.request, deps.proxies).network, call.request.id};
  const auto joined =
      co_await deps.people.join(call.executor(), std::move(token), std::move(id_token), origin);
  if (!joined) {
    if (is_guess(joined.error())) deps.requests.count(call.request);
    co_return std::unexpected(joined.error());
  }
  co_return json_response(200, json::object{{"accountId", to_string(joined->account)},
                                            {"userId", to_string(joined->user)},
                                            {"role", to_string(joined->role)}});
}

}  // namespace

void add_people_routes(Router& router, PeopleDeps deps) {
  const auto people = Access::needs(Permission::account);
  const auto owners = Access::needs(Permission::owner);
  router.add("GET", "/api/people", people, with(deps, list));
  router.add("PATCH", "/api/people/{person}", owners.after_step_up(), with(deps, change));
  router.add("DELETE", "/api/people/{person}", owners, with(deps, remove));
  router.add("POST", "/api/account/leave", people, with(deps, leave));
  router.add("POST", "/api/account/delete", owners.after_step_up(), with(deps, delete_account));
  router.add("POST", "/api/invitations", owners.after_step_up(), with(deps, invite));
  router.add("GET", "/api/invitations", owners, with(deps, invitations));
  router.add("DELETE", "/api/invitations/{invitation}", owners, with(deps, revoke));
  router.add("POST", "/api/auth/invitation", Access::open(), with(deps, show_invitation));
  router.add("POST", "/api/auth/invitation/accept", Access::open(), with(deps, accept));
}

}  // namespace presetbridge::api
