#include "providers/verify.h"

#include <fuzzer/FuzzedDataProvider.h>

#include <array>

#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "require.h"

// A signature header of arbitrary bytes verifies only if it is the right one; the right one always does.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace presetbridge;
  FuzzedDataProvider input(data, size);
  const auto header = input.ConsumeRandomLengthString(100);
  const auto body = input.ConsumeRemainingBytesAsString();
  static constexpr std::array<std::string_view, 2> secrets{"current-secret", "previous-secret"};
  for (const auto provider :
       {domain::Provider::provider_a, domain::Provider::provider_b, domain::Provider::generic}) {
    const auto& profile = providers::profile_of(provider);
    const auto with = [&](std::vector<std::string_view> values) {
      const providers::HeaderValues headers = [&](std::string_view name) {
        return name == profile.signature_headers[0] ? values : std::vector<std::string_view>{};
      };
      return providers::verify(profile, headers, body, secrets).has_value();
    };
    REQUIRE(!with({}));
    bool expected = false;
    for (const auto secret : secrets) {
      const auto mac = crypto::hmac_sha256(secret, body);
      const auto right = profile.encoding == providers::SignatureEncoding::base64
                             ? crypto::base64_encode(mac)
                             : "sha256=" + crypto::hex_encode(mac);
      REQUIRE(with({right}));
      const bool same = header == right;
      expected = expected || same;
      REQUIRE(with({right, header}) == same || with({header}));
    }
    // Hexadecimal digits of the other case would be a right signature too, but no fuzzer finds 256 bits of
    // it.
    REQUIRE(with({header}) == expected);
    (void)providers::is_unsigned_ping(profile, body);
  }
  return 0;
}
