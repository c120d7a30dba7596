#include "services/accounts/disabled_accounts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "storage/stores/account_store.h"
#include "storage/stores/audit_store.h"
#include "storage/stores/disabled_account_store.h"

namespace presetbridge::services {
namespace {

constexpr std::size_t kLongestReason = 500;

}  // namespace

Task<Expected<bool>> DisabledAccounts::holds(Executor& executor, AccountId account) {
  List list;
  bool read = false;
  std::uint64_t changes = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto now = clock_.now();
    // A clock that was set back makes it old, too.
    const bool old = !list_ || now - read_at_ >= kMaxAge || now < read_at_;
    read = old && (!list_ || !reading_);
    reading_ = reading_ || read;
    list = list_;
    changes = changes_;
  }
  if (read) {
    const auto began = clock_.now();
    auto found =
        co_await async_db_.read(executor, [](storage::Tx& tx) { return storage::disabled_accounts(tx); });
    const std::lock_guard lock(mutex_);
    reading_ = false;
    if (found) {
      list = std::make_shared<const std::vector<AccountId>>(std::move(*found));
      const bool newest = changes == changes_;  // else it may be of before the change
      if (newest || !list_) list_ = list;
      read_at_ = newest ? began : Timestamp{};
    } else if (!list_) {
      co_return std::unexpected(found.error());
    } else {
      list = list_;
    }
  }
  co_return std::ranges::binary_search(*list, account);
}

Task<Expected<void>> DisabledAccounts::admit(Executor& executor, AccountId account) {
  const auto disabled = co_await holds(executor, account);
  if (!disabled) co_return std::unexpected(disabled.error());
  if (*disabled) co_return fail("FORBIDDEN", "This account is disabled. Ask whoever runs the service.");
  co_return Expected<void>{};
}

Task<Expected<bool>> DisabledAccounts::disable(Executor& executor, AccountId account, std::string reason,
                                               std::string name) {
  if (reason.size() > kLongestReason) {
    co_return fail("VALIDATION_FAILED", fmt::format("The reason has {} bytes at most.", kLongestReason));
  }
  co_return co_await change(executor, account, true, std::move(reason), std::move(name));
}

Task<Expected<bool>> DisabledAccounts::enable(Executor& executor, AccountId account, std::string name) {
  co_return co_await change(executor, account, false, {}, std::move(name));
}

Task<Expected<bool>> DisabledAccounts::change(Executor& executor, AccountId account, bool disabled,
                                              std::string reason, std::string name) {
  auto changed = co_await async_db_.write(executor, [&](storage::Tx& tx) -> Expected<bool> {
    if (!storage::find_account(tx, account)) return fail("NOT_FOUND", "There is no such account.");
    auto accounts = storage::lock_disabled_accounts(tx);
    const auto at = std::ranges::lower_bound(accounts, account);
    const bool is = at != accounts.end() && *at == account;
    if (is == disabled) return false;
    if (disabled && accounts.size() >= storage::kMostDisabledAccounts) {
      return fail("VALIDATION_FAILED", fmt::format("{} accounts are disabled; there can be no more.",
                                                   storage::kMostDisabledAccounts));
    }
    disabled ? accounts.insert(at, account) : accounts.erase(at);
    storage::put_disabled_accounts(tx, accounts);
    storage::insert_audit(tx, ids_,
                          {.account = account,
                           .actor = "operator",
                           .action = disabled ? "account.disabled" : "account.enabled",
                           .target = {},
                           .detail = reason,
                           .actor_name = name});
    return true;
  });
  // Here it counts from now on.
  const std::lock_guard lock(mutex_);
  ++changes_;
  read_at_ = {};
  co_return changed;
}

}  // namespace presetbridge::services
