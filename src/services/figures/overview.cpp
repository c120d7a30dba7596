#include "services/figures/overview.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "domain/credits.h"
#include "domain/rate_window.h"
#include "domain/resolution.h"
#include "domain/time_buckets.h"
#include "domain/trouble.h"
#include "services/credits/credit_pace.h"
#include "services/figures/statistics.h"
#include "services/stores/refusals.h"
#include "storage/stores/cloud_account_store.h"
#include "storage/stores/credential_store.h"
#include "storage/stores/credit_store.h"
#include "storage/stores/customer_store.h"
#include "storage/stores/delivery_search.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/overview_store.h"
#include "storage/stores/store_activity_store.h"
#include "storage/stores/subscription_store.h"

namespace presetbridge::services {
namespace {

using domain::DeliveryStatus;
using domain::ResolutionCode;
using identity::Principal;
using std::chrono::days;
using std::chrono::hours;
using storage::Activity;
using storage::Tx;

constexpr int kMostStores = 500;
constexpr int kMostSubscriptions = 100;
constexpr int kRecent = 5;
constexpr std::size_t kFewestUsualDays = 7;
constexpr Millis kRunsOutSoon = days{7};
constexpr std::size_t kFewestGaps = 10;
constexpr Millis kShortestSilence = days{1};

// Figures from the sums of the last weeks.
struct Past {
  std::int64_t completed_today = 0;
  std::int64_t failed_today = 0;
  std::vector<std::int64_t> completed;  // of each day before, up to this time of the day
  std::vector<std::int64_t> failed;
  std::map<IntegrationId, std::vector<Timestamp>> came_in;  // quarters in which orders came
};

// One account's, in one transaction.
class OverviewReader {
 public:
  OverviewReader(Tx& tx, AccountId account, const TimeZone& zone, std::optional<IntegrationId> only,
                 const Overviews::Options& options)
      : tx_(tx), account_(account), zone_(zone), only_(only), options_(options) {
    for (auto& row : list_integrations(tx, account, {}, kMostStores)) {
      if (only && row.id != *only) continue;
      ids_.push_back(row.id);
      stores_.push_back(std::move(row));
    }
    seen_.as_of = tx.now();
    activity_ = find_store_activity(tx, ids_, tx.now() - hours{24});
    standing_ = find_standing(tx, account).value_or(storage::CredentialsStanding{});
    if (const auto all = find_balances(tx, std::span(&account, 1)); !all.empty()) balance_ = all.front();
  }

  Overview overview() {
    read_past();
    read_now();
    read_limit();
    read_credits();
    add_needs();
    read_setup();
    storage::DeliveryFilter filter{.account = account_};
    if (only_) filter.integrations = std::vector{*only_};
    filter.page.limit = kRecent;
    seen_.recent = summaries_of(tx_, list_deliveries(tx_, filter).rows, options_.jobs_per_minute);
    for (std::size_t i = 0; i < stores_.size(); ++i) {
      seen_.stores.push_back({.id = ids_[i],
                              .name = stores_[i].name,
                              .last_order_at = activity_[i].last_order_at,
                              .failed = activity_[i].failed,
                              .waiting = waiting_[i].count,
                              .unmapped_products = activity_[i].unmapped_products});
    }
    return std::move(seen_);
  }

 private:
  void read_past() {
    const auto now = seen_.as_of;
    const auto today = zone_.date_at(now);
    const domain::TimeBuckets period(zone_, domain::Bucket::day, zone_.start_of(today - kUsualDays),
                                     now + Millis{1});
    // Up to the same time of the day, in whole quarters.
    const auto since_midnight = storage::quarter_of(now) + storage::kQuarter - zone_.start_of(today);
    past_.completed.resize(period.size() - 1);
    past_.failed.resize(period.size() - 1);
    each_sum(tx_, account_, period, 0, std::numeric_limits<std::int64_t>::max(),
             [&](std::size_t place, const storage::ActivitySum& sum) {
               if (only_ && sum.of.integration != *only_) return;
               // A program's direct delivery is a request of its key, not of the store: the delivery shows that it came.
               const bool came = sum.kind == static_cast<std::int64_t>(Activity::requests) ||
                                 sum.kind == static_cast<std::int64_t>(Activity::made);
               if (came && sum.of.integration) past_.came_in[sum.of.integration].push_back(sum.at);
               const bool failed = sum.kind == static_cast<std::int64_t>(Activity::came_to_fail);
               if (!failed && !storage::took_of(sum.kind)) return;
               if (place + 1 == period.size()) {
                 (failed ? seen_.today.failed : seen_.today.completed) += sum.amount;
               } else if (sum.at - period.begin(place) < since_midnight) {
                 (failed ? past_.failed : past_.completed)[place] += sum.amount;
               }
             });
    const auto first = first_delivery_made(tx_, account_);
    std::size_t known = 0;
    for (std::size_t n = 0; n < past_.completed.size(); ++n)
      known += first && period.begin(n) >= *first - days{1} ? 1 : 0;
    if (known < kFewestUsualDays) return;
    seen_.today.usual_completed = median_of_last(past_.completed, known);
    seen_.today.usual_failed = median_of_last(past_.failed, known);
  }

  static std::int64_t median_of_last(std::vector<std::int64_t>& of_days, std::size_t known) {
    const auto from = of_days.end() - static_cast<std::ptrdiff_t>(known);
    const auto middle = from + static_cast<std::ptrdiff_t>((known - 1) / 2);
    std::ranges::nth_element(from, middle, of_days.end());
    return *middle;
  }

  void read_now() {
    const auto all = [&](DeliveryStatus status) {
      std::int64_t count = 0;
      for (const auto& one : count_standing(tx_, ids_, status)) count += one.count;
      return count;
    };
    seen_.now.queued = all(DeliveryStatus::queued);
    seen_.now.processing = all(DeliveryStatus::processing);
    waiting_ = count_standing(tx_, ids_, DeliveryStatus::waiting_for_friendship);
    for (const auto& one : waiting_) seen_.now.waiting += one.count;
    for (const auto& one : count_standing(tx_, ids_, DeliveryStatus::in_review)) {
      review_.count += one.count;
      if (one.oldest) review_.oldest = std::min(review_.oldest.value_or(*one.oldest), *one.oldest);
    }
    seen_.now.in_review = review_.count;
    seen_.now.oldest_waiting_at = find_oldest_waiting(tx_, ids_);
  }

  void read_limit() {
    auto& limit = seen_.limit;
    if (options_.jobs_per_minute > 0) limit.per_minute = options_.jobs_per_minute;
    const auto row =
        standing_.cloud_account ? find_cloud_account(tx_, standing_.cloud_account) : std::nullopt;
    if (!row) return;
    const auto log =
        domain::RateWindow::decode(options_.jobs_per_minute, std::chrono::minutes{1}, row->start_log);
    if (log && limit.per_minute) limit.used_last_60s = *limit.per_minute - log->peek(seen_.as_of).remaining;
    if (seen_.now.queued > 0) {
      const auto due = next_due(tx_, std::array{row->id}).front();
      limit.next_start_at = std::max({row->blocked_until, due.value_or(seen_.as_of), seen_.as_of});
    }
    const auto trouble = domain::decode_account_trouble(row->trouble);
    if (!trouble) return;
    limit.paused_reason = std::string(domain::trouble_name(*trouble));
    if (!limit.paused_reason.empty() && row->blocked_until > seen_.as_of)
      limit.paused_until = row->blocked_until;
  }

  void read_credits() {
    auto& credits = seen_.credits;
    credits.available = balance_.balance.available();
    credits.held = balance_.balance.held;
    const auto pace = credit_pace(tx_, account_, balance_.balance);
    credits.per_day_hundredths = pace.per_day_hundredths;
    credits.runs_out_at = pace.runs_out_at;
  }

  void need(Need need) { seen_.needs.push_back(std::move(need)); }

  void add_needs() {
    const auto failed = only_ ? storage::count_failed(tx_, *only_) : storage::count_failed(tx_, account_);
    const auto failed_for = [&](ResolutionCode code) {
      const auto found = std::ranges::find(failed, code, &storage::FailedFor::code);
      return found == failed.end() ? storage::Standing{} : found->standing;
    };
    const auto add = [&](NeedKind kind, ResolutionCode code, std::string detail) {
      const auto standing = failed_for(code);
      need({.kind = kind,
            .code = std::string(domain::to_string(code)),
            .count = standing.count,
            .oldest_at = standing.oldest,
            .detail = std::move(detail)});
    };
    using storage::CredentialsStatus;
    const bool missing = standing_.status == CredentialsStatus::missing;
    const bool invalid = standing_.status == CredentialsStatus::invalid;
    const auto without_login = failed_for(ResolutionCode::credentials_missing);
    const auto refused_login = failed_for(ResolutionCode::credentials_invalid);
    if (missing || without_login.count > 0) {
      add(NeedKind::login_missing, ResolutionCode::credentials_missing,
          std::string(standing_.unreadable
                          ? domain::kUnreadableLogin
                          : domain::describe(ResolutionCode::credentials_missing).what_happened));
    }
    if ((invalid && !standing_.unreadable) || refused_login.count > 0)
      add(NeedKind::login_invalid, ResolutionCode::credentials_invalid,
          std::string(domain::describe(ResolutionCode::credentials_invalid).what_happened));
    add_intake();
    const auto unpaid = failed_for(ResolutionCode::insufficient_credits);
    if (seen_.credits.available <= 0 || unpaid.count > 0)
      add(NeedKind::credits_out, ResolutionCode::insufficient_credits,
          std::string(domain::describe(ResolutionCode::insufficient_credits).what_happened));
    if (balance_.balance.debt > 0) need({.kind = NeedKind::debt, .count = balance_.balance.debt});
    for (const auto& [code, standing] : failed) {
      if (code == ResolutionCode::credentials_missing || code == ResolutionCode::credentials_invalid ||
          code == ResolutionCode::insufficient_credits)
        continue;
      add(NeedKind::failed, code, std::string(domain::describe(code).title));
    }
    if (review_.count > 0)
      need({.kind = NeedKind::review, .count = review_.count, .oldest_at = review_.oldest});
    add_receivers();
    add_mappings();
    if (const auto open = count_open_privacy_requests(tx_, account_, only_); open.count > 0)
      need({.kind = NeedKind::privacy_request, .count = open.count, .oldest_at = open.oldest});
    const bool low = seen_.credits.available <= balance_.low_at.value_or(options_.credits_low_at) ||
                     (seen_.credits.runs_out_at && *seen_.credits.runs_out_at < seen_.as_of + kRunsOutSoon);
    if (seen_.credits.available > 0 && low)
      need({.kind = NeedKind::credits_low,
            .count = seen_.credits.available,
            .oldest_at = seen_.credits.runs_out_at});
  }

  void add_intake() {
    for (std::size_t i = 0; i < stores_.size(); ++i) {
      for (const auto& refusals : refusals_of(stores_[i], activity_[i])) {
        if (!refusals.open()) continue;
        need({.kind = NeedKind::intake_refused,
              .code = refusals.code,
              .count = refusals.events,
              .oldest_at = refusals.since,
              .integration = ids_[i],
              .detail = stores_[i].name});
      }
    }
    for (std::size_t i = 0; i < stores_.size(); ++i) {
      const auto since = silent_since(ids_[i]);
      if (!since || !stores_[i].active) continue;
      need({.kind = NeedKind::intake_silent,
            .count = 1,
            .oldest_at = since,
            .integration = ids_[i],
            .detail = stores_[i].name});
    }
  }

  // Since when the store has sent nothing, if that is three times as long as nine of ten of its gaps.
  std::optional<Timestamp> silent_since(IntegrationId store) {
    auto found = past_.came_in.find(store);
    if (found == past_.came_in.end()) return std::nullopt;
    auto& quarters = found->second;
    std::ranges::sort(quarters);
    quarters.erase(std::ranges::unique(quarters).begin(), quarters.end());
    if (quarters.size() <= kFewestGaps) return std::nullopt;
    std::vector<Millis> gaps;
    for (std::size_t n = 1; n < quarters.size(); ++n) gaps.push_back(quarters[n] - quarters[n - 1]);
    std::ranges::sort(gaps);
    const Millis usual = gaps[gaps.size() * 9 / 10];
    const bool silent = seen_.as_of - quarters.back() > std::max(kShortestSilence, 3 * usual);
    return silent ? std::optional(quarters.back()) : std::nullopt;
  }

  void add_receivers() {
    std::vector<Need> failing;
    for (const auto& row :
         list_subscriptions(tx_, account_, std::numeric_limits<std::int64_t>::max(), kMostSubscriptions)) {
      const auto& of = row.integrations;
      if (only_ && !of.empty() && std::ranges::find(of, *only_) == of.end()) continue;
      Need one{.kind = NeedKind::receiver_off,
               .code = row.deactivated_reason,
               .count = 1,
               .oldest_at = row.failing_since,
               .subscription = row.id,
               .detail = row.name.empty() ? row.url : row.name};
      if (!row.active) {
        if (!row.deactivated_reason.empty()) need(std::move(one));
        continue;
      }
      if (!row.failing_since || *row.failing_since > seen_.as_of - hours{1}) continue;
      one.kind = NeedKind::receiver_failing;
      failing.push_back(std::move(one));
    }
    std::ranges::move(failing, std::back_inserter(seen_.needs));
  }

  void add_mappings() {
    const auto add = [&](NeedKind kind, std::size_t i, std::int64_t count) {
      if (count > 0) need({.kind = kind, .count = count, .integration = ids_[i], .detail = stores_[i].name});
    };
    for (std::size_t i = 0; i < stores_.size(); ++i)
      add(NeedKind::unmapped, i, activity_[i].unmapped_products);
    const auto stale = count_stale_mappings(tx_, ids_);
    for (std::size_t i = 0; i < stores_.size(); ++i) add(NeedKind::stale, i, stale[i]);
  }

  void read_setup() {
    auto& setup = seen_.setup;
    setup.cloud = standing_.status == storage::CredentialsStatus::valid;
    setup.store = !ids_.empty();
    setup.first_order =
        std::ranges::any_of(activity_, [](const auto& one) { return one.last_order_at.has_value(); });
    const auto mappings = count_mappings(tx_, ids_);
    setup.mapping = std::ranges::any_of(mappings, [](std::int64_t count) { return count > 0; });
    setup.test_order = storage::any_test_delivered(tx_, account_);
    setup.first_delivery = storage::any_delivered(tx_, ids_);
  }

  Tx& tx_;
  const AccountId account_;
  const TimeZone zone_;
  const std::optional<IntegrationId> only_;
  const Overviews::Options& options_;
  std::vector<storage::IntegrationRow> stores_;
  std::vector<IntegrationId> ids_;
  std::vector<storage::StoreActivity> activity_;  // of the last day
  std::vector<storage::Standing> waiting_;
  storage::Standing review_;
  storage::CredentialsStanding standing_;
  storage::AccountBalance balance_;
  Past past_;
  Overview seen_;
};

}  // namespace

Task<Expected<Overview>> Overviews::get(Executor& executor, Principal by, TimeZone zone,
                                        std::optional<IntegrationId> store) {
  co_return co_await async_db_.read(executor, [&](Tx& tx) -> Expected<Overview> {
    if (store) {
      const auto row = find_integration(tx, *store);
      if (!row || row->account != by.account || !by.sees(row->id) || row->archived_at)
        return fail("NOT_FOUND", "There is no such store.");
    }
    return OverviewReader(tx, by.account, zone, store, options_).overview();
  });
}

}  // namespace presetbridge::services
