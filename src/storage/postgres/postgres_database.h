// The Database port over PostgreSQL 14 or newer. Connections are made when they are first needed, at most
// `writers` for write() and `readers` for read(); more callers than that wait, but not for ever. commit()
// runs READ COMMITTED with synchronous_commit=on, so that it is durable when it returns; read() REPEATABLE
// READ.
//
// The database itself runs a transaction again, on another connection, where the connection was lost before the
// COMMIT or where there was a conflict. With several hosts in the connection string, a connection is made to the
// one that takes writes.
//
// A statement or lock that takes too long is DbError busy. DbError unavailable leaves commit() when
// - no connection could be made, or the server ended or lacked something: nothing of the transaction stands;
// - the connection was lost between COMMIT and its answer: IT IS NOT KNOWN whether the transaction stands. So
//   a caller who gets an error must find that out before doing more than attempting the same again: by a key that
//   makes a repetition harmless (an order's dedupe key), or by a fence or version that shows it (a lease).
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
  // For each address; in whole seconds, at least 2. After a server that lets it pass no connection is made for a
  // second, by `server_clock`.
  Millis connect_timeout{5'000};
  Millis statement_timeout{10'000};  // a server that does not answer for half as long again counts as away
  Millis lock_timeout{5'000};
  Millis idle_timeout{10'000};          // between two statements of a transaction
  Millis checkout_timeout{10'000};      // for a connection that others use
  ServerClock* server_clock = nullptr;  // set to the server's time by each transaction; outlives the database
  Millis migration_timeout{3'600'000};  // for each statement of a migration, and for other nodes' migrations
  // For a table; then the migration runs again, so others go on meanwhile. It is longer than the server's
  // deadlock_timeout (1 s): after that the server ends an autovacuum of the table.
  Millis migration_lock_timeout{2'000};
  std::function<void()> on_wait;  // for tests: called when a caller begins to wait for a connection
};

// Why a connection string is no good setting, as the end of a sentence about it: it is malformed, too long, or holds
// a password, which a setting must not. Empty: nothing is wrong with it.
std::string problem_of_postgres_url(const std::string& url);

// `test_clock`, for tests alone, is what Tx::now() reads instead of the server's; it outlives the database.
// Errors: STORAGE_UNAVAILABLE, when no connection can be made or the database is not one in UTF8.
Expected<std::unique_ptr<Database>> open_postgres(PostgresOptions options, const Clock* test_clock = nullptr);

}  // namespace presetbridge::storage
