// What a fuzz target says of every input: a broken claim ends the run as a finding.
#pragma once

#include <cstdio>
#include <cstdlib>

#define REQUIRE(claim)                                                         \
  do {                                                                         \
    if (!(claim)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #claim); \
      std::abort();                                                            \
    }                                                                          \
  } while (false)
