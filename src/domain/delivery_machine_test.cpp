#include "domain/delivery_machine.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

namespace presetbridge::domain {
namespace {

using enum DeliveryStatus;
using From = std::optional<DeliveryStatus>;
using Pair = std::pair<From, DeliveryStatus>;

constexpr int kCauses = static_cast<int>(Cause::completed_by_hand) + 1;
const std::vector<From> kStates = {std::nullopt, queued, processing, waiting_for_friendship,
                                   completed,    failed, in_review,  invalidated};

// The table of spec 3.1, written out by hand as what may follow what.
const std::set<Pair> kSpec = {
    {std::nullopt, queued},
    {std::nullopt, in_review},
    {std::nullopt, failed},
    {queued, processing},
    {waiting_for_friendship, processing},
    {processing, waiting_for_friendship},
    {processing, completed},
    {processing, queued},
    {processing, failed},
    {processing, in_review},
    {processing, invalidated},
    {queued, failed},
    {waiting_for_friendship, failed},
    {waiting_for_friendship, queued},
    {queued, completed},
    {waiting_for_friendship, completed},
    {failed, completed},
    {in_review, completed},  // by a merchant alone
    {queued, invalidated},
    {waiting_for_friendship, invalidated},
    {failed, invalidated},
    {in_review, invalidated},
    {failed, queued},
    {completed, queued},
    {completed, in_review},
    {failed, in_review},
    {invalidated, in_review},
    {completed, invalidated},
    {in_review, queued},
    {invalidated, queued},
    {queued, in_review},
    {waiting_for_friendship, in_review},
};

TEST(DeliveryMachine, AllowsExactlyTheMovesOfTheSpecification) {
  std::set<Pair> allowed;
  for (const From& from : kStates) {
    for (int c = 0; c < kCauses; ++c) {
      for (const auto by : {InvalidatedBy::nobody, InvalidatedBy::order, InvalidatedBy::merchant}) {
        if (const auto t = step(from, static_cast<Cause>(c), by)) allowed.emplace(from, t->to);
      }
    }
  }
  EXPECT_EQ(allowed, kSpec);
}

TEST(DeliveryMachine, ReportsOneTransitionForEachStatusAndCause) {
  std::set<std::pair<From, Cause>> keys;
  std::set<Cause> used;
  for (const Transition& t : transitions()) {
    EXPECT_TRUE(keys.emplace(t.from, t.cause).second) << to_string(t.cause);
    used.insert(t.cause);
    const auto found = step(t.from, t.cause, InvalidatedBy::order);
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, t);
  }
  EXPECT_EQ(used.size(), kCauses) << "a cause that moves nothing";
}

TEST(DeliveryMachine, RefusesOtherMovesNamingStatusAndCause) {
  const auto refused = step(completed, Cause::approved);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "INVALID_TRANSITION");
  EXPECT_EQ(refused.error().message,
            "A delivery in status completed does not take the action approve; it takes: reopen, invalidate.");
  EXPECT_NE(step(completed, Cause::leased).error().message.find("completed does not take the action leased"),
            std::string::npos);
}

TEST(DeliveryMachine, OnlyAnInvalidationByTheOrderIsUndoneByTheOrder) {
  EXPECT_TRUE(step(invalidated, Cause::paid_again, InvalidatedBy::order));
  for (const auto by : {InvalidatedBy::merchant, InvalidatedBy::nobody}) {
    const auto refused = step(invalidated, Cause::paid_again, by);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "INVALID_TRANSITION");
  }
  EXPECT_EQ(step(queued, Cause::stopped_by_order)->invalidated_by(), InvalidatedBy::order);
  EXPECT_EQ(step(queued, Cause::erased)->invalidated_by(), InvalidatedBy::merchant);
  EXPECT_EQ(step(completed, Cause::invalidated_by_merchant)->invalidated_by(), InvalidatedBy::merchant);
  EXPECT_EQ(step(queued, Cause::leased)->invalidated_by(), InvalidatedBy::nobody);
}

TEST(DeliveryMachine, NothingButAMerchantAnEndOrThePaymentTakesADeliveryOutOfReview) {
  const std::set<Cause> may{Cause::approved,
                            Cause::completed_by_hand,
                            Cause::payment_returned,
                            Cause::erased,
                            Cause::invalidated_by_merchant,
                            Cause::stopped_by_order,
                            Cause::nothing_to_deliver};
  for (const Transition& t : transitions()) {
    if (t.from == in_review) EXPECT_TRUE(may.contains(t.cause)) << to_string(t.cause);
  }
}

TEST(DeliveryMachine, AStoresEventHoldsOnlyWhatTheOrderItselfEnded) {
  EXPECT_TRUE(step(invalidated, Cause::held, InvalidatedBy::order));
  EXPECT_FALSE(step(invalidated, Cause::held, InvalidatedBy::merchant));
  for (const auto from : {queued, processing, waiting_for_friendship, completed, failed})
    EXPECT_TRUE(step(from, Cause::held)) << to_string(from);
}

TEST(DeliveryMachine, InternalRequeueingDoesNotRestartTheWaitForAnAnswer) {
  for (const Cause cause : {Cause::retried, Cause::approved, Cause::username_changed, Cause::paid_again}) {
    for (const Transition& t : transitions()) {
      if (t.cause == cause) EXPECT_TRUE(t.restarts_waiting()) << to_string(cause);
    }
  }
  for (const Cause cause : {Cause::transient_failure, Cause::account_trouble, Cause::lease_expired,
                            Cause::shutdown, Cause::refreshed, Cause::cause_fixed, Cause::friendship_ended,
                            Cause::still_waiting, Cause::leased_after_acceptance}) {
    for (const Transition& t : transitions()) {
      if (t.cause == cause) EXPECT_FALSE(t.restarts_waiting()) << to_string(cause);
    }
  }
}

TEST(DeliveryMachine, NotifiesSubscribersOfWhatChangedButNotOfItsOwnRetries) {
  const std::map<DeliveryStatus, EventType> events = {{completed, EventType::delivery_completed},
                                                      {failed, EventType::delivery_failed},
                                                      {invalidated, EventType::delivery_invalidated}};
  for (const Transition& t : transitions()) {
    if (events.contains(t.to)) {
      EXPECT_EQ(t.emits, events.at(t.to)) << to_string(t.cause);
    } else if (t.to == in_review) {
      EXPECT_EQ(t.emits.has_value(), t.cause == Cause::reopened) << to_string(t.cause);
    } else if (t.to == processing) {
      EXPECT_FALSE(t.emits);
    } else if (t.to == queued && t.from != processing) {
      EXPECT_EQ(t.emits, EventType::delivery_queued) << to_string(t.cause);
    }
  }
  for (const Cause internal : {Cause::transient_failure, Cause::account_trouble, Cause::lease_expired,
                               Cause::shutdown, Cause::refreshed, Cause::still_waiting}) {
    EXPECT_FALSE(step(processing, internal)->emits) << to_string(internal);
  }
  EXPECT_EQ(step(processing, Cause::request_sent)->emits, EventType::delivery_waiting_for_friendship);
  EXPECT_EQ(step(processing, Cause::retried)->emits, EventType::delivery_queued);
}

// A row as the database keeps it, driven by the effect flags alone.
TEST(DeliveryMachine, AnyWalkKeepsTheRowConsistent) {
  EXPECT_TRUE(rc::check([] {
    From status;
    auto by = InvalidatedBy::nobody;
    bool has_code = false, has_completed_at = false, has_reason = false, has_lease = false;
    const auto causes = *rc::gen::container<std::vector<int>>(80, rc::gen::inRange(0, kCauses));
    for (const int c : causes) {
      const auto t = step(status, static_cast<Cause>(c), by);
      if (!t) continue;
      has_code = t->sets_resolution() || (has_code && !t->clears_resolution());
      has_completed_at = t->sets_completed_at() || (has_completed_at && !t->clears_completed_at());
      has_reason = t->sets_reason();
      if (t->to == processing) has_lease = true;
      if (t->ends_lease()) has_lease = false;
      by = t->invalidated_by();
      status = t->to;
      RC_ASSERT((status == completed) == has_completed_at);
      RC_ASSERT((status == invalidated) == has_reason);
      RC_ASSERT((status == invalidated) == (by != InvalidatedBy::nobody));
      RC_ASSERT((status == processing) == has_lease);
      RC_ASSERT((t->to == in_review) == t->review_reason().has_value());
      if (status == failed) RC_ASSERT(has_code);
      if (status != failed && status != in_review) RC_ASSERT(!has_code);
    }
  }));
}

TEST(DeliveryMachine, DrawsEveryTransition) {
  const std::string diagram = transitions_as_mermaid();
  EXPECT_TRUE(diagram.starts_with("stateDiagram-v2\n    [*] --> queued: order_accepted\n"));
  EXPECT_NE(diagram.find("    processing --> queued: transient_failure, account_trouble"), std::string::npos);
  const std::string table = transitions_as_markdown();
  EXPECT_EQ(std::ranges::count(table, '\n'), static_cast<std::ptrdiff_t>(transitions().size() + 2));
  EXPECT_NE(table.find("| `invalidated` | paid_again | `queued` | `delivery.queued` |\n"), std::string::npos);
  EXPECT_EQ(std::ranges::count(diagram, '\n'), static_cast<std::ptrdiff_t>(kSpec.size() + 1));
}

TEST(DeliveryMachine, ItsPageInTheDocsIsCurrent) {
  std::ifstream file(PRESETBRIDGE_SOURCE_DIR "/docs/state-machine.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::string generated =
      "```mermaid\n" + transitions_as_mermaid() + "```\n\n" + transitions_as_markdown();
  EXPECT_NE(page.find(generated), std::string::npos) << "docs/state-machine.md has to hold:\n\n" << generated;
}

}  // namespace
}  // namespace presetbridge::domain
