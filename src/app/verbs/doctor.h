// `presetbridge doctor` (spec 12.4): checks everything that a deployment needs (settings, folder, keys,
// database, clock, cloud platform, public address, proxy, payments, issuers, the service itself) and says
// what to do. It changes nothing.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "app/config/config.h"
#include "base/error.h"

namespace presetbridge::app {

struct Finding {
  enum class Grade {
    good,
    note,     // as it is; somebody may want to know
    warning,  // it works, and is not as it should be
    problem,  // something does not work
  };
  Grade grade = Grade::good;
  std::string what;    // the checked thing, in one or two words
  std::string found;   // one line
  std::string advice;  // what to do; empty where nothing is
};

// `settings` are those of the deployment, with their problems. Each step has a deadline of some seconds; the
// whole takes a minute at most. In a process without threads.
std::vector<Finding> examine(const LoadedConfig& settings);

// One line a finding, and one for its advice; `json`: one JSON object a line.
void print_findings(const std::vector<Finding>& findings, bool json, std::ostream& out);

// 0: no problem. 1: there is one. 2: settings are wrong, which is one.
int run_doctor(const LoadedConfig& settings, bool json, std::ostream& out);

}  // namespace presetbridge::app
