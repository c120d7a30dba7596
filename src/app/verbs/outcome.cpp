#include "app/verbs/outcome.h"

#include <cstdio>

namespace presetbridge::app {

int failed(const Error& error) {
  std::fprintf(stderr, "presetbridge: %s\n", error.message.c_str());
  return kFailed;
}

}  // namespace presetbridge::app
