#include "storage/stores/delivery_store.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "storage/row_columns.h"

namespace presetbridge::storage {
namespace {

using domain::DeliveryStatus;
using domain::PendingAction;
using domain::PendingActionKind;
using domain::ResolutionCode;
using domain::ReviewReason;

// An older program knows a review by its reason alone, and of these two: any other reason is one of them to
// it.
std::string_view pending_action(const DeliveryRow& d) {
  if (d.pending.kind != PendingActionKind::review) return domain::to_string(d.pending.kind);
  return domain::to_string(d.pending.reviews.has(ReviewReason::high_risk) ? ReviewReason::high_risk
                                                                          : ReviewReason::payment_withdrawn);
}

Param name_or_null(std::string_view name) {
  return name.empty() ? Param(nullptr) : Param(name);
}
Param pending_actor(const DeliveryRow& d, Texts& texts) {
  if (d.pending.kind == PendingActionKind::none) return nullptr;
  return texts.hold(to_string(d.pending.actor));
}
Param pending_reviews(const DeliveryRow& d, Texts& texts) {
  if (d.pending.kind == PendingActionKind::none) return nullptr;
  return name_or_null(texts.hold(to_string(d.pending.reviews)));
}
Param pending_named_by(const DeliveryRow& d, Texts& texts) {
  if (d.pending.kind == PendingActionKind::none || d.pending.name.username.empty()) return nullptr;
  return texts.hold(to_string(d.pending.name.actor));
}
Param worked_ms(const DeliveryRow& d) {
  return d.counted->worked ? Param(std::int64_t{d.counted->worked->count()}) : Param(nullptr);
}

// `pending` stands in the columns pending_…, which read_pending() reads, and `counted` in counted_… and
// worked_ms, which read_counted() reads. pending_version and counted_version are the version of the row
// that was written with them: where the row has another one, an older program has written it since, and
// left these columns as they were.
constexpr std::tuple kColumns{
    Column{"id", &DeliveryRow::id, Update::key},
    Column{"account_id", &DeliveryRow::account, Update::no},
    Column{"integration_id", &DeliveryRow::integration, Update::no},
    Column{"order_key", &DeliveryRow::order_key, Update::no},
    Column{"status", &DeliveryRow::status, kNamed<domain::parse_delivery_status>},
    Column{"resolution_code", &DeliveryRow::resolution, kNamedOrNull<domain::parse_resolution_code>},
    Column{"message", &DeliveryRow::message},
    Column{"reason", &DeliveryRow::reason, kEmptyIsNull},
    Column{"invalidated_by", &DeliveryRow::invalidated_by, kNamedOrNull<domain::parse_invalidated_by>},
    Column{"target_username", &DeliveryRow::username, kEmptyIsNull},
    Column{"raw_username", &DeliveryRow::raw_username, kEmptyIsNull},
    Column{"customer_email", &DeliveryRow::email, kEmptyIsNull},
    Column{"cloud_account_id", &DeliveryRow::cloud_account, kEmptyIsNull},
    Column{"customer_id", &DeliveryRow::customer, kEmptyIsNull},
    Column{"refunded", &DeliveryRow::refunded},
    Column{"cancelled", &DeliveryRow::cancelled},
    Column{"dry_run", &DeliveryRow::dry_run, Update::no},
    Computed{"pending_action", [](const DeliveryRow& d) { return name_or_null(pending_action(d)); }},
    Computed{"pending_reason", [](const DeliveryRow& d) { return text_or_null(d.pending.reason); }},
    Computed{"pending_actor", pending_actor},
    Computed{"pending_username", [](const DeliveryRow& d) { return text_or_null(d.pending.name.username); }},
    Column{"attempt_count", &DeliveryRow::attempt_count},
    Column{"next_attempt_at", &DeliveryRow::next_attempt_at},
    Column{"requests_sent", &DeliveryRow::requests_sent},
    Column{"sequence", &DeliveryRow::sequence},
    Column{"version", &DeliveryRow::version, Update::key},
    Column{"created_at", &DeliveryRow::created_at, Update::no},
    Column{"updated_at", &DeliveryRow::updated_at},
    Column{"completed_at", &DeliveryRow::completed_at},
    Column{"review_reasons", &DeliveryRow::review_reasons, kNamedOrNull<domain::parse_review_reasons>},
    Column{"waiting_since", &DeliveryRow::waiting_since},
    Column{"failed_trouble", &DeliveryRow::failed_trouble},
    Column{"named_at", &DeliveryRow::named_at},
    Column{"ended_at", &DeliveryRow::ended_at},
    Column{"link_version", &DeliveryRow::link_version},
    Column{"probe_until", &DeliveryRow::probe_until},
    Column{"told_request", &DeliveryRow::reported_request},
    Column{"asks_anew", &DeliveryRow::asks_anew},
    Computed{"pending_reviews", pending_reviews},
    Computed{"pending_named_by", pending_named_by},
    Computed{"pending_named_at", [](const DeliveryRow& d) { return d.pending.name.given; }},
    Computed{"pending_version", &DeliveryRow::version, Update::no},
    Column{"api_key_id", &DeliveryRow::api_key, kEmptyIsNull, Update::no},
    Computed{"counted_status", [](const DeliveryRow& d) { return domain::to_string(d.counted->status); }},
    Computed{"counted_since", [](const DeliveryRow& d) { return d.counted->since; }},
    Computed{"worked_ms", worked_ms},
    Computed{"counted_version", &DeliveryRow::version, Update::no},
    Computed{"open", is_open, Select::no},
};

constexpr Sql kInsertDelivery = sql<"INSERT INTO deliveries ", kInsertion<kColumns>>;
constexpr Sql kFind = sql<"SELECT ", kSelected<kColumns>, " FROM deliveries WHERE id = $1">;
constexpr Sql kLock = sql<"SELECT ", kSelected<kColumns>, " FROM deliveries WHERE id = $1 <for_update>">;
constexpr Sql kLockOpen =
    sql<"SELECT ", kSelected<kColumns>,
        " FROM deliveries WHERE customer_id = $1 AND open = 1 ORDER BY id <for_update>">;
// Nothing where there are more than $2: almost nobody has, and these need no sorting.
constexpr Sql kLockFewOpen =
    sql<"SELECT ", kSelected<kColumns>,
        " FROM deliveries WHERE customer_id = $1 AND open = 1 AND (SELECT 1 FROM deliveries"
        " WHERE customer_id = $1 AND open = 1 LIMIT 1 OFFSET $2) IS NULL"
        " ORDER BY id <for_update>">;
// By status: those in processing first, then queued ones, then those that wait.
constexpr Sql kLockOpenOfJob =
    sql<"SELECT ", kSelected<kColumns>,
        " FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE customer_id = $1"
        " AND open = 1 ORDER BY status, COALESCE(next_attempt_at, 0), id LIMIT $2)"
        " ORDER BY id <for_update>">;
constexpr Sql kLockFailedOfCustomer =
    sql<"SELECT ", kSelected<kColumns>,
        " FROM deliveries WHERE customer_id = $1 AND status = 'failed' ORDER BY id <for_update>">;
// The failures of deliveries that an acceptance resumes (spec 3.5).
constexpr Sql kLockUnansweredOfCustomer =
    sql<"SELECT ", kSelected<kColumns>,
        " FROM deliveries WHERE customer_id = $1 AND status = 'failed'"
        " AND (resolution_code = 'friendship_timeout' OR resolution_code = 'friend_request_declined'"
        " OR resolution_code = 'blocked_by_customer') AND COALESCE(waiting_since, $2) > $3"
        " ORDER BY id LIMIT $4 <for_update>">;
constexpr Sql kUpdate =
    sql<"UPDATE deliveries SET ", kAssigned<kColumns>,
        ", version = version + 1, pending_version = version + 1, counted_version = version + 1,"
        " offered_username = NULL WHERE ",
        kKeyed<kColumns>>;

constexpr Sql kFindStanding{
    "SELECT status, resolution_code, target_username, dry_run FROM deliveries WHERE id = $1"};
constexpr Sql kFindInvalidatedByMerchant{
    "SELECT id FROM deliveries WHERE id = $1 AND invalidated_by = 'merchant'"};

// The inverse of pending_action().
std::optional<PendingAction> parse_pending(std::string_view text) {
  if (text == "hold") return pending_review(ReviewReason::held);
  for (const auto reason :
       {ReviewReason::high_risk, ReviewReason::payment_withdrawn, ReviewReason::too_large}) {
    if (text == domain::to_string(reason)) return pending_review(reason);
  }
  const auto kind = domain::parse_pending_action_kind(text);
  if (!kind || *kind == PendingActionKind::none || *kind == PendingActionKind::review) return std::nullopt;
  return PendingAction{.kind = *kind, .reason = {}, .actor = {}};
}

PendingAction read_pending(const Row& r, std::int64_t version) {
  constexpr int action = column_of<kColumns>("pending_action");
  constexpr int reviews = column_of<kColumns>("pending_reviews");
  constexpr int named_by = column_of<kColumns>("pending_named_by");
  if (r.is_null(action)) return {};
  auto pending = parsed<PendingAction>(r.text(action), parse_pending);
  pending.reason = r.string_or_empty(column_of<kColumns>("pending_reason"));
  pending.actor = parsed<domain::Actor>(r.text(column_of<kColumns>("pending_actor")), domain::parse_actor);
  pending.name.username = r.string_or_empty(column_of<kColumns>("pending_username"));
  if (!pending.name.username.empty()) pending.name.actor = pending.actor;
  if (r.int64(column_of<kColumns>("pending_version")) != version) return pending;
  if (!r.is_null(reviews))
    pending.reviews = parsed<domain::ReviewReasons>(r.text(reviews), domain::parse_review_reasons);
  if (!r.is_null(named_by)) pending.name.actor = parsed<domain::Actor>(r.text(named_by), domain::parse_actor);
  pending.name.given = r.opt_time(column_of<kColumns>("pending_named_at"));
  return pending;
}

std::optional<CountedDelivery> read_counted(const Row& r, std::int64_t version) {
  constexpr int status = column_of<kColumns>("counted_status");
  if (r.is_null(status)) return std::nullopt;
  CountedDelivery counted{.status = parsed<DeliveryStatus>(r.text(status), domain::parse_delivery_status),
                          .since = r.time(column_of<kColumns>("counted_since")),
                          .worked = {}};
  if (const auto worked = r.opt_int64(column_of<kColumns>("worked_ms"))) counted.worked = Millis{*worked};
  counted.current = r.int64(column_of<kColumns>("counted_version")) == version;
  return counted;
}

constexpr std::string_view kReopenedBefore = "The merchant reopened the order for review.";

// For a row in review that an older program wrote. Its message is of this review; its reason may be of an
// earlier one, which the merchant has approved since.
domain::ReviewReason reason_of_before(const DeliveryRow& d) {
  using enum domain::ReviewReason;
  if (d.message == kReopenedBefore) return reopened;
  if (d.resolution == ResolutionCode::order_too_large) return too_large;
  if (d.reason == "payment_withdrawn") return payment_withdrawn;
  return d.reason == "high_risk" ? high_risk : held;
}

DeliveryRow read_delivery(const Row& r) {
  auto d = read_row<DeliveryRow, kColumns>(r);
  d.pending = read_pending(r, d.version);
  d.counted = read_counted(r, d.version);
  // An older program wrote no reasons, or left those of an earlier review.
  if (d.status != DeliveryStatus::in_review) d.review_reasons = {};
  if (d.status == DeliveryStatus::in_review && d.review_reasons.none())
    d.review_reasons = reason_of_before(d);
  return d;
}

// How a stored row is counted once it is written as it is now. Where that differs from before, the
// transaction's sums change with it.
CountedDelivery count_changed(Tx& tx, const DeliveryRow& d) {
  const bool completed = d.status == DeliveryStatus::completed;
  const auto since = completed && d.completed_at ? *d.completed_at : tx.now();
  CountedDelivery now{.status = d.status, .since = since, .worked = {}};
  if (d.counted) {
    now = counted_after(d.counted, d.status, since);
    if (d.counted->status == d.status && (!completed || d.counted->since == since)) {
      now.since = d.counted->since;
      now.worked = completed || d.counted->current ? d.counted->worked : std::nullopt;
      return now;
    }
  }
  if (!d.dry_run) count_delivery(tx, {d.account, d.integration, d.api_key}, d.created_at, d.counted, now);
  return now;
}
CountedDelivery count_new(Tx& tx, const DeliveryRow& d) {
  const auto now = counted_after({}, d.status, d.created_at);
  if (!d.dry_run) count_delivery(tx, {d.account, d.integration, d.api_key}, d.created_at, {}, now);
  return now;
}

template <class... P>
std::vector<DeliveryRow> all_deliveries(Tx& tx, const Sql& sql, const P&... params) {
  std::vector<DeliveryRow> rows;
  tx.query(sql, params..., [&](const Row& r) { rows.push_back(read_delivery(r)); });
  return rows;
}

}  // namespace

bool is_open(const DeliveryRow& d) {
  return d.status == DeliveryStatus::queued || d.status == DeliveryStatus::processing ||
         d.status == DeliveryStatus::waiting_for_friendship;
}

void insert_deliveries(Tx& tx, std::span<DeliveryRow> rows) {
  std::vector<Param> flat;
  Texts texts;
  flat.reserve(kInsertWidth<kColumns> * rows.size());
  for (auto& d : rows) {
    tx.changes().push_back(changed(ChangeKind::delivery, d.account, d.id));
    d.counted = count_new(tx, d);
    add_insert<kColumns>(flat, d, texts);
  }
  tx.exec_many(kInsertDelivery, kInsertWidth<kColumns>, flat);
}

std::optional<DeliveryRow> find_delivery(Tx& tx, DeliveryId id) {
  return tx.one(kFind, id, read_delivery);
}
std::vector<std::optional<DeliveryStanding>> find_delivery_standings(Tx& tx,
                                                                     std::span<const DeliveryId> ids) {
  std::vector<std::optional<DeliveryStanding>> found(ids.size());
  tx.query_each(kFindStanding, 1, params_of(ids), [&](std::size_t n, const Row& r) {
    found[n] = {.status = parsed<DeliveryStatus>(r.text(0), domain::parse_delivery_status),
                .resolution = r.is_null(1) ? ResolutionCode::none
                                           : parsed<ResolutionCode>(r.text(1), domain::parse_resolution_code),
                .username = r.string_or_empty(2),
                .dry_run = r.flag(3)};
  });
  return found;
}
std::set<DeliveryId> find_invalidated_by_merchant(Tx& tx, std::span<const DeliveryId> ids) {
  std::set<DeliveryId> found;
  tx.query_each(kFindInvalidatedByMerchant, 1, params_of(ids),
                [&](std::size_t n, const Row&) { found.insert(ids[n]); });
  return found;
}
std::optional<DeliveryRow> lock_delivery(Tx& tx, DeliveryId id) {
  return tx.one(kLock, id, read_delivery);
}

std::vector<DeliveryRow> find_deliveries(Tx& tx, std::span<const DeliveryId> ids) {
  std::vector<std::optional<DeliveryRow>> found(ids.size());
  tx.query_each(kFind, 1, params_of(ids), [&](std::size_t n, const Row& r) { found[n] = read_delivery(r); });
  std::vector<DeliveryRow> rows;
  for (auto& row : found) {
    if (row) rows.push_back(std::move(*row));
  }
  return rows;
}
std::vector<DeliveryRow> lock_deliveries(Tx& tx, std::span<const DeliveryId> ids) {
  std::vector<DeliveryRow> rows;
  rows.reserve(ids.size());
  tx.query_each(kLock, 1, params_of(ids),
                [&](std::size_t, const Row& r) { rows.push_back(read_delivery(r)); });
  return rows;
}

void hold_deliveries(Tx& tx, std::span<const DeliveryId> ids) {
  if (tx.others_write()) tx.query_each(kLock, 1, params_of(ids), [](std::size_t, const Row&) {});
}

std::vector<DeliveryRow> lock_open_deliveries(Tx& tx, CustomerId customer) {
  return all_deliveries(tx, kLockOpen, customer);
}
std::vector<DeliveryRow> lock_open_deliveries(Tx& tx, std::span<const CustomerId> customers,
                                              int most_of_each) {
  std::vector<DeliveryRow> rows;
  rows.reserve(customers.size());
  std::vector<Param> flat;
  for (const auto customer : customers) flat.insert(flat.end(), {customer, most_of_each});
  std::vector<bool> found(customers.size());
  tx.query_each(kLockFewOpen, 2, flat, [&](std::size_t n, const Row& r) {
    rows.push_back(read_delivery(r));
    found[n] = true;
  });
  flat.clear();
  for (std::size_t n = 0; n < customers.size(); ++n) {
    if (!found[n]) flat.insert(flat.end(), {customers[n], most_of_each});
  }
  tx.query_each(kLockOpenOfJob, 2, flat,
                [&](std::size_t, const Row& r) { rows.push_back(read_delivery(r)); });
  return rows;
}
std::vector<DeliveryRow> lock_failed_of_customer(Tx& tx, CustomerId customer) {
  return all_deliveries(tx, kLockFailedOfCustomer, customer);
}
std::vector<DeliveryRow> lock_unanswered_of_customer(Tx& tx, CustomerId customer, Timestamp unknown,
                                                     Timestamp after, int limit) {
  return all_deliveries(tx, kLockUnansweredOfCustomer, customer, unknown, after, limit);
}

void update_delivery(Tx& tx, DeliveryRow& d) {
  update_deliveries(tx, std::array{&d});
}
void update_deliveries(Tx& tx, std::span<DeliveryRow* const> rows) {
  std::vector<Param> flat;
  Texts texts;
  flat.reserve(kUpdateWidth<kColumns> * rows.size());
  for (auto* const row : rows) {
    row->updated_at = std::max(row->updated_at, tx.now());
    tx.changes().push_back(changed(ChangeKind::delivery, row->account, row->id));
    row->counted = count_changed(tx, *row);
    add_update<kColumns>(flat, *row, texts);
  }
  if (tx.update_each(kUpdate, kUpdateWidth<kColumns>, flat) != std::ssize(rows)) {
    throw DbError(DbError::Kind::conflict,
                  rows.size() == 1 ? "delivery " + to_string(rows[0]->id) + " changed under its lock"
                                   : "one of many deliveries changed under its lock");
  }
  for (auto* const row : rows) ++row->version;
}

}  // namespace presetbridge::storage
