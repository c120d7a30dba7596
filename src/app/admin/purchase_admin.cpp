#include "app/admin/purchase_admin.h"

#include <fmt/format.h>
#include <boost/json/array.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "app/admin/admin_request.h"
#include "services/payments/refunds.h"
#include "storage/stores/purchase_store.h"

namespace presetbridge::app {
namespace {

namespace json = boost::json;

using storage::PurchaseRow;
using storage::Tx;

constexpr int kPage = 200;
constexpr std::int64_t kMostDays = 30;  // that the processor keeps its notices
constexpr int kMostDue = 10'000;

json::object to_json(const PurchaseRow& row) {
  json::object shown{{"id", to_string(row.id)},
                     {"account", to_string(row.account)},
                     {"state", domain::to_string(row.standing.state)},
                     {"createdAt", to_iso8601(row.created_at)},
                     {"live", row.live},
                     {"pack", row.pack_id},
                     {"credits", row.credits},
                     {"amount", row.amount},
                     {"currency", row.currency},
                     {"creditsGranted", row.standing.granted},
                     {"creditsReversed", row.standing.reversed},
                     {"amountRefunded", row.standing.refunded},
                     {"amountDisputed", row.standing.disputed},
                     {"session", row.session},
                     {"payment", row.payment}};
  if (row.paid_at) shown["paidAt"] = to_iso8601(*row.paid_at);
  if (!row.standing.problem.empty()) shown["problem"] = row.standing.problem;
  return shown;
}

std::unexpected<Error> no_processor() {
  return fail("PAYMENTS_OFF", "The payment processor has to be asked: start the service with its key.");
}

}  // namespace

Task<Expected<json::object>> PurchaseAdmin::list(Executor& executor, json::object request) {
  storage::PageRequest page{.limit = kPage};
  if (const auto cursor = text_of(request, "cursor"); !cursor.empty()) {
    const auto before = parse_id<PurchaseKind>(cursor);
    if (!before) co_return no_such("purchase", cursor);
    page.before = before->value;
  }
  std::optional<domain::PurchaseState> state;
  if (const auto name = text_of(request, "state"); !name.empty()) {
    state = domain::parse_purchase_state(name);
    if (!state) co_return no_such("state", name);
  }
  std::optional<AccountId> account;
  if (const auto name = text_of(request, "account"); !name.empty()) {
    account = parse_id<AccountKind>(name);
    if (!account) co_return no_such("account", name);
  }
  co_return co_await async_db_.read(executor, [&](Tx& tx) {
    const auto found =
        account ? list_purchases(tx, *account, state, page) : list_all_purchases(tx, state, page);
    json::array purchases;
    for (const auto& row : found.rows) purchases.push_back(to_json(row));
    json::object answer{{"purchases", std::move(purchases)}};
    if (found.next) answer["nextCursor"] = to_string(PurchaseId{*found.next});
    return answer;
  });
}

Task<Expected<json::object>> PurchaseAdmin::reconcile(Executor& executor, json::object request) {
  if (settlement_ == nullptr) co_return no_processor();
  if (const auto name = text_of(request, "purchase"); !name.empty()) {
    const auto id = parse_id<PurchaseKind>(name);
    if (!id) co_return no_such("purchase", name);
    const auto settled = co_await settlement_->settle(executor, *id);
    if (!settled) co_return std::unexpected(settled.error());
    co_return to_json(*settled);
  }
  const auto days = integer_of(request, "days");
  if (days < 0 || days > kMostDays)
    co_return fail("VALIDATION_FAILED", fmt::format("The processor keeps its notices {} days.", kMostDays));
  const bool live = settlement_->processor().live();
  const auto due = co_await async_db_.write(executor, [&](Tx& tx) {
    if (days > 0) reread_notices(tx, live, tx.now() - std::chrono::days(days));
    return make_pending_purchases_due(tx, tx.now(), kMostDue);
  });
  if (!due) co_return std::unexpected(due.error());
  wake_();
  co_return json::object{{"due", *due}};
}

Task<Expected<json::object>> PurchaseAdmin::refund(Executor& executor, json::object request) {
  if (settlement_ == nullptr) co_return no_processor();
  const auto name = text_of(request, "purchase");
  const auto id = parse_id<PurchaseKind>(name);
  if (!id) co_return no_such("purchase", name);
  services::Refunds refunds(async_db_, ids_, *settlement_);
  // A program of before asks for an amount, which given twice would go back twice.
  if (request.contains("amount"))
    co_return fail("VALIDATION_FAILED", "Say what shall have gone back in all: --total.");
  const auto total = request.contains("total") ? std::optional(integer_of(request, "total")) : std::nullopt;
  const auto done = co_await refunds.give_back(executor, {*id, total, operator_of(request)});
  if (!done) co_return std::unexpected(done.error());
  auto answer = to_json(done->purchase);
  if (!done->refund) {
    answer["refund"] = nullptr;
    if (const auto& last = done->last)
      answer["lastRefund"] =
          json::object{{"at", to_iso8601(last->at)}, {"by", last->actor_name}, {"detail", last->detail}};
    co_return answer;
  }
  const bool pending = done->refund->status == payments::Refund::Status::pending;
  answer["refund"] = json::object{{"id", done->refund->id},
                                  {"amount", done->refund->amount},
                                  {"status", pending ? "pending" : "succeeded"}};
  co_return answer;
}

}  // namespace presetbridge::app
