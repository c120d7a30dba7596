#include "api/json_body.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "api/call.h"

namespace presetbridge::api {
namespace {

struct NewKey {
  std::string name;
  std::optional<Timestamp> expires_at;
};

[[maybe_unused]] Task<Expected<NewKey>> read_new_key(Call call) {
  auto body = JsonBody::parse(call.request);  // 413, 415, 422
  if (!body) co_return std::unexpected(body.error());
  auto& fields = **body;
  NewKey key;
  key.name = fields.text("name", {.max = 100});
  key.expires_at = fields.optional_time("expiresAt");
  if (auto error = body->problems()) co_return std::unexpected(*error);
  co_return key;
}

// The lines of a file that begin with `mark`, without it.
std::vector<std::string> lines_of(const std::string& path, std::string_view mark) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(mark)) lines.push_back(line.substr(mark.size()));
  }
  return lines;
}

TEST(JsonBodyExample, OfTheHeaderIsWhatIsCompiledHere) {
  const std::string folder = PRESETBRIDGE_SOURCE_DIR "/src/api/";
  const auto example = lines_of(folder + "json_body.h", "//   ");
  ASSERT_GE(example.size(), 6U);
  const auto compiled = lines_of(folder + "json_body_test.cpp", "  ");
  EXPECT_FALSE(std::ranges::search(compiled, example).empty())
      << "the lines stand in read_new_key above, in this order";
}

}  // namespace
}  // namespace presetbridge::api
