#include <algorithm>
#include <boost/json.hpp>

#include "app/verbs/listen.h"
#include "base/ascii.h"
#include "base/testing.h"
#include "crypto/webhook_signature.h"
#include "require.h"
#include "services/dispatcher/stored_answer.h"
#include "splice.h"

namespace {

using namespace presetbridge;
using namespace presetbridge::crypto;

constexpr std::string_view kBody =
    R"({"id":"e-1","type":"delivery.completed","deliveryId":"del_1","delivery":{"status":"completed"}})";
constexpr std::int64_t kSentAt = 1'790'000'000;

const std::string& secret() {
  static const std::string made = [] {
    testing::SeededRandom random;
    return generate_webhook_secret(random);
  }();
  return made;
}

struct Sent {
  std::string id, timestamp, vendor, standard, body;
};

app::ReceivedWebhook received(const Sent& sent, Timestamp now = from_unix_ms(kSentAt * 1000)) {
  net::HttpRequest request{.method = "POST", .body = sent.body};
  request.headers.add("webhook-id", sent.id);
  request.headers.add("webhook-timestamp", sent.timestamp);
  request.headers.add("webhook-signature", sent.standard);
  request.headers.add("X-Vendor-Signature", sent.vendor);
  const auto webhook = app::inspect_webhook(request, secret(), now);
  REQUIRE(webhook.verified == webhook.problem.empty());
  // Nothing of a stranger's steers a terminal, and the other form is JSON.
  REQUIRE(std::ranges::none_of(app::webhook_line(webhook, false),
                               [](unsigned char c) { return c < 0x20 || c == 0x7f; }));
  const auto line = app::webhook_line(webhook, true);
  REQUIRE(!line.contains('\n'));
  return webhook;
}

// Whether one of the words is that signature.
bool names(std::string_view words, std::string_view signature) {
  return (" " + std::string(words) + " ").contains(" " + std::string(signature) + " ");
}

}  // namespace

// The sender signs, the receiver believes exactly what was signed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  REQUIRE(
      !received({"e-1", std::to_string(kSentAt), std::string(bytes), std::string(bytes), std::string(kBody)})
           .verified);
  REQUIRE(!verify_vendor_signature(secret(), bytes, kBody));
  if (is_webhook_secret(bytes)) REQUIRE(sign_webhook({"e-1", kSentAt, kBody}, bytes).has_value());
  const auto stored = services::stored_answer(bytes);
  REQUIRE(stored.size() <= services::kStoredAnswerBytes && services::stored_answer(stored) == stored);

  FuzzedDataProvider input(data, size);
  const std::string body = input.ConsumeBool() ? std::string(kBody) : input.ConsumeRandomLengthString(200);
  const auto id = input.ConsumeRandomLengthString(20);
  const auto signatures = sign_webhook({id, kSentAt, body}, secret());
  REQUIRE(signatures);
  const Sent sent{id, std::to_string(kSentAt), signatures->vendor, signatures->standard, body};
  REQUIRE(received(sent).verified);
  const auto drift = Millis{input.ConsumeIntegralInRange<std::int64_t>(-1'000'000, 1'000'000)};
  const bool fresh = drift <= Millis{300'000} && drift >= Millis{-300'000};
  REQUIRE(received(sent, from_unix_ms(kSentAt * 1000) + drift).verified == fresh);

  auto altered = sent;
  switch (input.ConsumeIntegralInRange(0, 4)) {
    case 0:
      altered.id = fuzz::spliced(input, sent.id);
      break;
    case 1:
      altered.timestamp = fuzz::spliced(input, sent.timestamp);
      break;
    case 2:
      altered.vendor = fuzz::spliced(input, sent.vendor);
      break;
    case 3:
      altered.standard = fuzz::spliced(input, sent.standard);
      break;
    default:
      altered.body = fuzz::spliced(input, sent.body);
  }
  const bool still_true = altered.id == sent.id && altered.timestamp == sent.timestamp &&
                          altered.body == sent.body && altered.vendor.starts_with("sha256=") &&
                          equal_ignoring_case(altered.vendor, sent.vendor) &&
                          names(altered.standard, sent.standard);
  REQUIRE(received(altered).verified == still_true);
  return 0;
}
