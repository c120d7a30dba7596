#include "crypto/key_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/file_descriptor.h"

namespace presetbridge::crypto {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFileBytes = 64 * 1024;

std::unexpected<Error> refused_by_system(const fs::path& path, int error) {
  if (error == EEXIST) {
    return fail("KEY_FILE_EXISTS", fmt::format("{} exists and is not overwritten.", path.string()));
  }
  if (error == ENOENT) return fail("KEY_FILE_MISSING", fmt::format("{} does not exist.", path.string()));
  return fail("KEY_FILE_UNAVAILABLE",
              fmt::format("{}: {}.", path.string(), std::system_category().message(error)));
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(fd, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool sync_directory_of(const fs::path& path) {
  const auto directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const FileDescriptor fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd.is_open() && ::fsync(fd.get()) == 0;
}

// Leaves no half-written file behind.
Expected<void> write_new(const fs::path& path, std::string_view text, KeyFileAccess access) {
  const mode_t mode = access == KeyFileAccess::secret ? 0600 : 0644;
  const FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!fd.is_open()) return refused_by_system(path, errno);
  // The umask may have taken rights away that others need.
  if (::fchmod(fd.get(), mode) != 0 || !write_all(fd.get(), text) || ::fsync(fd.get()) != 0) {
    const int error = errno;
    ::unlink(path.c_str());
    return refused_by_system(path, error);
  }
  return {};
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

Expected<void> create_key_file(const fs::path& path, std::string_view text, KeyFileAccess access) {
  if (auto written = write_new(path, text, access); !written) return written;
  if (!sync_directory_of(path)) return refused_by_system(path, errno);
  return {};
}

Expected<void> replace_key_file(const fs::path& path, std::string_view text, KeyFileAccess access) {
  // A link is followed, so that the name that others use stays.
  std::error_code error;
  auto target = fs::canonical(path, error);
  if (error) return refused_by_system(path, error.value());
  auto fresh = target;
  fresh += ".new";
  // One left over from a crash holds a key that nobody uses yet.
  ::unlink(fresh.c_str());
  if (auto written = write_new(fresh, text, access); !written) return written;
  if (::rename(fresh.c_str(), target.c_str()) != 0) {
    const int reason = errno;
    ::unlink(fresh.c_str());
    return refused_by_system(path, reason);
  }
  if (!sync_directory_of(target)) return refused_by_system(path, errno);
  return {};
}

Expected<SecretString> read_key_file(const fs::path& path, KeyFileAccess access) {
  // Without O_NONBLOCK a FIFO would make us wait for its writer.
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.is_open()) return refused_by_system(path, errno);
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return refused_by_system(path, errno);
  if (!S_ISREG(status.st_mode)) return key_file_invalid(path);
  const bool exposed =
      access == KeyFileAccess::secret ? (status.st_mode & 0077) != 0 : (status.st_mode & 0022) != 0;
  if (exposed) {
    return fail("KEY_FILE_EXPOSED",
                fmt::format("{} can be read or changed by others: chmod {:o} it.", path.string(),
                            access == KeyFileAccess::secret ? 0600 : 0644));
  }
  if (status.st_size < 0 || static_cast<std::size_t>(status.st_size) > kMaxFileBytes)
    return key_file_invalid(path);

  SecretBytes content(static_cast<std::size_t>(status.st_size));
  auto rest = content.writable();
  while (!rest.empty()) {
    const auto got = ::read(fd.get(), rest.data(), rest.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refused_by_system(path, errno);
    if (got == 0) return key_file_invalid(path);
    rest = rest.subspan(static_cast<std::size_t>(got));
  }
  return SecretString(std::move(content));
}

Expected<std::vector<std::vector<std::string_view>>> parse_key_lines(const fs::path& path,
                                                                     std::string_view text,
                                                                     std::string_view kind,
                                                                     std::size_t words) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::vector<std::vector<std::string_view>> lines;
  for (const auto line : split(text, '\n')) {
    auto parts = split(line, ' ');
    if (parts.size() != words + 1 || parts.front() != kind) return key_file_invalid(path);
    parts.erase(parts.begin());
    lines.push_back(std::move(parts));
  }
  return lines;
}

std::unexpected<Error> key_file_invalid(const fs::path& path) {
  return fail("KEY_FILE_INVALID", fmt::format("{} is not a key file of the kind expected.", path.string()));
}

}  // namespace presetbridge::crypto
