#include "storage/stores/cloud_account_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "storage/testing.h"

namespace presetbridge::storage {
namespace {

using Time = std::optional<std::int64_t>;  // Unix milliseconds

// The calls that bring the account's work forward, one after the other.
struct Calls {
  Time work;
  Time missing_sweep;
  Time sweep_after_request;
};

struct Account {
  Time ready;
  std::int64_t blocked = 0;
  Time sweep;
  Time sweep_lease;
  Time newest_request;
  bool operator==(const Account&) const = default;

  void wake(std::int64_t at) {
    if (!ready || (*ready > at && *ready > blocked)) ready = std::max(at, blocked);
  }
  // A naive model: one thing after the other.
  void take_in(const Calls& calls, std::int64_t now) {
    Time work = calls.work;
    if (calls.sweep_after_request) {
      newest_request = now;
      if (!sweep || *sweep > *calls.sweep_after_request) sweep = calls.sweep_after_request;
      work = work ? std::min(*work, *calls.sweep_after_request) : *calls.sweep_after_request;
    }
    if (calls.missing_sweep && !sweep && !sweep_lease) {
      sweep = calls.missing_sweep;
      wake(*calls.missing_sweep);
    }
    if (work) wake(*work);
  }
};

std::optional<Timestamp> at(Time time) {
  return time ? std::optional(from_unix_ms(*time)) : std::nullopt;
}
Time ms(std::optional<Timestamp> time) {
  return time ? Time(to_unix_ms(*time)) : std::nullopt;
}

class CloudAccountStoreTest : public ::testing::TestWithParam<testing::Engine> {
 protected:
  CloudAccountStoreTest() {
    for (const Time ready : {Time(), Time(5), Time(50)}) {
      for (const std::int64_t blocked : {0, 20}) {
        for (const Time sweep : {Time(), Time(3), Time(60)}) {
          for (const Time lease : {Time(), Time(99)})
            before_.push_back({ready, blocked, sweep, lease, Time(1)});
        }
      }
    }
    db_->write([&](Tx& tx) {
      for (std::size_t i = 0; i < before_.size(); ++i) {
        const auto name = std::to_string(i);
        find_or_insert_cloud_account(tx, name, name, id(i));
      }
    });
  }
  static CloudAccountId id(std::size_t i) { return CloudAccountId{static_cast<std::int64_t>(i) + 1}; }

  void set_all() {
    db_->write([&](Tx& tx) {
      for (std::size_t i = 0; i < before_.size(); ++i) {
        auto row = find_cloud_account(tx, id(i)).value();
        row.ready_at = at(before_[i].ready);
        row.blocked_until = from_unix_ms(before_[i].blocked);
        row.sweep_due_at = at(before_[i].sweep);
        row.sweep_lease_expires_at = at(before_[i].sweep_lease);
        row.newest_request_at = at(before_[i].newest_request);
        update_cloud_account(tx, row);
      }
    });
  }
  // In one transaction, the last account first.
  std::int64_t make(const Calls& calls, std::size_t accounts) {
    std::int64_t now = 0;
    db_->write([&](Tx& tx) {
      now = to_unix_ms(tx.now());
      for (std::size_t i = accounts; i-- > 0;) {
        if (calls.missing_sweep) ensure_sweep(tx, id(i), *at(calls.missing_sweep));
        if (calls.sweep_after_request) note_friend_request(tx, id(i), *at(calls.sweep_after_request));
        if (calls.work) wake_cloud_account(tx, id(i), *at(calls.work));
      }
    });
    return now;
  }
  Account stored(std::size_t i) {
    Account account;
    db_->read([&](Tx& tx) {
      const auto row = find_cloud_account(tx, id(i)).value();
      account = {ms(row.ready_at), to_unix_ms(row.blocked_until), ms(row.sweep_due_at),
                 ms(row.sweep_lease_expires_at), ms(row.newest_request_at)};
    });
    return account;
  }

  testing::MigratedDatabase db_{GetParam()};
  std::vector<Account> before_;
};

TEST_P(CloudAccountStoreTest, WhatBringsWorkForwardIsOneStatementThatDoesWhatEachOfThemWould) {
  for (const Time work : {Time(), Time(10), Time(70)}) {
    for (const Time missing : {Time(), Time(8), Time(30)}) {
      for (const Time after_request : {Time(), Time(15), Time(80)}) {
        const Calls calls{work, missing, after_request};
        // A few accounts, and more than are updated one by one.
        for (const std::size_t accounts : {std::size_t{2}, before_.size()}) {
          set_all();
          const std::int64_t now = make(calls, accounts);
          for (std::size_t i = 0; i < before_.size(); ++i) {
            Account expected = before_[i];
            if (i < accounts) expected.take_in(calls, now);
            EXPECT_EQ(stored(i), expected)
                << fmt::format("account {}, work {}, missing sweep {}, sweep after a request {}", i,
                               work.value_or(-1), missing.value_or(-1), after_request.value_or(-1));
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, CloudAccountStoreTest, ::testing::ValuesIn(testing::kEngines),
                         [](const auto& info) { return testing::engine_name(info); });

}  // namespace
}  // namespace presetbridge::storage
