#include "app/foundation/used_keys_mark.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "crypto/encoding.h"
#include "crypto/key_file.h"

namespace presetbridge::app {
namespace {

constexpr std::string_view kKind = "used-service-key";
constexpr auto kAccess = crypto::KeyFileAccess::secret;

std::set<std::string> ids_of(const std::vector<crypto::ServiceKey>& keys) {
  std::set<std::string> ids;
  for (const auto& key : keys) ids.insert(crypto::hex_encode(key.id));
  return ids;
}

// None where there is no mark, or none that can be read: it is made anew by the next start that finds a
// database.
std::set<std::string> marked(const DataDirectory& directory) {
  std::set<std::string> ids;
  const auto text = crypto::read_key_file(directory.used_keys, kAccess);
  if (!text) return ids;
  const auto lines = crypto::parse_key_lines(directory.used_keys, text->reveal(), kKind, 1);
  if (!lines) return ids;
  for (const auto& line : *lines) ids.emplace(line[0]);
  return ids;
}

}  // namespace

bool keys_are_marked(const DataDirectory& directory) {
  const auto keys = crypto::read_service_keys(directory.service_key);
  if (!keys) return false;
  const auto known = marked(directory);
  return std::ranges::any_of(ids_of(*keys), [&](const auto& id) { return known.contains(id); });
}

Expected<void> mark_keys(const DataDirectory& directory, const std::vector<crypto::ServiceKey>& keys) {
  const auto ids = ids_of(keys);
  if (marked(directory) == ids) return {};
  std::string text;
  for (const auto& id : ids) text.append(kKind).append(" ").append(id).append("\n");
  std::error_code unknown;
  return std::filesystem::exists(directory.used_keys, unknown)
             ? crypto::replace_key_file(directory.used_keys, text, kAccess)
             : crypto::create_key_file(directory.used_keys, text, kAccess);
}

}  // namespace presetbridge::app
