#include "cloud/cloud_login.h"

#include <utility>

#include "cloud/packed_fields.h"

namespace presetbridge::cloud {
namespace {

constexpr std::uint8_t kFormat = 1;

bool within_limits(std::string_view email, std::string_view password) {
  return !email.empty() && email.size() <= kMaxEmail && !password.empty() && password.size() <= kMaxPassword;
}

}  // namespace

std::optional<crypto::SecretString> encode_cloud_login(std::string_view email, std::string_view password) {
  if (!within_limits(email, password)) return std::nullopt;
  auto packed = FieldWriter().u8(kFormat).bytes(email).bytes(password).take();
  crypto::SecretString result(crypto::text_of(packed));
  crypto::wipe(packed);
  return result;
}

std::optional<CloudLogin> decode_cloud_login(std::string_view text) {
  FieldReader reader{text};
  const auto version = reader.u8();
  const auto email = reader.text();
  const auto password = reader.text();
  if (version != kFormat || !reader.done() || !within_limits(email, password)) return std::nullopt;
  return CloudLogin{std::string(email), crypto::SecretString(password)};
}

}  // namespace presetbridge::cloud
