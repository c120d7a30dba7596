#include "providers/generic/sample.h"

#include "providers/sample_json.h"

namespace presetbridge::providers::generic {

namespace json = boost::json;

std::string write_sample(const SampleOrder& o) {
  json::array items;
  for (const auto& line : o.lines) {
    json::object one;
    put(one, "sku", line.sku);
    put(one, "productId", line.product_id);
    put(one, "variantId", line.variant_id);
    put(one, "title", line.title);
    one.emplace("quantity", line.quantity);
    items.push_back(std::move(one));
  }
  json::object order{{"orderId", o.order_id}};
  put(order, "customerEmail", o.email);
  put(order, "targetUsername", o.username);
  order.emplace("items", std::move(items));
  return json::serialize(order);
}

}  // namespace presetbridge::providers::generic
