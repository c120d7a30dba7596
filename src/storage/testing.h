// A real SQLite database in a directory of its own, which goes with it: for tests of what uses storage.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/testing.h"
#include "storage/sqlite/sqlite_database.h"

namespace presetbridge::storage::testing {

class TemporaryDirectory {
 public:
  TemporaryDirectory() : path_((std::filesystem::temp_directory_path() / "presetbridge-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary directory");
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// `clock` is the database's.
class TemporarySqlite {
 public:
  TemporarySqlite() { open(); }
  Database& operator*() { return *database_; }
  Database* operator->() { return database_.get(); }
  // Closes the file and opens it again.
  void reopen() {
    database_.reset();
    open();
  }
  std::string path() const { return directory_.file("test.db"); }

  presetbridge::testing::ManualClock clock;

 private:
  void open() {
    auto opened = open_sqlite({.path = path(), .lock_file = {}}, clock);
    if (!opened) throw std::runtime_error(opened.error().message);
    database_ = std::move(*opened);
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Database> database_;
};

}  // namespace presetbridge::storage::testing
