#include "storage/stores/mail_store.h"

#include <gtest/gtest.h>

#include "storage/testing.h"

namespace presetbridge::storage {
namespace {

using namespace std::chrono_literals;

constexpr EmailHash kAnn{std::byte{1}};
constexpr EmailHash kBob{std::byte{2}};
constexpr UserId kUser{7};

class MailStoreTest : public ::testing::TestWithParam<testing::Engine> {
 protected:
  MailLinkId add(const EmailHash& hash = kAnn, UserId user = kUser,
                 MailPurpose purpose = MailPurpose::reset) {
    const MailLinkId id{++last_};
    db_->write([&](Tx& tx) {
      MailLinkRow row{.id = id, .user = user, .purpose = purpose, .email_hash = hash, .created_at = tx.now()};
      row.expires_at = tx.now() + 1h;
      if (user.value != 0) row.due_at = tx.now();
      insert_mail_link(tx, row);
    });
    return id;
  }
  template <class Fn>
  auto in_tx(Fn fn) {
    std::optional<std::invoke_result_t<Fn&, Tx&>> result;
    db_->write([&](Tx& tx) { result.emplace(fn(tx)); });
    return std::move(*result);
  }
  std::optional<MailLinkRow> claim() {
    return in_tx([](Tx& tx) { return claim_due_mail(tx, tx.now() + 2min); });
  }

  testing::MigratedDatabase db_{GetParam()};
  std::int64_t last_ = 0;
};

TEST_P(MailStoreTest, AMailIsClaimedOnceUntilItsLeaseEnds) {
  EXPECT_FALSE(in_tx([](Tx& tx) { return any_mail_due(tx); }));
  const auto id = add();
  add(kBob, UserId{});  // nobody's is never due
  EXPECT_TRUE(in_tx([](Tx& tx) { return any_mail_due(tx); }));
  const auto first = claim();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->id, id);
  EXPECT_EQ(first->attempts, 1);
  EXPECT_EQ(first->email_hash, kAnn);
  EXPECT_FALSE(claim());
  db_.clock.advance(3min);
  const auto second = claim();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->attempts, 2);
  EXPECT_FALSE(in_tx([&](Tx& tx) { return record_mail_sent(tx, id, 1); }))
      << "the first attempt is overtaken";
  EXPECT_TRUE(in_tx([&](Tx& tx) { return record_mail_failed(tx, id, 2, tx.now() + 1min); }));
  EXPECT_FALSE(claim());
  db_.clock.advance(1min);
  EXPECT_EQ(claim()->attempts, 3);
  EXPECT_TRUE(in_tx([&](Tx& tx) { return record_mail_sent(tx, id, 3); }));
  db_.clock.advance(24h);
  EXPECT_FALSE(claim());
}

TEST_P(MailStoreTest, TheLinksOfAnAddressEndTogetherByPurpose) {
  const auto reset = add();
  const auto verify = add(kAnn, kUser, MailPurpose::verify);
  const auto others = add(kBob);
  in_tx([](Tx& tx) {
    end_mail_links(tx, kAnn, MailPurpose::reset);
    return true;
  });
  const auto stands = [&](MailLinkId id) {
    return in_tx([&](Tx& tx) { return lock_mail_link(tx, id)->stands(tx.now()); });
  };
  EXPECT_FALSE(stands(reset));
  EXPECT_TRUE(stands(verify));
  EXPECT_TRUE(stands(others));
  db_.clock.advance(1h);
  EXPECT_FALSE(stands(verify)) << "an hour is over";
  EXPECT_FALSE(in_tx([](Tx& tx) { return find_mail_link(tx, MailLinkId{99}); }));
}

TEST_P(MailStoreTest, CountsTheNewestLinksOfAnAddressAndDeletesOldOnes) {
  const auto begun = db_.clock.now();
  for (int i = 0; i < 3; ++i) {
    add();
    db_.clock.advance(1min);
  }
  add(kBob);
  const auto third = [&] {
    return in_tx([](Tx& tx) { return age_of_mail_link(tx, kAnn, MailPurpose::reset, 2); });
  };
  EXPECT_EQ(third(), begun);
  EXPECT_FALSE(in_tx([](Tx& tx) { return age_of_mail_link(tx, kAnn, MailPurpose::reset, 3); }));
  EXPECT_FALSE(in_tx([](Tx& tx) { return age_of_mail_link(tx, kAnn, MailPurpose::verify, 0); }));
  const auto remove = [&] {
    return in_tx([](Tx& tx) { return delete_expired_mail_links(tx, tx.now() + 2h, 3); });
  };
  EXPECT_EQ(remove(), 3);
  EXPECT_EQ(remove(), 1);
}

TEST_P(MailStoreTest, OneAddressOfAUserIsVerified) {
  const auto verified = [&](const EmailHash& hash) {
    return in_tx([&](Tx& tx) { return is_verified_email(tx, kUser, hash); });
  };
  EXPECT_FALSE(verified(kAnn));
  for (const auto& hash : {kAnn, kBob}) {
    in_tx([&](Tx& tx) {
      put_verified_email(tx, kUser, hash);
      return true;
    });
    EXPECT_TRUE(verified(hash));
  }
  EXPECT_FALSE(verified(kAnn));
  in_tx([](Tx& tx) {
    delete_verified_email(tx, kUser);
    return true;
  });
  EXPECT_FALSE(verified(kBob));
}

INSTANTIATE_TEST_SUITE_P(Engines, MailStoreTest, ::testing::ValuesIn(testing::kEngines),
                         [](const auto& info) { return testing::engine_name(info); });

}  // namespace
}  // namespace presetbridge::storage
