#include "app/process/termination.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <future>

#include "app/process/logging.h"
#include "net/runtime.h"

namespace presetbridge::app {
namespace {

constexpr Millis kSoon{200};
constexpr Millis kNever = std::chrono::hours{1};

// For ever, as far as the deadline is concerned.
[[noreturn]] void hang() {
  std::promise<void>().get_future().wait_for(std::chrono::minutes{1});
  std::_Exit(1);
}

// Standard error becomes a pipe whose reader does not read.
void write_to_nobody() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0 || ::dup2(ends[1], STDERR_FILENO) < 0) std::_Exit(1);
}

class TerminationTest : public ::testing::Test {
 protected:
  // A process that starts anew must report this too.
  TerminationTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  net::SystemClock clock_;
};
using TerminationDeathTest = TerminationTest;

TEST_F(TerminationTest, ASignalIsReportedOnceServing) {
  for (const int signal : {SIGTERM, SIGINT}) {
    Termination termination(clock_, kNever);
    termination.serving();
    EXPECT_EQ(termination.elapsed(), Millis{0});
    ::kill(::getpid(), signal);
    EXPECT_EQ(termination.wait(), signal);
    ::kill(::getpid(), SIGTERM);
    EXPECT_EQ(termination.wait(), signal) << "the first one counts";
  }
}

TEST_F(TerminationDeathTest, TheDeadlineRunsFromTheSignalThoughNobodyHasHeardIt) {
  EXPECT_EXIT(
      {
        Termination termination(clock_, kSoon);
        termination.serving();
        ::kill(::getpid(), SIGTERM);
        hang();  // a main thread that does not come to wait()
      },
      ::testing::ExitedWithCode(Termination::kStuck), "did not stop in time.*\"at\":\"stopping\"");
}

TEST_F(TerminationDeathTest, SaysWhatTheStopWasAt) {
  EXPECT_EXIT(
      {
        Termination termination(clock_, kSoon);
        termination.serving();
        ::kill(::getpid(), SIGINT);
        termination.wait();
        termination.at("closing the database");
        hang();
      },
      ::testing::ExitedWithCode(Termination::kStuck), "\"at\":\"closing the database\"");
}

// A reader of the log that has stopped reading: the log's thread hangs in its write, and who waits for it
// too.
TEST_F(TerminationDeathTest, ALogThatNobodyReadsDoesNotPutOffTheEnd) {
  EXPECT_EXIT(
      {
        write_to_nobody();
        Termination termination(clock_, kSoon);
        termination.serving();
        JsonLog log(clock_, Severity::info);
        log.start_thread();
        const std::string text(4'000, 'x');
        for (int i = 0; i < 100; ++i) log.info(text);
        ::kill(::getpid(), SIGTERM);
        termination.wait();
        log.stop_thread();
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(Termination::kStuck), "");
}

TEST_F(TerminationDeathTest, ASignalBeforeItServesEndsTheProcess) {
  EXPECT_EXIT(
      {
        Termination termination(clock_, kNever);
        ::kill(::getpid(), SIGTERM);
        hang();
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

TEST_F(TerminationDeathTest, AStopThatEndsIsNotEndedNorBySignalsThatComeAgain) {
  EXPECT_EXIT(
      {
        {
          Termination termination(clock_, kSoon);
          termination.serving();
          ::kill(::getpid(), SIGTERM);
          termination.wait();
          ::kill(::getpid(), SIGTERM);
        }
        ::kill(::getpid(), SIGINT);
        std::promise<void>().get_future().wait_for(2 * kSoon);
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace presetbridge::app
