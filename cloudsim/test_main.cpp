// The tests' program, which is also the credential agent when it is started with the hidden verb, as the
// service's own is.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cloud/credential_agent.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments[0] == "credential-agent") {
    const auto options = presetbridge::cloud::parse_agent_arguments(std::span(arguments).subspan(1));
    return options ? presetbridge::cloud::run_credential_agent(3, *options) : 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
