#include "services/stores/privacy_inbox.h"

#include <utility>

#include "identity/audit.h"

namespace presetbridge::services {

using storage::Tx;

namespace {

std::unexpected<Error> no_such_request() {
  return fail("NOT_FOUND", "There is no such privacy request.");
}

}  // namespace

Task<Expected<storage::Page<storage::PrivacyRequestRow>>> PrivacyInbox::list(Executor& executor,
                                                                             identity::Principal by,
                                                                             bool open,
                                                                             storage::PageRequest page) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) {
    return list_privacy_requests(tx, by.account, page, open, by.integrations.ids());
  });
}

Task<Expected<storage::Page<storage::OrderNamed>>> PrivacyInbox::orders(Executor& executor,
                                                                        identity::Principal by,
                                                                        PrivacyRequestId id,
                                                                        storage::PageRequest page) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) -> Expected<storage::Page<storage::OrderNamed>> {
    const auto found = find_privacy_request(tx, by.account, id);
    if (!found || !by.sees(found->integration)) return no_such_request();
    return list_orders_named(tx, *found, page);
  });
}

Task<Expected<storage::PrivacyRequestRow>> PrivacyInbox::close(Executor& executor, identity::Principal by,
                                                               PrivacyRequestId id) {
  co_return co_await async_db_.write(executor, [&](Tx& tx) -> Expected<storage::PrivacyRequestRow> {
    const auto found = find_privacy_request(tx, by.account, id);
    if (!found || !by.sees(found->integration)) return no_such_request();
    const auto actor = to_string(by.actor());
    if (!close_privacy_request(tx, by.account, id, actor))
      return fail("CONFLICT", "The privacy request is closed already.");
    identity::audit(tx, ids_, by, {.action = "privacy_request.closed", .target = to_string(id)});
    return find_privacy_request(tx, by.account, id).value();
  });
}

}  // namespace presetbridge::services
