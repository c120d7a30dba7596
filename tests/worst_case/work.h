// What something costs, in figures that are the same on every machine: what it does to the database, what it
// allocates, and how many branches it takes in the code that orders go through (domain, providers, intake,
// deliveries).
#pragma once

#include <cstdint>

namespace presetbridge::worst_case {

struct Work {
  std::int64_t rows_written = 0;         // rows of statements that write, or their sets of parameters
  std::int64_t largest_transaction = 0;  // most of those in one transaction, for which the others wait
  std::int64_t transactions = 0;         // that write
  std::int64_t statements = 0;           // a statement for many rows is one
  std::int64_t rows_read = 0;
  std::int64_t bytes_written = 0;  // of texts and bytes among the parameters
  std::int64_t bytes_read = 0;
  std::int64_t allocations = 0;
  std::int64_t bytes_allocated = 0;
  std::int64_t branches = 0;
};

// Since the program began; by operator new.
std::int64_t allocations();
std::int64_t bytes_allocated();
// Since the program began.
std::int64_t branches();

}  // namespace presetbridge::worst_case
