// The Database port over PostgreSQL 14 or newer. Connections are made when they are first needed, at most
// `writers` for write() and `readers` for read(); more callers than that wait, but not for ever. commit()
// runs READ COMMITTED with synchronous_commit=on, so that it is durable when it returns; read() REPEATABLE
// READ.
//
// Lost connections and conflicts are dealt with inside: whatever was not committed is run again on another
// connection. With several hosts in the connection string, that is made to the one which takes writes.
//
// DbError unavailable leaves commit() when
// - there was no connection to be had, or a statement or lock took too long: nothing of it stands;
// - the connection was lost between COMMIT and its answer: IT IS NOT KNOWN whether the transaction stands. So
//   whoever is told of an error must find out before doing more than trying the same again: by a key that
//   makes a repetition harmless (an order's dedupe key), or by a fence or version that tells (a lease).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "base/time.h"
#include "storage/database.h"
#include "storage/postgres/server_clock.h"

namespace presetbridge::storage {

struct PostgresOptions {
  std::string url;  // libpq's connection string, a URI or key=value; may hold a password: never shown
  int writers = 4;  // 1..64; AsyncDatabase uses as many as its Options::writers
  int readers = 2;  // 1..64
  // For each address; in whole seconds, at least 2. A server that lets it pass is not asked again for a
  // second, by the clock `told`.
  Millis connect_timeout{5'000};
  Millis statement_timeout{10'000};  // a server that does not answer for half as long again is given up
  Millis lock_timeout{5'000};
  Millis idle_timeout{10'000};          // between two statements of a transaction
  Millis checkout_timeout{10'000};      // for a connection that others use
  ServerClock* told = nullptr;          // the server's time by each transaction; outlives the database
  Millis migration_timeout{3'600'000};  // for each statement of a migration, and for other nodes' migrations
  std::function<void()> on_wait;        // for tests: told when a caller begins to wait for a connection
};

// What is wrong with a connection string as a setting, which is no place for a password; empty: nothing.
std::string problem_of_postgres_url(const std::string& url);

// `test_clock`, for tests alone, is what Tx::now() reads instead of the server's; it outlives the database.
// Errors: STORAGE_UNAVAILABLE, when no connection can be made or the database is not one in UTF8.
Expected<std::unique_ptr<Database>> open_postgres(PostgresOptions options, const Clock* test_clock = nullptr);

}  // namespace presetbridge::storage
