// `presetbridge copy`: moves a deployment that outgrew SQLite to PostgreSQL (storage/copy/copy.h).
#pragma once

#include <iosfwd>
#include <string>

namespace presetbridge::app {

struct CopyVerbOptions {
  std::string from;      // sqlite:PATH
  std::string to;        // postgresql://…, without a password
  std::string data_dir;  // where the keys are; empty: where the file of `from` is
  int batch_rows = 1'000;
  bool json = false;  // what goes to `out`
};

// Prints a line for each table to `out` once it is compared, and a last one; how far it is to `err`. 0: all
// is copied and equal. 1: refused, failed or not equal. 2: an option is wrong. In a process without threads.
int run_copy(const CopyVerbOptions& options, std::ostream& out, std::ostream& err);

}  // namespace presetbridge::app
