// The content of a sealed cloud login (spec 5.2): the plain text that is sealed at the save and opened by the
// credential agent.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "crypto/secret.h"

namespace presetbridge::cloud {

inline constexpr std::size_t kMaxEmail = 1016;  // 254 characters, of any script
inline constexpr std::size_t kMaxPassword = 1024;

struct CloudLogin {
  std::string email;              // 1 to kMaxEmail bytes
  crypto::SecretString password;  // 1 to kMaxPassword bytes
};

// Nothing if a field is outside its limits.
std::optional<crypto::SecretString> encode_cloud_login(std::string_view email, std::string_view password);
// Nothing for anything but what encode_cloud_login makes.
std::optional<CloudLogin> decode_cloud_login(std::string_view text);

}  // namespace presetbridge::cloud
