#include "history.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <random>

namespace presetbridge::simulation {
namespace {

struct Weight {
  Act act;
  std::uint32_t weight;
};
constexpr Weight kWeights[] = {
    {Act::place, 14},
    {Act::add_line, 4},
    {Act::change_line, 3},
    {Act::set_quantity, 4},
    {Act::remove_line, 2},
    {Act::pay, 7},
    {Act::unpay, 4},
    {Act::cancel, 4},
    {Act::refund_whole, 2},
    {Act::refund_line, 5},
    {Act::refund_unnamed, 1},
    {Act::risk, 2},
    {Act::trash, 2},
    {Act::restore, 2},
    {Act::rename, 3},
    {Act::touch, 2},
    {Act::repeat, 6},
    {Act::retry, 4},
    {Act::retry_as, 4},
    {Act::reopen, 4},
    {Act::approve, 6},
    {Act::invalidate, 2},
    {Act::complete, 2},
    {Act::revoke, 2},
    {Act::hold, 1},
    {Act::auto_revoke, 2},
    {Act::map, 4},
    {Act::grant, 2},
    {Act::accept, 6},
    {Act::decline, 1},
    {Act::block, 1},
    {Act::platform, 6},
    {Act::crash, 3},
    {Act::rest, 3},
    {Act::grow, 2},
    {Act::login, 1},
    {Act::reprocess, 3},
    {Act::retry_all, 1},
    {Act::approve_all, 1},
    {Act::invalidate_all, 1},
    {Act::reprocess_all, 1},
    {Act::file, 3},
    {Act::receiver, 3},
    {Act::erase, 1},
    {Act::order_by_key, 4},
    {Act::invalidate_by_key, 1},
    {Act::key, 2},
};
// What passes after a command. Most commands follow each other closely; all that is waited for in days ends
// within the longest.
struct Pause {
  Millis wait;
  std::uint32_t weight;
};
constexpr Pause kPauses[] = {
    {Millis{0}, 32},
    {Millis{2'000}, 20},
    {Millis{15'000}, 10},
    {Millis{60'000}, 10},
    {Millis{600'000}, 10},
    {Millis{3'600'000}, 6},
    {Millis{6 * 3'600'000}, 4},
    {Millis{24 * 3'600'000}, 2},
    {Millis{80 * 3'600'000}, 1},
    {Millis{15 * 24 * 3'600'000}, 1},
};

// A step of a scenario draws the values that it does not name.
struct Step {
  Act act;
  std::optional<std::uint32_t> n = {};
  std::optional<std::uint32_t> m = {};
  std::optional<Millis> wait = {};
};
struct Scenario {
  std::uint32_t weight;
  std::vector<Step> steps;  // all of one order
};
// `n` of `place`: for Ann, paid, one line; its `m` is the product.
constexpr std::uint32_t kAnn = 0;
constexpr Millis kAWhile{600'000};
constexpr std::uint32_t kOfScenarios = 1'000;  // their orders begin with it
const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all{
      // Stopped, what was shared is taken back, and paid again (spec 3.10).
      {3,
       {{Act::auto_revoke, 1},
        {Act::place, kAnn},
        {Act::accept, kAnn, {}, kAWhile},
        {Act::cancel, {}, {}, kAWhile},
        {Act::pay}}},
      // A line is refunded, taken back, and sold again.
      {2,
       {{Act::auto_revoke, 1},
        {Act::place, 10},
        {Act::accept, kAnn, {}, kAWhile},
        {Act::refund_line, {}, {}, kAWhile},
        {Act::set_quantity, {}, 3}}},
      // Shared with one user, and then for another.
      {2,
       {{Act::place, kAnn},
        {Act::accept, kAnn, {}, kAWhile},
        {Act::reopen},
        {Act::retry_as, 1},
        {Act::approve}}},
      // Shared, and nobody knows it, as it is stopped or given up.
      {2,
       {{Act::place, kAnn},
        {Act::platform, static_cast<std::uint32_t>(Weather::answers_lost)},
        {Act::accept, kAnn, {}, kAWhile},
        {Act::cancel},
        {Act::platform, static_cast<std::uint32_t>(Weather::fair)},
        {Act::pay}}},
      // A file is missing, and a mapping is saved.
      {2,
       {{Act::file, 0, 0},
        {Act::place, 10, 0},
        {Act::accept, kAnn, {}, kAWhile},
        {Act::map, 0, {}, kAWhile},
        {Act::file, 0, 1}}},
      // Two lines lack one file, and are mapped to two others before a job meets it.
      {1,
       {{Act::map, 2, 0},
        {Act::file, 0, 0},
        {Act::place, 10, 10},
        {Act::map, 0, 2},
        {Act::map, 2, 3},
        {Act::accept, kAnn, {}, kAWhile},
        {Act::file, 0, 1}}},
      // Mapped too late.
      {2, {{Act::place, kAnn, 4}, {Act::map, 4}, {Act::reprocess}, {Act::accept, kAnn}}},
      // The buyer is erased while they are waited for, while they get a file, and afterwards.
      {1, {{Act::place, kAnn}, {Act::erase}, {Act::accept, kAnn, {}, kAWhile}, {Act::add_line}}},
      {1,
       {{Act::accept, kAnn},
        {Act::platform, static_cast<std::uint32_t>(Weather::slow)},
        {Act::place, 10, {}, Millis{0}},
        {Act::erase},
        {Act::platform, static_cast<std::uint32_t>(Weather::fair)}}},
      {1,
       {{Act::auto_revoke, 1},
        {Act::place, kAnn},
        {Act::accept, kAnn, {}, kAWhile},
        {Act::erase},
        {Act::cancel, {}, {}, kAWhile},
        {Act::pay}}},
      // A program has more to order than its key may, in an hour.
      {1,
       {{Act::order_by_key, kAnn, {}, Millis{60'000}},
        {Act::order_by_key, {}, {}, Millis{60'000}},
        {Act::order_by_key, {}, {}, Millis{60'000}},
        {Act::invalidate_by_key, {}, {}, Millis{60 * 60'000}},
        {Act::invalidate_by_key}}},
      // A line is refunded, and the merchant marks its delivery as delivered by hand.
      {1, {{Act::place, kAnn}, {Act::refund_line}, {Act::reopen}, {Act::complete}}},
      // A person takes the files back, and the order is paid again.
      {1,
       {{Act::place, kAnn},
        {Act::accept, kAnn, {}, kAWhile},
        {Act::revoke, {}, {}, kAWhile},
        {Act::cancel, {}, {}, kAWhile},
        {Act::pay}}},
      // The customer of before gets it again, after a stop took their files back.
      {1,
       {{Act::auto_revoke, 1},
        {Act::place, kAnn},
        {Act::accept, kAnn, {}, kAWhile},
        {Act::reopen},
        {Act::retry_as, 1},
        {Act::cancel, {}, {}, kAWhile},
        {Act::pay},
        {Act::retry_as, kAnn}}},
      // Another login, while nobody knows what became of a share.
      {1,
       {{Act::place, kAnn},
        {Act::platform, static_cast<std::uint32_t>(Weather::answers_lost)},
        {Act::accept, kAnn, {}, Millis{60'000}},
        {Act::platform, static_cast<std::uint32_t>(Weather::reads_fail)},
        {Act::login, 0, {}, Millis{2 * 60 * 60'000}},
        {Act::platform, static_cast<std::uint32_t>(Weather::fair)}}},
      // The merchant keeps an unanswered friend request, and the buyer answers late.
      {1,
       {{Act::place, kAnn, {}, Millis{15 * 24 * 60 * 60'000}},
        {Act::retry, {}, 0},
        {Act::accept, kAnn, {}, kAWhile}}},
      // No credits, and then some.
      {1, {{Act::place, 10}, {Act::place, 12}, {Act::accept, kAnn, {}, kAWhile}, {Act::grant, 4}}},
  };
  return all;
}

// One of `all`, each as often as it weighs.
template <class All>
const auto& draw(const All& all, std::mt19937_64& chance) {
  std::uint64_t sum = 0;
  for (const auto& one : all) sum += one.weight;
  // std::mt19937_64 is the same everywhere; the distributions of the library are not.
  auto at = chance() % sum;
  for (const auto& one : all) {
    if (at < one.weight) return one;
    at -= one.weight;
  }
  return *std::rbegin(all);
}

}  // namespace

History generate(std::uint64_t seed, std::size_t length) {
  std::mt19937_64 chance(seed);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(chance() % n); };
  History history;
  const Scenario* scenario = nullptr;
  std::size_t next = 0;
  std::uint32_t order = 0;  // of the scenario that is under way, or was last
  while (history.size() < length) {
    Command command{.act = draw(kWeights, chance).act};
    // Orders are new for a while, and then left alone.
    command.order = static_cast<std::uint32_t>(history.size() / 30) + below(kOrders);
    if (order >= kOfScenarios && below(scenario == nullptr ? 5 : 2) == 0) command.order = order;
    command.n = below(1'000);
    command.m = below(1'000);
    command.late = below(8) == 0;
    command.wait = draw(kPauses, chance).wait;
    // What is given up after days needs trouble that lasts as long.
    if (command.act == Act::platform && below(8) == 0) command.wait = Millis{10 * 24 * 3'600'000};
    if (scenario == nullptr && below(8) == 0) {
      scenario = &draw(scenarios(), chance);
      next = 0;
      order = order < kOfScenarios ? kOfScenarios : order + 1;
    }
    // Other things happen between the steps.
    if (scenario != nullptr && below(3) != 0) {
      const auto& step = scenario->steps[next++];
      command.act = step.act;
      command.order = order;
      command.n = step.n.value_or(command.n);
      command.m = step.m.value_or(command.m);
      command.wait = step.wait.value_or(std::min(command.wait, kAWhile));
      command.late = false;
      if (next == scenario->steps.size()) scenario = nullptr;
    }
    history.push_back(command);
  }
  return history;
}

Mood mood_of(const Command& c) {
  // Mostly they are well, or they would get nothing in the end.
  const auto mood = c.n / kReceivers % 11;
  return mood < 8 ? static_cast<Mood>(mood) : Mood::well;
}

std::string describe(const Command& c) {
  static constexpr const char* kActs[] = {"place",
                                          "add_line",
                                          "change_line",
                                          "set_quantity",
                                          "remove_line",
                                          "pay",
                                          "unpay",
                                          "cancel",
                                          "refund_whole",
                                          "refund_line",
                                          "refund_unnamed",
                                          "risk",
                                          "trash",
                                          "restore",
                                          "rename",
                                          "touch",
                                          "grow",
                                          "repeat",
                                          "erase the buyer of",
                                          "retry",
                                          "retry_as",
                                          "reopen",
                                          "approve",
                                          "invalidate",
                                          "complete",
                                          "revoke",
                                          "reprocess",
                                          "with a key, order",
                                          "with a key, invalidate",
                                          "hold",
                                          "auto_revoke",
                                          "map",
                                          "login",
                                          "grant",
                                          "key",
                                          "retry all",
                                          "approve all",
                                          "invalidate all",
                                          "reprocess all",
                                          "accept",
                                          "decline",
                                          "block",
                                          "platform",
                                          "file",
                                          "receiver",
                                          "crash",
                                          "rest"};
  static constexpr const char* kMoods[] = {"is well",         "is slow", "fails",   "gets too many",
                                           "does not answer", "is away", "refuses", "is gone"};
  static constexpr const char* kKeys[] = {"deactivated",        "reactivated",       "rotated",
                                          "rotated slowly",     "for another store", "for all stores",
                                          "with a higher limit"};
  static constexpr const char* kWeathers[] = {"fair",
                                              "slow",
                                              "all calls fail",
                                              "writes fail",
                                              "reads fail",
                                              "answers of writes are lost",
                                              "requests are lost",
                                              "too many requests"};
  static_assert(std::size(kActs) == static_cast<std::size_t>(Act::rest) + 1);
  std::string text = kActs[static_cast<std::size_t>(c.act)];
  if (c.act < Act::hold) text += fmt::format(" order {}", c.order + 1);
  switch (c.act) {
    case Act::place:
      text += fmt::format(" for {}: sku-{}{}{}", kNames[c.n % std::size(kNames)], c.m % kSkus + 1,
                          c.n / 10 % 2 ? fmt::format(" and sku-{}", c.m / kSkus % kSkus + 1) : "",
                          c.n / 100 == 9   ? ", unpaid"
                          : c.n / 100 == 7 ? ", too large to be read"
                          : c.n / 100 == 6 ? ", a test order"
                                           : "");
      break;
    case Act::order_by_key:
      text += fmt::format(" for {}: sku-{}{}", kNames[c.n % std::size(kNames)], c.m % kSkus + 1,
                          c.n / 10 % 2 ? fmt::format(" and sku-{}", c.m / kSkus % kSkus + 1) : "");
      break;
    case Act::key:
      text += fmt::format(" {}: {}", c.m, kKeys[c.n % kKeyChanges]);
      break;
    case Act::add_line:
      text += fmt::format(": sku-{}", c.m % kSkus + 1);
      break;
    case Act::change_line:
      text += fmt::format(": line {} to sku-{}", c.n, c.m % kSkus + 1);
      break;
    case Act::set_quantity:
      text += fmt::format(": line {} to {}", c.n, c.m % 4);
      break;
    case Act::remove_line:
    case Act::refund_line:
      text += fmt::format(": line {}", c.n);
      break;
    case Act::retry:
      if (keeps_request(c)) text += ", keeping the friend request";
      break;
    case Act::rename:
    case Act::retry_as:
      text += fmt::format(" to {}", kNames[c.n % std::size(kNames)]);
      break;
    case Act::hold:
    case Act::auto_revoke:
      text += c.n % 3 == 0 ? " off" : " on";
      break;
    case Act::retry_all:
    case Act::approve_all:
    case Act::invalidate_all:
      text += fmt::format(": filter {}", c.n);
      break;
    case Act::file:
      text += fmt::format("-{} {}", c.n % kFiles + 1, c.m % 2 == 0 ? "is gone" : "is there");
      break;
    case Act::receiver:
      text += fmt::format(" {} {}", c.n % kReceivers + 1, kMoods[static_cast<std::size_t>(mood_of(c))]);
      break;
    case Act::crash:
      text += c.n % 3 == 0 ? "" : fmt::format(": the power fails at commit {}", c.n / 3 % 6 + 1);
      break;
    case Act::repeat:
      text += fmt::format(": event {}", c.n);
      break;
    case Act::accept:
    case Act::decline:
    case Act::block:
      text += fmt::format(" by {}", kNames[c.n % 3]);
      break;
    case Act::map:
      text += fmt::format(" sku-{} to {}", c.n % kSkus + 1,
                          c.m % 6 < kFiles ? fmt::format("file-{}", c.m % 6 + 1)
                          : c.m % 6 == 4   ? "be ignored"
                                           : "nothing");
      break;
    case Act::login:
      text += fmt::format(" of m-{}", c.n % 3 == 0 ? 2 : 1);
      break;
    case Act::grant:
      text += fmt::format(" {} credits", c.n % 5 + 1);
      break;
    case Act::platform:
      text += fmt::format(": {}", kWeathers[c.n % std::size(kWeathers)]);
      break;
    default:
      break;
  }
  if (c.late && c.act <= Act::grow) text += " (no event yet)";
  if (c.wait > Millis{0}) text += fmt::format(", then {} s", c.wait.count() / 1'000);
  return text;
}

}  // namespace presetbridge::simulation
