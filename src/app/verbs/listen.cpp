#include "app/verbs/listen.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <condition_variable>
#include <mutex>
#include <ostream>
#include <utility>

#include "app/verbs/calls.h"
#include "app/verbs/outcome.h"
#include "app/verbs/terminal_password.h"
#include "base/wakeup.h"
#include "crypto/random.h"
#include "crypto/webhook_signature.h"
#include "net/curl_client.h"
#include "net/http_server.h"
#include "net/runtime.h"

namespace presetbridge::app {
namespace {

constexpr int kMisused = 2;

std::string text_at(const boost::json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

constexpr Millis kForwardDeadline{12'000};  // the service waits 15 s for the answer

std::string_view explain(crypto::WebhookVerdict verdict) {
  switch (verdict) {
    case crypto::WebhookVerdict::valid:
      return "";
    case crypto::WebhookVerdict::malformed:
      return "webhook-timestamp is missing or malformed";
    case crypto::WebhookVerdict::stale:
      return "webhook-timestamp is too old";
    case crypto::WebhookVerdict::in_future:
      return "webhook-timestamp is in the future";
    case crypto::WebhookVerdict::not_matching:
      return "webhook-signature does not match";
  }
  return "";
}

class Receiver final : public net::HttpHandler {
 public:
  Receiver(const ListenOptions& options, const Clock& clock, Scheduler& scheduler, net::HttpClient& http,
           std::ostream& out)
      : options_(options), clock_(clock), scheduler_(scheduler), http_(http), out_(out) {}

  Task<net::HttpResponse> handle(net::HttpRequest request) override {
    if (request.method != "POST") {
      co_return net::HttpResponse{.status = 405, .body = R"({"error":"events are posted"})"};
    }
    auto webhook = inspect_webhook(request, options_.secret, clock_.now());
    if (options_.answer_delay > Millis{0}) co_await sleep_for(scheduler_, options_.answer_delay);
    net::HttpResponse response{.status = webhook.verified ? options_.answer_status : 401,
                               .body = webhook.verified ? "{}" : R"({"error":"not verified"})"};
    if (webhook.verified && !options_.forward.empty()) {
      auto outgoing = forwarded_request(request, options_.forward);
      const auto result = co_await http_.send(*request.executor, std::move(outgoing));
      const auto* answer = result.answer();
      webhook.forwarded = answer ? answer->status : 0;
      if (!answer) webhook.forward_problem = result.failure()->message;
      response.status = answer ? answer->status : 502;
      response.body = answer ? answer->body : R"({"error":"no answer"})";
    }
    print(webhook);
    co_return response;
  }

  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    done_.notify_all();
  }
  // Whether every event was verified and, where it was forwarded to, taken.
  bool wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return ended_; });
    return all_well_;
  }

 private:
  void print(const ReceivedWebhook& webhook) {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    out_ << webhook_line(webhook, options_.json) << std::endl;
    all_well_ = all_well_ && webhook.verified &&
                (!webhook.forwarded || (*webhook.forwarded >= 200 && *webhook.forwarded < 300));
    if (options_.once > 0 && ++received_ >= options_.once) {
      ended_ = true;
      done_.notify_all();
    }
  }

  const ListenOptions& options_;
  const Clock& clock_;
  Scheduler& scheduler_;
  net::HttpClient& http_;
  std::ostream& out_;
  std::mutex mutex_;  // guards received_, all_well_ and ended_; whoever writes to out_ holds it
  std::condition_variable done_;
  int received_ = 0;
  bool all_well_ = true;
  bool ended_ = false;
};

// The subscription that `listen` makes for itself, from make() to remove().
class OwnSubscription {
 public:
  OwnSubscription(const ListenOptions& options, std::string password)
      : options_(options), password_(std::move(password)) {}

  // So that its events come to `url`.
  Expected<void> make(const std::string& url) {
    if (auto in = sign_in(); !in) return std::unexpected(in.error());
    boost::json::array types(options_.event_types.begin(), options_.event_types.end());
    auto made = api_.call("POST", "/api/webhook-subscriptions",
                          {{"url", url},
                           {"name", "presetbridge listen"},
                           {"secret", options_.secret},
                           {"eventTypes", std::move(types)}});
    if (!made) return std::unexpected(made.error());
    id_ = text_at(*made, "id");
    return {};
  }

  // And ends the sign-in. A token of an hour may be over by now.
  Expected<void> remove() {
    if (!refresh_token_.empty()) {
      auto fresh = api_.call("POST", "/api/auth/refresh", {{"refreshToken", refresh_token_}});
      if (fresh) take_tokens(*fresh);
    }
    Expected<void> removed;
    if (!id_.empty()) {
      auto gone = api_.call("DELETE", "/api/webhook-subscriptions/" + id_);
      if (!gone && gone.error().code != "NOT_FOUND") removed = std::unexpected(gone.error());
    }
    if (!refresh_token_.empty())
      (void)api_.call("POST", "/api/auth/sign-out", {{"refreshToken", refresh_token_}});
    return removed;
  }

 private:
  Expected<void> sign_in() {
    if (!options_.api_key.empty()) {
      api_.sign_in_as("x-api-key", options_.api_key);
      return {};
    }
    auto tokens =
        api_.call("POST", "/api/auth/sign-in", {{"email", options_.email}, {"password", password_}});
    if (!tokens) return std::unexpected(tokens.error());
    take_tokens(*tokens);
    return {};
  }
  void take_tokens(const boost::json::object& tokens) {
    refresh_token_ = text_at(tokens, "refreshToken");
    api_.sign_in_as("Authorization", "Bearer " + text_at(tokens, "idToken"));
  }

  const ListenOptions& options_;
  const std::string password_;
  Calls calls_{"presetbridge-listen"};
  ServiceApi api_{calls_, options_.service};
  std::string refresh_token_;
  std::string id_;
};

// The problem of the options; empty: none.
std::string problem_of(const ListenOptions& o) {
  if (o.service.empty() && o.secret.empty())
    return "give --secret of a subscription, or --service with --api-key or --email to make one";
  if (!o.service.empty() && !o.secret.empty())
    return "--secret is of a subscription that there is; not with --service";
  if (o.service.empty() && !(o.api_key.empty() && o.email.empty()))
    return "--api-key and --email are for --service";
  if (!o.service.empty() && o.api_key.empty() == o.email.empty())
    return "--service needs one of --api-key and --email";
  if (o.service.empty() && !o.event_types.empty())
    return "--event-type is for --service: the subscription that there is has its own";
  if (!o.secret.empty() && !crypto::is_webhook_secret(o.secret))
    return "--secret must be a webhook secret: whsec_ and base64 of 24 to 64 bytes";
  if (o.answer_status < 200 || o.answer_status > 599) return "--answer-status must be 200 to 599";
  if (o.once < 0) return "--once must not be negative";
  if (o.answer_delay < Millis{0}) return "--answer-delay-ms must not be negative";
  const bool url = o.forward.starts_with("http://") || o.forward.starts_with("https://");
  if (!o.forward.empty() && !url) return "--forward must be an address that begins with http:// or https://";
  if (!o.forward.empty() && o.answer_status != ListenOptions{}.answer_status)
    return "--answer-status is not for --forward, whose receiver answers";
  return {};
}

void report(std::ostream& err, const Error& error) {
  err << "listen: " << printable(error.message) << std::endl;
  for (const auto& [field, problem] : error.details)
    err << "listen: " << printable(field) << ' ' << printable(problem) << std::endl;
}

}  // namespace

net::OutgoingRequest forwarded_request(const net::HttpRequest& request, const std::string& url) {
  constexpr std::array<std::string_view, 6> kOfConnection = {
      "host", "connection", "content-length", "transfer-encoding", "expect", "keep-alive"};
  net::OutgoingRequest outgoing;
  outgoing.url = url;
  for (const auto& [name, value] : request.headers) {
    if (std::ranges::none_of(kOfConnection, [&](auto one) { return net::same_field_name(name, one); }))
      outgoing.headers.emplace_back(name, value);
  }
  outgoing.body = request.body;
  outgoing.policy = net::AddressPolicy::configured;
  outgoing.deadline = kForwardDeadline;
  return outgoing;
}

ReceivedWebhook inspect_webhook(const net::HttpRequest& request, std::string_view secret, Timestamp now) {
  const auto header = [&](std::string_view name) {
    return request.headers.get(name).value_or(std::string_view());
  };
  ReceivedWebhook webhook;
  webhook.id = header("webhook-id");
  webhook.type = header("X-Vendor-Event");
  boost::system::error_code error;
  const auto body = boost::json::parse(request.body, error);
  if (!error && body.is_object()) {
    const auto& event = body.get_object();
    if (webhook.type.empty()) webhook.type = text_at(event, "type");
    webhook.delivery = text_at(event, "deliveryId");
    if (const auto* delivery = event.if_contains("delivery"); delivery != nullptr && delivery->is_object()) {
      webhook.status = text_at(delivery->get_object(), "status");
    }
  }
  constexpr std::array kVendorSignatures{"X-Vendor-Signature", "X-Vendor-Signature-Previous",
                                         "X-Vendor-Signature-Older"};
  const bool vendor = std::ranges::any_of(kVendorSignatures, [&](std::string_view name) {
    return crypto::verify_vendor_signature(secret, header(name), request.body);
  });
  const auto standard = crypto::verify_standard_signature(
      secret, {webhook.id, header("webhook-timestamp"), header("webhook-signature")}, request.body, now);
  webhook.verified = vendor && standard == crypto::WebhookVerdict::valid;
  webhook.problem = vendor ? explain(standard) : "X-Vendor-Signature does not match";
  return webhook;
}

std::string webhook_line(const ReceivedWebhook& w, bool json) {
  if (json) {
    boost::json::object line{{"id", w.id},
                             {"type", w.type},
                             {"delivery", w.delivery},
                             {"status", w.status},
                             {"verified", w.verified}};
    if (!w.problem.empty()) line["problem"] = w.problem;
    if (w.forwarded) line["forwarded"] = *w.forwarded;
    if (!w.forward_problem.empty()) line["forwardProblem"] = w.forward_problem;
    return boost::json::serialize(line);
  }
  std::string handed_on;
  if (w.forwarded) {
    handed_on = *w.forwarded != 0 ? "  forwarded: " + std::to_string(*w.forwarded)
                                  : "  NOT FORWARDED: " + printable(w.forward_problem);
  }
  const auto shown = [](const std::string& text) {
    return text.empty() ? std::string("-") : printable(text);
  };
  return shown(w.type) + "  " + shown(w.delivery) + "  " + shown(w.status) + "  " +
         (w.verified ? std::string("verified") : "NOT VERIFIED: " + w.problem) + handed_on;
}

int run_listen(const ListenOptions& given, std::ostream& out, std::ostream& err) {
  if (const auto problem = problem_of(given); !problem.empty()) {
    err << "listen: " << problem << std::endl;
    return kMisused;
  }
  ListenOptions options = given;
  while (options.service.ends_with('/')) options.service.pop_back();
  std::string password;
  if (!options.email.empty()) {
    auto typed = ask_password("Password of " + printable(options.email), false);
    if (!typed) return kMisused;
    password = std::move(*typed);
  }
  const net::SystemClock clock;
  crypto::SystemRandom random;
  if (options.secret.empty()) options.secret = crypto::generate_webhook_secret(random);
  NullLog log;
  net::Runtime runtime(1);
  net::SystemResolver resolver;
  net::CurlClient http(runtime, 0, resolver, {.user_agent = "presetbridge-listen"});
  Receiver receiver(options, clock, runtime.scheduler(0), http, out);
  runtime.on_termination([&receiver](int) { receiver.end(); });
  net::HttpServer server(runtime, receiver, random, log, {.port = options.port});
  if (auto listening = server.listen(); !listening) {
    err << "listen: " << listening.error().message << std::endl;
    return kFailed;
  }
  const std::string url = "http://127.0.0.1:" + std::to_string(server.port());
  runtime.start();
  std::optional<OwnSubscription> own;
  Expected<void> subscribed;
  if (!options.service.empty()) subscribed = own.emplace(options, std::move(password)).make(url + "/");
  bool all_well = subscribed.has_value();
  if (!subscribed) {
    report(err, subscribed.error());
  } else {
    if (options.json) {
      boost::json::object line{{"listening", url}};
      if (own) line["secret"] = options.secret;
      out << boost::json::serialize(line) << std::endl;
    } else {
      out << "Listening at " << url << " (end with Ctrl-C)" << std::endl;
      if (own) out << "Signing secret, for a receiver's WEBHOOK_SECRET: " << options.secret << std::endl;
    }
    all_well = receiver.wait();
  }
  if (own) {
    if (auto removed = own->remove(); !removed) {
      err << "listen: the subscription \"presetbridge listen\" is still there: delete it" << std::endl;
      report(err, removed.error());
      all_well = false;
    }
  }
  http.stop();
  server.stop(Millis{1'000});
  runtime.stop(Millis{1'000});
  return all_well ? 0 : kFailed;
}

}  // namespace presetbridge::app
