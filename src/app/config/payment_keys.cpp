#include "app/config/payment_keys.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "crypto/key_file.h"
#include "payments/stripe.h"

namespace presetbridge::app {
namespace {

constexpr std::size_t kLongestSecret = 255;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

bool is_webhook_secret(std::string_view line) {
  constexpr std::string_view kPrefix = "whsec_";
  constexpr std::size_t kShortest = 16;
  return line.starts_with(kPrefix) && line.size() >= kShortest && line.size() <= kLongestSecret &&
         std::ranges::all_of(line, [](char c) { return c > ' ' && c < '\x7f'; });
}

Expected<std::vector<crypto::SecretString>> read_webhook_secrets(const std::filesystem::path& file) {
  std::vector<crypto::SecretString> secrets;
  if (!std::filesystem::exists(file)) return secrets;
  const auto text = crypto::read_key_file(file, crypto::KeyFileAccess::secret);
  if (!text) return std::unexpected(text.error());
  const auto lines = lines_of(text->reveal());
  if (lines.size() > kMostWebhookSecrets || !std::ranges::all_of(lines, is_webhook_secret))
    return fail("KEY_FILE_INVALID", file.string() +
                                        " must hold an endpoint's secrets, whsec_…, a line each: " +
                                        std::to_string(kMostWebhookSecrets) + " at most.");
  for (const auto line : lines) secrets.emplace_back(line);
  return secrets;
}

}  // namespace

Expected<std::optional<PaymentKeys>> read_payment_keys(const Config& config, const DataDirectory& directory) {
  if (!std::filesystem::exists(directory.payments_key)) return std::optional<PaymentKeys>();
  const auto text = crypto::read_key_file(directory.payments_key, crypto::KeyFileAccess::secret);
  if (!text) return std::unexpected(text.error());
  const auto lines = lines_of(text->reveal());
  if (lines.size() != 1 || !payments::is_stripe_key(lines.front()))
    return fail("KEY_FILE_INVALID", directory.payments_key.string() +
                                        " must hold one line: the payment processor's key, sk_… or rk_….");
  PaymentKeys keys;
  keys.api = crypto::SecretString(lines.front());
  keys.live = payments::is_live_stripe_key(lines.front());
  if (keys.live && (config.sandbox || config.payments_url != payments::kStripeUrl))
    return fail("PAYMENTS_KEY_LIVE",
                "The key in " + directory.payments_key.string() +
                    " is of real money: it is refused with --sandbox, and with another payments.url than " +
                    std::string(payments::kStripeUrl) + ".");
  auto webhook = read_webhook_secrets(directory.payments_webhook);
  if (!webhook) return std::unexpected(webhook.error());
  keys.webhook = std::move(*webhook);
  return std::optional(std::move(keys));
}

}  // namespace presetbridge::app
