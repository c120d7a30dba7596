#include "app/admin/admin_commands.h"

#include <boost/json/array.hpp>
#include <utility>

#include "app/admin/admin_request.h"
#include "storage/stores/audit_store.h"

namespace presetbridge::app {
namespace json = boost::json;

Task<Expected<json::object>> AdminCommands::run(Executor& executor, json::object request) {
  const std::string command = text_of(request, "command");
  if (command == "create-account") co_return co_await create_account(executor, std::move(request));
  if (command == "list-accounts") co_return co_await accounts_.list(executor, std::move(request));
  if (command == "disable-account") co_return co_await accounts_.disable(executor, std::move(request));
  if (command == "enable-account") co_return co_await accounts_.enable(executor, std::move(request));
  if (command == "list-keys") co_return co_await accounts_.list_keys(executor, std::move(request));
  if (command == "find-order") co_return co_await accounts_.find_order(executor, std::move(request));
  if (command == "grant-credits") co_return co_await grant_credits(executor, std::move(request));
  if (command == "reset-password") co_return co_await reset_password(executor, std::move(request));
  if (command == "set-rate-limit") co_return co_await set_rate_limit(executor, std::move(request));
  if (command == "purchases") co_return co_await ports_.purchases.list(executor, std::move(request));
  if (command == "reconcile") co_return co_await ports_.purchases.reconcile(executor, std::move(request));
  if (command == "refund" || command == "refund-total")
    co_return co_await ports_.purchases.refund(executor, std::move(request));
  if (command == "keys" || command == "turn-keys" || command == "drop-keys") {
    if (ports_.keys_at_rest) co_return co_await ports_.keys_at_rest->run(executor, std::move(request));
    co_return fail("CONFLICT", "Only a running service rotates keys.");
  }
  co_return fail("VALIDATION_FAILED", "There is no such command.");
}

Task<Expected<json::object>> AdminCommands::create_account(Executor& executor, json::object request) {
  auto tokens = co_await ports_.issuer.sign_up(executor, /*caller=*/{}, text_of(request, "email"),
                                               text_of(request, "password"), text_of(request, "name"));
  if (!tokens) co_return std::unexpected(tokens.error());
  const auto name = operator_of(request);
  auto noted = co_await ports_.async_db.write(executor, [&](storage::Tx& tx) {
    const auto user = to_string(tokens->user);
    storage::insert_audit(tx, ports_.ids,
                          {.account = tokens->account,
                           .actor = "operator",
                           .action = "person.created",
                           .target = user,
                           .detail = "with the account",
                           .actor_name = name});
  });
  if (!noted) co_return std::unexpected(noted.error());
  // Nobody uses the session that the sign-up made.
  auto out = co_await ports_.issuer.sessions().sign_out(executor, tokens->refresh_token);
  if (!out) co_return std::unexpected(out.error());
  co_return json::object{{"accountId", to_string(tokens->account)},
                         {"userId", to_string(tokens->user)},
                         {"email", tokens->email}};
}

Task<Expected<json::object>> AdminCommands::grant_credits(Executor& executor, json::object request) {
  const auto name = text_of(request, "account");
  const auto account = parse_id<AccountKind>(name);
  if (!account) co_return no_such("account", name);
  auto balance = co_await ports_.credits.grant(executor, *account, integer_of(request, "credits"),
                                               text_of(request, "note"), operator_of(request));
  if (!balance) co_return std::unexpected(balance.error());
  co_return json::object{{"available", balance->available()}};
}

Task<Expected<json::object>> AdminCommands::reset_password(Executor& executor, json::object request) {
  auto done = co_await ports_.issuer.reset_password(executor, text_of(request, "email"),
                                                    text_of(request, "password"), operator_of(request));
  if (!done) co_return std::unexpected(done.error());
  // Keys that somebody with the former password may have made.
  identity::Principal owner;
  owner.account = *done;
  const auto found = co_await ports_.keys.list(executor, std::move(owner), {.limit = 100}, true);
  if (!found) co_return std::unexpected(found.error());
  json::array keys;
  for (const auto& key : found->rows) {
    keys.push_back(json::object{{"id", to_string(key.id)},
                                {"name", key.name},
                                {"preview", key.preview},
                                {"createdAt", to_iso8601(key.created_at)}});
  }
  co_return json::object{{"email", text_of(request, "email")}, {"activeKeys", std::move(keys)}};
}

Task<Expected<json::object>> AdminCommands::set_rate_limit(Executor& executor, json::object request) {
  const auto name = text_of(request, "key");
  const auto key = parse_id<ApiKeyKind>(name);
  if (!key) co_return no_such("API key", name);
  auto changed =
      co_await ports_.keys.set_rate_limit(executor, *key, integer_of(request, "limit"), operator_of(request));
  if (!changed) co_return std::unexpected(changed.error());
  co_return json::object{{"id", to_string(changed->id)}, {"rateLimit", changed->rate_limit}};
}

}  // namespace presetbridge::app
