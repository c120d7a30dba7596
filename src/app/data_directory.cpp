#include "app/data_directory.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "crypto/random.h"
#include "crypto/service_cipher.h"
#include "crypto/vault_keys.h"

namespace presetbridge::app {

DataDirectory data_directory(const Config& config) {
  const std::filesystem::path folder(config.data_dir);
  return {.folder = folder,
          .database = config.storage_path.empty() ? folder / "presetbridge.db"
                                                  : std::filesystem::path(config.storage_path),
          .lock = folder / "presetbridge.lock",
          .vault_private_key = folder / "vault.key",
          .vault_public_key = folder / "vault.pub",
          .service_key = folder / "service.key",
          .admin_channel = folder / "admin.channel"};
}

Expected<void> prepare_data_directory(const DataDirectory& directory) {
  const auto unusable = [&](const char* why) {
    return fail("DATA_DIR_UNUSABLE", "The data directory " + directory.folder.string() + " " + why + ".");
  };
  std::error_code error;
  if (directory.folder.has_parent_path())
    std::filesystem::create_directories(directory.folder.parent_path(), error);
  if (::mkdir(directory.folder.c_str(), 0700) != 0 && errno != EEXIST) return unusable("cannot be made");
  struct stat info{};
  if (::stat(directory.folder.c_str(), &info) != 0) return unusable("cannot be read");
  if (!S_ISDIR(info.st_mode)) return unusable("is not a folder");
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) return unusable("may be written to by others: chmod 700 it");
  return {};
}

Expected<int> create_missing_keys(const DataDirectory& directory, Random& random) {
  int made = 0;
  const bool has_private = std::filesystem::exists(directory.vault_private_key);
  const bool has_public = std::filesystem::exists(directory.vault_public_key);
  if (has_private != has_public) {
    const auto& missing = has_private ? directory.vault_public_key : directory.vault_private_key;
    return fail("KEY_FILE_MISSING", "The key file " + missing.string() +
                                        " is missing, and its counterpart is there: restore it.");
  }
  if (!has_private) {
    auto keys =
        crypto::create_vault_key_files(directory.vault_private_key, directory.vault_public_key, random);
    if (!keys) return std::unexpected(keys.error());
    made += 2;
  }
  if (!std::filesystem::exists(directory.service_key)) {
    if (auto key = crypto::create_service_key_file(directory.service_key, random); !key)
      return std::unexpected(key.error());
    made += 1;
  }
  return made;
}

Expected<void> create_missing_keys_elsewhere(const DataDirectory& directory) {
  if (std::filesystem::exists(directory.vault_private_key) &&
      std::filesystem::exists(directory.vault_public_key) && std::filesystem::exists(directory.service_key))
    return {};
  const pid_t child = ::fork();
  if (child == 0) {
    crypto::SystemRandom random;
    const auto made = create_missing_keys(directory, random);
    if (!made) std::fprintf(stderr, "presetbridge: %s\n", made.error().message.c_str());
    ::_exit(made ? 0 : 1);
  }
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fail("KEY_FILE_UNAVAILABLE",
                "The key files could not be made in " + directory.folder.string() + ".");
  return {};
}

}  // namespace presetbridge::app
