#include "domain/call_reaction.h"

#include <array>

namespace presetbridge::domain {
namespace {

using enum Reaction;

struct Row {
  CallFailure failure;
  ResolutionCode code;
  std::array<Reaction, kCallKindNames.size()> by_call;  // as CallKind has them
};

using F = CallFailure;
using C = ResolutionCode;

// clang-format off
constexpr std::array<Row, kCallFailures> kTable{{
    //                                                    find_user       friendship      request         withdraw        share           find_share   revoke       list_changes
    {F::unavailable,            C::none,                 {retry,          retry,          retry,          retry,          retry,          retry,       retry,       retry}},
    {F::rate_limited,           C::none,                 {pause,          pause,          pause,          pause,          pause,          pause,       pause,       pause}},
    {F::session_refused,        C::none,                 {log_in,         log_in,         log_in,         log_in,         log_in,         log_in,      log_in,      retry}},
    {F::login_refused,          C::none,                 {lose_login,     lose_login,     lose_login,     lose_login,     lose_login,     lose_login,  lose_login,  lose_login}},
    {F::credentials_unreadable, C::none,                 {lose_login,     lose_login,     lose_login,     lose_login,     lose_login,     lose_login,  lose_login,  lose_login}},
    {F::user_not_found,         C::username_not_found,   {no_such_user,   user_gone,      user_gone,      user_gone,      user_gone,      absent,      revoked,     retry}},
    {F::file_not_found,         C::preset_not_found,     {fail_all,       fail_all,       fail_all,       end_withdrawal, fail_item,      absent,      revoked,     retry}},
    {F::not_shareable,          C::preset_not_shareable, {fail_all,       fail_all,       fail_all,       end_withdrawal, fail_item,      refused,     not_revoked, retry}},
    {F::blocked,                C::blocked_by_customer,  {blocked,        blocked,        blocked,        blocked,        blocked,        unreachable, not_revoked, retry}},
    {F::not_friends,            C::none,                 {ask_friendship, ask_friendship, ask_friendship, ask_friendship, ask_friendship, unreachable, not_revoked, retry}},
    {F::rejected,               C::cloud_rejected,       {fail_all,       fail_all,       fail_all,       end_withdrawal, fail_item,      refused,     not_revoked, restart}},
    {F::malformed,              C::none,                 {retry,          retry,          retry,          retry,          retry,          retry,       retry,       retry}},
    {F::busy,                   C::none,                 {wait,           wait,           wait,           wait,           wait,           wait,        wait,        wait}},
}};
// clang-format on

constexpr bool in_order() {
  for (int i = 0; i < kCallFailures; ++i) {
    if (kTable[static_cast<std::size_t>(i)].failure != static_cast<CallFailure>(i)) return false;
  }
  return true;
}
static_assert(in_order(), "a row for each cause, in their order");

bool fails_deliveries(Reaction reaction) {
  return reaction == no_such_user || reaction == user_gone || reaction == blocked || reaction == fail_all ||
         reaction == fail_item;
}

}  // namespace

CallReaction react(CallKind call, CallFailure failure, bool effect_unknown) {
  if (call == CallKind::share && effect_unknown) return {settle_later};
  const auto& row = kTable[static_cast<std::size_t>(failure)];
  const Reaction reaction = row.by_call[static_cast<std::size_t>(call)];
  return {reaction, fails_deliveries(reaction) ? row.code : ResolutionCode::none};
}

}  // namespace presetbridge::domain
