#include "memory_files.h"

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace presetbridge::simulation {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLog = "-wal";
constexpr int kSectorBytes = 4096;

struct Handle;

struct File {
  std::string bytes;
  int handles = 0;
  // The locks of a database's file (https://www.sqlite.org/lockingv3.html).
  int shared = 0;
  const Handle* reserved = nullptr;
  const Handle* pending = nullptr;
  // The index of its log, with its locks; it lives as long as a connection uses it.
  int mapped = 0;
  std::vector<std::unique_ptr<char[]>> index;
  std::array<int, SQLITE_SHM_NLOCK> index_shared{};
  std::array<const Handle*, SQLITE_SHM_NLOCK> index_exclusive{};
};

// SQLite allocates it, and knows its first part only.
struct Handle {
  sqlite3_file base;
  std::shared_ptr<File>* file;
  int level;
  bool maps;
  std::uint32_t index_shared;  // a bit for each lock that it has
};

using Files = std::map<std::string, std::shared_ptr<File>, std::less<>>;

Files& files() {
  static Files all;
  return all;
}

Handle& handle_of(sqlite3_file* file) {
  return *reinterpret_cast<Handle*>(file);
}
File& file_of(sqlite3_file* file) {
  return **handle_of(file).file;
}

int unlock_index(sqlite3_file* file, int first, int count) {
  auto& handle = handle_of(file);
  auto& its = file_of(file);
  for (int i = first; i < first + count; ++i) {
    if (its.index_exclusive[i] == &handle) its.index_exclusive[i] = nullptr;
    if ((handle.index_shared >> i & 1U) != 0) {
      --its.index_shared[i];
      handle.index_shared &= ~(1U << i);
    }
  }
  return SQLITE_OK;
}

int lock_index(sqlite3_file* file, int first, int count, int flags) {
  if ((flags & SQLITE_SHM_UNLOCK) != 0) return unlock_index(file, first, count);
  auto& handle = handle_of(file);
  auto& its = file_of(file);
  const bool alone = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
  for (int i = first; i < first + count; ++i) {
    const int others = its.index_shared[i] - static_cast<int>(handle.index_shared >> i & 1U);
    const auto* const owner = its.index_exclusive[i];
    if ((owner != nullptr && owner != &handle) || (alone && others > 0)) return SQLITE_BUSY;
  }
  for (int i = first; i < first + count; ++i) {
    if (alone) {
      its.index_exclusive[i] = &handle;
    } else if ((handle.index_shared >> i & 1U) == 0) {
      ++its.index_shared[i];
      handle.index_shared |= 1U << i;
    }
  }
  return SQLITE_OK;
}

int map_index(sqlite3_file* file, int region, int size, int extend, void volatile** at) {
  auto& handle = handle_of(file);
  auto& its = file_of(file);
  if (!std::exchange(handle.maps, true)) ++its.mapped;
  *at = nullptr;
  const auto wanted = static_cast<std::size_t>(region) + 1;
  if (wanted > its.index.size() && extend == 0) return SQLITE_OK;
  while (its.index.size() < wanted) its.index.push_back(std::make_unique<char[]>(size));
  *at = its.index[region].get();
  return SQLITE_OK;
}

int unmap_index(sqlite3_file* file, int /*removes*/) {
  auto& its = file_of(file);
  unlock_index(file, 0, SQLITE_SHM_NLOCK);
  if (std::exchange(handle_of(file).maps, false) && --its.mapped == 0) its.index.clear();
  return SQLITE_OK;
}

void fence(sqlite3_file* /*file*/) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

int lock(sqlite3_file* file, int level) {
  auto& handle = handle_of(file);
  auto& its = file_of(file);
  if (handle.level >= level) return SQLITE_OK;
  if (handle.level == SQLITE_LOCK_NONE) {
    if (its.pending != nullptr) return SQLITE_BUSY;
    ++its.shared;
    handle.level = SQLITE_LOCK_SHARED;
  }
  if (level == SQLITE_LOCK_SHARED) return SQLITE_OK;
  if (its.reserved != nullptr && its.reserved != &handle) return SQLITE_BUSY;
  its.reserved = &handle;
  handle.level = std::max(handle.level, SQLITE_LOCK_RESERVED);
  if (level == SQLITE_LOCK_RESERVED) return SQLITE_OK;
  its.pending = &handle;
  handle.level = SQLITE_LOCK_PENDING;
  if (its.shared > 1) return SQLITE_BUSY;
  handle.level = SQLITE_LOCK_EXCLUSIVE;
  return SQLITE_OK;
}

int unlock(sqlite3_file* file, int level) {
  auto& handle = handle_of(file);
  auto& its = file_of(file);
  if (handle.level <= level) return SQLITE_OK;
  if (its.reserved == &handle) its.reserved = nullptr;
  if (its.pending == &handle) its.pending = nullptr;
  if (level == SQLITE_LOCK_NONE) --its.shared;
  handle.level = level;
  return SQLITE_OK;
}

int is_reserved(sqlite3_file* file, int* answer) {
  *answer = file_of(file).reserved != nullptr ? 1 : 0;
  return SQLITE_OK;
}

int close(sqlite3_file* file) {
  unmap_index(file, 0);
  unlock(file, SQLITE_LOCK_NONE);
  --file_of(file).handles;
  delete handle_of(file).file;
  return SQLITE_OK;
}

int read(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  const auto& bytes = file_of(file).bytes;
  const auto at = std::min(static_cast<std::size_t>(offset), bytes.size());
  const auto got = std::min(static_cast<std::size_t>(size), bytes.size() - at);
  std::memcpy(to, bytes.data() + at, got);
  if (got == static_cast<std::size_t>(size)) return SQLITE_OK;
  std::memset(static_cast<char*>(to) + got, 0, static_cast<std::size_t>(size) - got);
  return SQLITE_IOERR_SHORT_READ;
}

int write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  auto& bytes = file_of(file).bytes;
  const auto end = static_cast<std::size_t>(offset) + static_cast<std::size_t>(size);
  if (end > bytes.size()) bytes.resize(end);
  std::memcpy(bytes.data() + offset, from, static_cast<std::size_t>(size));
  return SQLITE_OK;
}

int truncate(sqlite3_file* file, sqlite3_int64 size) {
  file_of(file).bytes.resize(static_cast<std::size_t>(size));
  return SQLITE_OK;
}

int sync(sqlite3_file* /*file*/, int /*flags*/) {
  return SQLITE_OK;
}

int size_of(sqlite3_file* file, sqlite3_int64* size) {
  *size = static_cast<sqlite3_int64>(file_of(file).bytes.size());
  return SQLITE_OK;
}

int control(sqlite3_file* /*file*/, int /*operation*/, void* /*argument*/) {
  return SQLITE_NOTFOUND;
}

int sector_bytes(sqlite3_file* /*file*/) {
  return kSectorBytes;
}

int characteristics(sqlite3_file* /*file*/) {
  return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

constexpr sqlite3_io_methods kMethods{.iVersion = 2,
                                      .xClose = close,
                                      .xRead = read,
                                      .xWrite = write,
                                      .xTruncate = truncate,
                                      .xSync = sync,
                                      .xFileSize = size_of,
                                      .xLock = lock,
                                      .xUnlock = unlock,
                                      .xCheckReservedLock = is_reserved,
                                      .xFileControl = control,
                                      .xSectorSize = sector_bytes,
                                      .xDeviceCharacteristics = characteristics,
                                      .xShmMap = map_index,
                                      .xShmLock = lock_index,
                                      .xShmBarrier = fence,
                                      .xShmUnmap = unmap_index,
                                      .xFetch = nullptr,
                                      .xUnfetch = nullptr};

// Forgets the files of directories that are gone.
void forget_removed() {
  std::erase_if(files(), [](const auto& entry) {
    return entry.second->handles == 0 && !fs::exists(fs::path(entry.first).parent_path());
  });
}

std::shared_ptr<File> load(const std::string& path) {
  auto made = std::make_shared<File>();
  std::ifstream in(path, std::ios::binary);
  made->bytes.assign(std::istreambuf_iterator<char>(in), {});
  return made;
}

int open(sqlite3_vfs* /*vfs*/, const char* name, sqlite3_file* file, int flags, int* opened) {
  auto& handle = handle_of(file);
  std::shared_ptr<File> its;
  if ((flags & SQLITE_OPEN_WAL) != 0) std::ofstream(name, std::ios::app).flush();
  if (name == nullptr) {
    its = std::make_shared<File>();
  } else if (const auto found = files().find(std::string_view(name)); found != files().end()) {
    its = found->second;
  } else {
    const bool exists = fs::exists(name);
    if (!exists && (flags & SQLITE_OPEN_CREATE) == 0) return SQLITE_CANTOPEN;
    if ((flags & SQLITE_OPEN_MAIN_DB) != 0) forget_removed();
    its = (flags & SQLITE_OPEN_MAIN_DB) != 0 ? load(name) : std::make_shared<File>();
    files().emplace(name, its);
  }
  ++its->handles;
  handle = {.base = {.pMethods = &kMethods},
            .file = new std::shared_ptr<File>(std::move(its)),
            .level = SQLITE_LOCK_NONE,
            .maps = false,
            .index_shared = 0};
  if (opened != nullptr) *opened = flags;
  return SQLITE_OK;
}

int remove(sqlite3_vfs* /*vfs*/, const char* name, int /*sync*/) {
  files().erase(name);
  ::unlink(name);
  return SQLITE_OK;
}

int access(sqlite3_vfs* /*vfs*/, const char* name, int /*flags*/, int* answer) {
  *answer = files().contains(std::string_view(name)) ? 1 : 0;
  return SQLITE_OK;
}

int full_name(sqlite3_vfs* /*vfs*/, const char* name, int size, char* to) {
  sqlite3_snprintf(size, to, "%s", name);
  return SQLITE_OK;
}

std::string& bytes_of(const std::string& path) {
  auto& file = files()[path];
  if (!file) file = std::make_shared<File>();
  return file->bytes;
}

}  // namespace

void use_memory_files() {
  const auto* const disk = sqlite3_vfs_find(nullptr);
  if (disk == nullptr) throw std::runtime_error("SQLite has no files");
  // Random numbers, pauses and the time stay those of the disk's.
  static sqlite3_vfs memory = *disk;
  memory.szOsFile = sizeof(Handle);
  memory.zName = "memory_files";
  memory.xOpen = open;
  memory.xDelete = remove;
  memory.xAccess = access;
  memory.xFullPathname = full_name;
  if (sqlite3_vfs_register(&memory, 1) != SQLITE_OK) throw std::runtime_error("SQLite refuses the files");
}

DatabaseContent content_of(const std::string& path) {
  return {.file = bytes_of(path), .log = bytes_of(path + std::string(kLog))};
}

void replace_content(const std::string& path, DatabaseContent content) {
  files()[path] = std::make_shared<File>();
  files()[path + std::string(kLog)] = std::make_shared<File>();
  bytes_of(path) = std::move(content.file);
  bytes_of(path + std::string(kLog)) = std::move(content.log);
}

}  // namespace presetbridge::simulation
