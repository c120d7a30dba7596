#include "services/vault/vault.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "cloud/cloud_login.h"
#include "identity/audit.h"
#include "services/accounts/account_lock.h"
#include "services/worker/account_trouble.h"
#include "storage/stores/account_task_store.h"
#include "storage/stores/audit_store.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/integration_store.h"

namespace presetbridge::services {
namespace {

using cloud::CloudError;
using cloud::CloudResult;
using cloud::CloudUser;
using storage::AccountTaskKind;
using storage::CredentialsRecord;
using storage::CredentialsStanding;
using storage::CredentialsStatus;
using storage::Tx;

constexpr Millis kFirstCheck{60'000};
constexpr Millis kSlowestCheck{3'600'000};

CredentialsView view(Tx& tx, AccountId account) {
  const auto standing = find_standing(tx, account).value_or(CredentialsStanding{});
  CredentialsView v{
      .status = standing.status, .version = standing.version, .unreadable = standing.unreadable};
  const auto record = find_credentials(tx, account);
  if (!record) return v;
  v.masked_email = record->masked_email;
  v.cloud_username = record->cloud_username;
  v.saved_at = record->saved_at;
  v.checked_at = record->checked_at;
  if (standing.status == CredentialsStatus::valid) {
    if (const auto cloud_account = find_cloud_account(tx, standing.cloud_account)) {
      v.cloud_user_id = cloud_account->cloud_user_id;
    }
  }
  return v;
}

template <class T>
bool refused(const CloudResult<T>& result) {
  return !result && result.error().kind == CloudError::Kind::login_refused;
}

template <class T>
LoginGuard::Outcome outcome_of(const CloudResult<T>& result) {
  if (result) return LoginGuard::Outcome::succeeded;
  return refused(result) ? LoginGuard::Outcome::refused : LoginGuard::Outcome::unanswered;
}

std::unexpected<LoginFailure> failure(Error error) {
  return std::unexpected(LoginFailure(std::move(error)));
}

void audit(Tx& tx, IdSource& ids, const identity::Principal& by, std::string_view action,
           std::string_view detail) {
  identity::audit(tx, ids, by, {.action = action, .detail = std::string(detail)});
}

// The later it is since the save, the longer until the next check.
// Longer than a login takes: by then another node may check what this one did not come to the end of.
constexpr Millis kCheckTaken{120'000};

Timestamp next_check(Timestamp saved_at, Timestamp now) {
  return now + std::clamp(now - saved_at, kFirstCheck, kSlowestCheck);
}

}  // namespace

std::string mask_email(std::string_view email) {
  const auto at = email.rfind('@');
  if (at == std::string_view::npos || at == 0 || at + 1 == email.size()) return "…";
  return std::string(first_characters(email.substr(0, at), 1)) + "…" + std::string(email.substr(at));
}

Task<Expected<CredentialsView>> Vault::get(Executor& executor, identity::Principal by) {
  co_return co_await ports_.async_db.read(executor, [&](Tx& tx) { return view(tx, by.account); });
}

Task<Expected<std::optional<FriendsView>>> Vault::friends(Executor& executor, identity::Principal by) {
  co_return co_await ports_.async_db.read(executor, [&](Tx& tx) -> std::optional<FriendsView> {
    const auto standing = find_standing(tx, by.account);
    if (!standing) return std::nullopt;
    const auto cloud_account = find_cloud_account(tx, standing->cloud_account);
    if (!cloud_account) return std::nullopt;
    return FriendsView{.counts = count_friendships(tx, by.account, cloud_account->id, friends_of_deliveries),
                       .last_sweep_at = cloud_account->last_sweep_at};
  });
}

std::int64_t Vault::accept(Tx& tx, CredentialsStanding& standing, CredentialsRecord& record,
                           const CloudUser& user) {
  const auto proposed = ports_.ids.make<CloudAccountId>();
  const auto cloud_account = find_or_insert_cloud_account(tx, user.id, user.username, proposed);
  // Files of another user cannot be shared with this login (spec 3.11).
  const auto changed = match_mappings_to_login(tx, record.account, cloud_account);
  if (changed.made_stale > 0) {
    insert_audit(tx, ports_.ids,
                 {record.account, "system", "mappings.made_stale", "",
                  fmt::format("{}: the login is of another cloud user", changed.made_stale)});
  }
  if (changed.lifted > 0) {
    insert_audit(tx, ports_.ids,
                 {record.account, "system", "mappings.stale_lifted", "",
                  fmt::format("{}: the login is of their cloud user again", changed.lifted)});
    add_account_task(tx, record.account, AccountTaskKind::resume_mappings);
  }
  standing.status = CredentialsStatus::valid;
  standing.unreadable = false;
  standing.cloud_account = cloud_account;
  update_standing(tx, record.account, standing);
  record.cloud_username = user.username;
  record.checked_at = tx.now();
  record.check_due_at.reset();
  add_account_task(tx, record.account, AccountTaskKind::reroute);
  add_account_task(tx, record.account, AccountTaskKind::resume_credentials);
  wake_cloud_account(tx, cloud_account, tx.now());
  return changed.made_stale;
}

Task<LoginResult<CredentialsView>> Vault::save(Executor& executor, identity::Principal by, std::string email,
                                               crypto::SecretString password) {
  const auto login = cloud::encode_cloud_login(email, password.reveal());
  if (!login) {
    co_return failure(
        {"VALIDATION_FAILED", "The request has fields that are not valid.", {{"password", "is too long"}}});
  }
  const auto masked = mask_email(email);
  auto allowed = co_await ports_.guard.begin(executor, by.account, email);
  if (!allowed) co_return std::unexpected(allowed.error());
  auto session = co_await ports_.agent.login_with(executor, std::move(email), std::move(password));
  if (auto ended = co_await ports_.guard.end(executor, *allowed, outcome_of(session)); !ended) {
    co_return failure(ended.error());
  }
  if (refused(session)) {
    auto noted = co_await ports_.async_db.write(executor, [&](Tx& tx) {
      audit(tx, ports_.ids, by, "credentials.refused", "the cloud platform refused a login");
    });
    if (!noted) co_return failure(noted.error());
    co_return refused_by_platform(
        *allowed, "The cloud platform refused this e-mail address and password. Nothing was saved.");
  }
  auto saved = co_await ports_.async_db.write(executor, [&](Tx& tx) -> Expected<CredentialsView> {
    // The platform took its time: the account may have been deleted since, or have another owner.
    lock_account_of_owner(tx, by);
    auto standing = lock_standing(tx, by.account);
    if (!standing) return fail("NOT_FOUND", "There is no such account.");
    ++standing->version;
    CredentialsRecord record{
        .account = by.account, .version = standing->version, .masked_email = masked, .saved_at = tx.now()};
    std::int64_t stale = 0;
    if (session) {
      stale = accept(tx, *standing, record, {session->user_id, session->username});
    } else {
      standing->status = CredentialsStatus::unchecked;
      standing->unreadable = false;
      update_standing(tx, by.account, *standing);
      record.check_due_at = next_check(record.saved_at, tx.now());
    }
    put_credentials(tx, record,
                    ports_.key.now().seal(ports_.random, {by.account, standing->version}, login->reveal()));
    audit(tx, ports_.ids, by, "credentials.saved", to_string(standing->status));
    auto saved_view = view(tx, by.account);
    saved_view.mappings_made_stale = stale;
    return saved_view;
  });
  if (!saved) co_return failure(saved.error());
  ports_.retire_sessions(by.account);
  ports_.changed();
  co_return std::move(*saved);
}

void Vault::remove_in(Tx& tx, const identity::Principal& by) {
  auto standing = lock_standing(tx, by.account);
  if (!standing || standing->status == CredentialsStatus::missing) return;
  standing->status = CredentialsStatus::missing;
  standing->unreadable = false;
  ++standing->version;
  update_standing(tx, by.account, *standing);
  delete_credentials(tx, by.account);
  add_account_task(tx, by.account, AccountTaskKind::fail_missing_credentials);
  audit(tx, ports_.ids, by, "credentials.deleted", "");
}

void Vault::removed(AccountId account) {
  ports_.forget_sessions(account);
  ports_.changed();
}

Task<Expected<void>> Vault::remove(Executor& executor, identity::Principal by) {
  auto done = co_await ports_.async_db.write(executor, [&](Tx& tx) { remove_in(tx, by); });
  if (!done) co_return std::unexpected(done.error());
  removed(by.account);
  co_return Expected<void>{};
}

// Stores the platform's verdict on the login of that version, if the account still has it.
Task<Expected<CredentialsView>> Vault::checked(Executor& executor, AccountId account, std::int64_t version,
                                               const CheckedLogin& result) {
  struct Written {
    CredentialsView view;
    bool changed = false;
  };
  auto written = co_await ports_.async_db.write(executor, [&](Tx& tx) {
    auto standing = lock_standing(tx, account);
    auto record = find_credentials(tx, account);
    bool changed = false;
    std::int64_t stale = 0;
    if (standing && record && standing->version == version && record->version == version) {
      const auto before = *standing;
      if (result) {
        stale = accept(tx, *standing, *record, *result);
        update_credentials(tx, *record);
        changed = true;
      } else if (const auto fault = login_fault(result.error())) {
        refuse_login(tx, account, version, *fault);
        changed = before.status != CredentialsStatus::invalid;
      } else if (before.status == CredentialsStatus::unchecked || before.unreadable) {
        record->check_due_at = next_check(record->saved_at, tx.now());
        update_credentials(tx, *record);
      }
    }
    Written now{view(tx, account), changed};
    now.view.mappings_made_stale = stale;
    return now;
  });
  if (!written) co_return std::unexpected(written.error());
  if (written->changed) {
    ports_.retire_sessions(account);
    ports_.changed();
  }
  co_return std::move(written->view);
}

Task<LoginResult<CredentialsView>> Vault::validate(Executor& executor, identity::Principal by) {
  auto record =
      co_await ports_.async_db.read(executor, [&](Tx& tx) { return find_credentials(tx, by.account); });
  if (!record) co_return failure(record.error());
  if (!*record) co_return failure({"NOT_FOUND", "There are no such credentials.", {}});
  // The address is sealed; the account's login stands for it.
  auto allowed = co_await ports_.guard.begin(executor, by.account, "vault of " + to_string(by.account));
  if (!allowed) co_return std::unexpected(allowed.error());
  const auto version = (*record)->version;
  auto asked = co_await ports_.stored.check_login(executor, by.account, version);
  const CheckedLogin login = asked ? std::move(*asked)
                                   : CheckedLogin(std::unexpected(CloudError{
                                         CloudError::Kind::unavailable, "no node checked it", false, {}}));
  if (auto ended = co_await ports_.guard.end(executor, *allowed, outcome_of(login)); !ended) {
    co_return failure(ended.error());
  }
  if (!asked) co_return failure(asked.error());
  auto now = co_await checked(executor, by.account, version, login);
  if (!now) co_return failure(now.error());
  if (login) co_return std::move(*now);
  switch (login.error().kind) {
    case CloudError::Kind::login_refused:
    case CloudError::Kind::session_refused:  // another login was saved meanwhile: `now` is that one
      co_return std::move(*now);
    case CloudError::Kind::credentials_unreadable:
      co_return failure({"CONFLICT", "The stored login cannot be opened any more. Save it again.", {}});
    default:
      co_return failure(unanswered(login.error()));
  }
}

Task<Expected<int>> Vault::check_due(Executor& executor, int limit) {
  const auto any =
      co_await ports_.async_db.read(executor, [](Tx& tx) { return any_credentials_to_check(tx, tx.now()); });
  if (!any) co_return std::unexpected(any.error());
  if (!*any) co_return 0;
  auto due = co_await ports_.async_db.write(executor, [limit](Tx& tx) {
    return take_credentials_to_check(tx, tx.now(), tx.now() + kCheckTaken, limit);
  });
  if (!due) co_return std::unexpected(due.error());
  int tried = 0;
  for (const auto& record : *due) {
    const auto login = co_await ports_.stored.check_login(executor, record.account, record.version);
    if (!login) co_return std::unexpected(login.error());
    const auto now = co_await checked(executor, record.account, record.version, *login);
    if (!now) co_return std::unexpected(now.error());
    ++tried;
    ports_.log.info("a stored login that could not be checked before was checked",
                    {{"account", to_string(record.account)}, {"status", to_string(now->status)}});
  }
  co_return tried;
}

}  // namespace presetbridge::services
