#include "app/config/data_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "base/split.h"
#include "crypto/encoding.h"
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
          .used_keys = folder / "keys.used",
          .payments_key = folder / "payments.key",
          .payments_webhook = folder / "payments.webhook",
          .mail_password = folder / "mail.password",
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
  if (::access(directory.folder.c_str(), R_OK | W_OK | X_OK) != 0)
    return unusable("cannot be read and written by this user");
  return {};
}

Expected<int> create_missing_keys(const DataDirectory& directory, Random& random) {
  int made = 0;
  const bool has_private = std::filesystem::exists(directory.vault_private_key);
  const bool has_public = std::filesystem::exists(directory.vault_public_key);
  if (has_private != has_public) {
    const auto& missing = has_private ? directory.vault_public_key : directory.vault_private_key;
    return fail("KEY_FILE_MISSING",
                "The key file " + missing.string() +
                    " is missing, and its counterpart is there: restore it. If nobody has it any more, on no "
                    "node, remove the counterpart and run `presetbridge vault init --replace-lost`.");
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

namespace {

using Ids = std::vector<std::string>;

Expected<Ids> make_and_check_keys(const DataDirectory& directory, bool opens_logins) {
  const auto is_there = [](const std::filesystem::path& file) { return std::filesystem::exists(file); };
  if (!opens_logins && is_there(directory.vault_public_key) && !is_there(directory.vault_private_key) &&
      is_there(directory.service_key))
    return Ids();
  crypto::SystemRandom random;
  if (auto made = create_missing_keys(directory, random); !made) return std::unexpected(made.error());
  const auto held = crypto::read_vault_private_keys(directory.vault_private_key);
  if (!held) return std::unexpected(held.error());
  const auto published = crypto::read_vault_public_keys(directory.vault_public_key);
  if (!published) return std::unexpected(published.error());
  Ids ids;
  for (const auto& key : held->keys()) ids.push_back(crypto::hex_encode(key.public_key().id()));
  // The other way round is no harm: a rotation that was cut short leaves the public file behind.
  for (const auto& key : *published) {
    if (std::ranges::find(ids, crypto::hex_encode(key.id())) == ids.end())
      return fail("KEY_FILE_FOREIGN", "The key file " + directory.vault_private_key.string() +
                                          " does not hold the private key of " +
                                          directory.vault_public_key.string() +
                                          ": restore both from the same backup.");
  }
  return opens_logins ? ids : Ids();
}

// The message of a child to its parent: a word, then lines.
std::string message_of(const Expected<Ids>& done) {
  if (!done) return "error\n" + done.error().code + '\n' + done.error().message;
  std::string text = "ids";
  for (const auto& id : *done) text += '\n' + id;
  return text;
}

}  // namespace

Expected<std::vector<std::string>> make_and_check_keys_elsewhere(const DataDirectory& directory,
                                                                 bool opens_logins) {
  std::array<int, 2> ends{};
  const auto failed = [&] {
    return fail("KEY_FILE_UNAVAILABLE",
                "The key files in " + directory.folder.string() + " could not be made or checked.");
  };
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failed();
  const pid_t child = ::fork();
  if (child == 0) {
    // One write, shorter than a pipe takes at once: a key file has 64 KiB.
    const auto message = message_of(make_and_check_keys(directory, opens_logins));
    ::_exit(::write(ends[1], message.data(), message.size()) == static_cast<ssize_t>(message.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  std::string message;
  std::array<char, 1024> chunk{};
  for (ssize_t got = 0; child > 0 && (got = ::read(ends[0], chunk.data(), chunk.size())) != 0;) {
    if (got < 0 && errno != EINTR) break;
    if (got > 0) message.append(chunk.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child <= 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return failed();
  auto lines = split(message, '\n');
  if (lines.size() == 3 && lines[0] == "error")
    return std::unexpected(Error{std::move(lines[1]), std::move(lines[2]), {}});
  if (lines.empty() || lines[0] != "ids") return failed();
  lines.erase(lines.begin());
  return lines;
}

}  // namespace presetbridge::app
