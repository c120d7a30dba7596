#include "services/stores/integration_versions.h"

#include <algorithm>
#include <utility>

namespace presetbridge::services {

Task<Expected<storage::IntegrationVersion>> IntegrationVersions::find(Executor& executor, IntegrationId id) {
  co_return co_await suspend<Expected<storage::IntegrationVersion>>(
      executor, [this, id](Resume resume) { enqueue({id, std::move(resume)}); });
}

void IntegrationVersions::enqueue(Waiting one) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() < kMostWaiting) {
      waiting_.push_back(std::move(one));
      first = !std::exchange(reading_, true);
    }
  }
  if (one.resume) {
    const storage::Overloaded full("too many integrations are being looked up");
    one.resume(std::unexpected(storage::explain(std::make_exception_ptr(full))));
  } else if (first) {
    read();
  }
}

bool IntegrationVersions::take(Batch& batch, std::size_t most) {
  const std::lock_guard lock(mutex_);
  while (!waiting_.empty() && batch.waiting.size() < most) {
    batch.waiting.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return !waiting_.empty();
}

void IntegrationVersions::read() {
  auto batch = std::make_shared<Batch>();
  async_db_.submit_first_read(
      [this, batch](storage::Tx& tx) {
        if (batch->waiting.empty()) take(*batch, kMostIds);
        std::vector<IntegrationId> ids;
        for (const auto& one : batch->waiting) ids.push_back(one.id);
        batch->found = find_integration_versions(tx, ids);
      },
      [this, batch](const std::exception_ptr& thrown, storage::Completions&) {
        // Refused before it ran: nobody else comes for those that wait.
        if (batch->waiting.empty()) take(*batch, kMostWaiting);
        bool more = false;
        {
          const std::lock_guard lock(mutex_);
          more = reading_ = !waiting_.empty();
        }
        for (std::size_t i = 0; i < batch->waiting.size(); ++i) {
          using Result = Expected<storage::IntegrationVersion>;
          batch->waiting[i].resume(thrown ? Result(std::unexpected(storage::explain(thrown)))
                                          : Result(batch->found[i]));
        }
        if (more) read();
      });
}

}  // namespace presetbridge::services
