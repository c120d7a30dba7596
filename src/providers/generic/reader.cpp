#include "providers/generic/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "domain/username.h"
#include "providers/picked_json.h"
#include "providers/store_fields.h"

namespace presetbridge::providers::generic {
namespace {

using domain::OrderEvent;
using Kind = PickedValue::Kind;

constexpr std::array kItemMembers{ShapeMember{"sku", &kScalar}, ShapeMember{"productId", &kScalar},
                                  ShapeMember{"title", &kScalar}, ShapeMember{"quantity", &kScalar}};
constexpr Shape kItem{.members = kItemMembers};
constexpr Shape kItems{.element = &kItem};
constexpr std::array kDirectItemMembers{ShapeMember{"sku", &kScalar}, ShapeMember{"productId", &kScalar},
                                        ShapeMember{"title", &kScalar}, ShapeMember{"quantity", &kScalar},
                                        ShapeMember{"fileId", &kScalar}};
constexpr Shape kDirectItem{.members = kDirectItemMembers};
constexpr Shape kDirectItems{.element = &kDirectItem};
constexpr std::size_t kMaxFileIdCharacters = 200;  // as of a mapping

// Where a field stands: at the top, or in an item.
struct Field {
  std::string_view name;
  std::optional<std::size_t> item = std::nullopt;

  std::string path() const {
    if (!item) return std::string(name);
    return name.empty() ? fmt::format("items[{}]", *item) : fmt::format("items[{}].{}", *item, name);
  }
};

// Reads fields and collects their problems. A field is reported once: the problems of the JSON reader come
// first.
class Reader {
 public:
  Reader(const ParseInput& input, std::vector<FieldProblem> problems)
      : input_(input), problems_(std::move(problems)) {}

  std::string identifier(const PickedValue& value, Field field, bool required) {
    auto id = providers::identifier(value);
    if (!id.empty()) return id;
    if (!value.given()) {
      if (required) report(field, "is required");
    } else if (value.text.size() > kMaxIdentifierBytes) {
      report(field, fmt::format("is longer than {} bytes", kMaxIdentifierBytes));
    } else if (!value.is(Kind::string)) {
      report(field, "must be a string or an integer");
    } else if (required) {
      report(field, "must not be empty");
    }
    return {};
  }

  std::string text(const PickedValue& value, Field field, std::size_t max_bytes) {
    if (!value.given()) return {};
    if (!value.is(Kind::string)) {
      report(field, "must be a string");
    } else if (value.text.size() > max_bytes) {
      report(field, fmt::format("is longer than {} bytes", max_bytes));
    }
    return std::string(value.text);
  }

  // `targetUsername` first, then the names that the merchant added.
  void username(const PickedValue& order, OrderEvent& event) {
    const auto& target = order["targetUsername"];
    offer_username(event, target, input_.limits);
    for (const auto& name : input_.username_fields) offer_username(event, order[name], input_.limits);
    if (!event.username.empty()) return;
    if (target.given() && !target.is(Kind::string)) {
      report({"targetUsername"}, "must be a string");
    } else if (event.raw_username.empty()) {
      report({"targetUsername"}, "is required");
    } else if (domain::normalise_username(event.raw_username, std::string_view::npos).empty()) {
      report({"targetUsername"}, "names no user");
    } else {
      report({"targetUsername"},
             fmt::format("is longer than {} characters", input_.limits.username_characters));
    }
  }

  std::int64_t quantity(const PickedValue& value, Field field) {
    if (!value.given()) return 1;
    const auto quantity = whole_number(value);
    if (!quantity || *quantity < 1) report(field, "must be a whole number of at least 1");
    return quantity.value_or(1);
  }

  std::vector<domain::OrderLine> items(const PickedValue& items) {
    const auto elements = items.elements();
    std::vector<domain::OrderLine> lines;
    if (!items.given()) {
      report({"items"}, "is required");
    } else if (!items.is(Kind::array)) {
      report({"items"}, "must be an array");
    } else if (elements.empty()) {
      report({"items"}, "must not be empty");
    } else if (elements.size() > input_.limits.line_items) {
      report({"items"}, fmt::format("has more than {} entries", input_.limits.line_items));
    } else {
      lines.reserve(elements.size());
      for (std::size_t i = 0; i < elements.size(); ++i) {
        lines.push_back(item(elements[i], i));
      }
    }
    return lines;
  }

  std::vector<FieldProblem> take_problems() { return std::move(problems_); }

 private:
  domain::OrderLine item(const PickedValue& item, std::size_t i) {
    if (!item.is(Kind::object)) {
      report({"", i}, "must be an object");
      return {};
    }
    return {.line_id = {},
            .sku = identifier(item["sku"], {"sku", i}, false),
            .product_id = identifier(item["productId"], {"productId", i}, false),
            .variant_id = {},
            .title = text(item["title"], {"title", i}, kMaxTextBytes),
            .quantity = quantity(item["quantity"], {"quantity", i}),
            .current_quantity = std::nullopt,
            .file_id = input_.file_ids ? file_id(item["fileId"], {"fileId", i}) : std::string()};
  }

  std::string file_id(const PickedValue& value, Field field) {
    if (!value.given()) return {};
    const auto id = domain::trim_unicode(value.text);
    if (!value.is(Kind::string)) {
      report(field, "must be a string");
    } else if (id.empty()) {
      report(field, "must not be empty");
    } else if (characters(value.text) > kMaxFileIdCharacters) {
      report(field, fmt::format("is longer than {} characters", kMaxFileIdCharacters));
    } else if (std::ranges::any_of(
                   value.text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) {
      report(field, "holds control characters");
    }
    return std::string(id);
  }

  void report(Field field, std::string problem) {
    auto path = field.path();
    if (problems_.size() < kMaxProblems &&
        std::ranges::find(problems_, path, &FieldProblem::field) == problems_.end()) {
      problems_.push_back({std::move(path), std::move(problem)});
    }
  }

  const ParseInput& input_;
  std::vector<FieldProblem> problems_;
};

}  // namespace

Expected<OrderEvent> read(const ParseInput& input) {
  std::vector<ShapeMember> members{{"orderId", &kScalar},
                                   {"customerEmail", &kScalar},
                                   {"targetUsername", &kScalar},
                                   {"items", input.file_ids ? &kDirectItems : &kItems}};
  for (const auto& name : input.username_fields) members.push_back({name, &kScalar});
  const Shape shape{.members = members};
  auto picked = pick_json(input.body, shape, input.limits.json_depth);
  if (!picked) return std::unexpected(picked.error());

  const auto& order = picked->root;
  Reader reader(input, std::move(picked->problems));
  OrderEvent event;
  event.provider = domain::Provider::generic;
  event.test = input.test;
  event.order_id = reader.identifier(order["orderId"], {"orderId"}, true);
  reader.username(order, event);
  event.email = domain::trim_unicode(reader.text(order["customerEmail"], {"customerEmail"}, kMaxEmailBytes));
  event.lines = reader.items(order["items"]);
  if (auto problems = reader.take_problems(); !problems.empty()) {
    return fail("INVALID_PAYLOAD", "The payload has invalid or missing fields.", std::move(problems));
  }
  return event;
}

}  // namespace presetbridge::providers::generic
