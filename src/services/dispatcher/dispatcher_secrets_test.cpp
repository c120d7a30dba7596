// The secrets that sign what is sent: rotations, and secrets that cannot be read (spec 10.3).
#include "services/dispatcher/dispatcher_testing.h"
#include "services/dispatcher/webhook_dispatcher.h"
#include "services/webhooks/subscriptions.h"

namespace presetbridge::services::testing {
namespace {

TEST_F(DispatcherTest, DuringARotationBothSecretsSignAndAfterItOnlyTheNew) {
  const auto subscription =
      subscribe("https://shop.example/hook", std::string(kOldSecret), db_.clock.now() + 1h);
  publish({subscription});
  auto d = dispatcher();
  scheduler_.run();
  const auto& r = receiver_.requests.at(0);
  EXPECT_TRUE(crypto::verify_vendor_signature(kSecret, header(r, "X-Vendor-Signature"), r.body));
  EXPECT_TRUE(crypto::verify_vendor_signature(kOldSecret, header(r, "X-Vendor-Signature-Previous"), r.body));
  for (const auto secret : {kSecret, kOldSecret}) {
    EXPECT_EQ(
        crypto::verify_standard_signature(
            secret, {header(r, "webhook-id"), header(r, "webhook-timestamp"), header(r, "webhook-signature")},
            r.body, db_.clock.now()),
        crypto::WebhookVerdict::valid);
  }
  scheduler_.advance(1h);
  publish({subscription});
  d->wake();
  scheduler_.run();
  const auto& after = receiver_.requests.at(1);
  EXPECT_EQ(header(after, "X-Vendor-Signature-Previous"), "");
  EXPECT_FALSE(header(after, "webhook-signature").contains(' '));
  stop(*d);
}

TEST_F(DispatcherTest, DuringTwoRotationsAllThreeSecretsSignEachUntilItsOwnEnd) {
  constexpr std::string_view kOldest = "whsec_d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3";
  const auto subscription =
      subscribe("https://shop.example/hook", std::string(kOldSecret), db_.clock.now() + 1h);
  const auto oldest = cipher_.encrypt({storage::kSubscriptionSecret, subscription.value}, kOldest);
  db_->write([&](storage::Tx& tx) {
    tx.exec({"UPDATE webhook_subscriptions SET encrypted_older_secret = $1, older_secret_expires_at = $2"},
            storage::Blob(oldest), tx.now() + 2h);
  });
  auto d = dispatcher();
  // The secret whose two signatures verify, that of the header among them.
  const auto signed_by = [&](std::string_view name) -> std::string_view {
    const auto& r = receiver_.requests.back();
    for (const auto secret : {kSecret, kOldSecret, kOldest}) {
      const auto standard = crypto::verify_standard_signature(
          secret, {header(r, "webhook-id"), header(r, "webhook-timestamp"), header(r, "webhook-signature")},
          r.body, db_.clock.now());
      if (crypto::verify_vendor_signature(secret, header(r, name), r.body) &&
          standard == crypto::WebhookVerdict::valid)
        return secret;
    }
    return "";
  };
  const auto expect_signed = [&](std::string_view previous, std::string_view older) {
    publish({subscription});
    d->wake();
    scheduler_.run();
    EXPECT_EQ(signed_by("X-Vendor-Signature"), kSecret);
    EXPECT_EQ(signed_by("X-Vendor-Signature-Previous"), previous);
    EXPECT_EQ(signed_by("X-Vendor-Signature-Older"), older);
    const auto spaces = std::ranges::count(header(receiver_.requests.back(), "webhook-signature"), ' ');
    EXPECT_EQ(spaces, (previous.empty() ? 0 : 1) + (older.empty() ? 0 : 1));
  };
  expect_signed(kOldSecret, kOldest);
  scheduler_.advance(1h);
  expect_signed(kOldest, "");
  scheduler_.advance(1h);
  expect_signed("", "");
  EXPECT_EQ(receiver_.requests.size(), 3u);
  stop(*d);
}

TEST_F(DispatcherTest, TheOlderSecretDoesNotOutliveARotationOfAnOlderNodeThatEndsAllFormerOnes) {
  const auto subscription = subscribe("https://shop.example/hook");
  const auto older = cipher_.encrypt({storage::kSubscriptionSecret, subscription.value}, kOldSecret);
  db_->write([&](storage::Tx& tx) {
    tx.exec({"UPDATE webhook_subscriptions SET encrypted_older_secret = $1, older_secret_expires_at = $2"},
            storage::Blob(older), tx.now() + 2h);
  });
  publish({subscription});
  auto d = dispatcher();
  scheduler_.run();
  const auto& r = receiver_.requests.at(0);
  EXPECT_EQ(header(r, "X-Vendor-Signature-Previous"), "");
  EXPECT_EQ(header(r, "X-Vendor-Signature-Older"), "");
  EXPECT_FALSE(header(r, "webhook-signature").contains(' '));
  stop(*d);
}

TEST_F(DispatcherTest, ARotatedSecretIsUsedAtOnce) {
  const auto subscription = subscribe("https://shop.example/hook");
  publish({subscription});
  auto d = dispatcher();
  scheduler_.run();
  const auto fresh = cipher_.encrypt({storage::kSubscriptionSecret, subscription.value}, kOldSecret);
  db_->write([&](storage::Tx& tx) {
    tx.exec({"UPDATE webhook_subscriptions SET encrypted_secret = $1, version = version + 1"},
            storage::Blob(fresh));
  });
  publish({subscription});
  d->wake();
  scheduler_.run();
  const auto& r = receiver_.requests.at(1);
  EXPECT_TRUE(crypto::verify_vendor_signature(kOldSecret, header(r, "X-Vendor-Signature"), r.body));
  stop(*d);
}

TEST_F(DispatcherTest, NothingSecretIsLoggedWhenAttemptsFail) {
  receiver_.answer = [](const auto&) { return FakeReceiver::status(500); };
  publish({subscribe("https://shop.example/hook?token=in-the-address", std::string(kOldSecret),
                     db_.clock.now() + 1h)});
  auto d = dispatcher();
  scheduler_.run();
  EXPECT_TRUE(log_.text.contains("a webhook was not delivered"));
  EXPECT_TRUE(log_.text.contains("http_error"));
  EXPECT_FALSE(log_.text.contains("whsec_"));
  EXPECT_FALSE(log_.text.contains(kSecret.substr(6)));
  EXPECT_FALSE(log_.text.contains(kOldSecret.substr(6)));
  EXPECT_FALSE(log_.text.contains("in-the-address"));
  stop(*d);
}

TEST_F(DispatcherTest, ASecretThatCannotBeDecryptedSendsNothingAndIsTriedLater) {
  const auto subscription = subscribe("https://shop.example/hook");
  const auto misplaced = cipher_.encrypt({storage::kSubscriptionSecret, subscription.value + 1}, kSecret);
  db_->write([&](storage::Tx& tx) {
    tx.exec({"UPDATE webhook_subscriptions SET encrypted_secret = $1"}, storage::Blob(misplaced));
  });
  const auto dispatch = publish({subscription});
  auto d = dispatcher();
  scheduler_.run();
  EXPECT_TRUE(receiver_.requests.empty());
  EXPECT_EQ(state(dispatch).status, "pending");
  ASSERT_EQ(attempts(dispatch).size(), 1u);
  EXPECT_EQ(attempts(dispatch)[0].outcome, "unsigned");
  EXPECT_EQ(attempts(dispatch)[0].answer, "the event could not be signed");
  stop(*d);
}

}  // namespace
}  // namespace presetbridge::services::testing
