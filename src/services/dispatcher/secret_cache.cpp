#include "services/dispatcher/secret_cache.h"

#include <utility>

#include "crypto/secret.h"

namespace presetbridge::services {

SigningSecrets::~SigningSecrets() {
  crypto::wipe(current);
  crypto::wipe(previous);
  crypto::wipe(older);
}

Expected<const SigningSecrets*> SecretCache::find(const storage::DispatchTarget& target) {
  if (const auto found = by_id_.find(target.id); found != by_id_.end()) {
    const auto entry = found->second;
    if (entry->version == target.version) {
      entries_.splice(entries_.begin(), entries_, entry);
      return &entry->secrets;
    }
    entries_.erase(entry);
    by_id_.erase(found);
  }
  const crypto::ValuePlace place{storage::kSubscriptionSecret, target.id.value};
  auto current = cipher_.decrypt(place, target.encrypted_secret);
  if (!current) return std::unexpected(std::move(current.error()));
  Entry& entry = entries_.emplace_front();
  entry.id = target.id;
  entry.version = target.version;
  entry.secrets.current = current->reveal();
  by_id_[target.id] = entries_.begin();
  for (const auto& [encrypted, text] : {std::pair{&target.encrypted_previous_secret, &entry.secrets.previous},
                                        {&target.encrypted_older_secret, &entry.secrets.older}}) {
    if (encrypted->empty()) continue;
    auto former = cipher_.decrypt(place, *encrypted);
    if (!former) {
      by_id_.erase(target.id);
      entries_.pop_front();
      return std::unexpected(std::move(former.error()));
    }
    *text = former->reveal();
  }
  if (entries_.size() > max_entries_) {
    by_id_.erase(entries_.back().id);
    entries_.pop_back();
  }
  return &entry.secrets;
}

}  // namespace presetbridge::services
