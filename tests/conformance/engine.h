// The engines that the conformance suite runs on. A new driver adds an Engine and a line in all_engines().
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/database.h"
#include "storage/testing.h"

namespace presetbridge::storage::conformance {

// One empty database of one engine, gone with this object.
class Engine {
 public:
  virtual ~Engine() = default;
  // Opens the database; called again only after the one before was closed or its process died.
  virtual std::unique_ptr<Database> open() = 0;
};

class SqliteEngine final : public Engine {
 public:
  std::unique_ptr<Database> open() override {
    auto opened = open_sqlite({.path = directory_.file("test.db"), .lock_file = {}}, clock_);
    if (!opened) throw std::runtime_error(opened.error().message);
    return std::move(*opened);
  }

 private:
  testing::TemporaryDirectory directory_;
  presetbridge::testing::ManualClock clock_;
};

class PostgresEngine final : public Engine {
 public:
  std::unique_ptr<Database> open() override {
    auto opened = open_postgres(testing::patient(server_.url()));
    if (!opened) throw std::runtime_error(opened.error().message);
    return std::move(*opened);
  }

 private:
  testing::TemporaryPostgres server_;
};

struct EngineKind {
  std::string name;
  std::unique_ptr<Engine> (*make)();
};

inline std::vector<EngineKind> all_engines() {
  return {{"Sqlite", [] { return std::unique_ptr<Engine>(std::make_unique<SqliteEngine>()); }},
          {"Postgres", [] { return std::unique_ptr<Engine>(std::make_unique<PostgresEngine>()); }}};
}

inline std::string engine_name(const auto& info) {
  return info.param.name;
}

}  // namespace presetbridge::storage::conformance
