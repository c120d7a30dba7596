#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/testing.h"
#include "crypto/encoding.h"
#include "crypto/key_file.h"
#include "crypto/record_frame.h"
#include "crypto/sealed_record.h"
#include "crypto/service_cipher.h"
#include "crypto/vault_keys.h"
#include "require.h"
#include "splice.h"

namespace {

using namespace presetbridge;
using namespace presetbridge::crypto;

VaultPrivateKey vault_key(unsigned char fill) {
  SecretBytes raw(32);
  std::ranges::fill(raw.writable(), std::byte{fill});
  return VaultPrivateKey(std::move(raw));
}

ServiceKey service_key(unsigned char fill) {
  ServiceKey key{{}, SecretBytes(32)};
  key.id.fill(std::byte{fill});
  std::ranges::fill(key.key.writable(), std::byte{fill});
  return key;
}

std::string text(ByteView bytes) {
  return std::string(text_of(bytes));
}

bool is_refusal(const Error& error, std::string_view unknown_key) {
  return error.code == "RECORD_CORRUPT" || error.code == unknown_key;
}

// An alteration with the checksum of the frame made right again, so that it reaches the decryption.
std::string framed_again(std::string_view record) {
  if (record.size() < kRecordFrameOverhead) return std::string(record);
  RecordKeyId id;
  std::ranges::copy(ByteView(record).subspan(1, id.size()), id.begin());
  return text(make_record_frame(id, ByteView(record).subspan(9, record.size() - kRecordFrameOverhead)));
}

// A record opens at its own place and as it was made, and in no other way.
void try_vault(FuzzedDataProvider& input) {
  static const VaultPrivateKey key = vault_key(7);
  static const VaultKeyring ring = [] {
    std::vector<VaultPrivateKey> keys;
    keys.push_back(vault_key(9));
    keys.push_back(vault_key(7));
    return VaultKeyring(std::move(keys));
  }();
  static testing::SeededRandom random;
  const RecordPlace place{AccountId{input.ConsumeIntegral<std::int64_t>()},
                          input.ConsumeIntegral<std::int64_t>()};
  const RecordPlace other{AccountId{input.ConsumeIntegral<std::int64_t>()},
                          input.ConsumeIntegral<std::int64_t>()};
  const auto login = input.ConsumeRandomLengthString(200);
  const auto record = text(key.public_key().seal(random, place, login));
  REQUIRE(record.size() == login.size() + 125);
  const auto opened = key.open(place, record);
  REQUIRE(opened && opened->reveal() == login);
  const bool elsewhere = other.account != place.account || other.version != place.version;
  REQUIRE(ring.open(other, record).has_value() == !elsewhere);

  const auto altered = fuzz::spliced(input, record);
  for (const auto& candidate : {altered, framed_again(altered)}) {
    const auto result = ring.open(place, candidate);
    REQUIRE(result.has_value() == (candidate == record));
    REQUIRE(result || is_refusal(result.error(), "UNKNOWN_VAULT_KEY"));
    REQUIRE(key.open(place, candidate).has_value() == result.has_value());
  }
}

void try_service(FuzzedDataProvider& input) {
  static testing::SeededRandom random;
  static const ServiceCipher cipher = [] {
    std::vector<ServiceKey> keys;
    keys.push_back(service_key(3));
    keys.push_back(service_key(5));
    return ServiceCipher(std::move(keys), random);
  }();
  const ValuePlace place{"integrations.secret", input.ConsumeIntegral<std::int64_t>()};
  const auto column = input.ConsumeRandomLengthString(30);
  const ValuePlace other{column, input.ConsumeIntegral<std::int64_t>()};
  const auto secret = input.ConsumeRandomLengthString(100);
  const auto value = text(cipher.encrypt(place, secret));
  REQUIRE(value.size() == secret.size() + 45);
  const auto decrypted = cipher.decrypt(place, value);
  REQUIRE(decrypted && decrypted->reveal() == secret);
  REQUIRE(service_value_key_id(value) == Expected<ServiceKeyId>(cipher.sealing()));
  const bool elsewhere = other.column != place.column || other.row != place.row;
  REQUIRE(cipher.decrypt(other, value).has_value() == !elsewhere);

  const auto altered = fuzz::spliced(input, value);
  for (const auto& candidate : {altered, framed_again(altered)}) {
    const auto result = cipher.decrypt(place, candidate);
    REQUIRE(result.has_value() == (candidate == value));
    REQUIRE(result || is_refusal(result.error(), "UNKNOWN_SERVICE_KEY"));
  }
}

// A file of memory, so that the readers of key files are called as they are.
class MemoryFile {
 public:
  MemoryFile() : fd_(::memfd_create("key", MFD_CLOEXEC)), path_("/proc/self/fd/" + std::to_string(fd_)) {
    REQUIRE(fd_ >= 0 && ::fchmod(fd_, 0600) == 0);
  }
  const std::string& holding(std::string_view content) {
    REQUIRE(::ftruncate(fd_, 0) == 0);
    REQUIRE(::pwrite(fd_, content.data(), content.size(), 0) == static_cast<ssize_t>(content.size()));
    return path_;
  }

 private:
  const int fd_;
  const std::string path_;
};

std::string without_end(std::string_view content) {
  if (content.ends_with('\n')) content.remove_suffix(1);
  return std::string(content);
}

// What is read of a key file, written again, is the file.
void try_key_files(std::string_view content) {
  static MemoryFile file;
  const auto& path = file.holding(content);
  if (const auto keys = read_service_keys(path)) {
    std::string written;
    for (const auto& key : *keys) {
      written +=
          "presetbridge-service-key-1 " + hex_encode(key.id) + ' ' + base64_encode(key.key.reveal()) + '\n';
    }
    REQUIRE(without_end(written) == without_end(content));
    testing::SeededRandom random;
    std::vector<ServiceKey> usable;
    for (const auto& key : *keys) usable.push_back({key.id, SecretBytes::copy_of(key.key.reveal())});
    const ServiceCipher cipher(std::move(usable), random);
  } else {
    REQUIRE(keys.error().code == "KEY_FILE_INVALID");
  }
  if (const auto ring = read_vault_private_keys(path)) {
    std::string written;
    for (const auto& key : ring->keys()) {
      written += "presetbridge-vault-private-key-1 " + base64_encode(key.reveal()) + '\n';
    }
    REQUIRE(without_end(written) == without_end(content));
  } else {
    REQUIRE(ring.error().code == "KEY_FILE_INVALID");
  }
  if (const auto keys = read_vault_public_keys(path)) {
    std::string written;
    testing::SeededRandom random;
    for (const auto& key : *keys) {
      written += "presetbridge-vault-public-key-1 " + base64_encode(key.raw()) + '\n';
      (void)key.seal(random, {}, "login");
    }
    REQUIRE(without_end(written) == without_end(content));
  } else {
    REQUIRE(keys.error().code == "KEY_FILE_INVALID");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  static const VaultPrivateKey key = vault_key(7);
  REQUIRE(!key.open({}, bytes));
  (void)sealed_record_key_id(bytes);
  try_key_files(bytes);
  FuzzedDataProvider input(data, size);
  try_vault(input);
  try_service(input);
  return 0;
}
