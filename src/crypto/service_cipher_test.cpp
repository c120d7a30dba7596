#include "crypto/service_cipher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "crypto/random.h"

namespace presetbridge::crypto {
namespace {

constexpr ValuePlace kPlace{"integrations.secret", 42};

std::string code_of(const Expected<SecretString>& result) {
  return result ? "opened" : result.error().code;
}

ServiceKey copy_of(const ServiceKey& key) {
  return {key.id, SecretBytes::copy_of(key.key.reveal())};
}

template <class... Keys>
std::vector<ServiceKey> list(const Keys&... keys) {
  std::vector<ServiceKey> all;
  (all.push_back(copy_of(keys)), ...);
  return all;
}

class ServiceCipherTest : public ::testing::Test {
 protected:
  SystemRandom random_;
  ServiceKey key_ = generate_service_key(random_);
  ServiceCipher cipher_{list(key_), random_};
};

TEST_F(ServiceCipherTest, DecryptsWhatItEncryptedAtTheSamePlace) {
  for (const auto& text : {std::string("store-secret"), std::string(), std::string(50'000, 'x')}) {
    const auto value = cipher_.encrypt(kPlace, text);
    EXPECT_EQ(value.size(), text.size() + 45);
    const auto opened = cipher_.decrypt(kPlace, value);
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened->reveal(), text);
  }
  EXPECT_NE(cipher_.encrypt(kPlace, "same"), cipher_.encrypt(kPlace, "same"));
}

// Made by another implementation of AES-GCM: pins the stored form too.
TEST_F(ServiceCipherTest, DecryptsAValueThatWasMadeElsewhere) {
  ServiceKey key{{}, SecretBytes(32)};
  ASSERT_TRUE(hex_decode_exactly("a1a2a3a4a5a6a7a8", key.id));
  for (std::size_t i = 0; i < 32; ++i) key.key.writable()[i] = static_cast<std::byte>(i);
  const ServiceCipher cipher(list(key), random_);
  Bytes value(57);
  ASSERT_TRUE(hex_decode_exactly(
      "01a1a2a3a4a5a6a7a8404142434445464748494a4b91cdc1514311f466aeb67242fd1bf887d4968179d01a58b3ae3362c677f1"
      "ddde9d52"
      "4831",
      value));
  const auto opened = cipher.decrypt(kPlace, value);
  ASSERT_TRUE(opened) << opened.error().code;
  EXPECT_EQ(opened->reveal(), "store-secret");
}

TEST_F(ServiceCipherTest, FindsAnyChangedBit) {
  const auto value = cipher_.encrypt(kPlace, "store-secret");
  for (std::size_t bit = 0; bit < value.size() * 8; ++bit) {
    auto changed = value;
    changed[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_EQ(code_of(cipher_.decrypt(kPlace, changed)), "RECORD_CORRUPT") << bit;
  }
  for (std::size_t size = 0; size < value.size(); ++size) {
    EXPECT_EQ(code_of(cipher_.decrypt(kPlace, ByteView(value).first(size))), "RECORD_CORRUPT") << size;
  }
}

// The checksum is for accidents; this is the attacker who makes it anew.
TEST_F(ServiceCipherTest, FindsAnyChangedBitWhenTheChecksumIsMadeAnew) {
  const auto value = cipher_.encrypt(kPlace, "store-secret");
  const std::size_t covered = value.size() - 8;
  for (std::size_t bit = 0; bit < covered * 8; ++bit) {
    auto changed = value;
    changed[bit / 8] ^= std::byte{1} << (bit % 8);
    const auto checksum = sha256(ByteView(ByteView(changed).first(covered)));
    std::copy_n(checksum.begin(), 8, changed.begin() + static_cast<std::ptrdiff_t>(covered));
    const bool is_key_id = bit >= 8 && bit < 72;
    EXPECT_EQ(code_of(cipher_.decrypt(kPlace, changed)), is_key_id ? "UNKNOWN_SERVICE_KEY" : "RECORD_CORRUPT")
        << bit;
  }
}

TEST_F(ServiceCipherTest, RefusesAValueFromAnotherRowOrColumn) {
  const auto value = cipher_.encrypt(kPlace, "store-secret");
  EXPECT_EQ(code_of(cipher_.decrypt({"integrations.secret", 43}, value)), "RECORD_CORRUPT");
  EXPECT_EQ(code_of(cipher_.decrypt({"integrations.secrets", 42}, value)), "RECORD_CORRUPT");
  EXPECT_EQ(code_of(cipher_.decrypt({"", 42}, value)), "RECORD_CORRUPT");
}

TEST_F(ServiceCipherTest, TheFirstKeyEncryptsAndAllDecrypt) {
  const auto old_value = cipher_.encrypt(kPlace, "store-secret");
  const auto fresh = generate_service_key(random_);
  const ServiceCipher both(list(fresh, key_), random_);
  EXPECT_EQ(both.decrypt(kPlace, old_value)->reveal(), "store-secret");
  EXPECT_EQ(service_value_key_id(old_value), key_.id);
  const auto new_value = both.encrypt(kPlace, "store-secret");
  EXPECT_EQ(service_value_key_id(new_value), fresh.id);
  EXPECT_EQ(code_of(cipher_.decrypt(kPlace, new_value)), "UNKNOWN_SERVICE_KEY");
  EXPECT_EQ(service_value_key_id(ByteView(new_value).first(45)).error().code, "RECORD_CORRUPT");
}

TEST_F(ServiceCipherTest, TheSizeOfAPlaintextIsKnownWithoutAKey) {
  for (const std::size_t size : {0UZ, 1UZ, 40UZ, 200UZ})
    EXPECT_EQ(service_value_text_size(cipher_.encrypt(kPlace, std::string(size, 'x'))), size);
  const auto value = cipher_.encrypt(kPlace, "");
  EXPECT_EQ(service_value_text_size(ByteView(value).first(44)).error().code, "RECORD_CORRUPT");
}

TEST_F(ServiceCipherTest, TakesUpAKeyThatDoesNotEncryptYetAndLaterDoes) {
  const auto fresh = generate_service_key(random_);
  const auto derived = cipher_.derived("a purpose");
  cipher_.hold(list(fresh, key_), key_.id);
  const auto value = cipher_.encrypt(kPlace, "store-secret");
  EXPECT_EQ(service_value_key_id(value), key_.id);
  EXPECT_EQ(cipher_.sealing(), key_.id);
  EXPECT_EQ(cipher_.derived("a purpose"), derived);

  cipher_.hold(list(fresh, key_), fresh.id);
  EXPECT_EQ(service_value_key_id(cipher_.encrypt(kPlace, "store-secret")), fresh.id);
  EXPECT_NE(cipher_.derived("a purpose"), derived);
  EXPECT_EQ(cipher_.decrypt(kPlace, value)->reveal(), "store-secret");

  cipher_.hold(list(fresh), fresh.id);
  EXPECT_EQ(code_of(cipher_.decrypt(kPlace, value)), "UNKNOWN_SERVICE_KEY");
  EXPECT_THROW(cipher_.hold(list(fresh), key_.id), std::invalid_argument);
  EXPECT_THROW(cipher_.hold({}, fresh.id), std::invalid_argument);
  EXPECT_EQ(cipher_.sealing(), fresh.id);
}

TEST_F(ServiceCipherTest, RefusesKeysThatItCannotWorkWith) {
  EXPECT_THROW(ServiceCipher({}, random_), std::invalid_argument);
  EXPECT_THROW(ServiceCipher(list(key_, key_), random_), std::invalid_argument);
  EXPECT_THROW(ServiceCipher(list(ServiceKey{{}, SecretBytes(31)}), random_), std::invalid_argument);
}

}  // namespace
}  // namespace presetbridge::crypto
