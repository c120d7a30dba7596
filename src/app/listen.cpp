#include "app/listen.h"

#include <atomic>
#include <boost/json.hpp>
#include <condition_variable>
#include <mutex>
#include <ostream>

#include "base/wakeup.h"
#include "crypto/random.h"
#include "crypto/webhook_signature.h"
#include "net/http_server.h"
#include "net/runtime.h"

namespace presetbridge::app {
namespace {

constexpr int kFailed = 1;
constexpr int kMisused = 2;

std::string text_at(const boost::json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::string printable(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) c = '?';
  }
  return text;
}

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
  Receiver(const ListenOptions& options, const Clock& clock, Scheduler& scheduler, std::ostream& out)
      : options_(options), clock_(clock), scheduler_(scheduler), out_(out) {}

  Task<net::HttpResponse> handle(net::HttpRequest request) override {
    if (request.method != "POST") {
      co_return net::HttpResponse{.status = 405, .body = R"({"error":"events are posted"})"};
    }
    const auto webhook = inspect_webhook(request, options_.secret, clock_.now());
    if (options_.answer_delay > Millis{0}) co_await sleep_for(scheduler_, options_.answer_delay);
    print(webhook);
    co_return net::HttpResponse{.status = webhook.verified ? options_.answer_status : 401,
                                .body = webhook.verified ? "{}" : R"({"error":"not verified"})"};
  }

  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    done_.notify_all();
  }
  // Whether every event was verified.
  bool wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return ended_; });
    return all_verified_;
  }

 private:
  void print(const ReceivedWebhook& webhook) {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    out_ << webhook_line(webhook, options_.json) << std::endl;
    all_verified_ = all_verified_ && webhook.verified;
    if (options_.once > 0 && ++received_ >= options_.once) {
      ended_ = true;
      done_.notify_all();
    }
  }

  const ListenOptions& options_;
  const Clock& clock_;
  Scheduler& scheduler_;
  std::ostream& out_;
  std::mutex mutex_;
  std::condition_variable done_;
  int received_ = 0;
  bool all_verified_ = true;
  bool ended_ = false;
};

}  // namespace

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
  const bool vendor =
      crypto::verify_vendor_signature(secret, header("X-Vendor-Signature"), request.body) ||
      crypto::verify_vendor_signature(secret, header("X-Vendor-Signature-Previous"), request.body);
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
    return boost::json::serialize(line);
  }
  const auto shown = [](const std::string& text) {
    return text.empty() ? std::string("-") : printable(text);
  };
  return shown(w.type) + "  " + shown(w.delivery) + "  " + shown(w.status) + "  " +
         (w.verified ? std::string("verified") : "NOT VERIFIED: " + w.problem);
}

int run_listen(const ListenOptions& options, std::ostream& out, std::ostream& err) {
  if (!crypto::is_webhook_secret(options.secret)) {
    err << "listen: --secret must be a webhook secret: whsec_ and base64 of 24 to 64 bytes" << std::endl;
    return kMisused;
  }
  if (options.answer_status < 200 || options.answer_status > 599 || options.once < 0 ||
      options.answer_delay < Millis{0}) {
    err << "listen: the status to answer with is 200 to 599; counts and delays are not negative" << std::endl;
    return kMisused;
  }
  const net::SystemClock clock;
  crypto::SystemRandom random;
  NullLog log;
  net::Runtime runtime(1);
  Receiver receiver(options, clock, runtime.scheduler(0), out);
  runtime.on_termination([&receiver](int) { receiver.end(); });
  net::HttpServer server(runtime, receiver, random, log, {.port = options.port});
  if (auto listening = server.listen(); !listening) {
    err << "listen: " << listening.error().message << std::endl;
    return kFailed;
  }
  const std::string url = "http://127.0.0.1:" + std::to_string(server.port());
  if (options.json) {
    out << boost::json::serialize(boost::json::object{{"listening", url}}) << std::endl;
  } else {
    out << "Listening at " << url << " (end with Ctrl-C)" << std::endl;
  }
  runtime.start();
  const bool all_verified = receiver.wait();
  server.stop(Millis{1'000});
  runtime.stop(Millis{1'000});
  return all_verified ? 0 : kFailed;
}

}  // namespace presetbridge::app
