#include "services/keys/sealing_pass.h"

#include <algorithm>
#include <string>
#include <utility>

#include "crypto/encoding.h"
#include "crypto/sealed_record.h"
#include "storage/stores/cloud_login_store.h"
#include "storage/stores/dispatch_store.h"
#include "storage/stores/identity_store.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/link_key_store.h"

namespace presetbridge::services {
namespace {

using storage::SealedRow;
using storage::SealedTable;
using storage::Tx;

constexpr int kMostLogged = 20;  // of one pass: the log is not to be flooded

std::string_view name_of(SealedTable table) {
  switch (table) {
    case SealedTable::logins:
      return "credentials";
    case SealedTable::stores:
      return "integrations";
    case SealedTable::receivers:
      return "webhook_subscriptions";
    case SealedTable::sessions:
      return "cloud_sessions";
    case SealedTable::issuer_keys:
      return "issuer_keys";
    case SealedTable::link_keys:
      return "link_keys";
  }
  return "";
}

// Where a value under the service key is stored, as whoever wrote it says.
crypto::ValuePlace place_of(SealedTable table, const SealedRow& row) {
  switch (table) {
    case SealedTable::stores:
      return {storage::kStoreSecret, row.id};
    case SealedTable::receivers:
      return {storage::kSubscriptionSecret, row.id};
    case SealedTable::sessions:
      return {storage::kCloudSession, storage::cloud_session_row(row.hash)};
    case SealedTable::issuer_keys:
      return {storage::kIssuerKey, to_unix_ms(row.created_at)};
    case SealedTable::link_keys:
      return {storage::kLinkKey, row.id};
    case SealedTable::logins:
      break;
  }
  return {};
}

std::optional<std::string> key_of(SealedTable table, const crypto::Bytes& value) {
  if (table == SealedTable::logins) {
    const auto id = crypto::sealed_record_key_id(value);
    return id ? std::optional(crypto::hex_encode(*id)) : std::nullopt;
  }
  const auto id = crypto::service_value_key_id(value);
  return id ? std::optional(crypto::hex_encode(*id)) : std::nullopt;
}

}  // namespace

SealingPass::SealingPass(Ports ports, Options options, NodeKeys keys)
    : ports_(ports), options_(options), keys_(std::move(keys)) {
  if (options.service) tables_.assign(storage::kServiceTables.begin(), storage::kServiceTables.end());
  if (options.vault) tables_.push_back(SealedTable::logins);
}

Task<Expected<void>> SealingPass::go_on(Executor& executor, Millis about) {
  const Stopwatch watch(ports_.clock);
  do {
    if (over()) break;
    if (auto done = co_await next_batch(executor); !done) co_return done;
  } while (watch.elapsed() < about);
  co_return Expected<void>{};
}

void SealingPass::left(const SealedRow& row, std::string_view why) {
  const auto table = tables_.back();
  ++(table == SealedTable::logins ? counts_.left_vault : counts_.left_service);
  if (++logged_ > kMostLogged) return;
  ports_.log.warn("a record is left on an old key",
                  {{"table", name_of(table)},
                   {"row", row.kid.empty() ? std::to_string(row.id) : row.kid},
                   {"error", why}});
}

Task<Expected<std::optional<crypto::Bytes>>> SealingPass::fresh(Executor& executor, const SealedRow& row,
                                                                crypto::Bytes value) {
  using None = std::optional<crypto::Bytes>;
  ++counts_.read;
  const auto table = tables_.back();
  const auto& keys = table == SealedTable::logins ? keys_.vault : keys_.service;
  const auto key = key_of(table, value);
  if (!key || !keys.holds(*key)) {
    ++counts_.unreadable;
    co_return None();
  }
  if (*key == keys.sealing) co_return None();
  if (!options_.reseals) {
    ++(table == SealedTable::logins ? counts_.left_vault : counts_.left_service);
    co_return None();
  }
  if (table != SealedTable::logins) {
    const auto place = place_of(table, row);
    const auto text = ports_.cipher.decrypt(place, value);
    if (text) co_return None(ports_.cipher.encrypt(place, text->reveal()));
    left(row, text.error().message);
    co_return None();
  }
  crypto::VaultKeyId to{};
  crypto::hex_decode_exactly(keys.sealing, to);
  auto sealed = co_await ports_.keeper.reseal(executor, AccountId{row.id}, row.version, std::move(value), to);
  if (sealed) co_return None(std::move(*sealed));
  if (sealed.error().kind != cloud::CloudError::Kind::credentials_unreadable)
    co_return fail("AGENT_UNAVAILABLE", "The credential agent does not answer: " + sealed.error().message);
  left(row, sealed.error().message);
  co_return None();
}

Task<Expected<void>> SealingPass::next_batch(Executor& executor) {
  const auto table = tables_.back();
  auto rows = co_await ports_.async_db.read(
      executor, [&](Tx& tx) { return sealed_rows(tx, table, after_, options_.batch); });
  if (!rows) co_return std::unexpected(rows.error());
  const auto before = counts_;
  std::vector<Fresh> all;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const auto& row = (*rows)[i];
    for (const auto which : storage::kSealedValues) {
      if (which != &storage::SealedRow::sealed && (row.*which).empty()) continue;
      auto made = co_await fresh(executor, row, row.*which);
      if (!made) {
        counts_ = before;  // the batch is read again
        co_return std::unexpected(made.error());
      }
      if (*made) all.push_back({i, which, std::move(**made)});
    }
  }
  if (!all.empty()) {
    const auto replaced = co_await ports_.async_db.write(executor, [&](Tx& tx) {
      std::int64_t count = 0;
      for (const auto& one : all)
        count += replace_sealed(tx, table, (*rows)[one.row], one.which, one.value) ? 1 : 0;
      return count;
    });
    if (!replaced) {
      counts_ = before;
      co_return std::unexpected(replaced.error());
    }
    const auto missed = static_cast<std::int64_t>(all.size()) - *replaced;
    counts_.resealed += *replaced;
    (table == SealedTable::logins ? counts_.left_vault : counts_.left_service) += missed;
    ports_.metrics.count("presetbridge_keys_resealed_total",
                         {{"key", table == SealedTable::logins ? "vault" : "service"}},
                         static_cast<double>(*replaced));
  }
  if (static_cast<int>(rows->size()) < options_.batch) {
    tables_.pop_back();
    after_ = {};
  } else {
    after_ = std::move(rows->back());
  }
  co_return Expected<void>{};
}

}  // namespace presetbridge::services
