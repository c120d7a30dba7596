#include "crypto/vault_keys.h"

#include <algorithm>
#include <stdexcept>

#include "crypto/encoding.h"
#include "crypto/key_file.h"

namespace presetbridge::crypto {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrivateKind = "presetbridge-vault-private-key-1";
constexpr std::string_view kPublicKind = "presetbridge-vault-public-key-1";
constexpr std::size_t kPrivateKeySize = 32;

SecretString private_text(const std::vector<VaultPrivateKey>& keys) {
  std::string text;
  // Room for all lines at once: growing would leave unwiped copies.
  text.reserve(keys.size() * 128);
  for (const auto& key : keys) {
    auto encoded = base64_encode(key.reveal());
    text.append(kPrivateKind).append(1, ' ').append(encoded).append(1, '\n');
    wipe(encoded);
  }
  SecretString secret(text);
  wipe(text);
  return secret;
}

std::string public_text(const std::vector<VaultPrivateKey>& keys) {
  std::string text;
  for (const auto& key : keys)
    text.append(kPublicKind).append(1, ' ').append(base64_encode(key.public_key().raw())).append(1, '\n');
  return text;
}

std::vector<VaultPrivateKey> copies(const VaultKeyring& ring) {
  std::vector<VaultPrivateKey> keys;
  for (const auto& key : ring.keys()) keys.emplace_back(SecretBytes::copy_of(key.reveal()));
  return keys;
}

}  // namespace

Expected<VaultPublicKey> create_vault_key_files(const fs::path& private_file, const fs::path& public_file,
                                                Random& random) {
  // Found out before the private file is made, which the operator would have to remove then.
  std::error_code ignored;
  if (fs::exists(public_file, ignored)) {
    return fail("KEY_FILE_EXISTS", public_file.string() + " exists and is not overwritten.");
  }
  std::vector<VaultPrivateKey> keys;
  keys.push_back(VaultPrivateKey::generate(random));
  const auto& key = keys.front().public_key();
  if (auto made = create_key_file(private_file, private_text(keys).reveal(), KeyFileAccess::secret); !made) {
    return std::unexpected(made.error());
  }
  if (auto made = create_key_file(public_file, public_text(keys), KeyFileAccess::readable_by_all); !made) {
    return std::unexpected(made.error());
  }
  return key;
}

Expected<VaultPublicKey> add_vault_key(const fs::path& private_file, const fs::path& public_file,
                                       Random& random) {
  const auto held = read_vault_private_keys(private_file);
  if (!held) return std::unexpected(held.error());
  auto keys = copies(*held);
  keys.insert(keys.begin(), VaultPrivateKey::generate(random));
  const auto newest = keys.front().public_key();
  if (auto done = replace_key_file(private_file, private_text(keys).reveal(), KeyFileAccess::secret); !done) {
    return std::unexpected(done.error());
  }
  if (auto done = replace_key_file(public_file, public_text(keys), KeyFileAccess::readable_by_all); !done) {
    return std::unexpected(done.error());
  }
  return newest;
}

Expected<void> publish_vault_keys(const fs::path& private_file, const fs::path& public_file) {
  const auto held = read_vault_private_keys(private_file);
  if (!held) return std::unexpected(held.error());
  const auto published = read_vault_public_keys(public_file);
  if (!published) return std::unexpected(published.error());
  if (std::ranges::equal(*published, held->keys(), {}, &VaultPublicKey::raw,
                         [](const auto& key) { return key.public_key().raw(); })) {
    return {};
  }
  return replace_key_file(public_file, public_text(copies(*held)), KeyFileAccess::readable_by_all);
}

Expected<int> drop_vault_keys_behind(const fs::path& private_file, const fs::path& public_file,
                                     const VaultKeyId& kept) {
  const auto held = read_vault_private_keys(private_file);
  if (!held) return std::unexpected(held.error());
  auto keys = copies(*held);
  const auto found = std::ranges::find(keys, kept, [](const auto& key) { return key.public_key().id(); });
  if (found == keys.end()) return key_file_invalid(private_file);
  const auto dropped = static_cast<int>(keys.end() - found) - 1;
  if (dropped == 0) return 0;
  keys.erase(found + 1, keys.end());
  if (auto done = replace_key_file(public_file, public_text(keys), KeyFileAccess::readable_by_all); !done) {
    return std::unexpected(done.error());
  }
  if (auto done = replace_key_file(private_file, private_text(keys).reveal(), KeyFileAccess::secret); !done) {
    return std::unexpected(done.error());
  }
  return dropped;
}

Expected<VaultKeyring> read_vault_private_keys(const fs::path& private_file) {
  const auto text = read_key_file(private_file, KeyFileAccess::secret);
  if (!text) return std::unexpected(text.error());
  const auto lines = parse_key_lines(private_file, text->reveal(), kPrivateKind, 1);
  if (!lines) return std::unexpected(lines.error());
  std::vector<VaultPrivateKey> keys;
  for (const auto& line : *lines) {
    SecretBytes raw(kPrivateKeySize);
    if (!base64_decode_exactly(line[0], raw.writable())) return key_file_invalid(private_file);
    keys.emplace_back(std::move(raw));
  }
  return VaultKeyring(std::move(keys));
}

Expected<std::vector<VaultPublicKey>> read_vault_public_keys(const fs::path& public_file) {
  const auto text = read_key_file(public_file, KeyFileAccess::readable_by_all);
  if (!text) return std::unexpected(text.error());
  const auto lines = parse_key_lines(public_file, text->reveal(), kPublicKind, 1);
  if (!lines) return std::unexpected(lines.error());
  std::vector<VaultPublicKey> keys;
  for (const auto& line : *lines) {
    VaultPublicKey::Raw raw;
    if (!base64_decode_exactly(line[0], raw) ||
        std::ranges::find(keys, raw, &VaultPublicKey::raw) != keys.end()) {
      return key_file_invalid(public_file);
    }
    try {
      keys.emplace_back(raw);
    } catch (const std::invalid_argument&) {
      return key_file_invalid(public_file);
    }
  }
  return keys;
}

}  // namespace presetbridge::crypto
