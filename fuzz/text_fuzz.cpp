#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/ids.h"
#include "base/testing.h"
#include "base/time.h"
#include "base/whole_number.h"
#include "crypto/api_key.h"
#include "crypto/encoding.h"
#include "crypto/link_token.h"
#include "crypto/opaque_token.h"
#include "net/address_guard.h"
#include "net/client_address.h"
#include "net/http.h"
#include "net/ip_address.h"
#include "require.h"
#include "splice.h"

namespace {

using namespace presetbridge;

// One text for one value: what is decoded encodes to the same text, and all bytes come back.
void try_encodings(std::string_view text) {
  using namespace crypto;
  Bytes of_hex(text.size() / 2), again(text.size() / 2);
  if (hex_decode_exactly(text, of_hex, HexCase::any))
    REQUIRE(hex_decode_exactly(hex_encode(of_hex), again) && again == of_hex);
  const bool is_hex = hex_decode_exactly(text, of_hex);
  if (is_hex) REQUIRE(hex_encode(of_hex) == text);
  if (const auto bytes = base64_decode(text)) REQUIRE(base64_encode(*bytes) == text);
  if (const auto bytes = base64url_decode(text)) REQUIRE(base64url_encode(*bytes) == text);
  const ByteView view(text);
  const Bytes all(view.begin(), view.end());
  again.resize(all.size());
  REQUIRE(hex_decode_exactly(hex_encode(all), again) && again == all);
  REQUIRE(base64_decode(base64_encode(all)) == all);
  REQUIRE(base64url_decode(base64url_encode(all)) == all);
  for (const std::size_t size : {0, 1, 8, 32}) {
    Bytes exact(size);
    const auto base64 = base64_decode(text);
    const bool hex_fits = is_hex && of_hex.size() == size;
    REQUIRE(hex_decode_exactly(text, exact) == hex_fits);
    REQUIRE(!hex_fits || exact == of_hex);
    REQUIRE(base64_decode_exactly(text, exact) == (base64 && base64->size() == size));
    REQUIRE(!base64 || base64->size() != size || exact == *base64);
  }
}

template <class Kind>
void try_id(std::string_view text) {
  const auto id = parse_id<Kind>(text);
  REQUIRE(!id || (id->value > 0 && to_string(*id) == text));
}

void try_ids(std::string_view text, FuzzedDataProvider& input) {
  try_id<DeliveryKind>(text);
  try_id<ApiKeyKind>(text);
  try_id<EventKind>(text);
  const DeliveryId id{input.ConsumeIntegralInRange<std::int64_t>(1, INT64_MAX)};
  const auto written = to_string(id);
  REQUIRE(parse_id<DeliveryKind>(written) == id);
  REQUIRE(!parse_id<ApiKeyKind>(written));
  try_id<DeliveryKind>(fuzz::spliced(input, written));
}

// A whole number says what the text does, digit for digit.
void try_whole_numbers(std::string_view text, FuzzedDataProvider& input) {
  constexpr std::size_t max_digits = 40;
  if (const auto digits = whole_number(text, max_digits)) {
    REQUIRE(digits->size() <= max_digits + 1 && whole_number(*digits, max_digits) == digits);
    double said = 0, read = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), said);
    std::from_chars(digits->data(), digits->data() + digits->size(), read);
    REQUIRE(end == text.data() + text.size());
    REQUIRE(error != std::errc{} || said == read);
  }
  const auto value = input.ConsumeIntegral<std::int64_t>();
  const auto zeros = input.ConsumeIntegralInRange<std::size_t>(1, 30);
  const auto written = std::to_string(value);
  REQUIRE(whole_number(written, max_digits) == written);
  REQUIRE(whole_number(written + '.' + std::string(zeros, '0'), max_digits) == written);
  REQUIRE(!whole_number(written + '.' + std::string(zeros, '0') + '1', max_digits));
  const auto shifted = written + std::string(zeros, '0') + "e-" + std::to_string(zeros);
  REQUIRE(whole_number(shifted, max_digits) == written);
}

void try_times(std::string_view text, FuzzedDataProvider& input) {
  if (const auto time = parse_iso8601(text)) REQUIRE(parse_iso8601(to_iso8601(*time)) == time);
  // The years 0000 to 9999.
  const auto any =
      from_unix_ms(input.ConsumeIntegralInRange<std::int64_t>(-62'167'219'200'000, 253'402'300'799'999));
  const auto written = to_iso8601(any);
  REQUIRE(written.size() == 24 && parse_iso8601(written) == any);
  const auto altered = fuzz::spliced(input, written);
  if (const auto time = parse_iso8601(altered)) REQUIRE(parse_iso8601(to_iso8601(*time)) == time);
}

// A typing error is told.
void try_keys(std::string_view text, FuzzedDataProvider& input) {
  using namespace crypto;
  testing::SeededRandom random(input.ConsumeIntegral<std::uint64_t>());
  const auto key = generate_api_key(random);
  REQUIRE(is_well_formed_api_key(key) && api_key_preview(key).ends_with(key.substr(key.size() - 4)));
  auto mistyped = key;
  const auto at = input.ConsumeIntegralInRange<std::size_t>(0, key.size() - 1);
  mistyped[at] = static_cast<char>(mistyped[at] ^ input.ConsumeIntegralInRange(1, 255));
  REQUIRE(!is_well_formed_api_key(mistyped));
  const auto altered = fuzz::spliced(input, key);
  REQUIRE(!is_well_formed_api_key(altered) || altered.size() == kApiKeyLength);
  REQUIRE(!is_well_formed_api_key(text) || text.starts_with(kApiKeyPrefix));

  const auto token = generate_opaque_token(random, "pdb_refresh_");
  REQUIRE(opaque_token_hash("pdb_refresh_", token.text) == token.hash);
  REQUIRE(!opaque_token_hash("pdb_admin_", token.text));
  for (const auto& candidate : {fuzz::spliced(input, token.text), std::string(text)}) {
    const auto hash = opaque_token_hash("pdb_refresh_", candidate);
    REQUIRE(!hash || (*hash == sha256(candidate) && candidate.size() == token.text.size()));
    REQUIRE((hash == token.hash) == (candidate == token.text));
  }
}

// A token is its row's, at its version, and no other text is.
void try_links(std::string_view text, FuzzedDataProvider& input) {
  using namespace crypto;
  const Bytes key(kLinkKeyBytes, std::byte{7});
  const auto id = input.ConsumeIntegralInRange<std::int64_t>(1, INT64_MAX);
  const auto version = input.ConsumeIntegral<std::int64_t>();
  const auto token = make_link_token(key, id, version);
  const auto claim = parse_link_token(token);
  REQUIRE(claim && claim->id == id && is_link_of(key, *claim, version));
  REQUIRE(!is_link_of(key, *claim, version ^ 1));
  for (const auto& candidate : {fuzz::spliced(input, token), std::string(text)}) {
    const auto read = parse_link_token(candidate);
    REQUIRE(!read || (candidate.size() == kLinkTokenLength && read->id > 0));
    REQUIRE((read && read->id == id && is_link_of(key, *read, version)) == (candidate == token));
  }
}

void try_addresses(std::string_view text, FuzzedDataProvider& input) {
  using namespace net;
  const auto require = [](const IpAddress& address) {
    REQUIRE(IpAddress::parse(address.to_string()) == address);
    REQUIRE(!(address.is_public() && address.is_loopback()));
  };
  if (const auto address = IpAddress::parse(text)) require(*address);
  std::array<std::uint8_t, 16> bytes{};
  input.ConsumeData(bytes.data(), bytes.size());
  require(IpAddress::v6(bytes));
  require(IpAddress::v4({bytes[0], bytes[1], bytes[2], bytes[3]}));
}

// What a proxy says of its client is believed of proxies that are named, and of nobody else.
void try_forwarded(std::string_view text) {
  using namespace net;
  if (const auto network = IpNetwork::parse(text)) {
    const auto address = IpAddress::parse(text.substr(0, text.find('/')));
    REQUIRE(address && network->contains(*address));
  }
  const auto proxy = *IpAddress::parse("10.0.0.1");
  const std::vector<IpNetwork> proxies{*IpNetwork::parse("10.0.0.0/8")};
  HttpRequest request;
  request.remote_address = proxy.to_string();
  request.headers.add("X-Forwarded-For", std::string(text));
  REQUIRE(client_address(request, {}) == proxy);
  const auto client = client_address(request, proxies);
  REQUIRE(client);
  // A proxy only where the field names nobody else, or breaks off there.
  REQUIRE(proxies.front().contains(*client) || text.find_first_of("0123456789abcdefABCDEF:") != text.npos);
  REQUIRE(caller_of(request, proxies).network.size() <= 45);
  request.remote_address = "192.0.2.1";
  REQUIRE(client_address(request, proxies) == IpAddress::parse("192.0.2.1"));
}

void try_url(std::string_view text) {
  using namespace net;
  const auto configured = check_url(text, AddressPolicy::configured);
  for (const auto policy : {AddressPolicy::public_https, AddressPolicy::sandbox_receivers}) {
    const auto url = check_url(text, policy);
    // A stricter policy refuses more and reads the same.
    REQUIRE(!url || (configured && url->host == configured->host && url->port == configured->port &&
                     url->https == configured->https && url->literal == configured->literal));
    REQUIRE(!url || !url->literal || address_allowed(policy, url->https, *url->literal));
    REQUIRE(!url || policy != AddressPolicy::public_https ||
            (url->https && (!url->literal || url->literal->is_public())));
  }
  if (!configured) return;
  REQUIRE(configured->port != 0 && !configured->host.empty() && configured->host.size() <= 253);
  REQUIRE(configured->host.find_first_of("@/?# []") == std::string::npos);
  const auto literal = IpAddress::parse(configured->host);
  REQUIRE(literal == configured->literal);
  // libcurl reads the host that was found as the same host.
  const bool v6 = configured->host.contains(':');
  const auto again = check_url((configured->https ? "https://" : "http://") +
                                   (v6 ? '[' + configured->host + ']' : configured->host) + ':' +
                                   std::to_string(configured->port) + "/",
                               AddressPolicy::configured);
  REQUIRE(again && again->host == configured->host && again->port == configured->port);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try_encodings(text);
  try_url(text);
  try_forwarded(text);
  FuzzedDataProvider input(data, size);
  try_ids(text, input);
  try_times(text, input);
  try_whole_numbers(text, input);
  try_keys(text, input);
  try_links(text, input);
  try_addresses(text, input);
  return 0;
}
