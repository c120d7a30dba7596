// The pairs of use cases that are run against each other.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scene.h"
#include "use_cases.h"

namespace presetbridge::interleavings {

struct Pair {
  UseCase one;  // on nodes[0]
  UseCase two;  // on nodes[1]
  std::function<void(Scene&)> prepare = [](Scene&) {};
  Merchant merchant = {};
  // Another end than those of the one behind the other is right, since what is begun is ended: for what takes
  // more than one transaction.
  bool may_mix = false;
  // They may come to each other's rows the other way round, and one of the two runs again (decision 18).
  bool may_meet = false;

  std::string name() const { return one.name + " x " + two.name; }
};

std::vector<Pair> pairs();

}  // namespace presetbridge::interleavings
