#include "services/stores/test_orders.h"

#include "providers/sample_order.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/credential_store.h"

namespace presetbridge::services {
namespace {

using storage::Tx;

constexpr std::string_view kAnybody = "test_buyer";

// A line of the first product that delivers a file; else one that nothing matches.
domain::OrderLine usual_line(Tx& tx, IntegrationId id) {
  domain::OrderLine line;
  line.title = "Test order";
  for (const auto& row : find_mappings(tx, id)) {
    if (row.stale || row.mapping.action != domain::MappingAction::deliver) continue;
    switch (row.mapping.type) {
      case domain::MatchType::variant_id:
        line.variant_id = row.match_value;
        break;
      case domain::MatchType::sku:
        line.sku = row.match_value;
        break;
      case domain::MatchType::product_id:
        line.product_id = row.match_value;
        break;
      case domain::MatchType::title:
        line.title = row.match_value;
        break;
    }
    break;
  }
  return line;
}

}  // namespace

Task<Expected<TestOrder>> TestOrders::make(Executor& executor, identity::Principal by, IntegrationId id,
                                           TestOrderWish wish) {
  auto store = co_await directory_.find(executor, id, Millis{0});
  if (!store) co_return std::unexpected(store.error());
  if (!*store || (*store)->account != by.account || !by.sees(id))
    co_return fail("NOT_FOUND", "There is no such integration.");
  const auto& integration = **store;
  auto order = co_await async_db_.read(executor, [&](Tx& tx) {
    providers::SampleOrder sample{.order_id = "test-" + std::to_string(ids_.next()),
                                  .username = wish.username.value_or(std::string(kAnybody)),
                                  .email = "buyer@example.com",
                                  .lines = {wish.line ? *wish.line : usual_line(tx, id)},
                                  .paid_at = clock_.now()};
    if (wish.username) return sample;
    const auto standing = find_standing(tx, by.account);
    if (!standing || !standing->cloud_account) return sample;
    if (const auto own = find_cloud_account(tx, standing->cloud_account); own && !own->username.empty())
      sample.username = own->username;
    return sample;
  });
  if (!order) co_return std::unexpected(order.error());
  TestOrder made{.provider = integration.provider, .headers = {}, .body = {}};
  made.body = providers::sample_order_body(integration.provider, *order);
  made.headers = providers::sample_order_headers(integration.provider, integration.secret, made.body);
  co_return made;
}

}  // namespace presetbridge::services
