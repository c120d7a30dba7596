#include "services/stores/refusals.h"

#include <gtest/gtest.h>

namespace presetbridge::services {
namespace {

using namespace std::chrono_literals;

constexpr Timestamp kHour{10h};

storage::StoreActivity activity(std::optional<Timestamp> accepted, const std::string& code,
                                Timestamp last_at) {
  storage::StoreActivity found;
  if (accepted) {
    found.hours.push_back({.integration = {},
                           .hour = kHour,
                           .what = std::string(storage::kAccepted),
                           .events = 1,
                           .last_at = *accepted});
  }
  found.hours.push_back({.integration = {}, .hour = kHour, .what = code, .events = 3, .last_at = last_at});
  return found;
}

Refusals only(const storage::IntegrationRow& store, const storage::StoreActivity& of) {
  const auto found = refusals_of(store, of);
  EXPECT_EQ(found.size(), 1U);
  return found.at(0);
}

TEST(Refusals, AreOpenUntilALaterEventIsAccepted) {
  const storage::IntegrationRow store;
  const auto never = only(store, activity({}, "INVALID_PAYLOAD", kHour + 5min));
  EXPECT_TRUE(never.open());
  EXPECT_EQ(never.mended_until, std::nullopt);
  EXPECT_EQ(never.events, 3);
  EXPECT_TRUE(only(store, activity(kHour + 4min, "INVALID_PAYLOAD", kHour + 5min)).open());
  EXPECT_FALSE(only(store, activity(kHour + 5min, "INVALID_PAYLOAD", kHour + 5min)).open());
}

TEST(Refusals, OfAWrongSignatureAreMendedByANewSecretToo) {
  storage::IntegrationRow store;
  store.secret_preview = store.secret_noted_for = "abcd";
  store.secret_set_by = storage::SecretSetBy::merchant;
  store.secret_changed_at = kHour + 6min;
  EXPECT_FALSE(only(store, activity({}, "INVALID_SIGNATURE", kHour + 5min)).open());
  EXPECT_TRUE(only(store, activity({}, "INVALID_SIGNATURE", kHour + 7min)).open());
  EXPECT_TRUE(only(store, activity({}, "UNAUTHORIZED", kHour + 5min)).open());
  EXPECT_EQ(only(store, activity(kHour + 8min, "INVALID_SIGNATURE", kHour + 9min)).mended_until,
            kHour + 8min);
}

TEST(Refusals, OfHoursAfterTheirMendingCountNoneThatIsMended) {
  storage::IntegrationRow store;
  store.secret_preview = store.secret_noted_for = "abcd";
  store.secret_set_by = storage::SecretSetBy::merchant;
  store.secret_changed_at = kHour - 1min;
  EXPECT_EQ(only(store, activity({}, "INVALID_SIGNATURE", kHour + 5min)).mended_until, std::nullopt);
}

}  // namespace
}  // namespace presetbridge::services
