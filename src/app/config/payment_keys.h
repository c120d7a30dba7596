// The secrets of the payment processor (spec 11.3), as files of the data directory that the operator writes,
// readable by their owner only:
//   payments.key      the API key, one line: sk_… or rk_…
//   payments.webhook  the endpoint's secrets, a line each: whsec_…; several while one is rolled
#pragma once

#include <optional>
#include <vector>

#include "app/config/config.h"
#include "app/config/data_directory.h"
#include "base/error.h"
#include "crypto/secret.h"

namespace presetbridge::app {

struct PaymentKeys {
  crypto::SecretString api;
  std::vector<crypto::SecretString> webhook;  // none: webhooks are refused
  bool live = false;
};
inline constexpr std::size_t kMostWebhookSecrets = 5;

// Nothing: there is no payments.key, and no credits are sold. KEY_FILE_…: as of crypto/key_file.h.
// PAYMENTS_KEY_LIVE: a key of real money, with --sandbox or an address that is not the processor's own.
Expected<std::optional<PaymentKeys>> read_payment_keys(const Config& config, const DataDirectory& directory);

}  // namespace presetbridge::app
