// Why a call of the cloud platform failed (spec 4.1). call_reaction.h has the reactions.
#pragma once

namespace presetbridge::domain {

// The credential agent's answers hold the numbers: a new one is the last.
enum class CallFailure {
  unavailable,             // connect failure, timeout, lost connection, 408, 425, 5xx
  rate_limited,            // 429
  session_refused,         // 401: the session is no longer good; log in again
  login_refused,           // the login itself is wrong (credential agent only)
  credentials_unreadable,  // the sealed login cannot be opened: altered, or its key is missing (credential
                           // agent only)
  user_not_found,          // 404 of a user
  file_not_found,          // 404 of a file
  not_shareable,           // the file cannot be shared
  blocked,                 // the customer blocked the merchant
  not_friends,             // a share without a mutual follow
  rejected,                // any other definite refusal
  malformed,               // an answer that is not of the contract: treated as unavailable, and logged
  busy,                    // the service's own limit of logins at once: the platform was not called
};
inline constexpr int kCallFailures = static_cast<int>(CallFailure::busy) + 1;

}  // namespace presetbridge::domain
