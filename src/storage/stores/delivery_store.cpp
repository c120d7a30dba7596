#include "storage/stores/delivery_store.h"

#include <algorithm>
#include <array>

#include "storage/columns.h"

namespace presetbridge::storage {
namespace {

using domain::DeliveryStatus;

using domain::PendingActionKind;
using domain::ResolutionCode;
using domain::ReviewReason;

#define PDB_DELIVERY_COLUMNS                                                                              \
  "id, account_id, integration_id, order_key, status, resolution_code, message, reason, invalidated_by, " \
  "target_username, raw_username, customer_email, cloud_account_id, customer_id, refunded, cancelled, "   \
  "dry_run, "                                                                                             \
  "pending_action, pending_reason, pending_actor, pending_username, attempt_count, next_attempt_at, "     \
  "requests_sent, "                                                                                       \
  "sequence, version, created_at, updated_at, completed_at, review_reasons, "                             \
  "waiting_since, failed_trouble, named_at, ended_at, link_version, probe_until, told_request, "          \
  "pending_reviews, pending_named_by, pending_named_at, pending_version, api_key_id, counted_status, "    \
  "counted_since, worked_ms, counted_version"

constexpr Sql kInsertDelivery{
    "INSERT INTO deliveries (" PDB_DELIVERY_COLUMNS
    ", open) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, "
    "$16, $17, $18, $19, $20, $21, $22, $23, "
    "$24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43, "
    "$44, $45, $46, $47)"};
constexpr Sql kFind{"SELECT " PDB_DELIVERY_COLUMNS " FROM deliveries WHERE id = $1"};
constexpr Sql kLock{"SELECT " PDB_DELIVERY_COLUMNS " FROM deliveries WHERE id = $1 <for_update>"};
constexpr Sql kLockOpen{"SELECT " PDB_DELIVERY_COLUMNS
                        " FROM deliveries WHERE customer_id = $1 AND open = 1 ORDER BY id <for_update>"};
// Nothing where there are more than $2: almost nobody has, and these need no sorting.
constexpr Sql kLockFewOpen{
    "SELECT " PDB_DELIVERY_COLUMNS
    " FROM deliveries WHERE customer_id = $1 AND open = 1 AND (SELECT 1 FROM deliveries"
    " WHERE customer_id = $1 AND open = 1 LIMIT 1 OFFSET $2) IS NULL"
    " ORDER BY id <for_update>"};
// By status: those in processing first, then queued ones, then those that wait.
constexpr Sql kLockOpenOfJob{"SELECT " PDB_DELIVERY_COLUMNS
                             " FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE customer_id = $1"
                             " AND open = 1 ORDER BY status, COALESCE(next_attempt_at, 0), id LIMIT $2)"
                             " ORDER BY id <for_update>"};
constexpr Sql kLockFailedOfCustomer{
    "SELECT " PDB_DELIVERY_COLUMNS
    " FROM deliveries WHERE customer_id = $1 AND status = 'failed' ORDER BY id <for_update>"};
constexpr Sql kUpdate{
    "UPDATE deliveries SET status = $2, resolution_code = $3, message = $4, reason = $5, invalidated_by = "
    "$6, "
    "target_username = $7, raw_username = $8, customer_email = $9, cloud_account_id = $10, customer_id = "
    "$11, "
    "refunded = $12, cancelled = $13, pending_action = $14, pending_reason = $15, pending_actor = $16, "
    "pending_username = $17, attempt_count = $18, next_attempt_at = $19, requests_sent = $20, sequence = "
    "$21, "
    "version = version + 1, updated_at = $22, completed_at = $23, open = $25, offered_username = NULL, "
    "review_reasons = $26, waiting_since = $27, "
    "failed_trouble = $28, named_at = $29, ended_at = $30, link_version = $31, probe_until = $32, "
    "told_request = $33, pending_reviews = $34, pending_named_by = $35, pending_named_at = $36, "
    "pending_version = version + 1, counted_status = $37, counted_since = $38, worked_ms = $39, "
    "counted_version = version + 1 WHERE id = $1 AND version = "
    "$24"};

constexpr Sql kFindStanding{"SELECT status, resolution_code FROM deliveries WHERE id = $1"};

// The names of the domain's sets: the empty one is NULL.
Param name_or_null(std::string_view name) {
  return name.empty() ? Param(nullptr) : Param(name);
}

// What waits, as columns hold it. An older program knows a review by its reason alone, and of these two: any
// other reason is one of them to it.
struct PendingText {
  std::string_view action;
  std::string actor;
  std::string reviews;
  std::string named_by;
};
PendingText text_of(const domain::PendingAction& pending) {
  if (pending.kind == PendingActionKind::none) return {};
  const auto shown = pending.reviews.has(ReviewReason::high_risk) ? ReviewReason::high_risk
                                                                  : ReviewReason::payment_withdrawn;
  return {.action = pending.kind == PendingActionKind::review ? domain::to_string(shown)
                                                              : domain::to_string(pending.kind),
          .actor = to_string(pending.actor),
          .reviews = to_string(pending.reviews),
          .named_by = pending.name.username.empty() ? std::string() : to_string(pending.name.actor)};
}

// A kind as pending_action holds it: a review by what an older program knows of its reasons.
std::optional<domain::PendingAction> parse_pending(std::string_view text) {
  if (text == "hold") return pending_review(ReviewReason::held);
  for (const auto reason :
       {ReviewReason::high_risk, ReviewReason::payment_withdrawn, ReviewReason::too_large}) {
    if (text == domain::to_string(reason)) return pending_review(reason);
  }
  const auto kind = domain::parse_pending_action_kind(text);
  if (!kind || *kind == PendingActionKind::none || *kind == PendingActionKind::review) return std::nullopt;
  return domain::PendingAction{.kind = *kind, .reason = {}, .actor = {}};
}

domain::PendingAction read_pending(const Row& r, std::int64_t version) {
  if (r.is_null(17)) return {};
  auto pending = parsed<domain::PendingAction>(r.text(17), parse_pending);
  pending.reason = r.string_or_empty(18);
  pending.actor = parsed<domain::Actor>(r.text(19), domain::parse_actor);
  pending.name.username = r.string_or_empty(20);
  if (!pending.name.username.empty()) pending.name.actor = pending.actor;
  if (r.int64(40) != version) return pending;
  if (!r.is_null(37))
    pending.reviews = parsed<domain::ReviewReasons>(r.text(37), domain::parse_review_reasons);
  if (!r.is_null(38)) pending.name.actor = parsed<domain::Actor>(r.text(38), domain::parse_actor);
  pending.name.given = r.opt_time(39);
  return pending;
}

// What the columns of a row look at.
struct RowText {
  PendingText pending;
  std::string reasons;
};
RowText text_of(const DeliveryRow& d) {
  return {text_of(d.pending), to_string(d.review_reasons)};
}

constexpr std::string_view kReopenedBefore = "The merchant reopened the order for review.";

// Of a row in review that a program of before wrote. Its message is of this review; its reason may be of an
// earlier one, which the merchant has approved since.
domain::ReviewReason reason_of_before(const DeliveryRow& d) {
  using enum domain::ReviewReason;
  if (d.message == kReopenedBefore) return reopened;
  if (d.resolution == ResolutionCode::order_too_large) return too_large;
  if (d.reason == "payment_withdrawn") return payment_withdrawn;
  return d.reason == "high_risk" ? high_risk : held;
}

DeliveryRow read_delivery(const Row& r) {
  DeliveryRow d;
  d.id = r.id<DeliveryId>(0);
  d.account = r.id<AccountId>(1);
  d.integration = r.id<IntegrationId>(2);
  d.order_key = r.string(3);
  d.status = parsed<DeliveryStatus>(r.text(4), domain::parse_delivery_status);
  if (!r.is_null(5)) d.resolution = parsed<ResolutionCode>(r.text(5), domain::parse_resolution_code);
  d.message = r.string(6);
  d.reason = r.string_or_empty(7);
  if (!r.is_null(8))
    d.invalidated_by = parsed<domain::InvalidatedBy>(r.text(8), domain::parse_invalidated_by);
  d.username = r.string_or_empty(9);
  d.raw_username = r.string_or_empty(10);
  d.email = r.string_or_empty(11);
  d.cloud_account = r.id_or_none<CloudAccountId>(12);
  d.customer = r.id_or_none<CustomerId>(13);
  d.refunded = r.flag(14);
  d.cancelled = r.flag(15);
  d.dry_run = r.flag(16);
  d.attempt_count = r.int64(21);
  d.next_attempt_at = r.opt_time(22);
  d.requests_sent = r.int64(23);
  d.sequence = r.int64(24);
  d.version = r.int64(25);
  d.pending = read_pending(r, d.version);
  d.created_at = r.time(26);
  d.updated_at = r.time(27);
  d.completed_at = r.opt_time(28);
  if (!r.is_null(29))
    d.review_reasons = parsed<domain::ReviewReasons>(r.text(29), domain::parse_review_reasons);
  // A program of before wrote no reasons, or left those of an earlier review.
  if (d.status != DeliveryStatus::in_review) d.review_reasons = {};
  if (d.status == DeliveryStatus::in_review && d.review_reasons.none())
    d.review_reasons = reason_of_before(d);
  d.waiting_since = r.opt_time(30);
  d.failed_trouble = r.opt_time(31);
  d.named_at = r.opt_time(32);
  d.ended_at = r.opt_time(33);
  d.link_version = r.int64(34);
  d.probe_until = r.opt_time(35);
  d.reported_request = r.opt_time(36);
  d.api_key = r.id_or_none<ApiKeyId>(41);
  if (!r.is_null(42)) {
    d.counted = {.status = parsed<DeliveryStatus>(r.text(42), domain::parse_delivery_status),
                 .since = r.time(43),
                 .worked = {}};
    if (!r.is_null(44)) d.counted->worked = Millis{r.int64(44)};
    d.counted->current = r.int64(45) == d.version;
  }
  return d;
}

// As what a row that is there is counted once it is written; where that is another than before, the sums
// follow.
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
Param worked_ms(const CountedDelivery& counted) {
  return counted.worked ? Param(std::int64_t{counted.worked->count()}) : Param(nullptr);
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
  std::vector<RowText> texts;  // what the parameters look at
  texts.reserve(rows.size());
  flat.reserve(47 * rows.size());
  for (auto& d : rows) {
    tx.changes().push_back(changed(ChangeKind::delivery, d.account, d.id));
    const auto counted = count_new(tx, d);
    d.counted = counted;
    const auto& [pending, reasons] = texts.emplace_back(text_of(d));
    flat.insert(flat.end(), {d.id,
                             d.account,
                             d.integration,
                             d.order_key,
                             domain::to_string(d.status),
                             name_or_null(domain::to_string(d.resolution)),
                             d.message,
                             text_or_null(d.reason),
                             name_or_null(domain::to_string(d.invalidated_by)),
                             text_or_null(d.username),
                             text_or_null(d.raw_username),
                             text_or_null(d.email),
                             id_or_null(d.cloud_account),
                             id_or_null(d.customer),
                             d.refunded,
                             d.cancelled,
                             d.dry_run,
                             name_or_null(pending.action),
                             text_or_null(d.pending.reason),
                             text_or_null(pending.actor),
                             text_or_null(d.pending.name.username),
                             d.attempt_count,
                             d.next_attempt_at,
                             d.requests_sent,
                             d.sequence,
                             d.version,
                             d.created_at,
                             d.updated_at,
                             d.completed_at,
                             text_or_null(reasons),
                             d.waiting_since,
                             d.failed_trouble,
                             d.named_at,
                             d.ended_at,
                             d.link_version,
                             d.probe_until,
                             d.reported_request,
                             text_or_null(pending.reviews),
                             text_or_null(pending.named_by),
                             d.pending.name.given,
                             d.version,
                             id_or_null(d.api_key),
                             domain::to_string(counted.status),
                             counted.since,
                             worked_ms(counted),
                             d.version,
                             is_open(d)});
  }
  tx.exec_many(kInsertDelivery, 47, flat);
}

std::optional<DeliveryRow> find_delivery(Tx& tx, DeliveryId id) {
  return tx.one(kFind, id, read_delivery);
}
std::vector<std::optional<std::pair<DeliveryStatus, ResolutionCode>>> find_delivery_standings(
    Tx& tx, std::span<const DeliveryId> ids) {
  std::vector<std::optional<std::pair<DeliveryStatus, ResolutionCode>>> found(ids.size());
  tx.query_each(kFindStanding, 1, params_of(ids), [&](std::size_t n, const Row& r) {
    found[n] = {parsed<DeliveryStatus>(r.text(0), domain::parse_delivery_status),
                r.is_null(1) ? ResolutionCode::none
                             : parsed<ResolutionCode>(r.text(1), domain::parse_resolution_code)};
  });
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

void update_delivery(Tx& tx, DeliveryRow& d) {
  update_deliveries(tx, std::array{&d});
}
void update_deliveries(Tx& tx, std::span<DeliveryRow* const> rows) {
  std::vector<Param> flat;
  std::vector<RowText> texts;  // what the parameters look at
  texts.reserve(rows.size());
  std::vector<CountedDelivery> counted;
  flat.reserve(39 * rows.size());
  for (auto* const row : rows) {
    auto& d = *row;
    d.updated_at = std::max(d.updated_at, tx.now());
    tx.changes().push_back(changed(ChangeKind::delivery, d.account, d.id));
    const auto& now_counted = counted.emplace_back(count_changed(tx, d));
    const auto& [pending, reasons] = texts.emplace_back(text_of(d));
    flat.insert(flat.end(), {d.id,
                             domain::to_string(d.status),
                             name_or_null(domain::to_string(d.resolution)),
                             d.message,
                             text_or_null(d.reason),
                             name_or_null(domain::to_string(d.invalidated_by)),
                             text_or_null(d.username),
                             text_or_null(d.raw_username),
                             text_or_null(d.email),
                             id_or_null(d.cloud_account),
                             id_or_null(d.customer),
                             d.refunded,
                             d.cancelled,
                             name_or_null(pending.action),
                             text_or_null(d.pending.reason),
                             text_or_null(pending.actor),
                             text_or_null(d.pending.name.username),
                             d.attempt_count,
                             d.next_attempt_at,
                             d.requests_sent,
                             d.sequence,
                             d.updated_at,
                             d.completed_at,
                             d.version,
                             is_open(d),
                             text_or_null(reasons),
                             d.waiting_since,
                             d.failed_trouble,
                             d.named_at,
                             d.ended_at,
                             d.link_version,
                             d.probe_until,
                             d.reported_request,
                             text_or_null(pending.reviews),
                             text_or_null(pending.named_by),
                             d.pending.name.given,
                             domain::to_string(now_counted.status),
                             now_counted.since,
                             worked_ms(now_counted)});
  }
  if (tx.update_each(kUpdate, 39, flat) != static_cast<std::int64_t>(rows.size())) {
    throw DbError(DbError::Kind::conflict,
                  rows.size() == 1 ? "delivery " + to_string(rows[0]->id) + " changed under its lock"
                                   : "one of many deliveries changed under its lock");
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ++rows[i]->version;
    rows[i]->counted = counted[i];
  }
}

}  // namespace presetbridge::storage
