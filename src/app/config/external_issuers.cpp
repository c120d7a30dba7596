#include "app/config/external_issuers.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "crypto/key_file.h"
#include "crypto/random.h"

namespace presetbridge::app {
namespace {

constexpr std::size_t kLongestId = 40;
constexpr std::size_t kLongestName = 60;

// The first word of `text`, which loses it.
std::string_view take_word(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  const auto word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= kLongestId && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

}  // namespace

std::expected<identity::ExternalIssuerOptions, std::string> parse_external_issuer(std::string_view text) {
  const auto id = take_word(text);
  const auto signup = identity::parse_signup(take_word(text));
  const auto iss = take_word(text);
  const auto client = take_word(text);
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (!is_id(id)) return std::unexpected("must begin with a name of 1 to 40 of a-z, 0-9 and -");
  if (!signup) return std::unexpected("must say open, invite or closed after the name");
  if (!iss.starts_with("https://") && !iss.starts_with("http://"))
    return std::unexpected("must have the issuer's URL as third word");
  if (client.empty()) return std::unexpected("must have the client's id as fourth word");
  if (text.empty() || text.size() > kLongestName)
    return std::unexpected("must end with what people call the issuer, in 60 bytes at most");
  return identity::ExternalIssuerOptions{.id = std::string(id),
                                         .name = std::string(text),
                                         .iss = std::string(iss),
                                         .client_id = std::string(client),
                                         .client_secret = {},
                                         .signup = *signup};
}

Expected<std::vector<identity::ExternalIssuerOptions>> external_issuers(const std::vector<std::string>& texts,
                                                                        const std::filesystem::path& folder) {
  crypto::initialise();  // secrets are kept in its memory
  std::vector<identity::ExternalIssuerOptions> issuers;
  for (const auto& text : texts) {
    auto issuer = parse_external_issuer(text);
    if (!issuer) return fail("VALIDATION_FAILED", "identity.external " + issuer.error());
    const auto file = folder / (issuer->id + ".client-secret");
    std::error_code unknown;
    if (std::filesystem::exists(file, unknown)) {
      auto read = crypto::read_key_file(file, crypto::KeyFileAccess::secret);
      if (!read) return std::unexpected(read.error());
      auto line = read->reveal();
      while (line.ends_with('\n') || line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
      if (line.empty()) return crypto::key_file_invalid(file);
      issuer->client_secret = crypto::SecretString(line);
    }
    issuers.push_back(std::move(*issuer));
  }
  return issuers;
}

bool invitations_are_good(const Config& config) {
  if (config.identity_signup != "closed") return true;
  return std::ranges::any_of(config.identity_external, [](const std::string& text) {
    const auto issuer = parse_external_issuer(text);
    return issuer && issuer->signup != identity::Signup::closed;
  });
}

std::vector<std::unique_ptr<identity::RemoteIssuer>> trusted_issuers(const std::vector<std::string>& texts,
                                                                     net::HttpClient& http,
                                                                     const Clock& clock, Log& log) {
  std::vector<std::unique_ptr<identity::RemoteIssuer>> issuers;
  for (const auto& text : texts) {
    const auto space = text.find(' ');
    identity::RemoteIssuerOptions options;
    options.iss = text.substr(0, space);
    options.audience = text.substr(text.find_first_not_of(' ', space));
    issuers.push_back(std::make_unique<identity::RemoteIssuer>(std::move(options), http, clock, log));
  }
  return issuers;
}

}  // namespace presetbridge::app
