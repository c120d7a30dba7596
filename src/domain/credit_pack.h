// Packs in which credits are sold (spec 11.2). They are configuration: "ID CREDITS PRICE CURRENCY NAME", as
// in "small 100 1900 eur 100 credits".
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace presetbridge::domain {

struct CreditPack {
  std::string id;
  std::string name;          // what the payment page and the receipt call it
  std::int64_t credits = 0;  // 1 to 1,000,000
  std::int64_t amount = 0;   // in the currency's smallest unit: 1 to 99,999,999
  std::string currency;      // ISO 4217, in small letters
  bool operator==(const CreditPack&) const = default;
};

// The pack, or the problem of the text. The id: 1 to 40 small letters, digits, '-' and '_'; the name: 1 to
// 100 bytes without control characters.
std::expected<CreditPack, std::string_view> parse_credit_pack(std::string_view text);

}  // namespace presetbridge::domain
