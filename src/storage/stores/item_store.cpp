#include "storage/stores/item_store.h"

#include <algorithm>

#include "storage/columns.h"

namespace presetbridge::storage {
namespace {

using domain::ItemStatus;

#define PDB_ITEM_COLUMNS_WITH(lines)                                                             \
  "id, delivery_id, account_id, file_id, kind, name, matched_by, quantity, " lines               \
  ", status, customer_id, intent_key, settle_after, held, spent, shared_at, user_id, username, " \
  "former, revoked_by, revocation_begun"
#define PDB_ITEM_COLUMNS PDB_ITEM_COLUMNS_WITH("lines")
#define PDB_ITEM_COLUMNS_OF_A_JOB PDB_ITEM_COLUMNS_WITH("'[]'")

constexpr Sql kInsertItem{
    "INSERT INTO delivery_items (" PDB_ITEM_COLUMNS
    ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, "
    "$18, $19, $20, $21)"};
constexpr Sql kFindItems{"SELECT " PDB_ITEM_COLUMNS " FROM delivery_items WHERE delivery_id = $1"};
constexpr Sql kFindItemsOfJob{"SELECT " PDB_ITEM_COLUMNS_OF_A_JOB
                              " FROM delivery_items WHERE delivery_id = $1"};
constexpr Sql kFindItemsOfCustomer{"SELECT " PDB_ITEM_COLUMNS_OF_A_JOB
                                   " FROM delivery_items WHERE customer_id = $1"};
constexpr Sql kUpdateItemLines{
    "UPDATE delivery_items SET lines = $4 WHERE delivery_id = $1 AND file_id = $2 AND id = $3"};
constexpr Sql kUpdateItem{
    "UPDATE delivery_items SET quantity = $4, status = $5, customer_id = $6, intent_key = $7, "
    "settle_after = $8, held = $9, spent = $10, shared_at = $11, matched_by = $12, user_id = $13, "
    "username = $14, former = $15, revoked_by = $16, revocation_begun = $17"
    " WHERE delivery_id = $1 AND file_id = $2 AND id = $3"};
constexpr Sql kDeleteItem{"DELETE FROM delivery_items WHERE delivery_id = $1 AND file_id = $2 AND id = $3"};

constexpr Sql kBlankItems{
    "UPDATE delivery_items SET username = '' WHERE delivery_id = $1 AND username <> ''"};

constexpr Sql kSummarise{
    "SELECT count(*), count(CASE WHEN status = 'shared' OR status = 'already_shared'"
    " OR status = 'delivered_by_hand' THEN 1 END), COALESCE(min(id), 0), COALESCE(min(CASE WHEN status = "
    "'owed' THEN id END), 0) FROM delivery_items"
    " WHERE delivery_id = $1 AND former = 0 AND status <> 'dropped'"};
constexpr Sql kOwed{
    "SELECT count(*), count(CASE WHEN i.status = 'owed' AND i.former = 0 AND i.spent = 0 THEN 1 END)"
    " FROM delivery_items i JOIN deliveries d ON d.id = i.delivery_id"
    " WHERE i.delivery_id = $1 AND d.dry_run = 0"};
constexpr std::size_t kPricedAtOnce = 100;  // deliveries
constexpr Sql kNameOf{"SELECT name FROM delivery_items WHERE delivery_id = $1 AND id = $2"};

ItemRow read_item(const Row& r) {
  ItemRow i;
  i.id = r.id<ItemId>(0);
  i.delivery = r.id<DeliveryId>(1);
  i.account = r.id<AccountId>(2);
  i.file_id = r.string(3);
  i.kind = r.string(4);
  i.name = r.string(5);
  i.matched_by = r.string(6);
  i.quantity = r.int64(7);
  i.lines = r.string(8);
  i.status = parsed<ItemStatus>(r.text(9), domain::parse_item_status);
  i.customer = r.id_or_none<CustomerId>(10);
  i.intent_key = r.string_or_empty(11);
  i.settle_after = r.opt_time(12);
  i.held = r.flag(13);
  i.spent = r.flag(14);
  i.shared_at = r.opt_time(15);
  i.user_id = r.string(16);
  i.username = r.string(17);
  i.former = r.flag(18);
  i.revoked_by = r.string_or_empty(19);
  i.revocation_begun = r.flag(20);
  return i;
}

std::vector<ItemRow> all_items(Tx& tx, const Sql& sql, std::span<const Param> ids) {
  std::vector<ItemRow> rows;
  rows.reserve(ids.size());
  tx.query_each(sql, 1, ids, [&](std::size_t, const Row& r) { rows.push_back(read_item(r)); });
  std::ranges::sort(rows, {}, &ItemRow::id);
  return rows;
}

}  // namespace

void insert_items(Tx& tx, std::span<const ItemRow> rows) {
  std::vector<Param> flat;
  flat.reserve(21 * rows.size());
  for (const auto& i : rows) {
    tx.changes().push_back(changed(ChangeKind::delivery, i.account, i.delivery));
    flat.insert(flat.end(), {i.id,
                             i.delivery,
                             i.account,
                             i.file_id,
                             i.kind,
                             i.name,
                             i.matched_by,
                             i.quantity,
                             i.lines,
                             domain::to_string(i.status),
                             id_or_null(i.customer),
                             text_or_null(i.intent_key),
                             i.settle_after,
                             i.held,
                             i.spent,
                             i.shared_at,
                             i.user_id,
                             i.username,
                             i.former,
                             text_or_null(i.revoked_by),
                             i.revocation_begun});
  }
  tx.exec_many(kInsertItem, 21, flat);
}

std::vector<ItemSummary> summarise_items(Tx& tx, std::span<const DeliveryId> deliveries) {
  std::vector<ItemSummary> summaries(deliveries.size());
  std::vector<Param> named;
  std::vector<std::string*> names;
  std::vector<std::size_t> same;  // whose first file is the first that is owed
  tx.query_each(kSummarise, 1, params_of(deliveries), [&](std::size_t n, const Row& r) {
    summaries[n].count = r.int64(0);
    summaries[n].delivered = r.int64(1);
    const auto first = r.int64(2);
    const auto owed = r.int64(3);
    const auto name = [&](std::int64_t item, std::string& into) {
      named.insert(named.end(), {deliveries[n], item});
      names.push_back(&into);
    };
    if (first != 0) name(first, summaries[n].first_name);
    if (owed != 0 && owed == first) same.push_back(n);
    if (owed != 0 && owed != first) name(owed, summaries[n].first_owed);
  });
  tx.query_each(kNameOf, 2, named, [&](std::size_t n, const Row& r) { *names[n] = r.string(0); });
  for (const auto n : same) summaries[n].first_owed = summaries[n].first_name;
  return summaries;
}

CreditsOwed count_credits_owed(Tx& tx, std::span<const DeliveryId> deliveries) {
  CreditsOwed owed;
  std::int64_t looked = 0;
  while (!deliveries.empty()) {
    if (looked >= kMostItemsPriced) {
      owed.exact = false;
      break;
    }
    const auto piece = deliveries.first(std::min(kPricedAtOnce, deliveries.size()));
    deliveries = deliveries.subspan(piece.size());
    tx.query_each(kOwed, 1, params_of(piece), [&](std::size_t, const Row& r) {
      looked += r.int64(0);
      owed.credits += r.int64(1);
    });
  }
  return owed;
}

std::vector<ItemRow> find_items(Tx& tx, DeliveryId delivery) {
  return find_items(tx, std::span(&delivery, 1));
}
std::vector<ItemRow> find_items(Tx& tx, std::span<const DeliveryId> deliveries) {
  return all_items(tx, kFindItems, params_of(deliveries));
}
std::vector<ItemRow> find_items_of_job(Tx& tx, std::span<const DeliveryId> deliveries) {
  return all_items(tx, kFindItemsOfJob, params_of(deliveries));
}
std::vector<ItemRow> find_items_of_customers(Tx& tx, std::span<const CustomerId> customers) {
  return all_items(tx, kFindItemsOfCustomer, params_of(customers));
}

void update_items(Tx& tx, std::span<const ItemRow* const> rows) {
  std::vector<Param> flat;
  flat.reserve(17 * rows.size());
  for (const auto* const row : rows) {
    const auto& i = *row;
    tx.changes().push_back(changed(ChangeKind::delivery, i.account, i.delivery));
    flat.insert(flat.end(),
                {i.delivery, i.file_id, i.id, i.quantity, domain::to_string(i.status), id_or_null(i.customer),
                 text_or_null(i.intent_key), i.settle_after, i.held, i.spent, i.shared_at, i.matched_by,
                 i.user_id, i.username, i.former, text_or_null(i.revoked_by), i.revocation_begun});
  }
  tx.update_each(kUpdateItem, 17, flat);
}

void update_item_lines(Tx& tx, std::span<const ItemRow* const> rows) {
  std::vector<Param> flat;
  flat.reserve(4 * rows.size());
  for (const auto* const i : rows) flat.insert(flat.end(), {i->delivery, i->file_id, i->id, i->lines});
  tx.update_each(kUpdateItemLines, 4, flat);
}

void delete_items(Tx& tx, std::span<const ItemRow> rows) {
  for (const auto& i : rows) {
    tx.changes().push_back(changed(ChangeKind::delivery, i.account, i.delivery));
    tx.exec(kDeleteItem, i.delivery, i.file_id, i.id);
  }
}
void blank_item_usernames(Tx& tx, std::span<const DeliveryId> deliveries) {
  tx.exec_many(kBlankItems, 1, params_of(deliveries));
}

}  // namespace presetbridge::storage
