// demo_past: the past of a demonstration, told by whoever writes to its standard input. A JSON object a line,
// each answered by one:
//   {"ask": "bridge" | "cloud" | "bank", "method", "path", "headers": {}, "body": ""} -> {"status", "body"}
//   {"advance": milliseconds}                                                         -> {"now"}
//   {"grant": {"account", "credits", "note"}}                                         -> {"available"}
//   {"receiver": {"url", "status", "contentType", "body", "lost"}}                    -> {}
//   {"trouble": [{"method", "path", "status"}]}: calls of the platform whose path begins so; from now on
//   these alone                                                                             -> {}
// What is not understood is answered {"error"}. The end of the input ends it, and leaves the data folder to
// the service.
#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "cloudsim/platform_api.h"
#include "past.h"

namespace {

namespace json = boost::json;
using namespace presetbridge;
using demo::Neighbour;
using demo::Past;

struct Trouble {
  std::string method;
  std::string path;
  int status = 503;
};

std::string text_of(const json::object& in, std::string_view name, std::string otherwise = {}) {
  const auto* found = in.if_contains(name);
  return found == nullptr ? otherwise : std::string(found->as_string());
}

json::object ask(Past& past, const json::object& in) {
  const auto whom = text_of(in, "ask");
  net::HttpRequest request;
  request.method = text_of(in, "method", "GET");
  request.target = text_of(in, "path");
  const auto query = request.target.find('?');
  request.path = request.target.substr(0, query);
  if (query != std::string::npos) request.query = request.target.substr(query + 1);
  if (const auto* headers = in.if_contains("headers")) {
    for (const auto& [name, value] : headers->as_object())
      request.headers.add(std::string(name), std::string(value.as_string()));
  }
  request.body = text_of(in, "body");
  const auto response = past.ask(whom == "cloud"  ? Neighbour::cloud
                                 : whom == "bank" ? Neighbour::bank
                                                  : Neighbour::bridge,
                                 std::move(request));
  return {{"status", response.status}, {"body", response.body}};
}

json::object grant(Past& past, const json::object& in) {
  const auto account = parse_id<AccountKind>(text_of(in, "account"));
  if (!account) throw std::invalid_argument("account: not an id of one");
  const auto available = past.grant(*account, in.at("credits").as_int64(), text_of(in, "note"));
  if (!available) throw std::invalid_argument(available.error().message);
  return {{"available", *available}};
}

void set_receiver(Past& past, const json::object& in) {
  auto& answer = past.receivers().answers[text_of(in, "url")];
  answer = {};
  if (const auto* status = in.if_contains("status")) answer.status = static_cast<int>(status->as_int64());
  answer.content_type = text_of(in, "contentType", answer.content_type);
  answer.body = text_of(in, "body", answer.body);
  if (const auto* lost = in.if_contains("lost")) answer.lost = lost->as_bool();
}

void set_trouble(Past& past, const json::array& in) {
  std::vector<Trouble> all;
  for (const auto& one : in) {
    const auto& fields = one.as_object();
    all.push_back({text_of(fields, "method"), text_of(fields, "path"),
                   static_cast<int>(fields.at("status").as_int64())});
  }
  past.platform_trouble() = [all](const net::OutgoingRequest& request) -> std::optional<net::HttpResult> {
    const auto path = request.url.substr(request.url.find('/', request.url.find("://") + 3));
    for (const auto& one : all) {
      if (request.method == one.method && path.starts_with(one.path))
        return net::HttpResult{
            net::HttpAnswer{.status = one.status,
                            .headers = {{"content-type", "application/json"}},
                            .body = cloudsim::error_answer(one.status, "refused", "Not now.").body},
            Millis{35}};
    }
    return std::nullopt;
  };
}

json::object answer(Past& past, const json::object& in) {
  if (in.contains("ask")) return ask(past, in);
  if (const auto* by = in.if_contains("advance")) {
    past.advance(Millis{by->as_int64()});
    return {{"now", to_unix_ms(past.now())}};
  }
  if (const auto* fields = in.if_contains("grant")) return grant(past, fields->as_object());
  if (const auto* fields = in.if_contains("receiver")) {
    set_receiver(past, fields->as_object());
  } else if (const auto* all = in.if_contains("trouble")) {
    set_trouble(past, all->as_array());
  } else {
    throw std::invalid_argument("not one of the commands");
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  app::Config config;
  config.listen = "127.0.0.1:0";
  config.sandbox = true;
  config.cloud_url = "http://127.0.0.1";
  std::int64_t start = 0;
  std::uint64_t seed = 1;
  CLI::App flags{
      "demo_past - the past of a demonstration: the service and its simulators on a clock that the "
      "standard input moves."};
  flags.add_option("--data-dir", config.data_dir, "An empty folder; the service serves it afterwards")
      ->required();
  flags.add_option("--start", start, "When it begins, in milliseconds since 1970")->required();
  flags.add_option("--seed", seed, "Of all chance but keys and passwords' salts")->capture_default_str();
  flags.add_option("--credits-packs", config.credits_packs, "As of presetbridge serve");
  CLI11_PARSE(flags, argc, argv);

  auto past = Past::begin(config, from_unix_ms(start), seed);
  if (!past) {
    std::fprintf(stderr, "demo_past: %s\n", past.error().message.c_str());
    return 1;
  }
  for (std::string line; std::getline(std::cin, line);) {
    json::object told;
    try {
      told = answer(**past, json::parse(line).as_object());
    } catch (const std::exception& fault) {
      told = {{"error", fault.what()}};
    }
    std::cout << json::serialize(told) << std::endl;
  }
  past->reset();
  return 0;
}
