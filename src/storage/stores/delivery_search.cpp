#include "storage/stores/delivery_search.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <utility>
#include <variant>

#include "base/id_time.h"
#include "domain/order.h"
#include "storage/columns.h"
#include "storage/stores/delivery_keys.h"

namespace presetbridge::storage {
namespace {

using domain::DeliveryStatus;
using domain::ResolutionCode;

constexpr int kBatch = 1'000;
constexpr int kTextScanLimit = 2'000;    // each costs more
constexpr std::size_t kMostParts = 400;  // pairs of a status and a store that are asked one by one
constexpr std::string_view kAfterAll = "\xF4\x8F\xBF\xBF";  // U+10FFFF

#define PDB_FACTS                                                                                    \
  "SELECT deliveries.id, deliveries.status, deliveries.resolution_code, deliveries.integration_id, " \
  "deliveries.dry_run, deliveries.refunded, deliveries.created_at, deliveries.updated_at, "          \
  "deliveries.account_id, COALESCE(NULLIF(deliveries.review_reasons, ''), deliveries.reason) FROM "
// Ids between $1 and $2, at most $3; the statement's own parameters begin at $4.
#define PDB_BETWEEN " AND deliveries.id > $1 AND deliveries.id < $2"
#define PDB_BOTH(from_where, order, direction_down)               \
  {Sql{PDB_FACTS from_where " ORDER BY " order " DESC LIMIT $3"}, \
   Sql{PDB_FACTS from_where " ORDER BY " direction_down " LIMIT $3"}}

struct Both {
  Sql newest_first;
  Sql oldest_first;
};
// The range is there twice: SQLite compares only the first of a pair with the index, and would step through
// all of the account to the beginning of the range; with plain columns PostgreSQL may read the ids of all
// accounts.
constexpr Both kOfAccount = PDB_BOTH(
    "deliveries WHERE (account_id, id) > ($4, $1) AND (account_id, id) < ($4, $2)"
    " AND account_id IS NOT DISTINCT FROM $4" PDB_BETWEEN,
    "account_id DESC, id", "account_id, id");
constexpr Both kOfStatus =
    PDB_BOTH("deliveries WHERE (status || '') = $4 AND integration_id = $5" PDB_BETWEEN, "id", "id");
constexpr Both kFailedFor =
    PDB_BOTH("deliveries WHERE account_id = $4 AND resolution_code = $5 AND status = 'failed'" PDB_BETWEEN,
             "id", "id");
constexpr Both kInReviewFor =
    PDB_BOTH("deliveries WHERE account_id = $4 AND resolution_code = $5 AND status = 'in_review'" PDB_BETWEEN,
             "id", "id");
constexpr Both kRefunded =
    PDB_BOTH("deliveries WHERE account_id = $4 AND refunded = 1" PDB_BETWEEN, "id", "id");
constexpr Both kDryRuns =
    PDB_BOTH("deliveries WHERE account_id = $4 AND dry_run + 0 = 1" PDB_BETWEEN, "id", "id");
constexpr Both kByKey = PDB_BOTH(
    "delivery_keys JOIN deliveries ON deliveries.id = delivery_keys.delivery_id"
    " WHERE delivery_keys.account_id = $4 AND delivery_keys.key = $5 AND delivery_keys.delivery_id > $1"
    " AND delivery_keys.delivery_id < $2",
    "delivery_keys.delivery_id", "delivery_keys.delivery_id");
constexpr Sql kFactsOf{PDB_FACTS "deliveries WHERE id = $1 AND account_id = $2"};
constexpr Sql kFoundByKey{
    "SELECT delivery_id FROM delivery_keys WHERE account_id = $1 AND key >= $2 AND key < $3 LIMIT $4"};
// By the dedupe keys in each of the account's stores.
constexpr Sql kFoundByOrder{
    "SELECT orders.id FROM integrations JOIN orders ON orders.integration_id = integrations.id"
    " WHERE integrations.account_id = $1 AND orders.order_key >= $2 AND orders.order_key < $3 LIMIT $4"};
constexpr Sql kOfOrder{
    "SELECT orders.id FROM integrations JOIN orders ON orders.integration_id = integrations.id"
    " WHERE integrations.account_id = $1 AND orders.order_key = $2"};
constexpr Sql kIntegrations{"SELECT id FROM integrations WHERE account_id = $1 ORDER BY id LIMIT $2"};
constexpr Sql kTexts{
    "SELECT deliveries.order_key, COALESCE(orders.order_number, ''), COALESCE(target_username, ''),"
    " COALESCE(customer_email, '') FROM deliveries JOIN orders ON orders.id = deliveries.id"
    " WHERE deliveries.id = $1"};

struct Facts {
  DeliveryId id;
  DeliveryStatus status{};
  ResolutionCode code = ResolutionCode::none;
  IntegrationId integration;
  bool dry_run = false;
  bool refunded = false;
  Timestamp created;
  Timestamp updated;
  AccountId account;
  std::optional<domain::ReviewReason> review;
};
// The reason that shows of a delivery in review. An older program wrote no reasons, but only the reason of
// the status, which may be of an earlier review: then a graver reason shows than the true one.
domain::ReviewReason shown_reason(std::string_view reasons, ResolutionCode code) {
  if (const auto known = domain::parse_review_reasons(reasons); known && !known->none())
    return *known->gravest();
  return code == ResolutionCode::order_too_large ? domain::ReviewReason::too_large
                                                 : domain::ReviewReason::held;
}
Facts read_facts(const Row& r) {
  Facts f{.id = r.id<DeliveryId>(0),
          .status = parsed<DeliveryStatus>(r.text(1), domain::parse_delivery_status)};
  if (!r.is_null(2)) f.code = parsed<ResolutionCode>(r.text(2), domain::parse_resolution_code);
  f.integration = r.id<IntegrationId>(3);
  f.dry_run = r.flag(4);
  f.refunded = r.flag(5);
  f.created = r.time(6);
  f.updated = r.time(7);
  f.account = r.id<AccountId>(8);
  if (f.status == DeliveryStatus::in_review) f.review = shown_reason(r.is_null(9) ? "" : r.text(9), f.code);
  return f;
}

template <class T>
bool contains(const std::vector<T>& all, const T& one) {
  return std::ranges::find(all, one) != all.end();
}

bool fits(const std::vector<domain::ReviewReason>& wanted, std::optional<domain::ReviewReason> review) {
  return wanted.empty() || (review && contains(wanted, *review));
}

// Whether the delivery passes all filters but the order's id, the search and the file. The account is
// checked too: `integrations` may name a store of another one.
bool fits(const DeliveryFilter& f, const Facts& d) {
  const auto outside = [](const auto& from, const auto& to, Timestamp at) {
    return (from && at < *from) || (to && at >= *to);
  };
  return d.account == f.account && (f.statuses.empty() || contains(f.statuses, d.status)) &&
         (f.codes.empty() || contains(f.codes, d.code)) && fits(f.reviews, d.review) &&
         (!f.integrations || contains(*f.integrations, d.integration)) &&
         f.dry_run.value_or(d.dry_run) == d.dry_run && f.refunded.value_or(d.refunded) == d.refunded &&
         !outside(f.created_from, f.created_to, d.created) &&
         !outside(f.updated_from, f.updated_to, d.updated);
}

struct Range {
  std::int64_t low = 0;  // neither end is in it
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
  bool oldest_first = false;
  void go_on_after(DeliveryId id) { (oldest_first ? low : high) = id.value; }
};

// A delivery that was changed before a time was made before it.
Range range_of(const DeliveryFilter& f) {
  Range range{.oldest_first = f.oldest_first};
  if (f.created_from) range.low = std::max<std::int64_t>(0, first_id_at(*f.created_from - kIdFromRow) - 1);
  auto to = f.created_to;
  if (f.updated_to) to = std::min(to.value_or(*f.updated_to), *f.updated_to);
  if (to) range.high = first_id_at(*to + kIdFromRow);
  if (f.page.before == std::numeric_limits<std::int64_t>::max()) return range;
  if (f.oldest_first) {
    range.low = std::max(range.low, f.page.before);
  } else {
    range.high = std::min(range.high, f.page.before);
  }
  return range;
}

// Deliveries in the order of their ids, from one or more ranges of indexes.
class Source {
 public:
  using Own = std::vector<std::variant<std::int64_t, std::string>>;

  // All parts of one statement are added one after the other.
  void add(const Both& sql, Own own) { parts_.push_back({&sql, std::move(own)}); }
  // Exactly these deliveries.
  void add(AccountId account, std::vector<DeliveryId> ids) {
    account_ = account;
    ids_ = std::move(ids);
    std::ranges::sort(*ids_);
  }

  // The next deliveries of all parts, at most `limit`.
  std::vector<Facts> read(Tx& tx, const Range& range, int limit) const {
    std::vector<Facts> found;
    if (ids_) return read_ids(tx, range, limit);
    for (auto part = parts_.begin(); part != parts_.end();) {
      const auto end = std::find_if(part, parts_.end(), [&](const Part& p) { return p.sql != part->sql; });
      read(tx, std::span(part, end), range, limit, found);
      part = end;
    }
    const auto later = [&](const Facts& a, const Facts& b) {
      return range.oldest_first ? a.id < b.id : b.id < a.id;
    };
    std::ranges::sort(found, later);
    if (found.size() > static_cast<std::size_t>(limit)) found.resize(static_cast<std::size_t>(limit));
    return found;
  }

  // Parts that can be read one after the other where the order does not matter.
  std::vector<Source> apart() const {
    if (ids_) return {*this};
    std::vector<Source> all;
    for (const auto& part : parts_) all.emplace_back().parts_.push_back(part);
    return all;
  }

 private:
  struct Part {
    const Both* sql;
    Own own;
  };
  static void read(Tx& tx, std::span<const Part> parts, const Range& range, int limit,
                   std::vector<Facts>& found) {
    const auto& sql = range.oldest_first ? parts.front().sql->oldest_first : parts.front().sql->newest_first;
    std::vector<Param> flat;
    for (const auto& part : parts) {
      flat.insert(flat.end(), {range.low, range.high, limit});
      for (const auto& value : part.own)
        flat.push_back(std::visit([](const auto& v) { return Param(v); }, value));
    }
    tx.query_each(sql, 3 + parts.front().own.size(), flat,
                  [&](std::size_t, const Row& r) { found.push_back(read_facts(r)); });
  }
  std::vector<Facts> read_ids(Tx& tx, const Range& range, int limit) const {
    auto from = std::ranges::upper_bound(*ids_, DeliveryId{range.low});
    auto to = std::ranges::lower_bound(*ids_, DeliveryId{range.high});
    std::vector<Param> flat;
    const auto add = [&](DeliveryId id) { flat.insert(flat.end(), {id, account_}); };
    // Ids without a delivery are stepped over.
    std::vector<Facts> found;
    while (from < to && found.size() < static_cast<std::size_t>(limit)) {
      flat.clear();
      for (int i = 0; i < limit && from < to; ++i) add(range.oldest_first ? *from++ : *--to);
      std::vector<std::optional<Facts>> batch(flat.size() / 2);
      tx.query_each(kFactsOf, 2, flat, [&](std::size_t n, const Row& r) { batch[n] = read_facts(r); });
      for (auto& facts : batch) {
        if (facts && found.size() < static_cast<std::size_t>(limit)) found.push_back(*facts);
      }
    }
    return found;
  }

  std::vector<Part> parts_;
  std::optional<std::vector<DeliveryId>> ids_;
  AccountId account_;
};

// The deliveries that a search finds; nothing if they are more than can be read.
std::optional<std::vector<DeliveryId>> found_by(Tx& tx, AccountId account, const std::string& search) {
  const std::string folded = folded_key(search);
  // A search of which folding leaves nothing, such as character references of spaces, finds nothing.
  if (folded.empty()) return std::vector<DeliveryId>();
  std::set<DeliveryId> ids;
  bool all = true;
  const auto find = [&](const Sql& sql, const std::string& from) {
    const std::string to = from + std::string(kAfterAll);
    int found = 0;
    tx.query(sql, account, from, to, kDeliveryScanLimit + 1, [&](const Row& r) {
      ids.insert(r.id<DeliveryId>(0));
      ++found;
    });
    all = all && found <= kDeliveryScanLimit;
  };
  for (const char kind : {'n', 'o', 'u', 'e'}) find(kFoundByKey, kind + folded);
  find(kFoundByOrder, folded);
  if (!all || ids.size() > kDeliveryScanLimit) return std::nullopt;
  return std::vector<DeliveryId>(ids.begin(), ids.end());
}

struct Plan {
  Source source;
  bool read_texts = false;  // the search finds too much to be the source
  int most() const { return read_texts ? kTextScanLimit : kDeliveryScanLimit; }
};

void add_statuses(Tx& tx, const DeliveryFilter& f, Source& source) {
  std::vector<IntegrationId> stores;
  if (f.integrations) {
    stores = *f.integrations;
  } else {
    tx.query(kIntegrations, f.account, static_cast<int>(kMostParts) + 1,
             [&](const Row& r) { stores.push_back(r.id<IntegrationId>(0)); });
  }
  std::vector<std::string> statuses;
  for (std::size_t i = 0; i < domain::kDeliveryStatusNames.size(); ++i) {
    const auto status = static_cast<DeliveryStatus>(i);
    const bool may_fit = f.reviews.empty() || status == DeliveryStatus::in_review;
    if (may_fit && (f.statuses.empty() || contains(f.statuses, status)))
      statuses.emplace_back(domain::kDeliveryStatusNames[i]);
  }
  if (stores.size() * statuses.size() > kMostParts) return source.add(kOfAccount, {f.account.value});
  for (const auto& status : statuses) {
    for (const auto store : stores) source.add(kOfStatus, {status, store.value});
  }
}

Plan plan_of(Tx& tx, const DeliveryFilter& f) {
  Plan plan;
  const std::int64_t account = f.account.value;
  if (!f.order_key.empty()) {
    std::vector<DeliveryId> ids;
    tx.query(kOfOrder, f.account, f.order_key, [&](const Row& r) { ids.push_back(r.id<DeliveryId>(0)); });
    plan.source.add(f.account, std::move(ids));
    plan.read_texts = !f.search.empty();
    return plan;
  }
  if (!f.search.empty()) {
    if (auto ids = found_by(tx, f.account, f.search)) {
      plan.source.add(f.account, std::move(*ids));
      return plan;
    }
    plan.read_texts = true;
  }
  if (!f.file_id.empty()) {
    plan.source.add(kByKey, {account, "f" + f.file_id});
  } else if (f.refunded == true) {
    plan.source.add(kRefunded, {account});
  } else if (f.dry_run == true) {
    plan.source.add(kDryRuns, {account});
  } else if (!f.codes.empty()) {
    for (const auto* const sql : {&kFailedFor, &kInReviewFor}) {
      for (const auto code : f.codes) plan.source.add(*sql, {account, std::string(domain::to_string(code))});
    }
  } else if (!f.statuses.empty() || !f.reviews.empty() || f.integrations) {
    add_statuses(tx, f, plan.source);
  } else {
    plan.source.add(kOfAccount, {account});
  }
  return plan;
}

bool begins_with(const std::string& text, const std::string& folded) {
  return folded_key(text).starts_with(folded);
}

// Removes those of `found` that a filter excludes.
void keep_fitting(Tx& tx, const DeliveryFilter& f, bool read_texts, std::vector<Facts>& found) {
  std::erase_if(found, [&](const Facts& facts) { return !fits(f, facts); });
  std::vector<Param> flat;
  for (const auto& facts : found) flat.emplace_back(facts.id);
  if (read_texts) {
    const std::string folded = folded_key(f.search);
    std::vector<bool> named(found.size());
    tx.query_each(kTexts, 1, flat, [&](std::size_t n, const Row& r) {
      for (const int column : {0, 1, 2, 3}) named[n] = named[n] || begins_with(r.string(column), folded);
    });
    std::erase_if(found, [&, n = std::size_t{0}](const Facts&) mutable { return !named[n++]; });
  }
  // A file's key is the source where nothing finds more exactly.
  if (f.file_id.empty() || (f.order_key.empty() && (f.search.empty() || read_texts))) return;
  static constexpr Sql has_file{
      "SELECT 1 FROM delivery_items WHERE delivery_id = $1 AND file_id = $2 LIMIT 1"};
  flat.clear();
  for (const auto& facts : found) flat.insert(flat.end(), {facts.id, f.file_id});
  std::vector<bool> has(found.size());
  tx.query_each(has_file, 2, flat, [&](std::size_t n, const Row&) { has[n] = true; });
  std::erase_if(found, [&, n = std::size_t{0}](const Facts&) mutable { return !has[n++]; });
}

}  // namespace

Page<DeliveryRow> list_deliveries(Tx& tx, const DeliveryFilter& f) {
  const auto plan = plan_of(tx, f);
  auto range = range_of(f);
  Page<Facts> page;
  bool ended = false;
  for (int scanned = 0, limit = f.page.fetch(); scanned < plan.most() && !ended; limit = kBatch) {
    auto found = plan.source.read(tx, range, limit);
    ended = static_cast<int>(found.size()) < limit;
    scanned += static_cast<int>(found.size());
    if (!found.empty()) range.go_on_after(found.back().id);
    keep_fitting(tx, f, plan.read_texts, found);
    std::ranges::move(found, std::back_inserter(page.rows));
    if (static_cast<int>(page.rows.size()) > f.page.limit) {
      page = make_page(std::move(page.rows), f.page, [](const Facts& d) { return d.id.value; });
      ended = true;
    }
  }
  if (!ended) page.next = f.oldest_first ? range.low : range.high;
  std::vector<DeliveryId> ids;
  for (const auto& facts : page.rows) ids.push_back(facts.id);
  return {find_deliveries(tx, ids), page.next};
}

DeliveryCount count_deliveries(Tx& tx, const DeliveryFilter& f,
                               const std::function<void(const FoundDelivery&)>& each) {
  const auto plan = plan_of(tx, f);
  auto whole = f;
  whole.page = {};
  DeliveryCount counted;
  int scanned = 0;
  for (const auto& source : plan.source.apart()) {
    auto range = range_of(whole);
    for (bool ended = false; !ended;) {
      // One more than is counted, to know whether there are more.
      const int limit = std::min(2 * kBatch, plan.most() + 1 - scanned);
      if (limit <= 0) return {std::min<std::int64_t>(counted.count, kDeliveryScanLimit), false};
      auto found = source.read(tx, range, limit);
      ended = static_cast<int>(found.size()) < limit;
      scanned += static_cast<int>(found.size());
      if (!found.empty()) range.go_on_after(found.back().id);
      keep_fitting(tx, f, plan.read_texts, found);
      if (counted.count + std::ssize(found) > kDeliveryScanLimit) {
        found.resize(static_cast<std::size_t>(kDeliveryScanLimit - counted.count));
        counted.exact = false;
      }
      counted.count += std::ssize(found);
      for (const auto& d : found) {
        if (each) each({d.id, d.status, d.code, d.review});
      }
    }
  }
  return counted;
}

bool is_still(const DeliveryFilter& f, const DeliveryRow& row) {
  return (f.statuses.empty() || contains(f.statuses, row.status)) &&
         (f.codes.empty() || contains(f.codes, row.resolution)) &&
         fits(f.reviews, row.review_reasons.gravest()) && f.refunded.value_or(row.refunded) == row.refunded;
}

}  // namespace presetbridge::storage
