#include "services/vault/login_guard.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "crypto/digest.h"
#include "services/vault/stored_logins.h"
#include "storage/stores/cloud_login_store.h"
#include "storage/stores/credential_store.h"

namespace presetbridge::services {
namespace {

using storage::Tx;

// How long until fewer than `limit` of `times` (oldest first) lie within `window`; nothing if that is so now.
std::optional<Millis> wait_of(const std::vector<Timestamp>& times, std::size_t limit, Millis window,
                              Timestamp now) {
  if (times.size() < limit) return std::nullopt;
  return times[times.size() - limit] + window - now;
}

}  // namespace

Task<LoginResult<LoginGuard::Attempt>> LoginGuard::begin(Executor& executor, AccountId account,
                                                         std::string email) {
  const auto digest = crypto::hmac_sha256(email_key_(), lowered(email));
  const std::vector<std::byte> hash(digest.begin(), digest.end());
  auto place = under_way_.take({{to_string(account), limits_.account_at_once}});
  if (!place) co_return std::unexpected(unanswered({cloud::CloudError::Kind::busy, "", false, {}}));
  Attempt attempt{.id = ids_.next(), .left = 0, .place = std::move(*place)};
  auto wait = co_await async_db_.write(executor, [&](Tx& tx) -> std::optional<Millis> {
    lock_standing(tx, account);  // the account's attempts come one after the other
    const auto now = tx.now();
    std::optional<Millis> longest;
    const auto apply = [&](std::optional<Millis> w) {
      if (w) longest = std::max(longest.value_or(*w), *w);
    };
    const auto of_email = lock_failures_of_email(tx, hash, now - limits_.email_window);
    const auto of_account = failures_of_account(tx, account, now - limits_.account_window);
    apply(wait_of(of_email, limits_.email_failures, limits_.email_window, now));
    apply(wait_of(of_account, limits_.account_failures, limits_.account_window, now));
    apply(wait_of(other_emails_of_account(tx, account, hash, now - limits_.account_emails_window),
                  limits_.account_emails, limits_.account_emails_window, now));
    if (longest) return longest;
    attempt.left =
        std::min(limits_.email_failures - of_email.size(), limits_.account_failures - of_account.size()) - 1;
    const auto oldest =
        std::max({limits_.email_window, limits_.account_window, limits_.account_emails_window});
    delete_login_attempts(tx, account, now - oldest);
    insert_login_attempt(tx, {attempt.id, account, hash, now, true});
    return std::nullopt;
  });
  if (!wait) co_return std::unexpected(wait.error());
  if (*wait) co_return std::unexpected(identity::rate_limit_exceeded(**wait));
  co_return std::move(attempt);
}

Task<Expected<void>> LoginGuard::end(Executor& executor, const Attempt& attempt, Outcome outcome) {
  if (outcome == Outcome::refused) co_return Expected<void>{};
  co_return co_await async_db_.write(executor, [&](Tx& tx) {
    if (outcome == Outcome::succeeded) {
      clear_login_failure(tx, attempt.id);
    } else {
      delete_login_attempt(tx, attempt.id);
    }
  });
}

}  // namespace presetbridge::services
