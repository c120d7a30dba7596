// Method and path to handler. How a resource joins the API, in a file of its own, xyz_handlers.{h,cpp}:
//
//   // xyz_handlers.h
//   struct XyzDeps { services::Xyz& xyz; };                 // references to what outlives the Api
//   void add_xyz_routes(Router& router, XyzDeps deps);
//
//   // xyz_handlers.cpp
//   namespace {
//   Task<Reply> show_xyz(XyzDeps deps, Call call) {          // a named coroutine, everything by value
//     auto id = call.id<XyzId>("xyz");
//     if (!id) co_return std::unexpected(id.error());
//     auto xyz = co_await deps.xyz.get(call.executor(), call.principal, *id);
//     if (!xyz) co_return std::unexpected(xyz.error());      // the Error becomes the answer
//     co_return json_response(200, to_json(*xyz));
//   }
//   }  // namespace
//   void add_xyz_routes(Router& router, XyzDeps deps) {
//     router.add("GET", "/api/xyz/{xyz}", Access::needs(Permission::deliveries_read), with(deps, show_xyz));
//   }
//
// The operation stands in the contract, api/openapi.yaml, which says which parameters its query takes
// (operations.h). Bodies are read with json_body.h, lists paged with page.h. When a handler runs, the caller
// is authenticated and has the permission; that the rows are the account's (spec 7.3: another's id is 404),
// and inside the key's scope, is the use case's to check: it takes the Principal.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/call.h"
#include "base/error.h"
#include "base/task.h"
#include "identity/principal.h"

namespace presetbridge::api {

using identity::Permission;

// Who may call a route.
class Access {
 public:
  // Anyone: nothing is authenticated, Call::principal is none. For routes with their own proof (webhooks,
  // sign-in).
  static constexpr Access open() { return Access(Kind::open, Permission::account); }
  // Likewise, where the proof comes before everything else: the handler asks Call::contract once it has it.
  static constexpr Access proven() { return Access(Kind::proven, Permission::account); }
  // A person, or a key with that permission (spec 7.3). Permission::account: a person only;
  // Permission::owner: one who is an owner.
  static constexpr Access needs(Permission permission) { return Access(Kind::needs, permission); }
  // Any valid token or key.
  static constexpr Access anyone_known() { return Access(Kind::known, Permission::account); }

  // As this access, but a browser's session must have signed in lately (spec 7.2): before a secret is shown,
  // a key made, the cloud login changed, credits bought. Else 403 STEP_UP_REQUIRED.
  constexpr Access after_step_up() const {
    Access access = *this;
    access.step_up_ = true;
    return access;
  }

  // As this access, for a route that limits its requests of one account itself.
  constexpr Access with_own_limit() const {
    Access access = *this;
    access.own_limit_ = true;
    return access;
  }

  constexpr bool asks_step_up() const { return step_up_; }
  constexpr bool limits_itself() const { return own_limit_; }
  constexpr bool is_open() const { return kind_ == Kind::open || kind_ == Kind::proven; }
  constexpr bool judges_itself() const { return kind_ == Kind::proven; }
  constexpr bool allows(const identity::Principal& principal) const {
    return kind_ != Kind::needs || principal.may(permission_);
  }
  constexpr Permission permission() const { return permission_; }

 private:
  enum class Kind { open, proven, known, needs };
  constexpr Access(Kind kind, Permission permission) : kind_(kind), permission_(permission) {}
  Kind kind_;
  Permission permission_;
  bool step_up_ = false;
  bool own_limit_ = false;
};

using Handler = std::function<Task<Reply>(Call)>;

// A handler that is a function of what it depends on and the call.
template <class Deps>
Handler with(Deps deps, Task<Reply> (*function)(Deps, Call)) {
  return [deps, function](Call call) { return function(deps, std::move(call)); };
}

// Built once at start, then read by all threads. Patterns are absolute paths; a segment `{name}` takes one
// whole, non-empty segment, percent-decoded after splitting; a literal segment is preferred to a parameter. A
// trailing slash is another path. A route for GET takes HEAD too (RFC 9110, 9.3.2); do not add HEAD. add()
// throws std::logic_error for a pattern that is there already.
class Router {
 public:
  struct Route {
    std::string method;
    std::string pattern;
    Access access;
    Handler handler;
    std::vector<std::string> segments;  // of the pattern
    std::string operation;              // operation_of() both
  };
  struct Match {
    const Route* route;
    std::vector<std::pair<std::string_view, std::string>> params;
  };

  void add(std::string method, std::string pattern, Access access, Handler handler);
  // A method that is refused for a reason worth a sentence: 405 METHOD_NOT_ALLOWED with `message`.
  void refuse(std::string method, std::string pattern, std::string message);

  // The route to be answered, or the whole answer: 404, 405 (with Allow), or 204 with all
  // methods in Allow for OPTIONS of "*", the server itself (RFC 9110, 9.3.7).
  std::expected<Match, net::HttpResponse> match(std::string_view method, std::string_view path) const;

  const std::vector<Route>& routes() const { return routes_; }
  bool refuses(std::string_view operation) const;  // by operation_of()

 private:
  struct Refusal {
    std::string method;
    std::string pattern;
    std::string message;
    std::vector<std::string> segments;
  };
  net::HttpResponse whole_server() const;

  std::vector<Route> routes_;
  std::vector<Refusal> refusals_;
};

// One name for a route and for the operation of the contract that it serves, which may call the parameters of
// the path otherwise: "GET /api/keys/{}".
std::string operation_of(std::string_view method, std::string_view pattern);

// Percent-decodes; nothing for a broken escape, invalid UTF-8 or a control character below U+0020.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space = false);

// The decoded `name=value` pairs of a query, in order; else the parameter that cannot be decoded, is given
// twice, or is the 51st ("query" where it has no name).
std::expected<std::vector<std::pair<std::string, std::string>>, FieldProblem> parse_query(
    std::string_view query);

}  // namespace presetbridge::api
