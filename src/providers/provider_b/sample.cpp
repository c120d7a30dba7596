#include "providers/provider_b/sample.h"

#include "providers/sample_json.h"

namespace presetbridge::providers::provider_b {

namespace json = boost::json;

std::string write_sample(const SampleOrder& o) {
  const auto paid_at = to_iso8601(o.paid_at).substr(0, 19);  // this platform writes UTC without saying so
  json::array lines;
  for (const auto& line : o.lines) {
    json::object one{{"id", 40'001 + static_cast<std::int64_t>(lines.size())}};
    put(one, "name", line.title);
    // A line that is known by its SKU alone has an id at this platform, too.
    const bool of_sku = line.product_id.empty() && line.variant_id.empty() && !line.sku.empty();
    put_id(one, "product_id", of_sku ? "810000000" + std::to_string(lines.size() + 1) : line.product_id);
    one.emplace("variation_id",
                line.variant_id.empty() ? json::value(0) : number_if_possible(line.variant_id));
    one.emplace("quantity", line.quantity);
    put(one, "sku", line.sku);
    one.emplace("total", "15.00");
    one.emplace("meta_data", json::array());
    lines.push_back(std::move(one));
  }
  json::array meta;
  if (!o.username.empty())
    meta.push_back({{"id", 91'001}, {"key", "vendor_username"}, {"value", o.username}});
  return json::serialize(json::object{{"id", number_if_possible(o.order_id)},
                                      {"order_key", "wc_order_" + o.order_id},
                                      {"number", o.order_id},
                                      {"status", "processing"},
                                      {"currency", "EUR"},
                                      {"date_created_gmt", paid_at},
                                      {"date_modified_gmt", paid_at},
                                      {"date_paid_gmt", paid_at},
                                      {"billing", {{"email", o.email}}},
                                      {"meta_data", std::move(meta)},
                                      {"line_items", std::move(lines)},
                                      {"refunds", json::array()}});
}

}  // namespace presetbridge::providers::provider_b
