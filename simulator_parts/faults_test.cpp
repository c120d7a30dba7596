#include "simulator_parts/faults.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>

namespace presetbridge::simulator_parts {
namespace {

enum class Endpoint { login, share, find_share };
using Plan = FaultPlan<Endpoint, 3>;

TEST(FaultPlan, DrawsTheSameFromTheSameSeedWhateverOtherEndpointsSee) {
  FaultRates rates;
  rates.probability[static_cast<std::size_t>(Fault::drop_after)] = 0.3;
  rates.latency_max = Millis{50};
  Plan a(7);
  Plan b(7);
  Plan c(8);
  for (auto* plan : {&a, &b, &c}) plan->set(Endpoint::share, rates);
  int drops = 0;
  int different = 0;
  for (int i = 0; i < 10'000; ++i) {
    b.next(Endpoint::login);
    const auto step = a.next(Endpoint::share);
    const auto same = b.next(Endpoint::share);
    EXPECT_EQ(step.fault, same.fault);
    EXPECT_EQ(step.latency, same.latency);
    if (step.fault != c.next(Endpoint::share).fault) ++different;
    if (step.fault == Fault::drop_after) ++drops;
  }
  EXPECT_NEAR(drops, 3'000, 200);
  EXPECT_GT(different, 1'000);
}

TEST(FaultPlan, ScriptedStepsComeFirstAndOnce) {
  Plan plan(1);
  plan.script(Endpoint::share, {Fault::malformed, {}, {}, 1});
  EXPECT_EQ(plan.next(Endpoint::find_share).fault, Fault::none);
  EXPECT_EQ(plan.next(Endpoint::share).fault, Fault::malformed);
  EXPECT_EQ(plan.next(Endpoint::share).fault, Fault::none);
}

TEST(FaultPlan, HasRoomForSoManySteps) {
  Plan plan(1);
  for (std::size_t i = 0; i < Plan::most_scripted; ++i) EXPECT_TRUE(plan.script(Endpoint::login, {}));
  EXPECT_FALSE(plan.script(Endpoint::login, {}));
  EXPECT_TRUE(plan.script(Endpoint::share, {}));
}

TEST(FaultRequest, NamesEveryFaultAndNothingElse) {
  for (std::size_t i = 0; i < kFaults; ++i) {
    const auto fault = static_cast<Fault>(i);
    EXPECT_EQ(fault_named(to_string(fault)), fault);
    const boost::json::value body{{"steps", {{{"fault", to_string(fault)}, {"latencyMs", 5}}}}};
    const auto steps = fault_steps_of(JsonFields(body));
    ASSERT_EQ(steps.size(), 1U);
    EXPECT_EQ(steps[0].fault, fault);
    EXPECT_EQ(steps[0].latency, Millis{5});
  }
  const auto refuses = [](const boost::json::value& body) {
    EXPECT_THROW(fault_steps_of(JsonFields(body)), Problem) << body;
  };
  refuses({{"steps", {{{"fault", "no_such_fault"}}}}});
  refuses({{"steps", {{{"latencyMs", -1}}}}});
  refuses({{"steps", 1}});
  refuses(boost::json::object());
  EXPECT_THROW(fault_rates_of(JsonFields(boost::json::value{{"refused", 0.6}, {"wrong", 0.6}})), Problem);
  EXPECT_THROW(fault_rates_of(JsonFields(boost::json::value{{"refused", 1.1}})), Problem);
}

}  // namespace
}  // namespace presetbridge::simulator_parts
