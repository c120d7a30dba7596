// For tests: sessions to pay.
#pragma once

#include "records.h"

namespace presetbridge::paysim {

// Ten of something for `amount` in all, of usd; it expires a day after `now`.
inline NewSession pack(Timestamp now, std::int64_t amount = 1'000) {
  NewSession asked;
  LineItem item;
  item.name = "Ten credits";
  item.unit_amount = amount;
  asked.items.push_back(std::move(item));
  asked.currency = "usd";
  asked.success_url = "http://127.0.0.1/done";
  asked.expires_at = now + std::chrono::hours{24};
  return asked;
}

}  // namespace presetbridge::paysim
