// How the answers of api/cloud-platform.openapi.yaml are read: bytes to values, pure. Nothing for whatever is
// not of the contract; unknown members are ignored.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cloud/cloud.h"

namespace presetbridge::cloud {

inline constexpr std::size_t kMaxText = 200;             // characters of ids, cursors, usernames and names
inline constexpr std::size_t kMaxToken = 4096;           // bytes of a session token
inline constexpr Millis kMaxRetryAfter{24 * 3'600'000};  // spec 3.5

std::optional<Session> read_session(std::string_view body);
std::optional<CloudUser> read_user(std::string_view body);
struct Friendship {
  std::string user_id;
  FriendshipState state;
};
std::optional<Friendship> read_friendship(std::string_view body);
std::optional<FriendshipPage> read_friendship_page(std::string_view body);
std::optional<FilePage> read_file_page(std::string_view body);
// Share::existed is left false: it follows from the status, not from the body.
std::optional<Share> read_share(std::string_view body);

struct PlatformError {
  std::string code;
  std::string message;  // cut to kMaxText characters, without control characters
};
std::optional<PlatformError> read_error(std::string_view body);

// The kind that an error code of the contract stands for; `rejected` for one that is not known.
CloudError::Kind kind_of(std::string_view code);

// Retry-After: seconds or an HTTP date (IMF-fixdate), cut to [0, kMaxRetryAfter].
std::optional<Millis> read_retry_after(std::string_view value, Timestamp now);

// One segment of a path, percent-encoded. Nothing for what cannot be one: empty, too long, "." or "..", or
// with control characters, which no answer may have.
std::optional<std::string> path_segment(std::string_view text);

}  // namespace presetbridge::cloud
