#include "expand.h"

#include <algorithm>
#include <boost/json.hpp>
#include <string_view>

#include "objects.h"
#include "stripe_error.h"

namespace presetbridge::paysim {
namespace {

namespace json = boost::json;

constexpr std::size_t kDeepest = 4;

StripeError cannot(std::string_view path) {
  return invalid("This property cannot be expanded (" + std::string(path.substr(0, 100)) + ").", "expand");
}

json::value refunds_of(const Charge& charge) {
  json::array data;
  for (const auto* refund : charge.refunds) data.insert(data.begin(), refund_object(*refund));
  return list_object(std::move(data), false, "/v1/charges/" + charge.id + "/refunds");
}

// The object that the id of that member stands for.
json::object found(World& world, std::string_view member, std::string_view id, std::string_view path) {
  if (member == "payment_intent") {
    if (const auto* intent = world.intent(id)) return intent_object(*intent);
  }
  if (member == "charge" || member == "latest_charge") {
    if (const auto* charge = world.charge(id)) return charge_object(*charge, world.page_url());
  }
  throw cannot(path);
}

void expand_one(World& world, json::object& object, std::string_view rest, std::string_view path,
                std::size_t depth) {
  if (depth > kDeepest) throw invalid("expand goes at most 4 levels deep.", "expand");
  const auto dot = std::min(rest.find('.'), rest.size());
  const std::string_view step = rest.substr(0, dot);
  const std::string_view further = rest.substr(std::min(dot + 1, rest.size()));
  const std::string_view kind = object.at("object").as_string();
  if (kind == "list") {
    if (step != "data" || further.empty()) throw cannot(path);
    for (auto& element : object.at("data").as_array()) {
      expand_one(world, element.as_object(), further, path, depth + 1);
    }
    return;
  }
  const std::string_view id = object.at("id").as_string();
  if (kind == "checkout.session" && step == "line_items") {
    object["line_items"] = line_items_object(*world.session(id));
    if (!further.empty()) throw cannot(path);
    return;
  }
  if (kind == "charge" && step == "refunds") {
    if (!object.contains("refunds")) object["refunds"] = refunds_of(*world.charge(id));
  } else {
    auto* member = object.if_contains(step);
    if (!member) throw cannot(path);
    if (member->is_null()) return;
    if (const auto* name = member->if_string()) *member = found(world, step, *name, path);
  }
  auto* inside = object.at(step).if_object();
  if (!inside) throw cannot(path);
  if (!further.empty()) expand_one(world, *inside, further, path, depth + 1);
}

}  // namespace

void expand(World& world, json::object& object, const std::vector<std::string>& paths) {
  for (const auto& path : paths) expand_one(world, object, path, path, 1);
}

}  // namespace presetbridge::paysim
