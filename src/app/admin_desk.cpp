#include "app/admin_desk.h"

#include <boost/json/array.hpp>
#include <utility>

#include "storage/account_store.h"
#include "storage/credit_store.h"

namespace presetbridge::app {
namespace {

namespace json = boost::json;

// An absent text is empty: the services behind say what they need.
std::string text(const json::object& request, std::string_view name) {
  const auto* value = request.if_contains(name);
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}
std::int64_t integer(const json::object& request, std::string_view name) {
  const auto* value = request.if_contains(name);
  if (!value) return 0;
  return value->is_int64() ? value->get_int64() : 0;
}

std::unexpected<Error> no_such(std::string_view what, const std::string& text) {
  return fail("NOT_FOUND", "There is no " + std::string(what) + " " + text + ".");
}

}  // namespace

Task<Expected<json::object>> AdminDesk::run(Executor& executor, json::object request) {
  const std::string command = text(request, "command");
  if (command == "create-account") co_return co_await create_account(executor, std::move(request));
  if (command == "list-accounts") co_return co_await list_accounts(executor, std::move(request));
  if (command == "grant-credits") co_return co_await grant_credits(executor, std::move(request));
  if (command == "reset-password") co_return co_await reset_password(executor, std::move(request));
  if (command == "set-rate-limit") co_return co_await set_rate_limit(executor, std::move(request));
  co_return fail("VALIDATION_FAILED", "There is no such command.");
}

Task<Expected<json::object>> AdminDesk::create_account(Executor& executor, json::object request) {
  auto tokens = co_await ports_.issuer.sign_up(executor, /*caller=*/{}, text(request, "email"),
                                               text(request, "password"), text(request, "name"));
  if (!tokens) co_return std::unexpected(tokens.error());
  // The sign-in that came with it is nobody's.
  auto out = co_await ports_.issuer.sign_out(executor, tokens->refresh_token);
  if (!out) co_return std::unexpected(out.error());
  co_return json::object{{"accountId", to_string(tokens->account)},
                         {"userId", to_string(tokens->user)},
                         {"email", tokens->email}};
}

Task<Expected<json::object>> AdminDesk::list_accounts(Executor& executor, json::object request) {
  storage::PageRequest page{.limit = 200};
  if (const auto cursor = text(request, "cursor"); !cursor.empty()) {
    const auto before = parse_id<AccountKind>(cursor);
    if (!before) co_return no_such("account", cursor);
    page.before = before->value;
  }
  auto listed = co_await ports_.commits.read(executor, [page](storage::Tx& tx) {
    json::object answer;
    json::array accounts;
    const auto rows = storage::list_accounts(tx, page);
    for (const auto& row : rows.rows) {
      const auto balance = storage::find_balance(tx, row.id);
      accounts.push_back(json::object{{"id", to_string(row.id)},
                                      {"name", row.name},
                                      {"createdAt", to_iso8601(row.created_at)},
                                      {"credits", balance ? balance->available() : 0}});
    }
    answer["accounts"] = std::move(accounts);
    if (rows.next) answer["nextCursor"] = to_string(AccountId{*rows.next});
    return answer;
  });
  co_return listed;
}

Task<Expected<json::object>> AdminDesk::grant_credits(Executor& executor, json::object request) {
  const auto name = text(request, "account");
  const auto account = parse_id<AccountKind>(name);
  if (!account) co_return no_such("account", name);
  auto balance =
      co_await ports_.credits.grant(executor, *account, integer(request, "credits"), text(request, "note"));
  if (!balance) co_return std::unexpected(balance.error());
  co_return json::object{{"available", balance->available()}};
}

Task<Expected<json::object>> AdminDesk::reset_password(Executor& executor, json::object request) {
  auto done =
      co_await ports_.issuer.reset_password(executor, text(request, "email"), text(request, "password"));
  if (!done) co_return std::unexpected(done.error());
  co_return json::object{{"email", text(request, "email")}};
}

Task<Expected<json::object>> AdminDesk::set_rate_limit(Executor& executor, json::object request) {
  const auto name = text(request, "key");
  const auto key = parse_id<ApiKeyKind>(name);
  if (!key) co_return no_such("API key", name);
  auto changed = co_await ports_.keys.set_rate_limit(executor, *key, integer(request, "limit"));
  if (!changed) co_return std::unexpected(changed.error());
  co_return json::object{{"id", to_string(changed->id)}, {"rateLimit", changed->rate_limit}};
}

}  // namespace presetbridge::app
