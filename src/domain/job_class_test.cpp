#include "domain/job_class.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace presetbridge::domain {
namespace {

JobClassSet set_of(std::initializer_list<JobClass> classes) {
  JobClassSet s;
  for (const JobClass c : classes) s.set(static_cast<std::size_t>(c));
  return s;
}

TEST(JobTurns, ServeInOrderWhileNobodyHasWaitedLong) {
  JobTurns turns;
  EXPECT_EQ(turns.choose(set_of({JobClass::retry, JobClass::share})), JobClass::share);
  EXPECT_EQ(turns.choose(set_of({JobClass::retry, JobClass::sweep})), JobClass::sweep);
  EXPECT_EQ(turns.choose(set_of({JobClass::retry})), JobClass::retry);
  EXPECT_EQ(turns.choose({}), std::nullopt);
}

TEST(JobTurns, WithTwoClassesTheLowerHasExactlyOneOfTen) {
  JobTurns turns;
  int retries = 0;
  for (int i = 0; i < 100; ++i)
    retries += turns.choose(set_of({JobClass::share, JobClass::retry})) == JobClass::retry;
  EXPECT_EQ(retries, 10);
}

TEST(JobTurns, WithAllClassesTheFirstHasSixOfTen) {
  JobTurns turns;
  std::array<int, kJobClasses> served{};
  for (int i = 0; i < 100; ++i) ++served[static_cast<std::size_t>(*turns.choose(JobClassSet().set()))];
  EXPECT_EQ(served, (std::array<int, kJobClasses>{60, 10, 10, 10, 10}));
}

TEST(JobTurns, NoClassWithWorkIsPassedOverTenTimes) {
  EXPECT_TRUE(rc::check([] {
    JobTurns turns;
    std::array<int, kJobClasses> waited{};
    // Sets that change seldom, so that classes do get to wait.
    for (const int bits : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 32))) {
      const JobClassSet work(static_cast<unsigned>(bits));
      const int jobs = *rc::gen::inRange(1, 25);
      for (int j = 0; j < jobs; ++j) {
        turns = JobTurns::decode(turns.encode());
        const auto chosen = turns.choose(work);
        RC_ASSERT(chosen.has_value() == work.any());
        if (!chosen) continue;
        RC_ASSERT(work[static_cast<std::size_t>(*chosen)]);
        for (std::size_t c = 0; c < kJobClasses; ++c) {
          waited[c] = !work[c] || c == static_cast<std::size_t>(*chosen) ? 0 : waited[c] + 1;
          RC_ASSERT(waited[c] < 10);
        }
      }
    }
  }));
}

TEST(JobTurns, AnyStoredNumberGivesValidTurns) {
  EXPECT_TRUE(rc::check([](std::int64_t stored) {
    const JobTurns turns = JobTurns::decode(stored);
    RC_ASSERT(JobTurns::decode(turns.encode()) == turns);
    JobTurns next = turns;
    RC_ASSERT(next.choose(JobClassSet().set()).has_value());
  }));
}

}  // namespace
}  // namespace presetbridge::domain
