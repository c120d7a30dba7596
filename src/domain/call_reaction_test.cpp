#include "domain/call_reaction.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace presetbridge::domain {
namespace {

using enum CallFailure;
using Code = ResolutionCode;
using R = Reaction;
using Answers = std::map<CallFailure, CallReaction>;

// Reactions that hold for every call but a sweep's.
Answers with_usual(Answers answers) {
  answers.insert({{unavailable, {R::retry}},
                  {malformed, {R::retry}},
                  {rate_limited, {R::pause}},
                  {busy, {R::wait}},
                  {session_refused, {R::log_in}},
                  {login_refused, {R::lose_login}},
                  {credentials_unreadable, {R::lose_login}}});
  return answers;
}

// By call, while the table is by cause.
const std::map<CallKind, Answers> kExpected = {
    {CallKind::find_user, with_usual({{user_not_found, {R::no_such_user, Code::username_not_found}},
                                      {blocked, {R::blocked, Code::blocked_by_customer}},
                                      {not_friends, {R::ask_friendship}},
                                      {file_not_found, {R::fail_all, Code::preset_not_found}},
                                      {not_shareable, {R::fail_all, Code::preset_not_shareable}},
                                      {rejected, {R::fail_all, Code::cloud_rejected}}})},
    {CallKind::friendship, with_usual({{user_not_found, {R::user_gone, Code::username_not_found}},
                                       {blocked, {R::blocked, Code::blocked_by_customer}},
                                       {not_friends, {R::ask_friendship}},
                                       {file_not_found, {R::fail_all, Code::preset_not_found}},
                                       {not_shareable, {R::fail_all, Code::preset_not_shareable}},
                                       {rejected, {R::fail_all, Code::cloud_rejected}}})},
    {CallKind::request_friendship, with_usual({{user_not_found, {R::user_gone, Code::username_not_found}},
                                               {blocked, {R::blocked, Code::blocked_by_customer}},
                                               {not_friends, {R::ask_friendship}},
                                               {file_not_found, {R::fail_all, Code::preset_not_found}},
                                               {not_shareable, {R::fail_all, Code::preset_not_shareable}},
                                               {rejected, {R::fail_all, Code::cloud_rejected}}})},
    {CallKind::withdraw, with_usual({{user_not_found, {R::user_gone, Code::username_not_found}},
                                     {blocked, {R::blocked, Code::blocked_by_customer}},
                                     {not_friends, {R::ask_friendship}},
                                     {file_not_found, {R::end_withdrawal}},
                                     {not_shareable, {R::end_withdrawal}},
                                     {rejected, {R::end_withdrawal}}})},
    {CallKind::share, with_usual({{user_not_found, {R::user_gone, Code::username_not_found}},
                                  {blocked, {R::blocked, Code::blocked_by_customer}},
                                  {not_friends, {R::ask_friendship}},
                                  {file_not_found, {R::fail_item, Code::preset_not_found}},
                                  {not_shareable, {R::fail_item, Code::preset_not_shareable}},
                                  {rejected, {R::fail_item, Code::cloud_rejected}}})},
    {CallKind::find_share, with_usual({{user_not_found, {R::absent}},
                                       {file_not_found, {R::absent}},
                                       {blocked, {R::unreachable}},
                                       {not_friends, {R::unreachable}},
                                       {not_shareable, {R::refused}},
                                       {rejected, {R::refused}}})},
    {CallKind::revoke, with_usual({{user_not_found, {R::revoked}},
                                   {file_not_found, {R::revoked}},
                                   {blocked, {R::not_revoked}},
                                   {not_friends, {R::not_revoked}},
                                   {not_shareable, {R::not_revoked}},
                                   {rejected, {R::not_revoked}}})},
    {CallKind::list_changes,
     {{unavailable, {R::retry}},
      {malformed, {R::retry}},
      {rate_limited, {R::pause}},
      {busy, {R::wait}},
      {session_refused, {R::retry}},
      {login_refused, {R::lose_login}},
      {credentials_unreadable, {R::lose_login}},
      {user_not_found, {R::retry}},
      {file_not_found, {R::retry}},
      {blocked, {R::retry}},
      {not_friends, {R::retry}},
      {not_shareable, {R::retry}},
      {rejected, {R::restart}}}},
};

TEST(CallReaction, IsTheOneOfEachCallAndCause) {
  ASSERT_EQ(kExpected.size(), kCallKindNames.size());
  for (const auto& [call, answers] : kExpected) {
    ASSERT_EQ(answers.size(), static_cast<std::size_t>(kCallFailures)) << to_string(call);
    for (const auto& [failure, expected] : answers) {
      const auto found = react(call, failure, false);
      EXPECT_EQ(static_cast<int>(found.reaction), static_cast<int>(expected.reaction))
          << to_string(call) << ", cause " << static_cast<int>(failure);
      EXPECT_EQ(found.code, expected.code) << to_string(call) << ", cause " << static_cast<int>(failure);
    }
  }
}

// spec 3.9: only a look-up finds the outcome.
TEST(CallReaction, OfAShareThatMayHaveBeenMadeIsToLookItUpWhateverFailed) {
  for (const auto& [call, answers] : kExpected) {
    for (const auto& [failure, expected] : answers) {
      const auto wanted = call == CallKind::share ? CallReaction{R::settle_later} : expected;
      EXPECT_EQ(react(call, failure, true), wanted) << to_string(call) << static_cast<int>(failure);
    }
  }
}

// spec 3.10: a revocation never changes the delivery's status; a sweep is no delivery's.
TEST(CallReaction, OfARevocationAndOfASweepFailsNoDelivery) {
  for (const auto call : {CallKind::revoke, CallKind::list_changes}) {
    for (int failure = 0; failure < kCallFailures; ++failure) {
      EXPECT_EQ(react(call, static_cast<CallFailure>(failure), false).code, Code::none);
    }
  }
}

}  // namespace
}  // namespace presetbridge::domain
