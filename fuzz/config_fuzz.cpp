#include "app/config/config.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "require.h"

namespace {

using namespace presetbridge;
using namespace presetbridge::app;

// A file of memory, so that the loader is called as it is.
const std::string& file_holding(std::string_view content) {
  static const int fd = ::memfd_create("config", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(fd);
  REQUIRE(::ftruncate(fd, 0) == 0);
  REQUIRE(::pwrite(fd, content.data(), content.size(), 0) == static_cast<ssize_t>(content.size()));
  return path;
}

void require_limits(const Config& config) {
  for (const auto& setting : settings()) {
    const auto* number = std::get_if<std::int64_t Config::*>(&setting.member);
    if (number) REQUIRE(config.**number >= setting.min && config.**number <= setting.max);
  }
}

bool same(const Config& a, const Config& b) {
  return std::ranges::all_of(settings(), [&](const Setting& setting) {
    return std::visit([&](auto member) { return a.*member == b.*member; }, setting.member);
  });
}

void require_told(const LoadedConfig& loaded) {
  require_limits(loaded.config);
  for (const auto& problem : loaded.problems) REQUIRE(!problem.problem.empty());
}

// All that the file says is a setting or a problem, and what was understood can be written as a file.
void try_file(std::string_view content) {
  const auto loaded = load_config({.file = file_holding(content)});
  require_told(loaded);
  if (!loaded.problems.empty()) return;
  const auto again = load_config({.file = file_holding(to_toml(loaded.config))});
  REQUIRE(again.problems.empty() && same(again.config, loaded.config));
}

// Lines "name=value", as variables and as flags.
void try_words(std::string_view content) {
  ConfigSources variables, flags;
  std::istringstream lines{std::string(content)};
  for (std::string line; variables.environment.size() < 50 && std::getline(lines, line);) {
    const auto equals = std::min(line.find('='), line.size());
    const auto name = line.substr(0, equals), value = line.substr(std::min(equals + 1, line.size()));
    variables.environment.emplace_back(name, value);
    flags.flags.emplace_back(name, value);
  }
  const auto from_variables = load_config(variables);
  require_told(from_variables);
  require_told(load_config(flags));
  if (!from_variables.problems.empty()) return;
  const auto again = load_config({.file = file_holding(to_toml(from_variables.config))});
  REQUIRE(again.problems.empty() && same(again.config, from_variables.config));
}

void try_listen(std::string_view text) {
  const auto address = parse_listen(text);
  if (!address) return;
  REQUIRE(!address->address.empty());
  const bool bracketed = address->address.contains(':');
  const auto again = parse_listen((bracketed ? '[' + address->address + ']' : address->address) + ':' +
                                  std::to_string(address->port));
  REQUIRE(again && again->address == address->address && again->port == address->port);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try_file(text);
  try_words(text);
  try_listen(text);
  return 0;
}
