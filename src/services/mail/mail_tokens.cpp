#include "services/mail/mail_tokens.h"

#include "crypto/digest.h"
#include "crypto/link_token.h"
#include "identity/mail_links.h"

namespace presetbridge::services {

namespace {

constexpr std::int64_t kVersion = 1;  // a link has one token

crypto::Sha256 key_for(const LinkKeys::Key& key, MailPurpose purpose) {
  return crypto::hmac_sha256(key.bytes.reveal(),
                             "presetbridge link in a mail: " + std::string(to_string(purpose)));
}

}  // namespace

std::string MailTokens::token_of(MailLinkId link, MailPurpose purpose) const {
  return crypto::make_link_token(key_for(keys_.ring()->front(), purpose), link.value, kVersion);
}

Task<Expected<MailLinkId>> MailTokens::find(Executor& executor, std::string token, MailPurpose purpose) {
  const auto claim = crypto::parse_link_token(token);
  if (!claim) co_return identity::link_invalid();
  const auto rows =
      co_await async_db_.read(executor, [](storage::Tx& tx) { return storage::find_link_keys(tx); });
  if (!rows) co_return std::unexpected(rows.error());
  const auto ring = keys_.ring_of(*rows);
  if (!ring) co_return std::unexpected(ring.error());
  bool genuine = false;
  for (const auto& key : **ring) genuine |= crypto::is_link_of(key_for(key, purpose), *claim, kVersion);
  if (!genuine) co_return identity::link_invalid();
  co_return MailLinkId{claim->id};
}

}  // namespace presetbridge::services
