// `presetbridge listen` (spec 12.4): a receiver of outbound webhooks that verifies both signatures and prints
// one line an event.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "base/time.h"
#include "net/http.h"

namespace presetbridge::app {

struct ListenOptions {
  std::uint16_t port = 0;   // on 127.0.0.1; 0: any free one
  std::string secret;       // whsec_...
  int once = 0;             // end after so many events; 0: never
  bool json = false;        // one JSON object a line, the first {"listening": "http://127.0.0.1:PORT"}
  int answer_status = 200;  // for trials of retries: what every event is answered with, and how late
  Millis answer_delay{0};
};

// Ends after `once` events, or at SIGINT or SIGTERM. 0: every event was verified. 1: one was not, or it
// cannot listen. 2: an option is wrong. Called in a process without threads.
int run_listen(const ListenOptions& options, std::ostream& out, std::ostream& err);

// What was received. The texts come from outside.
struct ReceivedWebhook {
  std::string id;
  std::string type;
  std::string delivery;
  std::string status;
  bool verified = false;  // both signatures, and not older than five minutes
  std::string problem;    // why not
};
// While a rotation overlaps, a receiver that has the previous secret still accepts.
ReceivedWebhook inspect_webhook(const net::HttpRequest& request, std::string_view secret, Timestamp now);
// Without a line's end; control characters are shown as '?', so that a stranger's text cannot steer a
// terminal.
std::string webhook_line(const ReceivedWebhook& webhook, bool json);

}  // namespace presetbridge::app
