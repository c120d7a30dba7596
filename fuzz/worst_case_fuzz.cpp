// Searches for an order that costs more than its bytes and its limits allow (spec 8.6): the input is a
// recipe, of which a body as large as a megabyte is made, so that a loop within a loop is found where it
// shows. Cost is the number of branches that domain and providers take; their code here is compiled so that
// it counts.
#include <boost/json.hpp>
#include <string>
#include <vector>

#include "domain/mapping.h"
#include "domain/order.h"
#include "providers/parse.h"
#include "require.h"

namespace {

using namespace presetbridge;
namespace json = boost::json;

std::int64_t taken = 0;

constexpr std::size_t kBody = 1024 * 1024;
constexpr int kKeys = 50;
constexpr int kOfKey = 100;

// Branches that are allowed. To read: a byte of the body (a note is looked through for each of 23 names of
// fields). To merge twice, write, read again, map and plan: a byte of what is kept, a line or a line of a
// refund, and a file that a line owes.
constexpr std::int64_t kOfAnOrder = 100'000;
constexpr std::int64_t kOfAByte = 150;
constexpr std::int64_t kOfAStoredByte = 50;
constexpr std::int64_t kOfALine = 1'000;
constexpr std::int64_t kOfAPair = 200;

// As many mappings as a store may have.
const domain::MappingIndex& mappings() {
  static const domain::MappingIndex index = [] {
    std::vector<domain::Mapping> all;
    for (int key = 0; key < kKeys; ++key) {
      for (int n = 0; n < kOfKey; ++n) {
        const auto id = static_cast<std::int64_t>(all.size()) + 1;
        all.push_back({MappingId{id}, domain::MatchType::sku, std::to_string(key),
                       domain::MappingAction::deliver, "file-" + std::to_string(id), "preset", "A file"});
      }
    }
    return domain::MappingIndex(all);
  }();
  return index;
}

void hold(std::string_view what, std::size_t bytes, std::int64_t cost, std::int64_t allowed) {
  if (cost > allowed) {
    std::fprintf(stderr, "%.*s of %zu bytes: %lld branches, %lld allowed\n", static_cast<int>(what.size()),
                 what.data(), bytes, static_cast<long long>(cost), static_cast<long long>(allowed));
  }
  REQUIRE(cost <= allowed);
}

class Recipe {
 public:
  Recipe(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  bool ended() const { return at_ >= size_; }
  int next() { return ended() ? 0 : data_[at_++]; }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

// An identifier: one of few, or one of many, short or long.
json::string id_of(int kind, int n) {
  std::string text;
  switch (kind % 4) {
    case 0:
      text = std::to_string(n % kKeys);
      break;
    case 1:
      text = std::to_string(n);
      break;
    case 2:
      text = "#" + std::to_string(n % 7) + std::string(static_cast<std::size_t>(n) % 200, '\'');
      break;
    default:
      text = std::string(200, 'x') + std::to_string(n);
  }
  return json::string(text);
}

// Each step adds as many parts of one kind as it says, as long as the body has room.
std::string body_of(Recipe& recipe) {
  json::array lines;
  json::array refunds;
  json::array attributes;
  std::string note;
  std::size_t room = kBody - 1'000;
  const auto take = [&](std::size_t bytes) {
    if (bytes > room) return false;
    room -= bytes;
    return true;
  };
  while (!recipe.ended()) {
    const int what = recipe.next();
    const int count = recipe.next() * (1 + recipe.next() % 64);
    const int kind = recipe.next();
    for (int i = 0; i < count; ++i) {
      switch (what % 6) {
        case 0: {
          json::object line{{"id", id_of(kind, i)}, {"sku", id_of(kind / 4, i)}, {"quantity", 1 + kind % 3}};
          if (kind > 128) line["title"] = std::string(static_cast<std::size_t>(kind), kind % 2 ? ' ' : 'T');
          if (lines.size() < 250 && take(json::serialize(line).size() + 1)) lines.push_back(std::move(line));
          break;
        }
        case 1: {
          json::array refunded;
          for (int n = 0; n < kind; ++n)
            refunded.push_back(json::object{{"line_item_id", id_of(what / 6, n)}, {"quantity", 1}});
          json::object refund{{"id", i}, {"refund_line_items", std::move(refunded)}};
          if (take(json::serialize(refund).size() + 1)) refunds.push_back(std::move(refund));
          break;
        }
        case 2: {
          json::object line{{"line_item_id", id_of(kind, i)}, {"quantity", 1}};
          if (refunds.empty() || !take(json::serialize(line).size() + 1)) break;
          refunds.back().as_object()["refund_line_items"].as_array().push_back(std::move(line));
          break;
        }
        case 3: {
          json::object attribute{{"name", kind % 2 ? "cloud_username" : "x"}, {"value", id_of(kind, i)}};
          if (take(json::serialize(attribute).size() + 1)) attributes.push_back(std::move(attribute));
          break;
        }
        case 4: {
          const std::string_view part = kind % 3 == 0   ? "vendor username:\n"
                                        : kind % 3 == 1 ? "username - "
                                                        : "@ ";
          if (take(2 * part.size())) note += part;
          break;
        }
        default:
          if (take(1)) note += static_cast<char>(' ' + kind % 90);
      }
    }
  }
  const json::object order{{"id", "1"},
                           {"financial_status", "paid"},
                           {"updated_at", "2026-10-01T00:00:00Z"},
                           {"note", note},
                           {"note_attributes", std::move(attributes)},
                           {"line_items", std::move(lines)},
                           {"refunds", std::move(refunds)}};
  return json::serialize(order);
}

}  // namespace

// fuzz/CMakeLists.txt sends the calls of __sanitizer_cov_trace_pc here.
extern "C" void __wrap___sanitizer_cov_trace_pc() {
  ++taken;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto& index = mappings();
  Recipe recipe(data, size);
  const auto body = body_of(recipe);
  REQUIRE(body.size() <= kBody);
  const auto* profile = providers::find_profile("provider_a");
  const std::vector<std::string> fields(20, "one of the merchant's own");

  taken = 0;
  auto event =
      providers::parse(*profile, {.body = body, .topic = "orders/updated", .username_fields = fields});
  hold("reading", body.size(), taken, kOfAnOrder + kOfAByte * std::ssize(body));
  REQUIRE(event.has_value());
  auto lines = std::ssize(event->lines);
  for (const auto& refund : event->refunds) lines += 1 + std::ssize(refund.lines);

  taken = 0;
  const auto first = domain::merge(std::nullopt, *event).state;
  event->updated_at = *event->updated_at + std::chrono::minutes{1};
  for (auto& line : event->lines) line.title += "!";
  const auto stored = encode(domain::merge(first, *event).state);
  auto state = domain::decode_order_state(stored);
  REQUIRE(state.has_value());
  const auto mapped = index.map(*state, domain::MappingIndex::Lines::all);
  std::vector<domain::ItemNow> items;
  std::int64_t pairs = 0;
  for (const auto& file : mapped.files) {
    items.push_back({ItemId{1}, file.file_id, domain::ItemStatus::owed, file.line_ids});
    pairs += std::ssize(file.line_ids);
  }
  domain::plan_items(items, *state, mapped);
  domain::refunds_took_all(items, *state);
  hold("an order", body.size(), taken,
       kOfAnOrder + kOfAStoredByte * std::ssize(stored) + kOfALine * lines + kOfAPair * pairs);
  return 0;
}
