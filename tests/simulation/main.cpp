// simulation [--seeds N] [--seed S] [--length L]: runs N histories from seed S on (1), each of L commands.
// The first that shows something wrong is shrunk and told; exit 1.
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string_view>

#include "memory_files.h"
#include "run.h"
#include "storage/testing.h"

namespace presetbridge::simulation {
namespace {

int simulate(std::span<char*> arguments) {
  std::uint64_t seeds = 200;
  std::uint64_t seed = 1;
  std::uint64_t length = 60;
  bool all = false;
  bool whole = false;  // prints the whole history and does not shrink it
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view name = arguments[i];
    if (name == "--all" || name == "--story") {
      (name == "--all" ? all : whole) = true;
      continue;
    }
    std::uint64_t* value = name == "--seeds"    ? &seeds
                           : name == "--seed"   ? &seed
                           : name == "--length" ? &length
                                                : nullptr;
    const std::string_view text = i + 1 < arguments.size() ? arguments[i + 1] : "";
    if (value == nullptr ||
        std::from_chars(text.data(), text.data() + text.size(), *value).ptr != text.data() + text.size() ||
        text.empty()) {
      fmt::print(stderr, "usage: simulation [--seeds N] [--seed S] [--length L] [--all] [--story]\n");
      return 2;
    }
    ++i;
  }
  int found = 0;
  for (std::uint64_t s = seed; s < seed + seeds; ++s) {
    const auto history = generate(s, length);
    auto finding = run(history);
    if (!finding) continue;
    ++found;
    if (all) {
      fmt::print("seed {}, command {}: {}\n", s, finding->at + 1, finding->what);
      std::fflush(stdout);
      continue;
    }
    if (whole) {
      fmt::print("{}\nseed {}, command {}: {}\n", run(history, true)->story, s, finding->at + 1,
                 finding->what);
      return 1;
    }
    fmt::print("seed {}, command {}: {}\nIt is shrunk now.\n", s, finding->at + 1, finding->what);
    std::fflush(stdout);
    const auto shortest = shrink(history);
    finding = run(shortest, true);
    fmt::print("seed {}, {} of {} commands:\n{}\n{}\n", s, shortest.size(), history.size(), finding->story,
               finding->what);
    return 1;
  }
  fmt::print("{} histories of {} commands from seed {}: {}\n", seeds, length, seed,
             found == 0 ? "nothing is wrong" : fmt::format("{} show something wrong", found));
  return found == 0 ? 0 : 1;
}

}  // namespace
}  // namespace presetbridge::simulation

int main(int argc, char** argv) {
  // Temporary directories hold a lock and an empty log for each database: they stay off the disk, too.
  if (std::filesystem::is_directory("/dev/shm")) setenv("TMPDIR", "/dev/shm", 0);
  // The schema is made once, on the disk; every history's database is a copy of it in memory.
  const presetbridge::storage::testing::MigratedDatabase first{
      presetbridge::storage::testing::Engine::sqlite};
  presetbridge::simulation::use_memory_files();
  return presetbridge::simulation::simulate({argv, static_cast<std::size_t>(argc)});
}
