#include "crypto/sealed_record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "crypto/random.h"

namespace presetbridge::crypto {
namespace {

constexpr RecordPlace kPlace{AccountId{77}, 3};
constexpr std::string_view kLogin = R"({"email":"merchant@example.com","password":"planted"})";

std::string code_of(const Expected<SecretString>& result) {
  return result ? "opened" : result.error().code;
}

class SealedRecord : public ::testing::Test {
 protected:
  SystemRandom random_;
  VaultPrivateKey key_ = VaultPrivateKey::generate(random_);
  Bytes record_ = key_.public_key().seal(random_, kPlace, kLogin);
};

TEST_F(SealedRecord, OpensForTheHolderOfThePrivateKeyAtItsPlace) {
  const auto opened = key_.open(kPlace, record_);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->reveal(), kLogin);
  EXPECT_EQ(record_.size(), kLogin.size() + 125);
  EXPECT_EQ(text_of(record_).find("planted"), std::string_view::npos);
  EXPECT_EQ(sealed_record_key_id(record_), key_.public_key().id());
}

TEST_F(SealedRecord, HoldsAnEmptyAndALongPlaintext) {
  for (const auto& text : {std::string(), std::string(100'000, 'x'), std::string(3, '\0')}) {
    const auto opened = key_.open(kPlace, key_.public_key().seal(random_, kPlace, text));
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened->reveal(), text);
  }
}

TEST_F(SealedRecord, IsFreshEachTime) {
  EXPECT_NE(key_.public_key().seal(random_, kPlace, kLogin), record_);
}

TEST_F(SealedRecord, IsCorruptWithAnyBitChanged) {
  for (std::size_t bit = 0; bit < record_.size() * 8; ++bit) {
    auto changed = record_;
    changed[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_EQ(code_of(key_.open(kPlace, changed)), "RECORD_CORRUPT") << bit;
    EXPECT_FALSE(sealed_record_key_id(changed)) << bit;
  }
}

TEST_F(SealedRecord, IsCorruptWhenCutOrExtended) {
  for (std::size_t size = 0; size < record_.size(); ++size) {
    EXPECT_EQ(code_of(key_.open(kPlace, ByteView(record_).first(size))), "RECORD_CORRUPT") << size;
  }
  record_.push_back(std::byte{0});
  EXPECT_EQ(code_of(key_.open(kPlace, record_)), "RECORD_CORRUPT");
}

// The checksum is for accidents; this is the attacker who makes it anew.
TEST_F(SealedRecord, IsCorruptWithAnyBitChangedAndTheChecksumMadeAnew) {
  const std::size_t covered = record_.size() - 8;
  for (std::size_t bit = 0; bit < covered * 8; ++bit) {
    auto changed = record_;
    changed[bit / 8] ^= std::byte{1} << (bit % 8);
    const auto checksum = sha256(ByteView(ByteView(changed).first(covered)));
    std::copy_n(checksum.begin(), 8, changed.begin() + static_cast<std::ptrdiff_t>(covered));
    const bool is_key_id = bit >= 8 && bit < 72;
    EXPECT_EQ(code_of(key_.open(kPlace, changed)), is_key_id ? "UNKNOWN_VAULT_KEY" : "RECORD_CORRUPT") << bit;
  }
}

TEST_F(SealedRecord, DoesNotOpenForAnotherAccountOrVersion) {
  EXPECT_EQ(code_of(key_.open({AccountId{78}, 3}, record_)), "RECORD_CORRUPT");
  EXPECT_EQ(code_of(key_.open({AccountId{77}, 4}, record_)), "RECORD_CORRUPT");
  EXPECT_EQ(code_of(key_.open({AccountId{3}, 77}, record_)), "RECORD_CORRUPT");
}

TEST_F(SealedRecord, NamesAnUnknownKeyForWhatItIs) {
  const auto other = VaultPrivateKey::generate(random_);
  EXPECT_EQ(code_of(other.open(kPlace, record_)), "UNKNOWN_VAULT_KEY");
}

TEST_F(SealedRecord, OpensByWhicheverKeyOfARingItNamesAndIsResealedToTheNewest) {
  std::vector<VaultPrivateKey> keys;
  keys.push_back(VaultPrivateKey::generate(random_));
  keys.push_back(std::move(key_));
  const VaultKeyring ring(std::move(keys));
  EXPECT_EQ(ring.open(kPlace, record_)->reveal(), kLogin);

  const auto& newest = ring.newest().public_key();
  const auto resealed = ring.reseal(random_, kPlace, record_, newest);
  ASSERT_TRUE(resealed);
  EXPECT_EQ(sealed_record_key_id(*resealed), newest.id());
  EXPECT_EQ(ring.newest().open(kPlace, *resealed)->reveal(), kLogin);
  EXPECT_EQ(code_of(ring.keys()[1].open(kPlace, *resealed)), "UNKNOWN_VAULT_KEY");

  EXPECT_EQ(ring.reseal(random_, {AccountId{1}, 1}, record_, newest).error().code, "RECORD_CORRUPT");
  const auto foreign = VaultPrivateKey::generate(random_).public_key().seal(random_, kPlace, kLogin);
  EXPECT_EQ(code_of(ring.open(kPlace, foreign)), "UNKNOWN_VAULT_KEY");
}

TEST(VaultKey, RefusesKeysThatAreNone) {
  EXPECT_THROW(VaultPrivateKey(SecretBytes(31)), std::invalid_argument);
  EXPECT_THROW(VaultPublicKey(VaultPublicKey::Raw{}), std::invalid_argument);
  EXPECT_THROW(VaultPublicKey(VaultPublicKey::Raw{std::byte{1}}), std::invalid_argument);
  EXPECT_THROW(VaultKeyring({}), std::invalid_argument);
}

// The expected value was made by another implementation of X25519.
TEST(VaultKey, PublicHalfIsThatOfX25519) {
  SecretBytes raw(32);
  for (std::size_t i = 0; i < 32; ++i) raw.writable()[i] = static_cast<std::byte>(i);
  EXPECT_EQ(hex_encode(VaultPrivateKey(std::move(raw)).public_key().raw()),
            "8f40c5adb68f25624ae5b214ea767a6ec94d829d3d7b5e1ad1ba6f3e2138285f");
}

}  // namespace
}  // namespace presetbridge::crypto
