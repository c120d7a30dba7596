// Retention beside other writers: a row that was renewed while a deletion waited for it stays.
#include "storage/stores/retention.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/id_time.h"
#include "crypto/digest.h"
#include "storage/schema/migrations.h"
#include "storage/stores/identity_store.h"
#include "storage/stores/order_store.h"
#include "storage/testing.h"

namespace presetbridge::storage {
namespace {

const Timestamp kOld = from_unix_ms(1'750'000'000'000);
const Timestamp kBefore = kOld + std::chrono::days{1};
const Timestamp kRecent = kOld + std::chrono::days{2};

class RetentionRaceTest : public ::testing::Test {
 protected:
  RetentionRaceTest() {
    auto opened = open_postgres(testing::patient(server_.url()));
    if (!opened) throw std::runtime_error(opened.error().message);
    database_ = std::move(*opened);
    migrate(*database_).value();
  }

  // `remove` runs while `renew` is done and not committed, and waits for it.
  void race(const TxFn& renew, const TxFn& remove) {
    std::thread remover;
    database_->write([&](Tx& tx) {
      renew(tx);
      remover = std::thread([&] { database_->write(remove); });
      for (int attempt = 0; attempt < 10'000; ++attempt) {
        if (server_.run("SELECT count(*) FROM pg_locks WHERE NOT granted") != "0") return;
      }
      ADD_FAILURE() << "the deletion does not wait";
    });
    remover.join();
  }

  testing::TemporaryPostgres server_;
  std::unique_ptr<Database> database_;
};

TEST_F(RetentionRaceTest, APayloadThatWasRenewedMeanwhileStays) {
  const OrderId id{first_id_at(kOld)};
  const auto put = [&](Tx& tx, Timestamp at) { put_order_payload(tx, id, at, Blob()); };
  database_->write([&](Tx& tx) { put(tx, kOld); });
  race([&](Tx& tx) { put(tx, kRecent); }, [](Tx& tx) { delete_old_payloads(tx, 0, kBefore, 10); });
  EXPECT_EQ(server_.run("SELECT count(*) FROM order_payloads"), "1");
}

TEST_F(RetentionRaceTest, AttemptsToSignInThatWereCountedMeanwhileStay) {
  crypto::Sha256 email{};
  const auto put = [&](Tx& tx, Timestamp at) {
    auto attempts = lock_sign_in_attempts(tx, email);
    attempts.failures += 1;
    attempts.last_at = at;
    update_sign_in_attempts(tx, email, attempts);
  };
  database_->write([&](Tx& tx) { put(tx, kOld); });
  race([&](Tx& tx) { put(tx, kRecent); }, [](Tx& tx) { delete_old_sign_in_attempts(tx, kBefore, 10); });
  EXPECT_EQ(server_.run("SELECT failures FROM sign_in_tries"), "2");
}

}  // namespace
}  // namespace presetbridge::storage
