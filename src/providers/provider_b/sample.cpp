#include "providers/provider_b/sample.h"

#include "providers/sample_json.h"

namespace presetbridge::providers::provider_b {

namespace json = boost::json;

std::string write_sample(const SampleOrder& order) {
  const auto paid_at =
      to_iso8601(order.paid_at).substr(0, 19);  // this platform writes UTC, without a time zone
  json::array lines;
  for (const auto& line : order.lines) {
    json::object item{{"id", 40'001 + static_cast<std::int64_t>(lines.size())}};
    put(item, "name", line.title);
    // This platform gives every line a product id, also where the sample has only a SKU.
    const bool sku_only = line.product_id.empty() && line.variant_id.empty() && !line.sku.empty();
    put_id(item, "product_id", sku_only ? "810000000" + std::to_string(lines.size() + 1) : line.product_id);
    item.emplace("variation_id",
                 line.variant_id.empty() ? json::value(0) : number_if_possible(line.variant_id));
    item.emplace("quantity", line.quantity);
    put(item, "sku", line.sku);
    item.emplace("total", "15.00");
    item.emplace("meta_data", json::array());
    lines.push_back(std::move(item));
  }
  json::array meta;
  if (!order.username.empty())
    meta.push_back({{"id", 91'001}, {"key", "vendor_username"}, {"value", order.username}});
  return json::serialize(json::object{{"id", number_if_possible(order.order_id)},
                                      {"order_key", "wc_order_" + order.order_id},
                                      {"number", order.order_id},
                                      {"status", "processing"},
                                      {"currency", "EUR"},
                                      {"date_created_gmt", paid_at},
                                      {"date_modified_gmt", paid_at},
                                      {"date_paid_gmt", paid_at},
                                      {"billing", {{"email", order.email}}},
                                      {"meta_data", std::move(meta)},
                                      {"line_items", std::move(lines)},
                                      {"refunds", json::array()}});
}

}  // namespace presetbridge::providers::provider_b
