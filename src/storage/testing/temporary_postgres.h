// For tests: an empty database in a PostgreSQL cluster of this process, which is started for its first database
// (tools/postgres_cluster.sh) and ends with the process, however that ends.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/time.h"

namespace presetbridge::storage::testing {

class TemporaryPostgres {
 public:
  enum class Kind {
    real,   // fsync is on
    quick,  // for tests that no power cut is part of
    sized,  // for benchmarks: a real one with the settings that docs/operations.md advises
  };
  explicit TemporaryPostgres(Kind kind = Kind::real);  // throws when the cluster does not start
  // Returns a copy of `original`, of the same kind. Nothing may be connected to the original.
  static std::unique_ptr<TemporaryPostgres> copy_of(const TemporaryPostgres& original);
  ~TemporaryPostgres();  // ends what is still connected to it
  TemporaryPostgres(const TemporaryPostgres&) = delete;
  TemporaryPostgres& operator=(const TemporaryPostgres&) = delete;

  // By unix socket; without a password, as only this user and root can reach it.
  std::string url() const;
  // By 127.0.0.1, with a password.
  std::string tcp_url() const;
  // Runs statements as the cluster's superuser, outside of a transaction if it is one statement; returns the first
  // column of the last row of the last one. The session does not wait for a standby, and is a new one each time.
  std::string run(const std::string& text, Millis patience = Millis{60'000}) const;

 private:
  TemporaryPostgres(Kind kind, std::string_view template_database);

  const Kind kind_;
  std::string name_;
};

}  // namespace presetbridge::storage::testing
