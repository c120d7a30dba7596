#include "services/stores/integration_directory.h"

#include <algorithm>
#include <utility>

#include "services/webhooks/secret_rotation.h"

namespace presetbridge::services {
namespace {

// The bytes of an entry, and of one mapping of its index, without their texts.
constexpr std::size_t kEntryBytes = 512;
constexpr std::size_t kMappingBytes = sizeof(domain::Mapping) + 128;

std::size_t weight_of(const IntegrationSnapshot& s, std::span<const domain::Mapping> mappings) {
  std::size_t bytes = sizeof(IntegrationSnapshot) + kEntryBytes + s.secret.size() + s.previous_secret.size() +
                      s.older_secret.size();
  for (const auto& field : s.username_fields) bytes += sizeof(std::string) + field.size();
  for (const auto& m : mappings) {
    // The value is the index's key too.
    bytes += kMappingBytes + 2 * m.value.size() + m.file_id.size() + m.file_kind.size() + m.file_name.size();
  }
  return bytes;
}

}  // namespace

IntegrationSnapshot::~IntegrationSnapshot() {
  crypto::wipe(secret);
  crypto::wipe(previous_secret);
  crypto::wipe(older_secret);
}

IntegrationSnapshot IntegrationSnapshot::inactive() const {
  IntegrationSnapshot s(*this);
  s.rules.active = false;
  return s;
}

std::vector<std::string_view> IntegrationSnapshot::secrets(Timestamp now) const {
  std::vector<std::string_view> all{secret};
  if (!previous_secret.empty() && previous_secret_expires_at > now) all.push_back(previous_secret);
  if (!older_secret.empty() && end_of_older_secret(*this) > now) all.push_back(older_secret);
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
  s.previous_secret_expires_at = row.previous_secret_expires_at;
  s.older_secret_expires_at = row.older_secret_expires_at;
  for (const auto& [encrypted, text] : {std::pair{&row.encrypted_secret, &s.secret},
                                        {&row.encrypted_previous_secret, &s.previous_secret},
                                        {&row.encrypted_older_secret, &s.older_secret}}) {
    if (encrypted->empty() && text != &s.secret) continue;
    auto secret = cipher.decrypt({storage::kStoreSecret, row.id.value}, *encrypted);
    if (!secret) return std::unexpected(secret.error());
    *text = secret->reveal();
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
  s.weight = weight_of(s, current);
  return s;
}

Task<Expected<IntegrationDirectory::Copy>> IntegrationDirectory::find(Executor& executor, IntegrationId id,
                                                                      Millis max_age) {
  auto found = co_await find_as_stored(executor, id, max_age);
  if (!disabled_ || !found || !*found || !(*found)->rules.active) co_return found;
  const auto disabled = co_await disabled_->holds(executor, (*found)->account);
  if (!disabled) co_return std::unexpected(disabled.error());
  if (*disabled) co_return std::make_shared<const IntegrationSnapshot>((*found)->inactive());
  co_return found;
}

Task<Expected<IntegrationDirectory::Copy>> IntegrationDirectory::find_as_stored(Executor& executor,
                                                                                IntegrationId id,
                                                                                Millis max_age) {
  const Timestamp now = clock_.now();
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = by_id_.find(id); found != by_id_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      if (now - found->second->read_at < max_age) co_return found->second->copy;
    }
  }
  auto version = co_await versions_.find(executor, id);
  if (!version) co_return std::unexpected(std::move(version.error()));
  {
    const std::lock_guard lock(mutex_);
    const auto found = by_id_.find(id);
    if (version->version == 0) {
      if (found != by_id_.end()) drop(id);
      co_return nullptr;
    }
    // A store may have thousands of mappings: they are read again only where something has changed.
    if (found != by_id_.end() && found->second->copy->version == version->version) {
      found->second->read_at = std::max(found->second->read_at, now);
      co_return found->second->copy;
    }
  }
  co_return co_await read(executor, version->account, id);
}

Task<Expected<IntegrationDirectory::Copy>> IntegrationDirectory::read(Executor& executor, AccountId account,
                                                                      IntegrationId id) {
  co_return co_await suspend<Expected<Copy>>(
      executor, [this, account, id](Resume resume) { enqueue(account, id, std::move(resume)); });
}

void IntegrationDirectory::enqueue(AccountId account, IntegrationId id, Resume resume) {
  {
    const std::lock_guard lock(mutex_);
    auto& queue = queues_[account];
    // The first is being read already, and may miss later changes.
    const auto rest = std::ranges::subrange(queue.begin() + (queue.empty() ? 0 : 1), queue.end());
    if (const auto same = std::ranges::find(rest, id, &Reading::id); same != rest.end()) {
      same->waiting.push_back(std::move(resume));
      return;
    }
    queue.push_back({id, {}});
    queue.back().waiting.push_back(std::move(resume));
    if (queue.size() > 1) return;
  }
  begin(account, id);
}

void IntegrationDirectory::begin(AccountId account, IntegrationId id) {
  struct Result {
    bool ran = false;
    Copy copy;
  };
  auto result = std::make_shared<Result>();
  const Timestamp began = clock_.now();
  async_db_.submit_first_read(
      [this, id, result](storage::Tx& tx) {
        result->ran = true;
        result->copy = read_whole(tx, id);
      },
      [this, account, id, result, began](const std::exception_ptr& thrown, storage::Completions&) {
        std::deque<Reading> done;
        std::optional<IntegrationId> next;
        {
          const std::lock_guard lock(mutex_);
          const auto queue = queues_.find(account);
          if (result->ran) {
            done.push_back(std::move(queue->second.front()));
            queue->second.pop_front();
            if (!queue->second.empty()) next = queue->second.front().id;
          } else {
            done.swap(queue->second);  // no read can be queued: those behind it fail, too
          }
          if (queue->second.empty()) queues_.erase(queue);
          if (!thrown && result->copy) keep(id, result->copy, began);
        }
        for (const auto& reading : done) {
          for (const auto& resume : reading.waiting) {
            resume(thrown ? Expected<Copy>(std::unexpected(storage::explain(thrown))) : result->copy);
          }
        }
        if (next) begin(account, *next);
      });
}

IntegrationDirectory::Copy IntegrationDirectory::read_whole(storage::Tx& tx, IntegrationId id) const {
  const auto row = find_integration(tx, id);
  if (!row || row->archived_at) return nullptr;
  auto snapshot = make_snapshot(*row, find_mappings(tx, id), cipher_);
  if (!snapshot) throw std::move(snapshot.error());
  return std::make_shared<const IntegrationSnapshot>(std::move(*snapshot));
}

void IntegrationDirectory::keep(IntegrationId id, Copy copy, Timestamp read_at) {
  if (by_id_.contains(id)) drop(id);
  weight_ += copy->weight;
  entries_.push_front({id, std::move(copy), read_at});
  by_id_.emplace(id, entries_.begin());
  while (weight_ > max_weight_ && entries_.size() > 1) drop(entries_.back().id);
}

void IntegrationDirectory::drop(IntegrationId id) {
  const auto found = by_id_.find(id);
  weight_ -= found->second->copy->weight;
  entries_.erase(found->second);
  by_id_.erase(found);
}

void IntegrationDirectory::forget(IntegrationId id) {
  const std::lock_guard lock(mutex_);
  if (by_id_.contains(id)) drop(id);
}

std::size_t IntegrationDirectory::weight() const {
  const std::lock_guard lock(mutex_);
  return weight_;
}

}  // namespace presetbridge::services
