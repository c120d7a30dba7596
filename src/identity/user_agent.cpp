#include "identity/user_agent.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace presetbridge::identity {
namespace {

struct Sign {
  std::string_view part;  // of the header
  std::string_view name;
};
// A browser whose header also contains the part of another browser comes before that one.
constexpr std::array<Sign, 8> kBrowsers = {{{"Edg", "Edge"},
                                            {"OPR/", "Opera"},
                                            {"SamsungBrowser/", "Samsung Internet"},
                                            {"FxiOS/", "Firefox"},
                                            {"Firefox/", "Firefox"},
                                            {"CriOS/", "Chrome"},
                                            {"Chrome/", "Chrome"},
                                            {"Safari/", "Safari"}}};
constexpr std::array<Sign, 7> kSystems = {{{"iPhone", "iOS"},
                                           {"iPad", "iPadOS"},
                                           {"Android", "Android"},
                                           {"CrOS", "ChromeOS"},
                                           {"Windows", "Windows"},
                                           {"Macintosh", "macOS"},
                                           {"Linux", "Linux"}}};
constexpr std::size_t kLongestProduct = 40;  // bytes

template <std::size_t N>
std::string_view first_of(const std::array<Sign, N>& signs, std::string_view header) {
  const auto* found =
      std::ranges::find_if(signs, [&](const Sign& sign) { return header.contains(sign.part); });
  return found == signs.end() ? std::string_view() : found->name;
}

bool is_name(char c) {
  return is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
}

}  // namespace

std::string summary_of_user_agent(std::string_view header) {
  std::string summary(first_of(kBrowsers, header));
  if (summary.empty()) {
    const auto product = header.substr(0, std::min(header.find_first_of("/ "), kLongestProduct));
    if (product != "Mozilla" && std::ranges::all_of(product, is_name)) summary = product;
  }
  const auto system = first_of(kSystems, header);
  if (summary.empty() || system.empty()) return summary.empty() ? std::string(system) : summary;
  return summary.append(" on ").append(system);
}

}  // namespace presetbridge::identity
