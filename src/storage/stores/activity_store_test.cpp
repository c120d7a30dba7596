#include "storage/stores/activity_store.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <thread>
#include <tuple>

#include "base/id_time.h"
#include "storage/stores/account_store.h"
#include "storage/stores/delivery_store.h"
#include "storage/testing.h"

namespace presetbridge::storage {
namespace {

using domain::DeliveryStatus;
using domain::ResolutionCode;
using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;
using std::chrono::minutes;
using testing::Engine;

constexpr Timestamp kBegin = from_unix_ms(1'767'225'600'000);  // 2026-01-01

// The key: the beginning of a quarter, account, kind, store, key.
using Sums =
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>, std::int64_t>;

void set(DeliveryRow& row, DeliveryStatus status, Timestamp now) {
  row.status = status;
  row.resolution = status == DeliveryStatus::failed ? ResolutionCode::internal_error : ResolutionCode::none;
  row.completed_at.reset();
  row.ended_at.reset();
  row.customer = CustomerId{1};
  row.invalidated_by = domain::InvalidatedBy::nobody;
  if (status == DeliveryStatus::completed) row.completed_at = row.ended_at = now;
  if (status == DeliveryStatus::invalidated) {
    row.invalidated_by = domain::InvalidatedBy::merchant;
    row.ended_at = now;
  }
}

// A delivery, counted from its whole history.
struct Remembered {
  DeliveryRow row;
  std::vector<std::pair<Timestamp, DeliveryStatus>> history;
  bool own_known = true;
};

Sums count_all(const std::vector<Remembered>& all) {
  Sums sums;
  const auto add = [&](const Remembered& d, Timestamp at, Activity kind, bool with_key) {
    ++sums[{to_unix_ms(at) / 900'000 * 900'000, d.row.account.value, static_cast<std::int64_t>(kind),
            d.row.integration.value, with_key ? d.row.api_key.value : 0}];
  };
  for (const auto& d : all) {
    if (d.row.dry_run) continue;
    const Timestamp made = d.history.front().first;
    add(d, made, Activity::made, true);
    const auto [since, status] = d.history.back();
    if (status == DeliveryStatus::invalidated) add(d, made, Activity::invalidated, true);
    if (status == DeliveryStatus::failed) {
      add(d, made, Activity::failed, true);
      add(d, since, Activity::came_to_fail, false);
    }
    if (status != DeliveryStatus::completed) continue;
    add(d, made, Activity::completed, true);
    Millis own{0};
    for (std::size_t i = 0; i + 1 < d.history.size(); ++i) {
      const auto was = d.history[i].second;
      if (was == DeliveryStatus::queued || was == DeliveryStatus::processing)
        own += d.history[i + 1].first - d.history[i].first;
    }
    add(d, since, Activity{took_kind(took_class(since - made), d.own_known ? took_class(own) : kTookUnknown)},
        false);
  }
  return sums;
}

class ActivityStoreTest : public ::testing::TestWithParam<Engine> {
 protected:
  ActivityStoreTest() {
    db_.clock.set(kBegin);
    db_->write([](Tx& tx) {
      for (const std::int64_t id : {1, 2}) insert_account(tx, AccountId{id}, "a merchant");
    });
  }

  Timestamp now() const { return db_.clock.now(); }
  Remembered make(DeliveryStatus status) {
    Remembered d;
    d.row.id = DeliveryId{++last_id_};
    d.row.account = AccountId{1 + static_cast<std::int64_t>(draw_() % 2)};
    d.row.integration = IntegrationId{10 * d.row.account.value + static_cast<std::int64_t>(draw_() % 2)};
    d.row.api_key = ApiKeyId{static_cast<std::int64_t>(draw_() % 3)};
    d.row.order_key = std::to_string(last_id_);
    d.row.dry_run = draw_() % 10 == 0;
    d.row.created_at = d.row.updated_at = now();
    set(d.row, status, now());
    d.history.emplace_back(now(), status);
    return d;
  }
  DeliveryStatus any_status() { return static_cast<DeliveryStatus>(draw_() % 7); }
  static void move(Remembered& d, DeliveryStatus status, Timestamp at) {
    if (status == d.row.status) return;
    set(d.row, status, at);
    d.history.emplace_back(at, status);
  }
  // As the program before this one writes the row: it does not know the counts.
  void move_by_program_of_before(Remembered& d, DeliveryStatus status) {
    static constexpr Sql update{
        "UPDATE deliveries SET status = $2, open = $3, resolution_code = $4, completed_at = $5, ended_at = "
        "$6,"
        " invalidated_by = $7, updated_at = $8, version = version + 1 WHERE id = $1"};
    set(d.row, status, now());
    db_->write([&](Tx& tx) {
      tx.exec(update, d.row.id, domain::to_string(status), is_open(d.row),
              status == DeliveryStatus::failed ? Param("internal_error") : Param(nullptr), d.row.completed_at,
              d.row.ended_at, status == DeliveryStatus::invalidated ? Param("merchant") : Param(nullptr),
              now());
      d.row = find_delivery(tx, d.row.id).value();
    });
    d.history.emplace_back(now(), status);
    d.own_known = false;
  }
  void count_rest() {
    for (std::optional<std::int64_t> after = 0; after;) {
      db_->write([&](Tx& tx) { after = count_deliveries_of_before(tx, *after, 3).next; });
    }
  }
  Sums stored() {
    Sums sums;
    db_->read([&](Tx& tx) {
      static constexpr Sql all{
          "SELECT quarter, account_id, kind, integration_id, api_key_id, amount FROM activity"};
      tx.query(all, [&](const Row& r) {
        sums[{r.int64(0), r.int64(1), r.int64(2), r.int64(3), r.int64(4)}] += r.int64(5);
      });
    });
    std::erase_if(sums, [](const auto& sum) { return sum.second == 0; });
    return sums;
  }
  // The sums of an account as find_activity() returns them, by kind.
  std::map<std::int64_t, std::int64_t> sums_of(AccountId account, Timestamp from, Timestamp to) {
    std::map<std::int64_t, std::int64_t> sums;
    db_->read([&](Tx& tx) {
      sums.clear();
      find_activity(tx,
                    {.account = account,
                     .from = from,
                     .to = to,
                     .first_day = floor<days>(from),
                     .end_day = floor<days>(to + days{1} - Millis{1})},
                    [&](const ActivitySum& sum) { sums[sum.kind] += sum.amount; });
    });
    std::erase_if(sums, [](const auto& sum) { return sum.second == 0; });
    return sums;
  }

  testing::MigratedDatabase db_{GetParam()};
  std::mt19937 draw_{4711};
  std::int64_t last_id_ = 1'000;
};

TEST_P(ActivityStoreTest, SumsAreWhatAScanOfAllDeliveriesCountsWhateverTheirHistories) {
  std::vector<Remembered> all;
  for (int step = 0; step < 600; ++step) {
    db_.clock.advance(minutes{draw_() % 40});
    if (all.empty() || draw_() % 3 == 0) {
      std::vector<Remembered> made;
      for (unsigned n = 0; n <= draw_() % 3; ++n) made.push_back(make(any_status()));
      db_->write([&](Tx& tx) {
        std::vector<DeliveryRow> rows;
        for (const auto& d : made) rows.push_back(d.row);
        insert_deliveries(tx, rows);
        for (std::size_t i = 0; i < rows.size(); ++i) made[i].row = rows[i];
      });
      all.insert(all.end(), made.begin(), made.end());
      continue;
    }
    auto& one = all[draw_() % all.size()];
    if (const auto status = any_status(); draw_() % 8 == 0 && status != one.row.status) {
      move_by_program_of_before(one, status);
      count_rest();
      db_->read([&](Tx& tx) { one.row = find_delivery(tx, one.row.id).value(); });
      continue;
    }
    auto& another = all[draw_() % all.size()];
    const auto first = any_status();
    const auto second = any_status();
    const auto old = one;
    const auto old_other = another;
    const auto run = [&](bool fail) {
      db_->write([&](Tx& tx) {
        one = old;
        another = old_other;
        move(one, first, now());
        update_delivery(tx, one.row);
        // Again in the same transaction, together with another.
        move(one, second, now());
        std::vector<DeliveryRow*> rows{&one.row};
        if (&another != &one) {
          move(another, first, now());
          rows.push_back(&another.row);
        }
        update_deliveries(tx, rows);
        if (fail) throw std::runtime_error("rolled back");
      });
    };
    if (draw_() % 5 == 0) {
      EXPECT_THROW(run(true), std::runtime_error);
    }
    run(false);
    if (step % 50 == 0) {
      ASSERT_EQ(stored(), count_all(all)) << step;
    }
  }
  EXPECT_EQ(stored(), count_all(all));
}

TEST_P(ActivityStoreTest, WhatAProgramOfBeforeHasWrittenIsCountedOnce) {
  std::vector<Remembered> all;
  for (int n = 0; n < 20; ++n) {
    auto d = make(any_status());
    d.row.dry_run = false;
    db_->write([&](Tx& tx) { insert_deliveries(tx, std::span(&d.row, 1)); });
    all.push_back(d);
  }
  // As if none had been counted, which is how a migration finds them.
  db_->write([](Tx& tx) {
    tx.exec_script(
        "UPDATE deliveries SET counted_status = NULL, counted_since = NULL, worked_ms = NULL,"
        " counted_version = 0; DELETE FROM activity;");
  });
  for (auto& d : all) d.own_known = false;
  count_rest();
  EXPECT_EQ(stored(), count_all(all));
  count_rest();
  EXPECT_EQ(stored(), count_all(all));
  // One that this program writes before housekeeping has reached it.
  db_->write([](Tx& tx) {
    tx.exec_script(
        "UPDATE deliveries SET counted_status = NULL, counted_since = NULL, worked_ms = NULL,"
        " counted_version = 0; DELETE FROM activity;");
  });
  db_.clock.advance(hours{2});
  for (auto& d : all) {
    db_->write([&](Tx& tx) {
      d.row = find_delivery(tx, d.row.id).value();
      move(d, DeliveryStatus::completed, now());
      update_delivery(tx, d.row);
    });
  }
  EXPECT_EQ(stored(), count_all(all));
  count_rest();
  EXPECT_EQ(stored(), count_all(all));
}

TEST_P(ActivityStoreTest, ARowThatAProgramOfBeforeHasWrittenMeanwhileIsCountedAsItIsWrittenAgain) {
  std::vector<Remembered> all;
  for (const auto status : {DeliveryStatus::queued, DeliveryStatus::completed, DeliveryStatus::failed,
                            DeliveryStatus::invalidated}) {
    auto d = make(DeliveryStatus::queued);
    d.row.dry_run = false;
    db_->write([&](Tx& tx) { insert_deliveries(tx, std::span(&d.row, 1)); });
    db_.clock.advance(hours{1});
    move_by_program_of_before(d, DeliveryStatus::in_review);
    db_.clock.advance(hours{1});
    move(d, status, now());
    db_->write([&](Tx& tx) { update_delivery(tx, d.row); });
    db_.clock.advance(hours{1});
    move(d, DeliveryStatus::completed, now());
    db_->write([&](Tx& tx) { update_delivery(tx, d.row); });
    all.push_back(d);
    EXPECT_EQ(stored(), count_all(all));
  }
}

TEST_P(ActivityStoreTest, QuartersOfLongAgoBecomeDaysAndNothingIsLost) {
  db_.clock.set(kBegin + days{5});
  const auto count = [&](Timestamp at, std::int64_t amount) {
    db_->write([&](Tx& tx) {
      count_activity(tx, {AccountId{1}, IntegrationId{10}, {}}, Activity::made, amount, at);
    });
  };
  for (int day = 0; day < 5; ++day) {
    for (int quarter = 0; quarter < 96; quarter += 7) count(kBegin + days{day} + quarter * kQuarter, 1 + day);
  }
  const auto before = sums_of(AccountId{1}, kBegin, kBegin + days{5});
  EXPECT_EQ(before.at(static_cast<std::int64_t>(Activity::made)), 14 * (1 + 2 + 3 + 4 + 5));
  std::int64_t rows = 0;
  for (std::int64_t folded = 1; folded > 0; rows += folded) {
    db_->write([&](Tx& tx) { folded = fold_activity(tx, kBegin + days{2}, 5); });
    EXPECT_EQ(sums_of(AccountId{1}, kBegin, kBegin + days{5}), before);
  }
  EXPECT_EQ(rows, 28);
  EXPECT_EQ(sums_of(AccountId{1}, kBegin, kBegin + days{1}).at(2), 14);
  EXPECT_EQ(sums_of(AccountId{1}, kBegin + days{1}, kBegin + days{2}).at(2), 28);
  // A later change of such a day goes into the sum of the day too.
  count(kBegin + hours{3}, -4);
  db_->write([&](Tx& tx) { EXPECT_EQ(fold_activity(tx, kBegin + days{2}, 5), 1); });
  EXPECT_EQ(sums_of(AccountId{1}, kBegin, kBegin + days{1}).at(2), 10);
  EXPECT_TRUE(sums_of(AccountId{2}, kBegin, kBegin + days{5}).empty());
}

TEST_P(ActivityStoreTest, TransactionsThatAddToTheSameSumsAtOnceLoseNothing) {
  constexpr int kThreads = 4;
  constexpr int kEach = 50;
  std::vector<std::thread> threads;
  for (int n = 0; n < kThreads; ++n) {
    threads.emplace_back([&, n] {
      for (int i = 0; i < kEach; ++i) {
        db_->write([&](Tx& tx) {
          // In one order or the other.
          for (const std::int64_t store : {n % 2 == 0 ? 10 : 11, n % 2 == 0 ? 11 : 10})
            count_activity(tx, {AccountId{1}, IntegrationId{store}, {}}, Activity::requests, 1, now());
        });
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(sums_of(AccountId{1}, kBegin, kBegin + days{1}).at(0), 2 * kThreads * kEach);
}

TEST(TookClassTest, EachDurationHasItsClass) {
  EXPECT_EQ(took_class(Millis{0}), 0U);
  EXPECT_EQ(took_class(Millis{-5}), 0U);
  EXPECT_EQ(took_class(Millis{1'000}), 0U);
  EXPECT_EQ(took_class(Millis{1'001}), 1U);
  EXPECT_EQ(took_class(days{30}), 23U);
  EXPECT_EQ(took_class(days{30} + Millis{1}), 24U);
  for (std::size_t whole = 0; whole < kTookClasses; ++whole) {
    const auto took = took_of(took_kind(whole, kTookUnknown)).value();
    EXPECT_EQ(took.whole, whole);
    EXPECT_EQ(took.own, kTookUnknown);
  }
  EXPECT_FALSE(took_of(static_cast<std::int64_t>(Activity::came_to_fail)));
}

INSTANTIATE_TEST_SUITE_P(Engines, ActivityStoreTest, ::testing::ValuesIn(testing::kEngines),
                         [](const auto& info) { return testing::engine_name(info); });

}  // namespace
}  // namespace presetbridge::storage
