#include <algorithm>
#include <string>
#include <vector>

#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "payments/stripe_reading.h"
#include "payments/stripe_signature.h"
#include "require.h"
#include "splice.h"

namespace {

using namespace presetbridge;
using namespace presetbridge::payments;

constexpr std::int64_t kMost = (std::int64_t{1} << 53) - 1;
constexpr std::int64_t kSentAt = 1'790'000'000;
constexpr std::string_view kSecret = "whsec_of_the_target";
constexpr std::string_view kBody = R"({"id":"evt_1","object":"event","type":"charge.refunded"})";

void id_is_sound(const std::string& id) {
  REQUIRE(id.size() <= kLongestStripeId);
  REQUIRE(std::ranges::none_of(id, [](unsigned char c) { return c < 0x20 || c == 0x7f; }));
}
void amount_is_sound(std::int64_t amount) {
  REQUIRE(amount >= 0 && amount <= kMost);
}

void answers(const std::string& body) {
  if (const auto session = read_stripe_session(body)) {
    REQUIRE(!session->id.empty());
    for (const auto* id : {&session->id, &session->reference, &session->account, &session->payment})
      id_is_sound(*id);
    REQUIRE(session->url.size() <= kLongestStripeUrl);
    amount_is_sound(session->amount);
  }
  if (const auto payment = read_stripe_payment(body)) id_is_sound(payment->charge);
  if (const auto charge = read_stripe_charge(body)) amount_is_sound(charge->refunded);
  if (const auto disputes = read_stripe_disputes(body)) {
    for (const auto& dispute : *disputes) amount_is_sound(dispute.amount);
  }
  if (const auto event = read_stripe_event(body)) id_is_sound(event->session);
  if (const auto page = read_stripe_events(body)) REQUIRE(!page->more || !page->last.empty());
  id_is_sound(read_stripe_error(body).substr(0, kLongestStripeId));
}

// What the target itself signed verifies; altered, it does not.
void signatures(FuzzedDataProvider& input) {
  std::vector<crypto::SecretString> secrets;
  secrets.emplace_back(kSecret);
  const auto now = from_unix_ms(kSentAt * 1'000);
  const auto time = std::to_string(kSentAt);
  const auto mac = crypto::hex_encode(crypto::hmac_sha256(kSecret, time + "." + std::string(kBody)));
  const auto header = "t=" + time + ",v1=" + mac;
  REQUIRE(verify_stripe(header, kBody, secrets, now) == StripeVerdict::valid);
  const auto body = fuzz::spliced(input, kBody);
  if (body != kBody) REQUIRE(verify_stripe(header, body, secrets, now) != StripeVerdict::valid);
  const auto altered = fuzz::spliced(input, header);
  if (verify_stripe(altered, kBody, secrets, now) == StripeVerdict::valid) {
    REQUIRE(altered.contains("t=" + time));
    REQUIRE(altered.contains("v1=" + mac));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  if (input.ConsumeBool()) {
    signatures(input);
  } else {
    answers(input.ConsumeRemainingBytesAsString());
  }
  return 0;
}
