// A file that one process holds; the lock dies with its holder.
#pragma once

#include <string>
#include <utility>

#include "base/error.h"

namespace presetbridge::storage {

class FileLock {
 public:
  // STORAGE_LOCKED: another process (or another FileLock) holds it. STORAGE_UNAVAILABLE: the file cannot be
  // made or locked. Never waits.
  static Expected<FileLock> take(const std::string& path);
  FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace presetbridge::storage
