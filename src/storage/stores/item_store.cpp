#include "storage/stores/item_store.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <tuple>

#include "storage/row_columns.h"

namespace presetbridge::storage {
namespace {

constexpr std::tuple kColumns{
    Column{"id", &ItemRow::id, Update::key},
    Column{"delivery_id", &ItemRow::delivery, Update::key},
    Column{"account_id", &ItemRow::account, Update::no},
    Column{"file_id", &ItemRow::file_id, Update::key},
    Column{"kind", &ItemRow::kind, Update::no},
    Column{"name", &ItemRow::name, Update::no},
    Column{"matched_by", &ItemRow::matched_by},
    Column{"quantity", &ItemRow::quantity},
    Column{"lines", &ItemRow::lines, Update::no},
    Column{"status", &ItemRow::status, kNamed<domain::parse_item_status>},
    Column{"customer_id", &ItemRow::customer, kEmptyIsNull},
    Column{"intent_key", &ItemRow::intent_key, kEmptyIsNull},
    Column{"settle_after", &ItemRow::settle_after},
    Column{"held", &ItemRow::held},
    Column{"spent", &ItemRow::spent},
    Column{"shared_at", &ItemRow::shared_at},
    Column{"user_id", &ItemRow::user_id},
    Column{"username", &ItemRow::username},
    Column{"former", &ItemRow::former},
    Column{"revoked_by", &ItemRow::revoked_by, kEmptyIsNull},
    Column{"revocation_begun", &ItemRow::revocation_begun},
    Column{"by_hand", &ItemRow::by_hand},
    Column{"login_lost_at", &ItemRow::login_lost_at},
};
constexpr auto read_item = read_row<ItemRow, kColumns>;
constexpr const auto& kWithoutLines = kSelectedWith<kColumns, "lines", "'[]'">;

constexpr Sql kInsertItem = sql<"INSERT INTO delivery_items ", kInsertion<kColumns>>;
constexpr Sql kFindItems = sql<"SELECT ", kSelected<kColumns>, " FROM delivery_items WHERE delivery_id = $1">;
constexpr Sql kFindItemsOfJob = sql<"SELECT ", kWithoutLines, " FROM delivery_items WHERE delivery_id = $1">;
constexpr Sql kFindItemsOfCustomer =
    sql<"SELECT ", kWithoutLines, " FROM delivery_items WHERE customer_id = $1">;
// The file of an item that is being taken back, or was in vain, may still be there.
constexpr Sql kFilesOfOtherDeliveries{
    "SELECT file_id, user_id FROM (SELECT file_id, user_id, delivery_id, status FROM delivery_items"
    " WHERE customer_id = $1 LIMIT $3) AS theirs WHERE delivery_id <> $2 AND (status = 'shared'"
    " OR status = 'already_shared' OR status = 'revoking' OR status = 'revoke_failed')"};
constexpr Sql kUpdateItemLines{
    "UPDATE delivery_items SET lines = $4 WHERE delivery_id = $1 AND file_id = $2 AND id = $3"};
constexpr Sql kUpdateItem =
    sql<"UPDATE delivery_items SET ", kAssigned<kColumns>, " WHERE ", kKeyed<kColumns>>;
constexpr Sql kDeleteItem{"DELETE FROM delivery_items WHERE delivery_id = $1 AND file_id = $2 AND id = $3"};

constexpr Sql kBlankItems{
    "UPDATE delivery_items SET username = '' WHERE delivery_id = $1 AND username <> ''"};

constexpr Sql kSummarise{
    "SELECT count(*), count(CASE WHEN status = 'shared' OR status = 'already_shared'"
    " OR status = 'delivered_by_hand' OR (status = 'sharing' AND by_hand = 1) THEN 1 END), COALESCE(min(id), "
    "0), COALESCE(min(CASE WHEN status = "
    "'owed' THEN id END), 0) FROM delivery_items"
    " WHERE delivery_id = $1 AND former = 0 AND status <> 'dropped'"};
constexpr Sql kCountCreditsOwed{
    "SELECT count(*), count(CASE WHEN i.status = 'owed' AND i.former = 0 AND i.spent = 0 THEN 1 END)"
    " FROM delivery_items i JOIN deliveries d ON d.id = i.delivery_id"
    " WHERE i.delivery_id = $1 AND d.dry_run = 0"};
constexpr std::size_t kCreditsBatch = 100;  // deliveries
constexpr Sql kNameOf{"SELECT name FROM delivery_items WHERE delivery_id = $1 AND id = $2"};

std::vector<ItemRow> read_sorted_items(Tx& tx, const Sql& sql, std::span<const Param> ids) {
  std::vector<ItemRow> rows;
  rows.reserve(ids.size());
  tx.query_each(sql, 1, ids, [&](std::size_t, const Row& r) { rows.push_back(read_item(r)); });
  std::ranges::sort(rows, {}, &ItemRow::id);
  return rows;
}

}  // namespace

void insert_items(Tx& tx, std::span<const ItemRow> rows) {
  std::vector<Param> flat;
  Texts texts;
  flat.reserve(kInsertWidth<kColumns> * rows.size());
  for (const auto& i : rows) {
    tx.changes().push_back(changed(ChangeKind::delivery, i.account, i.delivery));
    add_insert<kColumns>(flat, i, texts);
  }
  tx.exec_many(kInsertItem, kInsertWidth<kColumns>, flat);
}

std::vector<ItemSummary> summarise_items(Tx& tx, std::span<const DeliveryId> deliveries) {
  std::vector<ItemSummary> summaries(deliveries.size());
  std::vector<Param> wanted;  // the items whose names are read afterwards
  std::vector<std::string*> names;
  std::vector<std::size_t> owe_first;  // the deliveries whose first item is owed
  tx.query_each(kSummarise, 1, params_of(deliveries), [&](std::size_t n, const Row& r) {
    summaries[n].count = r.int64(0);
    summaries[n].delivered = r.int64(1);
    const auto first = r.int64(2);
    const auto owed = r.int64(3);
    const auto want_name = [&](std::int64_t item, std::string& into) {
      wanted.insert(wanted.end(), {deliveries[n], item});
      names.push_back(&into);
    };
    if (first != 0) want_name(first, summaries[n].first_name);
    if (owed != 0 && owed == first) owe_first.push_back(n);
    if (owed != 0 && owed != first) want_name(owed, summaries[n].first_owed);
  });
  tx.query_each(kNameOf, 2, wanted, [&](std::size_t n, const Row& r) { *names[n] = r.string(0); });
  for (const auto n : owe_first) summaries[n].first_owed = summaries[n].first_name;
  return summaries;
}

CreditsOwed count_credits_owed(Tx& tx, std::span<const DeliveryId> deliveries) {
  CreditsOwed owed;
  std::int64_t items_read = 0;
  while (!deliveries.empty()) {
    if (items_read >= kMostItemsPriced) {
      owed.exact = false;
      break;
    }
    const auto batch = deliveries.first(std::min(kCreditsBatch, deliveries.size()));
    deliveries = deliveries.subspan(batch.size());
    tx.query_each(kCountCreditsOwed, 1, params_of(batch), [&](std::size_t, const Row& r) {
      items_read += r.int64(0);
      owed.credits += r.int64(1);
    });
  }
  return owed;
}

std::vector<ItemRow> find_items(Tx& tx, DeliveryId delivery) {
  return find_items(tx, std::span(&delivery, 1));
}
std::vector<ItemRow> find_items(Tx& tx, std::span<const DeliveryId> deliveries) {
  return read_sorted_items(tx, kFindItems, params_of(deliveries));
}
std::vector<ItemRow> find_items_of_job(Tx& tx, std::span<const DeliveryId> deliveries) {
  return read_sorted_items(tx, kFindItemsOfJob, params_of(deliveries));
}
std::vector<ItemRow> find_items_of_customers(Tx& tx, std::span<const CustomerId> customers) {
  return read_sorted_items(tx, kFindItemsOfCustomer, params_of(customers));
}

std::set<ItemId> find_staying_items(Tx& tx, std::span<const ItemRow> items) {
  std::map<CustomerId, std::multimap<std::string_view, const ItemRow*>> taken_back;  // by file
  for (const auto& item : items) {
    if (item.status == domain::ItemStatus::revoked && item.customer)
      taken_back[item.customer].emplace(item.file_id, &item);
  }
  std::set<ItemId> staying;
  for (const auto& [customer, by_file] : taken_back | std::views::take(kMostCustomersSearched)) {
    const auto delivery = by_file.begin()->second->delivery;
    tx.query(kFilesOfOtherDeliveries, customer, delivery, kMostItemsSearched, [&](const Row& r) {
      const auto user = r.text(1);
      for (auto [at, end] = by_file.equal_range(r.text(0)); at != end; ++at) {
        const auto& own = at->second->user_id;  // the username may be another user's since
        if (own.empty() || user.empty() || own == user) staying.insert(at->second->id);
      }
    });
  }
  return staying;
}

void update_items(Tx& tx, std::span<const ItemRow* const> rows) {
  std::vector<Param> flat;
  Texts texts;
  flat.reserve(kUpdateWidth<kColumns> * rows.size());
  for (const auto* const i : rows) {
    tx.changes().push_back(changed(ChangeKind::delivery, i->account, i->delivery));
    add_update<kColumns>(flat, *i, texts);
  }
  tx.update_each(kUpdateItem, kUpdateWidth<kColumns>, flat);
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
