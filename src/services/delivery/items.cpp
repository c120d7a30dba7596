#include "services/delivery/items.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <ranges>
#include <span>
#include <unordered_map>

#include "base/utf8.h"
#include "services/delivery/revocation.h"

namespace presetbridge::services {
namespace {

using domain::ItemStatus;
using storage::ItemRow;

std::string first_names(std::span<const std::string> all) {
  constexpr std::size_t kNamed = 3;
  constexpr std::size_t kMostBytes = 100;
  std::string names;
  for (const auto& name : all | std::views::take(kNamed))
    names.append(names.empty() ? "" : ", ").append(cut_utf8(name, kMostBytes));
  const auto more = all.size() - std::min(all.size(), kNamed);
  if (more > 0) names += " and " + std::to_string(more) + " more";
  return names;
}

}  // namespace

bool was_taken_back(const ItemRow& item) {
  return item.status == ItemStatus::revoking || item.status == ItemStatus::revoked ||
         item.status == ItemStatus::revoke_failed;
}

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

void record_as_taken_back(ItemRow& item) {
  item.status = item.revocation_begun ? ItemStatus::revoke_failed : ItemStatus::revoked;
  item.revoked_by = item.revocation_begun ? "order" : "";
}

void merge_items(DeliverySet& set, ItemRow& item, ItemRow& former) {
  set.items_with_lines(item.delivery);
  former.former = false;
  former.lines = item.lines;
  former.quantity = item.quantity;
  if (former.status == ItemStatus::revoked || former.status == ItemStatus::dropped) {
    former.status = item.status;
    former.revoked_by.clear();
  }
  set.changed(former);
  set.lines_changed(former);
  set.remove(item);
}

std::vector<const ItemRow*> pointers(std::span<const ItemRow> items) {
  std::vector<const ItemRow*> all;
  for (const auto& item : items) all.push_back(&item);
  return all;
}

domain::ItemNow item_now(const ItemRow& item) {
  return {.id = item.id,
          .file_id = item.file_id,
          .status = item.status,
          .line_ids = line_ids(item),
          .by_file = item.matched_by == domain::kByFile,
          .revoked_by_order = item.revoked_by == "order",
          .revocation_begun = item.revocation_begun};
}

std::vector<domain::ItemNow> items_now(Items items) {
  std::vector<domain::ItemNow> now;
  for (const auto* const item : items) {
    if (!item->former) now.push_back(item_now(*item));
  }
  return now;
}

domain::ItemTally tally(Items items, std::string_view username, CustomerId customer) {
  std::vector<ItemStatus> statuses;
  for (const auto* const item : items) {
    if (item->former) continue;
    // Another name may lead to the same customer.
    const bool of_another =
        !item->username.empty() && item->username != username && item->customer != customer;
    statuses.push_back(of_another && was_taken_back(*item) ? ItemStatus::dropped : item->status);
  }
  return domain::tally(statuses);
}

void drop_owed(DeliverySet& set, std::span<ItemRow* const> items) {
  for (auto* const item : items) {
    if (item->status != ItemStatus::owed) continue;
    item->status = ItemStatus::dropped;
    set.changed(*item);
  }
}

ItemRow item_of(const storage::DeliveryRow& row, const domain::OwedFile& file, IdSource& ids) {
  ItemRow item;
  item.id = ids.make<ItemId>();
  item.delivery = row.id;
  item.account = row.account;
  item.file_id = file.file_id;
  item.kind = file.kind;
  item.name = file.name.empty() ? file.file_id : file.name;
  item.matched_by = std::string(domain::matched_by(file));
  item.quantity = std::max<std::int64_t>(file.quantity, 1);
  item.lines = lines_json(file.line_ids);
  item.status = file.paid_quantity > 0 ? ItemStatus::owed : ItemStatus::dropped;
  return item;
}

std::string dropped_message(const Alignment& aligned) {
  auto message = "No longer owed: " + first_names(aligned.dropped) + ".";
  if (!aligned.added.empty()) message += " Owed instead: " + first_names(aligned.added) + ".";
  return message;
}

Alignment align_items(DeliverySet& set, const storage::DeliveryRow& row, const domain::OrderState& state,
                      const domain::MappedOrder& mapped, bool complete, Owe owe) {
  Alignment result;
  const auto items = set.items_with_lines(row.id);
  auto plan = domain::plan_items(items_now(items), state, mapped, complete);
  if (owe == Owe::nothing_more) plan.owe.clear();
  std::unordered_map<ItemId, ItemRow*> by_id;
  for (auto* const item : items) by_id[item->id] = item;
  if (waits_for_merchant(row))
    std::erase_if(plan.owe, [&](ItemId id) { return by_id.at(id)->status == ItemStatus::revoke_failed; });
  const auto become = [&](ItemId id, ItemStatus status) {
    auto& item = *by_id.at(id);
    item.status = status;
    item.revoked_by.clear();
    set.changed(item);
  };
  for (auto& [id, lines] : plan.lines) {
    by_id.at(id)->lines = lines_json(lines);
    set.lines_changed(*by_id.at(id));
  }
  for (const auto id : plan.drop) become(id, ItemStatus::dropped);
  for (const auto id : plan.keep) become(id, ItemStatus::shared);
  for (const auto id : plan.owe) become(id, ItemStatus::owed);
  for (const auto& file : plan.add) {
    const auto& added = set.add(item_of(row, file, set.changes().ids()));
    if (added.status == ItemStatus::owed) result.added.push_back(added.name);
  }
  result.owes_more = !result.added.empty() || !plan.owe.empty();
  result.owes_less = !plan.drop.empty();
  for (const auto id : plan.drop) result.dropped.push_back(by_id.at(id)->name);
  result.too_many = plan.too_many;
  result.refunded = std::move(plan.refunded);
  return result;
}

}  // namespace presetbridge::services
