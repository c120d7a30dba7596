// The key files of service_cipher.h.
#include <algorithm>

#include "crypto/encoding.h"
#include "crypto/key_file.h"
#include "crypto/service_cipher.h"

namespace presetbridge::crypto {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKind = "presetbridge-service-key-1";
constexpr std::size_t kServiceKeySize = 32;

SecretString text_of_keys(const std::vector<ServiceKey>& keys) {
  std::string text;
  // Room for all lines at once: growing would leave unwiped copies.
  text.reserve(keys.size() * 128);
  for (const auto& key : keys) {
    auto encoded = base64_encode(key.key.reveal());
    text.append(kKind)
        .append(1, ' ')
        .append(hex_encode(key.id))
        .append(1, ' ')
        .append(encoded)
        .append(1, '\n');
    wipe(encoded);
  }
  SecretString secret(text);
  wipe(text);
  return secret;
}

}  // namespace

Expected<void> create_service_key_file(const fs::path& file, Random& random) {
  std::vector<ServiceKey> keys;
  keys.push_back(generate_service_key(random));
  return create_key_file(file, text_of_keys(keys).reveal(), KeyFileAccess::secret);
}

Expected<void> add_service_key(const fs::path& file, Random& random) {
  auto keys = read_service_keys(file);
  if (!keys) return std::unexpected(keys.error());
  keys->insert(keys->begin(), generate_service_key(random));
  return replace_key_file(file, text_of_keys(*keys).reveal(), KeyFileAccess::secret);
}

Expected<int> drop_service_keys_behind(const fs::path& file, const ServiceKeyId& kept) {
  auto keys = read_service_keys(file);
  if (!keys) return std::unexpected(keys.error());
  const auto found = std::ranges::find(*keys, kept, &ServiceKey::id);
  if (found == keys->end()) return key_file_invalid(file);
  const auto dropped = static_cast<int>(keys->end() - found) - 1;
  if (dropped == 0) return 0;
  keys->erase(found + 1, keys->end());
  if (auto done = replace_key_file(file, text_of_keys(*keys).reveal(), KeyFileAccess::secret); !done)
    return std::unexpected(done.error());
  return dropped;
}

Expected<std::vector<ServiceKey>> read_service_keys(const fs::path& file) {
  const auto text = read_key_file(file, KeyFileAccess::secret);
  if (!text) return std::unexpected(text.error());
  const auto lines = parse_key_lines(file, text->reveal(), kKind, 2);
  if (!lines) return std::unexpected(lines.error());
  std::vector<ServiceKey> keys;
  for (const auto& line : *lines) {
    ServiceKey key{{}, SecretBytes(kServiceKeySize)};
    if (!hex_decode_exactly(line[0], key.id) || !base64_decode_exactly(line[1], key.key.writable()) ||
        std::ranges::find(keys, key.id, &ServiceKey::id) != keys.end()) {
      return key_file_invalid(file);
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace presetbridge::crypto
