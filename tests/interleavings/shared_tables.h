// Which statements of the one actor can mean something to the other: those that touch a table which one of
// them changes or locks, or the one reads and the other inserts into. Between all others nobody could tell in
// which order they came.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stepper.h"

namespace presetbridge::interleavings {

class SharedTables {
 public:
  explicit SharedTables(std::vector<std::string> tables) : tables_(std::move(tables)) {}

  // Learns from what was run which tables each actor touches.
  void learn(const Course& course);
  bool is_point(int actor, const std::string& what);

 private:
  struct Access {
    std::set<std::string> read;
    std::set<std::string> inserted;  // rows that nobody else has
    std::set<std::string> changed;   // or locked
  };
  const Access& access_of(const std::string& what);

  const std::vector<std::string> tables_;
  std::map<std::string, Access> known_;
  std::array<Access, kActors> all_;
};

}  // namespace presetbridge::interleavings
