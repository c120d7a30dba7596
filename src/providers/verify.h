// Whether a webhook comes from who holds the integration's secret (spec 2.2).
#pragma once

#include <span>
#include <string_view>

#include "base/error.h"
#include "providers/profile.h"

namespace presetbridge::providers {

// HMAC-SHA256 over the raw body, byte for byte; nothing of the body is looked at. `secrets` are the
// integration's current one and, while a rotation overlaps, the one before: either may verify. An empty
// secret verifies nothing. Every signature header of the profile that is present must verify, every time it
// is present. Compared in constant time.
//
// Hexadecimal digits count in either case, since senders' libraries differ in it and it changes no bit of the
// signature; the prefix `sha256=` is exact.
//
// INVALID_SIGNATURE with a message that says which of three it is: no header, a malformed one, or no match.
// The message reveals nothing about the expected signature.
Expected<void> verify(const Profile& profile, const HeaderValues& headers, std::string_view body,
                      std::span<const std::string_view> secrets);

// The one unsigned body that is answered, with 200 and no effect (spec 2.3): what a platform with a
// `ping_field` posts when its webhook is saved: form-encoded, exactly that field with 1 to 20 digits.
bool is_unsigned_ping(const Profile& profile, std::string_view body);

}  // namespace presetbridge::providers
