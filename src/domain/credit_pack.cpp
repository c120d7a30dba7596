#include "domain/credit_pack.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace presetbridge::domain {
namespace {

constexpr std::int64_t kMostCredits = 1'000'000;
constexpr std::int64_t kMostMoney = 99'999'999;  // of one payment, at the processor
constexpr std::size_t kLongestId = 40;
constexpr std::size_t kLongestName = 100;

bool is_small_letter(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_id_character(char c) {
  return is_small_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
}
bool is_printable(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && c != '\x7f';
}

// 0 for what is no whole number from 1 to `most`.
std::int64_t amount_of(std::string_view text, std::int64_t most) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool sound =
      error == std::errc{} && end == text.data() + text.size() && number >= 1 && number <= most;
  return sound ? number : 0;
}

}  // namespace

std::expected<CreditPack, std::string_view> parse_credit_pack(std::string_view text) {
  std::array<std::string_view, 4> words;
  for (auto& word : words) {
    const auto end = text.find(' ');
    if (end == std::string_view::npos) return std::unexpected("must be \"ID CREDITS PRICE CURRENCY NAME\"");
    word = text.substr(0, end);
    text.remove_prefix(end + 1);
  }
  const auto [id, credits, price, currency] = words;
  CreditPack pack{.id = std::string(id),
                  .name = std::string(text),
                  .credits = amount_of(credits, kMostCredits),
                  .amount = amount_of(price, kMostMoney),
                  .currency = std::string(currency)};
  if (id.empty() || id.size() > kLongestId || !std::ranges::all_of(id, is_id_character))
    return std::unexpected("must begin with an id: 1 to 40 small letters, digits, '-' and '_'");
  if (pack.credits == 0) return std::unexpected("must have 1 to 1000000 credits");
  if (pack.amount == 0)
    return std::unexpected("must have a price from 1 to 99999999 in the currency's smallest unit");
  if (currency.size() != 3 || !std::ranges::all_of(currency, is_small_letter))
    return std::unexpected("must have a currency of three small letters");
  if (text.empty() || text.size() > kLongestName || !std::ranges::all_of(text, is_printable))
    return std::unexpected("must end with a name: 1 to 100 bytes without control characters");
  return pack;
}

}  // namespace presetbridge::domain
