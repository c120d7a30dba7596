// `presetbridge listen` (spec 12.4): a receiver of outbound webhooks that verifies both signatures, prints
// one line an event and, if asked, hands it on to a program on this machine or elsewhere.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "net/http.h"
#include "net/http_client.h"

namespace presetbridge::app {

struct ListenOptions {
  std::uint16_t port = 0;   // on 127.0.0.1; 0: any free one
  std::string secret;       // whsec_...; not with `service`
  int once = 0;             // end after so many events; 0: never
  bool json = false;        // one JSON object a line, the first {"listening": "http://127.0.0.1:PORT"},
                            // with `service` also "secret"
  int answer_status = 200;  // for trials of retries: what every event is answered with, and how late
  Millis answer_delay{0};
  // Where verified events go as they came, bytes and headers; its status is the answer, 502 without one.
  std::string forward;
  // A service on this machine, in sandbox mode: a subscription of its own is made there, with a secret
  // that is printed once, and deleted at the end. With one of `api_key` and `email`.
  std::string service;
  std::string api_key;
  std::string email;                     // its password is asked (terminal_password.h)
  std::vector<std::string> event_types;  // of that subscription; empty: all
};

// Ends after `once` events, or at SIGINT or SIGTERM. 0: every event was verified, and taken where it was
// forwarded to. 1: one was not, it cannot listen, or the service refused. 2: an option is wrong. Called in a
// process without threads.
int run_listen(const ListenOptions& options, std::ostream& out, std::ostream& err);

// A received event. The texts come from outside.
struct ReceivedWebhook {
  std::string id;
  std::string type;
  std::string delivery;
  std::string status;
  bool verified = false;  // both signatures, and not older than five minutes
  std::string problem;    // why not
  // Handed on: the status that came back; 0: none did, for the reason of `forward_problem`.
  std::optional<int> forwarded = std::nullopt;
  std::string forward_problem = {};
};
// While a rotation overlaps, a receiver that has the previous secret still accepts.
ReceivedWebhook inspect_webhook(const net::HttpRequest& request, std::string_view secret, Timestamp now);
// The event as it is handed on: the same bytes and headers, but for those of the connection.
net::OutgoingRequest forwarded_request(const net::HttpRequest& request, const std::string& url);
// Without a line's end; control characters are shown as '?', so that a stranger's text cannot steer a
// terminal.
std::string webhook_line(const ReceivedWebhook& webhook, bool json);

}  // namespace presetbridge::app
