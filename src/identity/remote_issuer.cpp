#include "identity/remote_issuer.h"

#include <algorithm>
#include <boost/json.hpp>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace presetbridge::identity {
namespace {

namespace json = boost::json;

constexpr Millis kStaleUse = std::chrono::hours{24};

std::string_view text_member(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

// Whether `url` is one that keys may come from: https, or plain http where the issuer itself is.
bool same_security(std::string_view iss, std::string_view url) {
  return url.starts_with("https://") || (iss.starts_with("http://") && url.starts_with("http://"));
}

std::unexpected<Error> unavailable() {
  return fail("ISSUER_UNAVAILABLE", "The identity provider's keys cannot be read at this moment.");
}

bool has_text(const json::array& list, std::string_view text) {
  return std::ranges::any_of(
      list, [&](const json::value& one) { return one.is_string() && one.get_string() == text; });
}

// How the client's secret is to be sent: as the header, unless only the body will do (RFC 8414, section 2).
bool wants_secret_in_body(const json::object& discovery) {
  const auto* methods = discovery.if_contains("token_endpoint_auth_methods_supported");
  if (methods == nullptr || !methods->is_array()) return false;
  const auto& list = methods->get_array();
  return !has_text(list, "client_secret_basic") && has_text(list, "client_secret_post");
}

// OpenID Connect Discovery 1.0, section 3; a provider that lists no claims may make any.
bool states_auth_time(const json::object& discovery) {
  const auto* claims = discovery.if_contains("claims_supported");
  return claims == nullptr || !claims->is_array() || has_text(claims->get_array(), "auth_time");
}

// The documents of an issuer, as read at one time.
struct Documents {
  Keys keys;
  IssuerEndpoints endpoints;
};
using Known = std::shared_ptr<const Documents>;

}  // namespace

struct RemoteIssuer::State {
  State(RemoteIssuerOptions o, net::HttpClient& h, const Clock& c, Log& l)
      : options(std::move(o)), http(h), clock(c), log(l) {}

  using Resume = std::function<void(Expected<Known>)>;
  enum class Want { usable, newer };

  // The keys, if no fetch is needed or allowed now; else nothing.
  std::optional<Expected<Known>> without_fetch(Want want, Timestamp now) const {
    const bool cooling = tried_at && now >= *tried_at && now < *tried_at + options.cool_down;
    const bool young = fetched_at && now >= *fetched_at && now < *fetched_at + options.max_age;
    if (want == Want::usable && young) return Expected<Known>(known);
    if (cooling && !fetching) return usable(now);
    return std::nullopt;
  }
  Expected<Known> usable(Timestamp now) const {
    if (known && fetched_at && now < *fetched_at + kStaleUse) return known;
    return unavailable();
  }

  Task<Expected<Known>> get(Executor& executor, Want want) {
    {
      const std::scoped_lock lock(mutex);
      if (auto keys = without_fetch(want, clock.now())) co_return std::move(*keys);
    }
    auto start = [this, want, &executor](auto resume) { join(executor, want, std::move(resume)); };
    co_return co_await suspend<Expected<Known>>(executor, std::move(start));
  }

  // Waits for the fetch that runs, or starts one.
  void join(Executor& executor, Want want, Resume resume) {
    std::unique_lock lock(mutex);
    // Another caller's fetch may have ended since.
    if (auto at_once = without_fetch(want, clock.now())) {
      lock.unlock();
      resume(std::move(*at_once));
      return;
    }
    waiting.push_back(std::move(resume));
    if (std::exchange(fetching, true)) return;
    tried_at = clock.now();
    lock.unlock();
    spawn(fetch(executor), [this](Outcome<Expected<Known>> outcome) {
      finish(outcome.value ? std::move(*outcome.value) : Expected<Known>(unavailable()));
    });
  }

  void finish(Expected<Known> fetched) {
    std::vector<Resume> resumes;
    Expected<Known> result = unavailable();
    {
      const std::scoped_lock lock(mutex);
      const auto now = clock.now();
      if (fetched) {
        known = *fetched;
        fetched_at = now;
      }
      result = usable(now);
      fetching = false;
      resumes.swap(waiting);
    }
    for (auto& resume : resumes) resume(result);
  }

  Task<Expected<json::object>> read(Executor& executor, std::string url) {
    net::OutgoingRequest request;
    request.method = "GET";
    request.url = url;
    request.headers = {{"Accept", "application/json"}};
    request.policy = net::AddressPolicy::configured;
    request.deadline = options.deadline;
    request.max_answer_bytes = crypto::kMaxJwksBytes;
    auto result = co_await http.send(executor, std::move(request));
    const auto* answer = result.answer();
    if (answer == nullptr || answer->status != 200 || answer->truncated) {
      log.warn("An identity provider's document cannot be read.",
               {{"url", url},
                {"status", std::int64_t{answer != nullptr ? answer->status : 0}},
                {"failure", result.failure() != nullptr ? result.failure()->message : std::string()}});
      co_return unavailable();
    }
    std::error_code error;
    json::value value = json::parse(answer->body, error);
    if (error || !value.is_object()) {
      log.warn("An identity provider's document is not a JSON object.", {{"url", url}});
      co_return unavailable();
    }
    co_return std::move(value.as_object());
  }

  // Endpoints that no secret may be sent to are empty.
  IssuerEndpoints endpoints_of(const json::object& discovery) const {
    const auto url = [&](std::string_view name) {
      const auto text = text_member(discovery, name);
      return same_security(options.iss, text) ? std::string(text) : std::string();
    };
    return {url("authorization_endpoint"), url("token_endpoint"), wants_secret_in_body(discovery),
            states_auth_time(discovery)};
  }

  Task<Expected<Known>> fetch(Executor& executor) {
    std::string base = options.iss;
    if (base.ends_with('/')) base.pop_back();
    auto discovery = co_await read(executor, base + "/.well-known/openid-configuration");
    if (!discovery) co_return std::unexpected(discovery.error());
    const std::string jwks_url(text_member(*discovery, "jwks_uri"));
    if (text_member(*discovery, "issuer") != options.iss || !same_security(options.iss, jwks_url)) {
      log.warn("An identity provider's discovery document is of another issuer, or names no safe jwks_uri.",
               {{"issuer", options.iss}});
      co_return unavailable();
    }
    auto document = co_await read(executor, jwks_url);
    if (!document) co_return std::unexpected(document.error());
    auto set = crypto::JwkSet::parse(json::serialize(*document));
    if (!set || set->keys().empty()) {
      log.warn("An identity provider's key set holds no key that can be used.", {{"url", jwks_url}});
      co_return unavailable();
    }
    co_return std::make_shared<const Documents>(
        Documents{std::make_shared<const crypto::JwkSet>(std::move(*set)), endpoints_of(*discovery)});
  }

  const RemoteIssuerOptions options;
  net::HttpClient& http;
  const Clock& clock;
  Log& log;
  std::mutex mutex;  // guards all below
  Known known;
  std::optional<Timestamp> fetched_at;
  std::optional<Timestamp> tried_at;
  bool fetching = false;
  std::vector<Resume> waiting;
};

RemoteIssuer::RemoteIssuer(RemoteIssuerOptions options, net::HttpClient& http, const Clock& clock, Log& log)
    : state_(std::make_unique<State>(std::move(options), http, clock, log)) {}

RemoteIssuer::~RemoteIssuer() = default;

const std::string& RemoteIssuer::iss() const {
  return state_->options.iss;
}
const std::string& RemoteIssuer::audience() const {
  return state_->options.audience;
}

Task<Expected<Keys>> RemoteIssuer::keys(Executor& executor) {
  auto known = co_await state_->get(executor, State::Want::usable);
  if (!known) co_return std::unexpected(known.error());
  co_return (*known)->keys;
}
Task<Expected<Keys>> RemoteIssuer::fresh_keys(Executor& executor) {
  auto known = co_await state_->get(executor, State::Want::newer);
  if (!known) co_return std::unexpected(known.error());
  co_return (*known)->keys;
}
Task<Expected<IssuerEndpoints>> RemoteIssuer::endpoints(Executor& executor) {
  auto known = co_await state_->get(executor, State::Want::usable);
  if (!known) co_return std::unexpected(known.error());
  const auto& found = (*known)->endpoints;
  if (found.authorization.empty() || found.token.empty()) co_return unavailable();
  co_return found;
}

}  // namespace presetbridge::identity
