#include "services/keys/known_key_agent.h"

#include <algorithm>
#include <utility>

#include "crypto/encoding.h"
#include "crypto/sealed_record.h"
#include "storage/stores/key_store.h"

namespace presetbridge::services {

using cloud::CloudError;

Task<bool> KnownKeyAgent::lacks_key_of(Executor& executor, crypto::VaultKeyId key) {
  const auto held = co_await keeper_.held_keys(executor);
  if (held && std::ranges::find(*held, key) != held->end()) co_return false;
  const auto used = co_await async_db_.read(
      executor, [](storage::Tx& tx) { return storage::used_keys(tx, storage::KeyUse::vault); });
  // If the keys could not be read, the key counts as missing here: the login is not reported as damaged.
  co_return !held || !used || std::ranges::find(*used, crypto::hex_encode(key)) != used->end();
}

Task<cloud::CloudResult<cloud::Session>> KnownKeyAgent::login(Executor& executor, AccountId account,
                                                              std::int64_t version, crypto::Bytes sealed) {
  const auto key = crypto::sealed_record_key_id(sealed);
  auto session = co_await agent_.login(executor, account, version, std::move(sealed));
  if (session || session.error().kind != CloudError::Kind::credentials_unreadable || !key) co_return session;
  if (!co_await lacks_key_of(executor, *key)) co_return session;
  log_.error("this node lacks a key of the vault that others seal logins to: copy vault.key to it",
             {{"account", to_string(account)}, {"key", crypto::hex_encode(*key)}});
  co_return std::unexpected(CloudError{CloudError::Kind::unavailable,
                                       "This node lacks the key of the stored login.", false, std::nullopt});
}

}  // namespace presetbridge::services
