#include "providers/provider_a/sample.h"

#include "providers/sample_json.h"

namespace presetbridge::providers::provider_a {

namespace json = boost::json;

std::string write_sample(const SampleOrder& o) {
  const auto paid_at = to_iso8601(o.paid_at);
  json::array lines;
  for (const auto& line : o.lines) {
    json::object one{{"id", 14'000'000'001 + static_cast<std::int64_t>(lines.size())}};
    // A line that is known by its SKU alone has ids at this platform, too.
    const bool of_sku = line.product_id.empty() && line.variant_id.empty() && !line.sku.empty();
    const auto n = std::to_string(lines.size() + 1);
    put_id(one, "product_id", of_sku ? "810000000" + n : line.product_id);
    put_id(one, "variant_id", of_sku ? "4500000000" + n : line.variant_id);
    put(one, "sku", line.sku);
    put(one, "title", line.title);
    put(one, "name", line.title);
    one.emplace("quantity", line.quantity);
    one.emplace("current_quantity", line.quantity);
    one.emplace("price", "15.00");
    one.emplace("requires_shipping", false);
    lines.push_back(std::move(one));
  }
  json::array notes;
  if (!o.username.empty()) notes.push_back({{"name", "vendor_username"}, {"value", o.username}});
  return json::serialize(json::object{{"id", number_if_possible(o.order_id)},
                                      {"name", "#" + o.order_id},
                                      {"order_number", number_if_possible(o.order_id)},
                                      {"email", o.email},
                                      {"created_at", paid_at},
                                      {"updated_at", paid_at},
                                      {"cancelled_at", nullptr},
                                      {"currency", "EUR"},
                                      {"financial_status", "paid"},
                                      {"fulfillment_status", nullptr},
                                      {"test", false},
                                      {"note", nullptr},
                                      {"note_attributes", std::move(notes)},
                                      {"line_items", std::move(lines)},
                                      {"refunds", json::array()}});
}

}  // namespace presetbridge::providers::provider_a
