// Verifies ID tokens (spec 7.1): one code path for every issuer, the built-in among them. Only RS256 and
// ES256; `iss` and `aud` exactly, `exp`, `iat`, `nbf` with 60 s leeway, `sub` not empty.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/executor.h"
#include "base/ids.h"
#include "base/task.h"
#include "base/time.h"
#include "crypto/jws.h"

namespace presetbridge::identity {

struct VerifiedToken {
  std::string iss;
  std::string sub;
  std::string email;  // may be empty; as the issuer says
  Timestamp expires_at;
  std::optional<SessionId> session = std::nullopt;    // `sid`, of an issuer that makes_sessions()
  std::optional<Timestamp> auth_time = std::nullopt;  // when the person proved who they are
  std::string nonce = {};                             // may be empty
  std::string authorized_party = {};                  // `azp`; may be empty
};

using Keys = std::shared_ptr<const crypto::JwkSet>;

// One issuer that is trusted: built in (built_in_issuer.h) or remote (remote_issuer.h). Thread-safe; tasks
// resume on `executor`.
class Issuer {
 public:
  virtual ~Issuer() = default;
  virtual const std::string& iss() const = 0;       // exactly as in the tokens
  virtual const std::string& audience() const = 0;  // what `aud` has to be, or to contain
  // Whether a `sid` in its tokens names one of our sessions.
  virtual bool makes_sessions() const { return false; }
  // The keys as they are known; fetched if none are, or they are old. ISSUER_UNAVAILABLE when there are none.
  virtual Task<Expected<Keys>> keys(Executor& executor) = 0;
  // For a token with an unknown key: fetches again, unless that was done a short while ago.
  virtual Task<Expected<Keys>> fresh_keys(Executor& executor) = 0;
};

// Thread-safe.
class TokenVerifier {
 public:
  static constexpr Millis leeway{60'000};
  static constexpr std::size_t max_subject_bytes = 255;

  // The issuers outlive this; no two with one `iss`.
  TokenVerifier(std::vector<Issuer*> issuers, const Clock& clock)
      : issuers_(std::move(issuers)), clock_(clock) {}

  // UNAUTHORIZED for whatever is wrong with the token; ISSUER_UNAVAILABLE when its issuer's keys cannot be
  // had now.
  Task<Expected<VerifiedToken>> verify(Executor& executor, std::string token) const;

 private:
  std::vector<Issuer*> issuers_;
  const Clock& clock_;
};

}  // namespace presetbridge::identity
