// The tests of this layer run on the engine that PRESETBRIDGE_TEST_ENGINE names: ctest runs them once on
// each.
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "storage/testing.h"

namespace {

[[maybe_unused]] const bool chosen = [] {
  const char* const name = std::getenv("PRESETBRIDGE_TEST_ENGINE");
  if (name == nullptr || std::string_view(name) == "sqlite") return true;
  if (std::string_view(name) != "postgres") throw std::invalid_argument("PRESETBRIDGE_TEST_ENGINE");
  presetbridge::storage::testing::suite_engine = presetbridge::storage::testing::Engine::postgres;
  return true;
}();

}  // namespace
