#include "app/verbs/trial_verbs.h"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "app/verbs/demo.h"
#include "app/verbs/listen.h"
#include "app/verbs/outcome.h"
#include "app/verbs/send_order.h"

namespace presetbridge::app {
namespace {

constexpr std::size_t kLongestPayload = 64 * 1024 * 1024;

std::string of_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

void add_demo(CLI::App& app, std::function<int()>& run) {
  auto* verb = app.add_subcommand(
      "demo", "Start a simulated deployment on this machine, from a shop's order to a delivered file");
  const auto demo = std::make_shared<DemoOptions>();
  verb->add_option("--folder", demo->folder, "Folder for data and logs; each start deletes its data")
      ->capture_default_str();
  verb->add_option("--port", demo->port, "Port of the service; 0: any free one")->capture_default_str();
  verb->add_option("--cloud-port", demo->cloud_port, "Port of the simulated cloud platform; 0: any free one")
      ->capture_default_str();
  verb->add_option("--cloudsim", demo->cloudsim, "The simulator's program (default: beside this one)");
  verb->callback([&run, demo] { run = [demo] { return run_demo(*demo, std::cout, std::cerr); }; });
}

void add_listen(CLI::App& app, std::function<int()>& run) {
  auto* verb =
      app.add_subcommand("listen", "Receive outbound webhooks on this machine, verify and print them");
  const auto listen = std::make_shared<ListenOptions>();
  verb->add_option("--port", listen->port, "Port to listen on; 0: any free one")->capture_default_str();
  verb->add_option("--secret", listen->secret,
                   "Secret of an existing subscription, whsec_… (else PRESETBRIDGE_LISTEN_SECRET)");
  verb->add_option(
      "--service", listen->service,
      "Make a subscription of its own at this service on this machine, and delete it at the end");
  verb->add_option("--email", listen->email, "Sign in there as this person; the password is asked");
  verb->add_option("--api-key", listen->api_key,
                   "Use this API key instead of signing in (else PRESETBRIDGE_API_KEY)");
  verb->add_option("--event-type", listen->event_types,
                   "Subscribe to this type of events alone; may be repeated");
  verb->add_option("--forward", listen->forward,
                   "Forward verified events to this address unchanged, and answer as it does");
  verb->add_option("--once", listen->once, "Exit after so many events; 0: never")->capture_default_str();
  verb->add_flag("--json", listen->json, "One JSON object a line");
  verb->add_option("--answer-status", listen->answer_status, "Status of the answer to every webhook")
      ->capture_default_str();
  verb->add_option_function<std::int64_t>(
          "--answer-delay-ms", [listen](std::int64_t delay) { listen->answer_delay = Millis{delay}; },
          "Delay of the answer, in milliseconds")
      ->default_str("0");
  verb->callback([&run, listen] {
    if (listen->service.empty()) {
      if (listen->secret.empty()) listen->secret = of_environment("PRESETBRIDGE_LISTEN_SECRET");
    } else if (listen->api_key.empty() && listen->email.empty()) {
      listen->api_key = of_environment("PRESETBRIDGE_API_KEY");
    }
    run = [listen] { return run_listen(*listen, std::cout, std::cerr); };
  });
}

// Reads a file, or standard input for "-".
std::optional<std::string> read_payload(const std::string& file) {
  std::ifstream opened;
  if (file != "-") opened.open(file, std::ios::binary);
  std::istream& from = file == "-" ? std::cin : opened;
  std::string payload;
  for (char chunk[65536]; from.read(chunk, sizeof chunk) || from.gcount() > 0;) {
    payload.append(chunk, static_cast<std::size_t>(from.gcount()));
    if (payload.size() > kLongestPayload) break;
  }
  if (!from.eof() || payload.empty() || payload.size() > kLongestPayload) {
    std::cerr << "send-order: --payload " << file << " cannot be read, is empty, or is longer than 64 MiB"
              << std::endl;
    return std::nullopt;
  }
  return payload;
}

void add_send_order(CLI::App& app, std::function<int()>& run) {
  auto* verb = app.add_subcommand("send-order", "Sign an order as a store does, and post it");
  const auto order = std::make_shared<SendOrderOptions>();
  const auto payload = std::make_shared<std::string>();
  verb->add_option("--url", order->url, "The store's webhook address")->required();
  verb->add_option("--secret", order->secret, "The store's signing secret (else PRESETBRIDGE_ORDER_SECRET)")
      ->envname("PRESETBRIDGE_ORDER_SECRET")
      ->required();
  verb->add_option("--provider", order->provider,
                   "The kind of store, as in its webhook address (default: as in --url)");
  auto* file =
      verb->add_option("--payload", *payload, "Post the bytes of this file unchanged; -: standard input");
  const auto of_order = [&](CLI::Option* option) { option->excludes(file); };
  of_order(verb->add_option("--order-id", order->order_id, "The order's id (default: a new one)"));
  of_order(verb->add_option("--username", order->username, "The buyer's username on the cloud platform"));
  of_order(
      verb->add_option("--sku", order->skus,
                       "SKU of a line; repeat it for more lines, as the next three (default: SAMPLE-1)"));
  of_order(verb->add_option("--variant-id", order->variant_ids, "Variant id of a line"));
  of_order(verb->add_option("--product-id", order->product_ids, "Product id of a line"));
  of_order(verb->add_option("--title", order->titles, "Title of a line"));
  of_order(verb->add_option("--quantity", order->quantity, "Quantity of each line")->capture_default_str());
  of_order(verb->add_option("--email", order->email, "The buyer's e-mail address")->capture_default_str());
  verb->add_option("--topic", order->topic, "The event's topic (default: that of a paid order)");
  verb->add_option("--repeat", order->repeat, "How many times to post the same bytes")->capture_default_str();
  verb->footer(
      "Exit code: 0 accepted, 1 refused or not reached, 2 wrong words, 3 accepted but nothing is delivered.");
  verb->callback([&run, order, payload] {
    run = [order, payload] {
      if (!payload->empty()) {
        order->payload = read_payload(*payload);
        if (!order->payload) return kWrongUse;
      }
      return run_send_order(*order, std::cout, std::cerr);
    };
  });
}

}  // namespace

void add_trial_verbs(CLI::App& app, std::function<int()>& run) {
  add_demo(app, run);
  add_listen(app, run);
  add_send_order(app, run);
}

}  // namespace presetbridge::app
