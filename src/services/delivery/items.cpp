#include "services/delivery/items.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <ranges>
#include <unordered_map>

#include "domain/username.h"
#include "storage/delivery_search.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using storage::ItemRow;

// Of items that were ordered by their file, not by a line of the order (spec 3.8).
constexpr std::string_view kByFile = "file_id";

}  // namespace

std::vector<std::string> line_ids(const ItemRow& item) {
  std::vector<std::string> ids;
  const auto parsed = boost::json::parse(item.lines);
  for (const auto& id : parsed.as_array()) ids.emplace_back(id.as_string());
  return ids;
}

std::string lines_json(const std::vector<std::string>& line_ids) {
  return boost::json::serialize(boost::json::array(line_ids.begin(), line_ids.end()));
}

const std::string& user_of(const ItemRow& item, const storage::CustomerRow& customer) {
  return item.user_id.empty() ? customer.cloud_user_id : item.user_id;
}

void become_one(storage::Tx& tx, const ItemRow& item, ItemRow& twin) {
  twin.former = false;
  twin.lines = find_item_lines(tx, item);
  update_item_lines(tx, std::array<const ItemRow*, 1>{&twin});
  twin.quantity = item.quantity;
  if (twin.status != ItemStatus::revoked && twin.status != ItemStatus::dropped) return;
  twin.status = item.status;
  twin.revoked_by.clear();
}

domain::ItemNow item_now(const ItemRow& item) {
  return {.id = item.id,
          .file_id = item.file_id,
          .status = item.status,
          .line_ids = line_ids(item),
          .by_file = item.matched_by == kByFile,
          .revoked_by_order = item.revoked_by == "order",
          .revocation_begun = item.revocation_begun};
}

domain::ItemNow item_with_lines(storage::Tx& tx, ItemRow item) {
  item.lines = find_item_lines(tx, item);
  return item_now(item);
}

std::vector<domain::ItemNow> items_now(std::span<const ItemRow> items) {
  std::vector<domain::ItemNow> now;
  for (const auto& item : items) {
    if (!item.former) now.push_back(item_now(item));
  }
  return now;
}

domain::ItemTally tally(std::span<const ItemRow> items) {
  std::vector<ItemStatus> statuses;
  for (const auto& item : items) {
    if (!item.former) statuses.push_back(item.status);
  }
  return domain::tally(statuses);
}

ItemRow item_of(const storage::DeliveryRow& row, const domain::OwedFile& file, IdSource& ids) {
  ItemRow item;
  item.id = ids.make<ItemId>();
  item.delivery = row.id;
  item.account = row.account;
  item.file_id = file.file_id;
  item.kind = file.kind;
  item.name = file.name.empty() ? file.file_id : file.name;
  item.matched_by = std::string(domain::to_string(file.matched_by));
  item.quantity = std::max<std::int64_t>(file.quantity, 1);
  item.lines = lines_json(file.line_ids);
  item.status = file.paid_quantity > 0 ? ItemStatus::owed : ItemStatus::dropped;
  return item;
}

std::string words_of_dropped(const Alignment& aligned) {
  constexpr std::size_t kNamed = 3;
  constexpr std::size_t kMostBytes = 100;
  std::string names;
  for (const auto& name : aligned.dropped | std::views::take(kNamed))
    names.append(names.empty() ? "" : ", ").append(domain::cut_utf8(name, kMostBytes));
  const auto more = aligned.dropped.size() - std::min(aligned.dropped.size(), kNamed);
  if (more > 0) names += " and " + std::to_string(more) + " more";
  return "No longer owed: " + names + ".";
}

Alignment align_items(storage::Tx& tx, IdSource& ids, const storage::DeliveryRow& row,
                      const domain::OrderState& state, const domain::MappedOrder& mapped, bool complete,
                      Owe owe) {
  Alignment result{.items = find_items(tx, row.id), .dropped = {}, .refunded = {}};
  auto plan = domain::plan_items(items_now(result.items), state, mapped, complete);
  if (owe == Owe::nothing_more) plan.owe.clear();
  std::unordered_map<ItemId, ItemRow*> by_id;
  for (auto& item : result.items) by_id[item.id] = &item;
  std::vector<ItemRow*> changed;
  const auto set = [&](ItemId id, ItemStatus status) {
    auto& item = *by_id.at(id);
    item.status = status;
    item.revoked_by.clear();
    changed.push_back(&item);
  };
  std::vector<const ItemRow*> other_lines;
  for (auto& [id, lines] : plan.lines) {
    by_id.at(id)->lines = lines_json(lines);
    other_lines.push_back(by_id.at(id));
  }
  update_item_lines(tx, other_lines);
  for (const auto id : plan.drop) set(id, ItemStatus::dropped);
  for (const auto id : plan.keep) set(id, ItemStatus::shared);
  for (const auto id : plan.owe) set(id, ItemStatus::owed);
  std::ranges::sort(changed);
  changed.erase(std::ranges::unique(changed).begin(), changed.end());
  update_items(tx, std::vector<const ItemRow*>(changed.begin(), changed.end()));

  std::vector<ItemRow> added;
  for (const auto& file : plan.add) added.push_back(item_of(row, file, ids));
  insert_items(tx, added);
  storage::DeliveryKeys keys{.account = row.account, .delivery = row.id, .files = {}};
  for (const auto& item : added) keys.files.push_back(item.file_id);
  insert_delivery_keys(tx, std::span(&keys, 1));
  result.owes_less = !plan.drop.empty();
  for (const auto id : plan.drop) result.dropped.push_back(by_id.at(id)->name);
  result.owes_more = !plan.owe.empty() || std::ranges::any_of(added, [](const ItemRow& item) {
    return item.status == ItemStatus::owed;
  });
  result.items.insert(result.items.end(), added.begin(), added.end());
  result.too_many = plan.too_many;
  result.refunded = std::move(plan.refunded);
  return result;
}

}  // namespace presetbridge::services
