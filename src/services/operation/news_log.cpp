#include "services/operation/news_log.h"

#include <string>
#include <vector>

namespace presetbridge::services {
namespace {

using domain::ResolutionCode;
using storage::News;
using storage::OrderNews;

std::string_view code_of(ResolutionCode code) {
  return code == ResolutionCode::none ? std::string_view("none") : domain::to_string(code);
}

// Texts of ids, for as long as the lines that show them are made, in one piece of memory.
class IdTexts {
 public:
  explicit IdTexts(std::size_t most) { texts_.reserve(most * kMostIdCharacters); }
  // Empty for none.
  template <class AnyId>
  std::string_view of(AnyId id) {
    const auto at = texts_.size();
    if (id) append_id(texts_, id);
    return std::string_view(texts_).substr(at);
  }

 private:
  std::string texts_;
};

}  // namespace

void NewsLog::write(const News& news) const {
  if (!news.orders.empty()) {
    log_orders(news, OrderNews::Kind::accepted, "an order was accepted", "status");
    log_orders(news, OrderNews::Kind::ignored, "an order was ignored", "reason");
    log_orders(news, OrderNews::Kind::repeated, "an order came again", "outcome");
  }
  if (!news.deliveries.empty()) log_deliveries(news);
  log_purchases(news);
  for (const auto& one : news.subscriptions) {
    log_.info(one.state == "off" ? "a subscription was turned off: its receiver only fails"
                                 : "the receiver of a subscription only fails",
              {{"subscription", to_string(one.subscription)},
               {"account", to_string(one.account)},
               {"state", one.state},
               {"failingSince", to_iso8601(one.failing_since)}});
  }
  for (const auto& turn : news.platform) {
    const auto account = to_string(turn.cloud_account);
    if (turn.trouble.empty()) {
      log_.info("work of a cloud account goes on", {{"cloudAccount", account}});
    } else {
      log_.warn("work of a cloud account is paused: the cloud platform is in trouble",
                {{"cloudAccount", account}, {"trouble", turn.trouble}});
    }
  }
}

void NewsLog::log_orders(const News& news, OrderNews::Kind kind, std::string_view message,
                         std::string_view outcome) const {
  constexpr std::size_t kFields = 6;
  IdTexts ids(4 * news.orders.size());
  std::vector<LogField> fields;
  fields.reserve(kFields * news.orders.size());
  for (const auto& one : news.orders) {
    if (one.kind != kind) continue;
    // A delivery has its order's number.
    const DeliveryId delivery{kind == OrderNews::Kind::accepted ? one.order.value : 0};
    fields.insert(fields.end(), {{"orderId", one.order_key},
                                 {"order", ids.of(one.order)},
                                 {"delivery", ids.of(delivery)},
                                 {"account", ids.of(one.account)},
                                 {"integration", ids.of(one.integration)},
                                 {outcome, one.outcome}});
  }
  if (!fields.empty()) log_.write_each(Severity::info, message, kFields, fields);
}

void NewsLog::log_purchases(const News& news) const {
  for (const auto& one : news.purchases) {
    log_.info(
        "a purchase of credits changed",
        {{"purchase", to_string(one.purchase)}, {"account", to_string(one.account)}, {"state", one.state}});
    metrics_.count("presetbridge_purchases_total", {{"state", one.state}});
    const auto count = [&](std::string_view kind, std::int64_t money) {
      if (money > 0)
        metrics_.count("presetbridge_payments_money_total", {{"currency", one.currency}, {"kind", kind}},
                       static_cast<double>(money));
    };
    count("paid", one.paid);
    count("taken_back", one.taken_back);
    count("given_back", one.given_back);
  }
}

void NewsLog::log_deliveries(const News& news) const {
  constexpr std::size_t kFields = 8;
  IdTexts ids(4 * news.deliveries.size());
  std::vector<LogField> fields;
  fields.reserve(kFields * news.deliveries.size());
  for (const auto& one : news.deliveries) {
    const auto status = domain::to_string(one.status);
    fields.insert(fields.end(), {{"delivery", ids.of(one.delivery)},
                                 {"orderId", one.order_key},
                                 {"order", ids.of(OrderId{one.delivery.value})},
                                 {"account", ids.of(one.account)},
                                 {"integration", ids.of(one.integration)},
                                 {"status", status},
                                 {"code", code_of(one.code)},
                                 {"cause", domain::to_string(one.cause)}});
    metrics_.count("presetbridge_deliveries_ended_total", {{"outcome", status}, {"code", code_of(one.code)}});
  }
  log_.write_each(Severity::info, "a delivery ended", kFields, fields);
}

}  // namespace presetbridge::services
