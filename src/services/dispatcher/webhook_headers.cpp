#include "services/dispatcher/webhook_headers.h"

namespace presetbridge::services {

std::vector<std::pair<std::string, std::string>> webhook_headers(std::string_view type, std::string_view uuid,
                                                                 std::optional<Timestamp> at) {
  std::vector<std::pair<std::string, std::string>> headers{{"Content-Type", "application/json"},
                                                           {"User-Agent", "presetbridge-webhooks/1"},
                                                           {"X-Vendor-Event", std::string(type)},
                                                           {"webhook-id", std::string(uuid)}};
  if (at) headers.emplace_back("webhook-timestamp", std::to_string(to_unix_ms(*at) / 1'000));
  return headers;
}

}  // namespace presetbridge::services
