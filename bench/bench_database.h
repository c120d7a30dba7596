// What benchmarks over a database have in common: their options, the empty or well filled database of either
// engine that goes with its object, and a transaction that somebody left open.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "storage/database.h"
#include "storage/testing.h"

namespace presetbridge::bench {

// The words of a command line, one after the other.
class Arguments {
 public:
  Arguments(int argc, char** argv) : at_(argv + 1), end_(argv + argc) {}
  bool done() const { return at_ == end_; }
  // The next word; empty when there is none.
  std::string word() { return done() ? std::string() : *at_++; }
  // The next word as a number, brought into the range.
  int number(int least, int most);

 private:
  char** at_;
  char** const end_;
};

// What an idle transaction does to a rate.
struct IdleTransactionEffect {
  double before = 0;
  double at_the_end = 0;
  double ratio() const { return at_the_end / before; }
  std::string text() const;
};

struct DatabaseOptions {
  bool postgres = false;   // --engine sqlite|postgres
  int writers = 4;         // --writers: connections, with PostgreSQL
  int old_deliveries = 0;  // --old-deliveries: finished ones that the tables hold before anything is measured
  // --idle-transaction, with PostgreSQL: for how many seconds one is left open under load, at least 4; 0:
  // none
  int idle_transaction = 0;

  // Whether `name` is one of these options; its value is taken. Throws when that is none.
  bool take(const std::string& name, Arguments& arguments);
  // Throws when they contradict each other.
  void check() const;
  // They and their effect, as members of a JSON object.
  std::string json(const std::optional<IdleTransactionEffect>& idle) const;
};

class BenchDatabase {
 public:
  explicit BenchDatabase(const DatabaseOptions& options);

  // Opens it, with its tables. With SQLite it must not be open elsewhere.
  std::unique_ptr<storage::Database> open(
      const Clock& clock, int checkpoint_pages = storage::SqliteOptions{}.checkpoint_pages) const;
  // Inserts the old deliveries of the accounts that are there, while it is not open. In a process of its own,
  // so that its memory is not counted; before there are threads. Says on standard error what it took.
  void fill(const Clock& clock) const;
  // The connection string, with PostgreSQL.
  std::string url() const { return server_->url(); }

 private:
  void insert_old(const Clock& clock) const;

  const DatabaseOptions& options_;
  const storage::testing::TemporaryDirectory directory_;
  std::optional<storage::testing::TemporaryPostgres> server_;
};

// A transaction with a snapshot that does nothing more: vacuum can remove no row version that became dead
// since it began. Has its snapshot when constructed; ends with the object.
class IdleTransaction {
 public:
  explicit IdleTransaction(const BenchDatabase& database);
  ~IdleTransaction();
  IdleTransaction(const IdleTransaction&) = delete;
  IdleTransaction& operator=(const IdleTransaction&) = delete;

 private:
  std::unique_ptr<storage::Database> connection_;
  std::promise<void> ended_;
  std::thread thread_;
};

// `rate(seconds)` measures, for a quarter of options.idle_transaction: at the end of that time without one,
// in which the tables have grown too, and at the end of that time with one.
IdleTransactionEffect measure_idle_transaction(const DatabaseOptions& options, const BenchDatabase& database,
                                               const std::function<double(int seconds)>& rate);

}  // namespace presetbridge::bench
