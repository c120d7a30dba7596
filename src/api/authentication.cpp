#include "api/authentication.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "crypto/api_key.h"

namespace presetbridge::api {
namespace {

// The token of `Authorization: Bearer <token>`; nothing if the header is of another form.
std::optional<std::string> bearer_token(std::string_view header) {
  constexpr std::string_view kScheme = "bearer ";
  if (!equal_ignoring_case(header.substr(0, kScheme.size()), kScheme)) return std::nullopt;
  header.remove_prefix(kScheme.size());
  while (header.starts_with(' ')) header.remove_prefix(1);
  if (header.empty()) return std::nullopt;
  return std::string(header);
}

std::string seconds_rounded_up(Millis duration) {
  return std::to_string((std::max<std::int64_t>(duration.count(), 0) + 999) / 1000);
}

}  // namespace

Task<std::expected<Authenticated, Refused>> Authentication::authenticate(const net::HttpRequest& request) {
  using Result = std::expected<Authenticated, Refused>;
  const auto refuse = [](Error error, std::optional<domain::Admission> rate = std::nullopt) -> Result {
    return std::unexpected(Refused{std::move(error), rate});
  };
  Executor& executor = *request.executor;
  const auto tokens = request.headers.count("Authorization");
  const auto keys = request.headers.count("x-api-key");
  // It would be a guess which of two tokens or two keys counts.
  if ((tokens == 0 && keys == 0) || tokens > 1 || keys > 1) co_return refuse(unauthorized());

  std::optional<identity::Principal> person;
  if (tokens == 1) {
    auto token = bearer_token(*request.headers.get("Authorization"));
    if (!token) co_return refuse(unauthorized());
    if (token->starts_with(crypto::kApiKeyPrefix)) {
      const char* const hint = "This is an API key: send it in the header x-api-key, and not as a token.";
      co_return refuse({"UNAUTHORIZED", hint, {}});
    }
    auto verified = co_await tokens_.verify(executor, std::move(*token));
    if (!verified) co_return refuse(std::move(verified.error()));
    auto principal = co_await accounts_.principal_of(
        executor, std::move(*verified), [this, &request] { return net::caller_of(request, proxies_); });
    if (!principal)
      co_return std::unexpected(Refused{principal.error(), std::nullopt, principal.error().retry_after});
    person = std::move(*principal);
  }
  if (keys == 0) {
    if (auto admitted = co_await disabled_.admit(executor, person->account); !admitted)
      co_return refuse(std::move(admitted.error()));
    co_return Authenticated{std::move(*person), std::nullopt};
  }

  auto check = co_await keys_.admit(executor, std::string(*request.headers.get("x-api-key")));
  if (!check.principal) co_return refuse(std::move(check.principal.error()), check.rate);
  auto principal = std::move(*check.principal);
  if (person) {
    if (person->account != principal.account) {
      co_return refuse(forbidden("The token and the API key are of different accounts."), check.rate);
    }
    principal.permissions = principal.permissions & person->permissions;
    principal.person = std::move(person->person);
  }
  if (auto admitted = co_await disabled_.admit(executor, principal.account); !admitted)
    co_return refuse(std::move(admitted.error()), check.rate);
  co_return Authenticated{std::move(principal), check.rate};
}

void add_rate_headers(net::HttpResponse& response, const domain::Admission& rate) {
  response.headers.add("RateLimit-Limit", std::to_string(rate.limit));
  response.headers.add("RateLimit-Remaining", std::to_string(rate.remaining));
  response.headers.add("RateLimit-Reset", seconds_rounded_up(rate.reset_after));
  if (!rate.allowed)
    response.headers.add("Retry-After", seconds_rounded_up(std::max(rate.retry_after, Millis{1})));
}

}  // namespace presetbridge::api
