#include "services/worker/sweep_runner.h"

#include "services/worker/account_trouble.h"
#include "services/worker/fault_handling.h"
#include "services/worker/sweep.h"
#include "storage/stores/cloud_account_store.h"

namespace presetbridge::services {
namespace {

using cloud::CloudError;
using storage::Tx;

constexpr int kMaxPages = 100'000;  // a platform that never ends its pages must not keep a sweep for ever
constexpr int kMostExpired = 200;   // in one transaction

}  // namespace

Task<void> SweepRunner::run(SweepLease lease) {
  auto owners = co_await ports_.async_db.read(ports_.scheduler, [id = lease.cloud_account](Tx& tx) {
    return storage::accounts_of_cloud_account(tx, id);
  });
  if (!owners) co_return log_fault(lease, "a sweep could not begin; its lease runs out", owners.error());
  Reading read;
  if (!owners->empty()) read = co_await read_pages(lease, owners->front());
  if (!read.failure && !read.own) co_return;
  // Without a login nothing was read: who has answered is not known.
  const bool whole = !read.failure && !owners->empty();
  if (whole) co_await expire_waiting(lease);
  auto ended = co_await ports_.async_db.write(
      ports_.scheduler, [this, lease, whole, failure = std::move(read.failure)](Tx& tx) {
        return failure ? fail_sweep(tx, lease, *failure) : end_sweep(tx, options_, lease, whole);
      });
  if (!ended) log_fault(lease, "a sweep could not be ended; its lease runs out", ended.error());
}

Task<SweepRunner::Reading> SweepRunner::read_pages(const SweepLease& lease, AccountId owner) {
  std::string cursor = lease.cursor;
  for (int page_number = 0; !tasks_.stopping() && page_number < kMaxPages; ++page_number) {
    const auto [page, login_version] =
        co_await calls_.friendships_since(owner, lease.cloud_user, cursor, options_.sweep_page);
    if (!page) {
      if (const auto fault = login_fault(page.error())) {
        auto noted = co_await ports_.async_db.write(
            ports_.scheduler,
            [owner, version = login_version, fault](Tx& tx) { refuse_login(tx, owner, version, *fault); });
        if (!noted) log_fault(lease, "that a login was refused could not be written", noted.error());
      }
      co_return Reading{.failure = page.error()};
    }
    if (!co_await take_in(lease, cursor, *page)) co_return Reading{.own = false};
    if (!page->more || page->next_cursor == cursor) co_return Reading{};
    cursor = page->next_cursor;
  }
  co_return Reading{.failure =
                        CloudError{CloudError::Kind::unavailable, "the sweep was interrupted", false, {}}};
}

// Where a row throws, the changes of the page are taken in one by one, so that the others are not lost.
Task<bool> SweepRunner::take_in(const SweepLease& lease, const std::string& cursor,
                                const cloud::FriendshipPage& page) {
  const auto taken = co_await write_page(lease, cursor, page);
  if (taken) co_return *taken == TakenIn::whole;
  if (is_transient(taken.error())) {
    log_fault(lease, "a page of a sweep could not be written", taken.error());
    co_return false;
  }
  for (const auto& change : page.changes) {
    const cloud::FriendshipPage one{.changes = {change}, .next_cursor = {}, .more = false};
    const auto alone = co_await write_page(lease, cursor, one);
    if (alone && *alone != TakenIn::whole) co_return false;
    if (!alone)
      log_fault(lease, "a change that a sweep read of one customer could not be written", alone.error());
  }
  co_return true;
}

// Takes in the page by as many transactions as it needs. One that is in part taken in when the service stops is
// read again by the next sweep.
Task<Expected<TakenIn>> SweepRunner::write_page(const SweepLease& lease, const std::string& cursor,
                                                const cloud::FriendshipPage& page) {
  Expected<TakenIn> taken = TakenIn::in_part;
  while (taken && *taken == TakenIn::in_part && !tasks_.stopping()) {
    taken = co_await ports_.async_db.write(ports_.scheduler, [&](Tx& tx) {
      return take_in_page(tx, ports_.changes, options_, lease, cursor, page);
    });
  }
  co_return taken;
}

Task<void> SweepRunner::expire_waiting(const SweepLease& lease) {
  while (!tasks_.stopping()) {
    auto expired = co_await ports_.async_db.write(ports_.scheduler, [this, lease](Tx& tx) {
      return services::expire_waiting(tx, ports_.changes, lease, kMostExpired);
    });
    // The next sweep finds these deliveries again.
    if (!expired) log_fault(lease, "waiting without an answer could not be ended", expired.error());
    if (!expired || *expired < kMostExpired) co_return;
  }
}

void SweepRunner::log_fault(const SweepLease& lease, const char* message, const Error& error) {
  if (!storage::is_logged(error))
    ports_.log.error(message, {{"cloudAccount", to_string(lease.cloud_account)}, {"error", error.message}});
  count_fault(ports_);
}

}  // namespace presetbridge::services
