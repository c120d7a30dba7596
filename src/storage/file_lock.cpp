#include "storage/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <system_error>

namespace presetbridge::storage {

Expected<FileLock> FileLock::take(const std::string& path) {
  const auto failed = [&](const char* doing) {
    return fail("STORAGE_UNAVAILABLE", fmt::format("{} the lock file {} failed: {}.", doing, path,
                                                   std::generic_category().message(errno)));
  };
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return failed("Opening");
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return FileLock(std::move(file));
  if (errno != EWOULDBLOCK) return failed("Locking");
  return fail(
      "STORAGE_LOCKED",
      fmt::format(
          "Another process uses this data directory (it holds {}): stop it first, or choose another one.",
          path));
}

}  // namespace presetbridge::storage
