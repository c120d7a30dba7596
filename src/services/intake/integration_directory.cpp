#include "services/intake/integration_directory.h"

#include <algorithm>

#include <array>

namespace presetbridge::services {
namespace {

struct Read {
  std::optional<storage::IntegrationRow> row;
  std::vector<storage::MappingRow> mappings;
};

}  // namespace

IntegrationSnapshot::~IntegrationSnapshot() {
  crypto::wipe(secret);
  crypto::wipe(previous_secret);
}

std::vector<std::string_view> IntegrationSnapshot::secrets(Timestamp now) const {
  std::vector<std::string_view> all{secret};
  if (!previous_secret.empty() && previous_secret_expires_at && now < *previous_secret_expires_at) {
    all.push_back(previous_secret);
  }
  return all;
}

Expected<IntegrationSnapshot> make_snapshot(const storage::IntegrationRow& row,
                                            const std::vector<storage::MappingRow>& mappings,
                                            const crypto::ServiceCipher& cipher) {
  IntegrationSnapshot s;
  s.id = row.id;
  s.account = row.account;
  s.provider = row.provider;
  s.version = row.version;
  s.archived = row.archived_at.has_value();
  s.require_api_key = row.require_api_key;
  s.owning_key = row.owning_key;
  s.username_fields = row.username_fields;
  auto secret = cipher.decrypt({"integrations.secret", row.id.value}, row.encrypted_secret);
  if (!secret) return std::unexpected(secret.error());
  s.secret = secret->reveal();
  if (!row.encrypted_previous_secret.empty()) {
    auto previous = cipher.decrypt({"integrations.secret", row.id.value}, row.encrypted_previous_secret);
    if (!previous) return std::unexpected(previous.error());
    s.previous_secret = previous->reveal();
    s.previous_secret_expires_at = row.previous_secret_expires_at;
  }
  std::vector<domain::Mapping> current;
  for (const auto& m : mappings) {
    if (!m.stale) current.push_back(m.mapping);
  }
  s.rules = {.active = row.active,
             .hold_all = row.hold_all,
             .deliver_test_orders = row.deliver_test_orders,
             .auto_revoke = row.auto_revoke,
             .mappings_stale = std::ranges::any_of(mappings, &storage::MappingRow::stale),
             .mappings = std::make_shared<const domain::MappingIndex>(current)};
  return s;
}

Task<Expected<std::shared_ptr<const IntegrationSnapshot>>> IntegrationDirectory::find(Executor& executor,
                                                                                      IntegrationId id,
                                                                                      Millis max_age) {
  const Timestamp now = clock_.now();
  std::shared_ptr<const IntegrationSnapshot> known;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(id);
    if (found != entries_.end()) {
      if (now - found->second.read_at < max_age) co_return found->second.snapshot;
      known = found->second.snapshot;
    }
  }
  // A store may have thousands of mappings: they are read again only where something has changed.
  auto read = co_await commits_.read(executor, [&](storage::Tx& tx) -> std::optional<Read> {
    if (known && integration_versions(tx, std::array{id}).front() == known->version) return std::nullopt;
    auto row = find_integration(tx, id);
    auto mappings = row ? find_mappings(tx, id) : std::vector<storage::MappingRow>{};
    return Read{std::move(row), std::move(mappings)};
  });
  if (!read) co_return std::unexpected(read.error());
  Entry entry{nullptr, now};
  if (!*read) {
    entry.snapshot = known;
  } else if (const auto& row = (*read)->row; row && !row->archived_at) {
    auto snapshot = make_snapshot(*row, (*read)->mappings, cipher_);
    if (!snapshot) co_return std::unexpected(snapshot.error());
    entry.snapshot = std::make_shared<const IntegrationSnapshot>(std::move(*snapshot));
  }
  const std::lock_guard lock(mutex_);
  // Made-up ids must not fill the memory, nor take the place of stores that are there.
  if (entries_.size() >= max_entries_)
    std::erase_if(entries_, [](const auto& one) { return one.second.snapshot == nullptr; });
  if (entries_.size() >= max_entries_) entries_.clear();
  entries_.insert_or_assign(id, entry);
  co_return entry.snapshot;
}

bool IntegrationDirectory::remembers(IntegrationId id) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  return found != entries_.end() && found->second.snapshot != nullptr;
}

void IntegrationDirectory::forget(IntegrationId id) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found != entries_.end()) found->second.read_at = {};
}

}  // namespace presetbridge::services
