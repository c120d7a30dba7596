#include "storage/stores/disabled_account_store.h"

#include <cstdint>
#include <string_view>

namespace presetbridge::storage {
namespace {

constexpr std::string_view kRow = "disabled_accounts";
constexpr std::size_t kWidth = 8;  // of an id, the most significant byte first

constexpr Sql kFind{"SELECT log FROM service_windows WHERE name = $1"};
constexpr Sql kLock{"SELECT log FROM service_windows WHERE name = $1 <for_update>"};
constexpr Sql kMake{"INSERT INTO service_windows (name, log) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING"};
constexpr Sql kPut{"UPDATE service_windows SET log = $2 WHERE name = $1"};

std::vector<AccountId> decode(Blob bytes) {
  std::vector<AccountId> accounts;
  for (std::size_t at = 0; at + kWidth <= bytes.size(); at += kWidth) {
    std::int64_t value = 0;
    for (std::size_t i = 0; i < kWidth; ++i)
      value = (value << 8) | std::to_integer<std::int64_t>(bytes[at + i]);
    accounts.push_back(AccountId{value});
  }
  return accounts;
}

std::vector<std::byte> encode(const std::vector<AccountId>& accounts) {
  std::vector<std::byte> bytes;
  bytes.reserve(accounts.size() * kWidth);
  for (const auto account : accounts) {
    for (std::size_t i = kWidth; i-- > 0;)
      bytes.push_back(static_cast<std::byte>((account.value >> (8 * i)) & 0xFF));
  }
  return bytes;
}

}  // namespace

std::vector<AccountId> disabled_accounts(Tx& tx) {
  return tx.one(kFind, kRow, [](const Row& r) { return decode(r.bytes(0)); })
      .value_or(std::vector<AccountId>());
}

std::vector<AccountId> lock_disabled_accounts(Tx& tx) {
  tx.exec(kMake, kRow, Blob{});
  return tx.one(kLock, kRow, [](const Row& r) { return decode(r.bytes(0)); })
      .value_or(std::vector<AccountId>());
}

void put_disabled_accounts(Tx& tx, const std::vector<AccountId>& accounts) {
  tx.exec(kPut, kRow, encode(accounts));
}

}  // namespace presetbridge::storage
