// Histories: what stores, merchants, buyers, the platform, receivers and the process do, one command after the other. A
// command names orders, lines and users by numbers that are taken modulo what there is, so any part of a
// history is one too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"

namespace presetbridge::simulation {

enum class Act {
  // What happens in the shop, which tells the service of it, unless the news is late.
  place,
  add_line,
  change_line,
  set_quantity,
  remove_line,
  pay,
  unpay,
  cancel,
  refund_whole,
  refund_line,
  refund_unnamed,
  risk,
  trash,
  restore,
  rename,
  touch,
  grow,  // to more lines than are read; whatever happens to the order next makes it smaller again
  // The shop sends an event again, or one that it has held back.
  repeat,
  erase,  // the shop asks for the erasure of the order's buyer
  // The merchant.
  retry,
  retry_as,
  reopen,
  approve,
  invalidate,
  complete,
  revoke,
  reprocess,
  // The merchant's program, with an API key.
  order_by_key,
  invalidate_by_key,
  hold,
  auto_revoke,
  map,
  login,
  grant,
  key,  // is changed
  // A job on all that a filter finds.
  retry_all,
  approve_all,
  invalidate_all,
  reprocess_all,
  // The buyer.
  accept,
  decline,
  block,
  // The platform, the receivers of outbound events, and the process.
  platform,
  file,  // is deleted at the platform, or is back
  receiver,
  crash,
  rest,  // the platform is well and all is quiet: everything is compared
};

// What the platform does with calls.
enum class Weather { fair, slow, all_fail, writes_fail, reads_fail, answers_lost, requests_lost, too_many };
// A receiver of outbound events answers like this.
enum class Mood { well, slow, fails, too_many, silent, away, refuses, gone };

struct Command {
  Act act = Act::rest;
  std::uint32_t order = 0;
  std::uint32_t n = 0;
  std::uint32_t m = 0;
  bool late = false;  // the shop sends no event of it now
  Millis wait{0};     // what passes afterwards
  bool operator==(const Command&) const = default;
};
// Whether a retry leaves a friend request that had no answer (spec 3.5).
inline bool keeps_request(const Command& command) {
  return command.act == Act::retry && command.m % 3 == 0;
}
using History = std::vector<Command>;

inline constexpr std::uint32_t kOrders = 5;  // that something happens to at a time
inline constexpr std::uint32_t kSkus = 5;
inline constexpr std::uint32_t kFiles = 4;
inline constexpr std::uint32_t kReceivers = 2;
// The changes of a key that a merchant may make.
enum class KeyChange { deactivate, reactivate, rotate, rotate_slowly, other_store, all_stores, raise_limit };
inline constexpr std::uint32_t kKeyChanges = 7;
// The last is a name that leads to nobody, the one before it another spelling of the first.
inline constexpr const char* kNames[] = {"Ann", "Bob", "Cleo", "ANN", "Nobody"};

// Half of the commands are drawn one by one; the others follow short scenarios, whose steps chance alone
// seldom brings into their order. The result is the same on every machine.
History generate(std::uint64_t seed, std::size_t length);
std::string describe(const Command& command);
Mood mood_of(const Command& command);

}  // namespace presetbridge::simulation
