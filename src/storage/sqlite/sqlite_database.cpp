#include "storage/sqlite/sqlite_database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <vector>

#include "base/file_descriptor.h"
#include "storage/file_lock.h"
#include "storage/sqlite/connection.h"

namespace presetbridge::storage {
namespace {

using sqlite::Connection;

std::unexpected<Error> unavailable(std::string_view doing, const std::string& path) {
  return fail("STORAGE_UNAVAILABLE",
              fmt::format("{} {} failed: {}.", doing, path, std::generic_category().message(errno)));
}

// SQLite would create the file with the umask's permissions. It gives the -wal and -shm files those of the
// database.
Expected<void> create_private(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.is_open()) return unavailable("Opening the database", path);
  const auto parent = std::filesystem::path(path).parent_path();
  const std::string directory = parent.empty() ? "." : parent.string();
  const FileDescriptor folder(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // The file's name must survive a power cut as its content does.
  if (!folder.is_open() || fsync(folder.get()) != 0) return unavailable("Syncing the directory", directory);
  return {};
}

// The log of an open connection, for syncing it. It is one file for as long as a connection lives, and SQLite takes
// no lock on it, so that another descriptor of it does no harm.
FileDescriptor open_log(const std::string& path) {
  FileDescriptor log(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!log.is_open()) {
    throw DbError(DbError::Kind::unavailable,
                  fmt::format("opening {} failed: {}", path, std::generic_category().message(errno)));
  }
  return log;
}

class SqliteDatabase final : public Database {
 public:
  SqliteDatabase(const SqliteOptions& options, const Clock& clock, FileLock lock)
      : clock_(clock),
        lock_(std::move(lock)),
        writer_(options.path, Connection::Access::read_write, options.cache_mib, options.checkpoint_pages),
        log_(open_log(writer_.log_path())),
        sync_file_(options.sync_file != nullptr ? options.sync_file : fdatasync) {
    if (options.log != nullptr) writer_.log_checkpoints(*options.log, clock);
    for (int i = 0; i < options.readers; ++i) {
      readers_.push_back(
          std::make_unique<Connection>(options.path, Connection::Access::read_only, options.cache_mib, 0));
      free_.push_back(readers_.back().get());
    }
  }

  Durability commit(const TxFn& fn) override {
    const std::lock_guard lock(write_mutex_);
    if (sync_failed_) refuse();
    if (writer_.transact(fn, clock_)) ++committed_;
    // A transaction that wrote nothing may have read commits that are not synced yet; its answer is no more durable
    // than they are.
    return committed_ == synced_ ? Durability::durable : Durability::on_its_way;
  }

  void sync() override {
    const std::uint64_t committed = committed_;
    int result = -1;
    do {
      result = sync_failed_ ? -1 : sync_file_(log_.get());
    } while (result != 0 && !sync_failed_ && errno == EINTR);
    if (result != 0) sync_failed_ = true;
    if (sync_failed_) refuse();
    auto known = synced_.load();
    while (known < committed && !synced_.compare_exchange_weak(known, committed)) {
    }
  }

  void read(const TxFn& fn) override {
    const Lease reader(*this);
    reader.connection->transact(fn, clock_);
  }

  std::string_view engine() const override { return "sqlite"; }

 private:
  struct Lease {
    explicit Lease(SqliteDatabase& owner) : database(owner) {
      std::unique_lock lock(database.read_mutex_);
      database.freed_.wait(lock, [&] { return !database.free_.empty(); });
      connection = database.free_.back();
      database.free_.pop_back();
    }
    ~Lease() {
      {
        const std::lock_guard lock(database.read_mutex_);
        database.free_.push_back(connection);
      }
      database.freed_.notify_one();
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    SqliteDatabase& database;
    Connection* connection;
  };

  [[noreturn]] static void refuse() {
    throw DbError(
        DbError::Kind::unavailable,
        "the disk failed to sync the database's log: nothing is written until the service is restarted");
  }

  // Destroyed from the last to the first: readers close, the writer makes the last checkpoint, the lock is released.
  const Clock& clock_;
  const FileLock lock_;
  std::mutex write_mutex_;  // guards writer_
  Connection writer_;
  const FileDescriptor log_;
  int (*const sync_file_)(int);
  std::atomic<bool> sync_failed_ = false;
  std::atomic<std::uint64_t> committed_ = 0;  // transactions that wrote something
  std::atomic<std::uint64_t> synced_ = 0;     // as many of them are durable
  std::mutex read_mutex_;                     // guards free_
  std::condition_variable freed_;
  std::vector<std::unique_ptr<Connection>> readers_;
  std::vector<Connection*> free_;
};

}  // namespace

Expected<std::unique_ptr<Database>> open_sqlite(SqliteOptions options, const Clock& clock) {
  // SQLite's statistics of memory take a lock of the whole process at every allocation; nobody reads them. Where
  // SQLite is initialised already this has no effect, and does no harm.
  static std::once_flag configured;
  std::call_once(configured, [] { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); });
  options.readers = std::clamp(options.readers, 1, 64);
  if (options.lock_file.empty()) options.lock_file = options.path + ".lock";
  auto lock = FileLock::take(options.lock_file);
  if (!lock) return std::unexpected(lock.error());
  if (auto created = create_private(options.path); !created) return std::unexpected(created.error());
  try {
    return std::make_unique<SqliteDatabase>(options, clock, std::move(*lock));
  } catch (const DbError& e) {
    return fail("STORAGE_UNAVAILABLE",
                fmt::format("Opening the database {} failed: {}.", options.path, e.what()));
  }
}

}  // namespace presetbridge::storage
