// The issuers besides the built-in one, as the settings and the data directory name them: those that people
// sign in with through the service (spec 7.2), and those whose ID tokens are taken as they are (spec 7.1).
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/config/config.h"
#include "base/error.h"
#include "identity/external_sign_in.h"
#include "identity/remote_issuer.h"

namespace presetbridge::app {

// Parses "ID SIGNUP ISSUER CLIENT_ID NAME…", as in identity.external, without a secret. The error is text
// that follows "must".
std::expected<identity::ExternalIssuerOptions, std::string> parse_external_issuer(std::string_view text);

// The issuers of identity.external, each with its client secret from the file ID.client-secret of the folder;
// without that file a public client. `texts` are valid. KEY_FILE_INVALID: others may read the file, or it
// cannot be read.
Expected<std::vector<identity::ExternalIssuerOptions>> external_issuers(const std::vector<std::string>& texts,
                                                                        const std::filesystem::path& folder);

// Whether an invitation can be used: false where all sign-up is closed.
bool invitations_are_good(const Config& config);

// The issuers of identity.trusted, "ISSUER AUDIENCE" each; `texts` are valid. `http`, `clock` and `log` must
// outlive the issuers.
std::vector<std::unique_ptr<identity::RemoteIssuer>> trusted_issuers(const std::vector<std::string>& texts,
                                                                     net::HttpClient& http,
                                                                     const Clock& clock, Log& log);

}  // namespace presetbridge::app
