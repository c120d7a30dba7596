// The rules, on the work tree that this program was built from.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "rules.h"

namespace presetbridge::structure {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) ADD_FAILURE() << "cannot read " << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

bool is_source(const fs::path& path) {
  static constexpr std::array<std::string_view, 11> kEndings = {
      ".h", ".cpp", ".mjs", ".ts", ".tsx", ".sh", ".sql", ".cmake", ".txt", ".yaml", ".md"};
  return std::ranges::find(kEndings, path.extension().string()) != kEndings.end() ||
         path.filename() == "package-lock.json";
}

std::vector<SourceFile> read_repository() {
  const fs::path root = REPOSITORY;
  std::vector<SourceFile> files = {{"dev", read(root / "dev")},
                                   {"CHANGELOG.md", read(root / "CHANGELOG.md")},
                                   {"README.md", read(root / "README.md")},
                                   {"CMakeLists.txt", read(root / "CMakeLists.txt")}};
  for (const auto* folder : {"src", "cloudsim", "paysim", "simulator_parts", "sim", "demo", "web", "api",
                             "docs", "tests", "fuzz", "bench", "tools", "cmake"}) {
    if (!fs::is_directory(root / folder)) continue;
    for (auto entry = fs::recursive_directory_iterator(root / folder);
         entry != fs::recursive_directory_iterator(); ++entry) {
      if (entry->path().filename() == "node_modules") entry.disable_recursion_pending();
      if (entry->is_regular_file() && is_source(entry->path())) {
        files.push_back({fs::relative(entry->path(), root).generic_string(), read(entry->path())});
      }
    }
  }
  return files;
}

TEST(Repository, KeepsItsRules) {
  const auto files = read_repository();
  for (const auto& file : files) {
    for (const auto& finding : check(file)) ADD_FAILURE() << to_string(finding);
  }
  for (const auto& finding : check_room_circles(files)) ADD_FAILURE() << to_string(finding);
}

TEST(Repository, EveryLayerWasRead) {
  const auto files = read_repository();
  for (const auto& entry : fs::directory_iterator(fs::path(REPOSITORY) / "src")) {
    if (fs::is_empty(entry)) continue;
    const auto folder = "src/" + entry.path().filename().string() + "/";
    EXPECT_TRUE(std::ranges::any_of(files, [&](const auto& file) { return file.path.starts_with(folder); }))
        << folder;
  }
  EXPECT_TRUE(std::ranges::any_of(files, [](const auto& file) { return file.path == "src/base/clock.h"; }));
}

// With PRESETBRIDGE_WRITE_LAYERS it is drawn anew.
TEST(Repository, DrawsItsLayersAsTheyAre) {
  const fs::path page = fs::path(REPOSITORY) / "docs" / "architecture.md";
  auto text = read(page);
  const std::string begin = "<!-- drawn from the includes by tests/structure -->\n```mermaid\n";
  const auto from = text.find(begin);
  ASSERT_NE(from, std::string::npos);
  const auto length = text.find("```\n", from + begin.size()) - from - begin.size();
  const auto drawn = layer_picture(layer_edges(read_repository()));
  if (std::getenv("PRESETBRIDGE_WRITE_LAYERS") != nullptr) {
    text.replace(from + begin.size(), length, drawn);
    std::ofstream(page, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(text.substr(from + begin.size(), length), drawn);
}

}  // namespace
}  // namespace presetbridge::structure
