// A file that one process holds; the lock dies with its holder.
#pragma once

#include <string>
#include <utility>

#include "base/error.h"
#include "base/file_descriptor.h"

namespace presetbridge::storage {

class FileLock {
 public:
  // STORAGE_LOCKED: another process (or another FileLock) holds it. STORAGE_UNAVAILABLE: the file cannot be
  // made or locked. Never waits.
  static Expected<FileLock> take(const std::string& path);

 private:
  explicit FileLock(FileDescriptor file) : file_(std::move(file)) {}
  FileDescriptor file_;
};

}  // namespace presetbridge::storage
