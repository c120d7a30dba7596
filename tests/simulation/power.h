// A database on a machine whose power may fail: what was committed and not yet synced is lost (spec 2.5).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "storage/testing.h"

namespace presetbridge::simulation {

class Power {
 public:
  // What a test's World puts around its database; this outlives it.
  storage::testing::WrapDatabase wrap();
  // Once, when the database is open: its file, its clock, and what is called as the power fails.
  void use(std::string path, const Clock& clock, std::function<void()> fails);

  // The power fails at the `commits`-th commit from now on that writes something, before it is synced.
  void fail_at(int commits) { left_ = commits; }
  bool will_fail() const { return left_ > 0; }
  // It failed: until restore() every use of the database fails as STORAGE_UNAVAILABLE.
  bool failed() const { return failed_; }
  void restore() { failed_ = false; }
  // While one of them lives, what the failure left can be read, though the power has not been restored.
  class Inspection {
   public:
    explicit Inspection(Power& power) : power_(power) { ++power_.inspections_; }
    ~Inspection() { --power_.inspections_; }
    Inspection(const Inspection&) = delete;
    Inspection& operator=(const Inspection&) = delete;

   private:
    Power& power_;
  };
  // While one of them lives, commits are the test's own, and nothing fails at them.
  class Pause {
   public:
    explicit Pause(Power& power) : power_(power) { ++power_.paused_; }
    ~Pause() { --power_.paused_; }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    Power& power_;
  };

 private:
  class Machine;

  std::string path_;
  const Clock* clock_ = nullptr;
  std::function<void()> fails_;
  int left_ = 0;
  int paused_ = 0;
  int inspections_ = 0;
  bool failed_ = false;
};

}  // namespace presetbridge::simulation
