#include "app/verbs/operator_name.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace presetbridge::app {
namespace {

std::string user_name() {
  std::array<char, 4'096> memory{};
  passwd entry{};
  passwd* found = nullptr;
  const auto uid = geteuid();
  if (getpwuid_r(uid, &entry, memory.data(), memory.size(), &found) == 0 && found != nullptr)
    return found->pw_name;
  return "user " + std::to_string(uid);
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string();
}

}  // namespace

std::string operator_name() {
  auto who = user_name();
  const char* before = std::getenv("SUDO_USER");
  if (before != nullptr && before[0] != '\0' && who != before) who = std::string(before) + " as " + who;
  const auto host = host_name();
  return host.empty() ? who : who + " on " + host;
}

}  // namespace presetbridge::app
