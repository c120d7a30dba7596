#include "storage/postgres/postgres_database.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "storage/postgres/connection.h"

namespace presetbridge::storage {
namespace {

using postgres::Access;
using postgres::Connection;
using postgres::Limits;

constexpr std::size_t kLongestUrl = 1'000;
constexpr std::size_t kMostLeftBehind = 100;
// Runs of a transaction whose connections are lost.
constexpr int kMostRuns = 6;
// Runs of a transaction in conflict: the server ends a deadlock by failing one transaction, so another always goes
// on; where many meet, one may fail several times.
constexpr int kMostRunsInConflict = 12;
// Runs of one that changes the schema: each waits two seconds for a table, and leaves it to others for five (half an
// hour in all).
constexpr int kMostRunsOfMigration = 250;
constexpr Millis kRestOfMigration{5'000};
// The pause after a conflict, doubled each time up to the longest: a transaction that runs again at once may take
// the lock that the other one was given.
constexpr Millis kFirstRest{10};
constexpr Millis kLongestRest{640};
// Attempts to connect, with pauses of 50, 100, ... ms between them, in all 1.5 s.
constexpr int kMostConnects = 6;
constexpr Millis kFirstPause{50};
// After a server that did not even refuse: no other caller waits for it meanwhile.
constexpr Millis kQuiet{1'000};

class Pool {
 public:
  Pool(const PostgresOptions& options, Access access, int size)
      : options_(options), access_(access), left_(size) {}

  // A connection for one transaction; returned to the pool at the end of this, unless it is of no more use.
  class Lease {
   public:
    explicit Lease(Pool& pool) : pool_(pool), connection_(pool.take()) {}
    ~Lease() { pool_.give_back(std::move(connection_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Connection* operator->() const { return connection_.get(); }

   private:
    Pool& pool_;
    std::unique_ptr<Connection> connection_;
  };

  // No connection is made any more; the pauses of those that are being made end.
  void give_up() {
    {
      const std::lock_guard lock(mutex_);
      given_up_ = true;
    }
    returned_.notify_all();
  }

  // Throws `unavailable` once given up.
  void rest(Millis time) {
    std::unique_lock lock(mutex_);
    if (returned_.wait_for(lock, time, [this] { return given_up_; }))
      throw DbError(DbError::Kind::unavailable, "no transaction runs again on PostgreSQL any more");
  }

 private:
  std::unique_ptr<Connection> take() {
    {
      std::unique_lock lock(mutex_);
      if (left_ == 0 && options_.on_wait) options_.on_wait();
      if (!returned_.wait_for(lock, options_.checkout_timeout, [this] { return left_ > 0; }))
        throw DbError(DbError::Kind::unavailable, "all connections to PostgreSQL are in use");
      --left_;
      while (!idle_.empty()) {
        auto connection = std::move(idle_.back());
        idle_.pop_back();
        if (connection->session.alive()) return connection;
      }
    }
    try {
      return connect();
    } catch (...) {
      give_back(nullptr);
      throw;
    }
  }

  std::unique_ptr<Connection> connect() {
    const Limits limits{options_.connect_timeout, options_.statement_timeout, options_.lock_timeout,
                        options_.idle_timeout};
    const postgres::SchemaLimits schema{options_.migration_timeout, options_.migration_lock_timeout};
    std::optional<Stopwatch> watch;
    if (options_.server_clock != nullptr) watch.emplace(*options_.server_clock);
    for (int attempt = 1;; ++attempt) {
      {
        const std::lock_guard lock(mutex_);
        if (given_up_)
          throw DbError(DbError::Kind::unavailable, "no connection to PostgreSQL is made any more");
        if (is_quiet()) throw DbError(DbError::Kind::unavailable, "PostgreSQL did not answer a moment ago");
      }
      try {
        auto connection = std::make_unique<Connection>(options_.url, access_, limits, schema);
        end_left_behind(*connection);
        return connection;
      } catch (const DbError& e) {
        if (e.kind() != DbError::Kind::unavailable || attempt == kMostConnects) throw;
        if (watch && watch->elapsed() >= options_.connect_timeout) {
          const std::lock_guard lock(mutex_);
          quiet_until_ = options_.server_clock->now() + kQuiet;
          throw;
        }
      }
      // A connection that is returned ends the pause: the server is there.
      std::unique_lock lock(mutex_);
      if (!given_up_) returned_.wait_for(lock, kFirstPause * (1 << (attempt - 1)));
    }
  }

  // A commit that waits for a standby, or a server that was out of reach, does not notice that its client is gone:
  // without this each attempt would add a connection to those that the server has.
  void end_left_behind(Connection& connection) {
    std::vector<std::string> backends;
    {
      const std::lock_guard lock(mutex_);
      backends.swap(left_behind_);
    }
    if (backends.empty()) return;
    try {
      connection.session.end(backends);
    } catch (const DbError&) {
      // They may be there still: the next connection attempts it again. Where this one was lost, its first
      // statement fails, and the transaction runs again on another.
      const std::lock_guard lock(mutex_);
      for (auto& one : backends) remember(std::move(one));
    }
  }

  void remember(std::string left_behind) {
    if (left_behind_.size() < kMostLeftBehind) left_behind_.push_back(std::move(left_behind));
  }

  // A clock that was set back does not prolong it.
  bool is_quiet() const {
    if (options_.server_clock == nullptr) return false;
    const Timestamp now = options_.server_clock->now();
    return now < quiet_until_ && quiet_until_ <= now + kQuiet;
  }

  void give_back(std::unique_ptr<Connection> connection) {
    {
      const std::lock_guard lock(mutex_);
      ++left_;
      if (connection) {
        if (auto backend = connection->session.left_behind()) remember(std::move(*backend));
        if (connection->session.usable()) idle_.push_back(std::move(connection));
      }
    }
    returned_.notify_all();
  }

  const PostgresOptions& options_;
  const Access access_;
  std::mutex mutex_;  // guards all below
  std::condition_variable returned_;
  int left_;
  bool given_up_ = false;
  Timestamp quiet_until_{};
  std::vector<std::string> left_behind_;           // Session::left_behind() of those that were lost
  std::vector<std::unique_ptr<Connection>> idle_;  // the one used last is taken first
};

class PostgresDatabase final : public Database {
 public:
  PostgresDatabase(PostgresOptions options, const Clock* clock)
      : options_(std::move(options)),
        clock_(clock),
        writers_(options_, Access::read_write, options_.writers),
        readers_(options_, Access::read_only, options_.readers) {}

  Durability commit(const TxFn& fn) override {
    transact(writers_, fn);
    return Durability::durable;
  }
  void sync() override {}  // the server answers a commit when it is on disk
  void read(const TxFn& fn) override { transact(readers_, fn); }
  void give_up() override {
    writers_.give_up();
    readers_.give_up();
  }
  std::string_view engine() const override { return "postgres"; }

 private:
  void transact(Pool& pool, const TxFn& fn) {
    bool conflict = false;
    bool migration = false;
    bool constrained = false;
    for (int runs = 1;; ++runs) {
      if (conflict)
        pool.rest(migration ? kRestOfMigration
                            : std::min(kFirstRest * (1 << std::min(runs, 10)), kLongestRest));
      const Pool::Lease lease(pool);
      try {
        return lease->transact(fn, clock_, options_.server_clock);
      } catch (const DbError& e) {
        conflict = e.kind() == DbError::Kind::conflict;
        const bool lost = e.kind() == DbError::Kind::unavailable && !lease->session.usable();
        // Another transaction may have committed meanwhile a row that this run had not found: the next one sees it.
        const bool again = e.kind() == DbError::Kind::constraint && !std::exchange(constrained, true);
        if (lease->outcome_unknown() || !(conflict || lost || again)) throw;
        migration = lease->changed_schema();
        if (runs >= most_runs_of(conflict, migration)) throw;
      }
    }
  }

  static int most_runs_of(bool conflict, bool migration) {
    if (!conflict) return kMostRuns;
    return migration ? kMostRunsOfMigration : kMostRunsInConflict;
  }

  const PostgresOptions options_;
  const Clock* const clock_;
  Pool writers_;
  Pool readers_;
};

}  // namespace

std::string problem_of_postgres_url(const std::string& url) {
  if (url.size() > kLongestUrl) return fmt::format("must not be longer than {} bytes", kLongestUrl);
  char* fault = nullptr;
  const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> parsed(
      PQconninfoParse(url.c_str(), &fault), PQconninfoFree);
  PQfreemem(fault);  // unread: it may quote a part of the password
  if (!parsed) return "is no connection string of PostgreSQL";
  for (const auto* option = parsed.get(); option->keyword != nullptr; ++option) {
    const std::string_view name = option->keyword;
    if ((name == "password" || name == "sslpassword") && option->val != nullptr && *option->val != '\0')
      return "must not hold a password: name a file with passfile=, or set PGPASSFILE or PGPASSWORD";
  }
  return {};
}

Expected<std::unique_ptr<Database>> open_postgres(PostgresOptions options, const Clock* test_clock) {
  options.writers = std::clamp(options.writers, 1, 64);
  options.readers = std::clamp(options.readers, 1, 64);
  auto database = std::make_unique<PostgresDatabase>(std::move(options), test_clock);
  try {
    database->write([](Tx&) {});
  } catch (const DbError& e) {
    return fail("STORAGE_UNAVAILABLE", fmt::format("Opening the database failed: {}.", e.what()));
  }
  return database;
}

}  // namespace presetbridge::storage
