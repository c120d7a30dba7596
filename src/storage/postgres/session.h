// One connection to a PostgreSQL server, where every wait has a deadline. Used by one thread at a time.
//
// Errors are DbErrors. When one means that the server is away (or is no longer the one to write to), usable() is
// false: nothing of an open transaction stands, unless its COMMIT had been sent, and the session can only be
// dropped.
#pragma once

#include <libpq-fe.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "storage/database.h"
#include "storage/postgres/values.h"

namespace presetbridge::storage::postgres {

enum class Access { read_write, read_only };

struct Limits {
  Millis connect;    // for each address of each host
  Millis statement;  // that one statement runs
  Millis lock;       // that a statement waits for one lock
  Millis idle;       // between two statements of a transaction
};

class Session {
 public:
  // Connects. `url` is a connection string; it may hold a password, and no error shows it.
  Session(const std::string& url, Access access, const Limits& limits);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool usable() const { return usable_; }
  // For a session that was idle: whether the server has not closed it meanwhile. No round trip.
  bool alive();
  bool in_transaction() const;
  // Readable when the server sends something unasked.
  int socket() const;
  // After LISTEN: whether another session has sent a notification since the last call. No round trip; throws
  // where the connection is lost.
  bool notified();
  void drop() { usable_ = false; }
  // The server's process for this session, where the connection was lost and the process may not know that: it may
  // be in the middle of a statement or a commit, and holds its locks and one of the server's connections. For end().
  std::optional<std::string> left_behind() const {
    return left_behind_ ? std::optional(backend_) : std::nullopt;
  }
  // Ends processes that other sessions of this user left behind, as far as they still run, on this server.
  void end(const std::vector<std::string>& backends);

  // Runs statements without parameters, in one round trip; returns the result of the last one, in text form.
  Result run(const std::string& text);
  // Commits. An error after which usable() is false leaves the outcome unknown.
  void commit();
  // The types of the parameters, as the server sees them; `declared` is 0 for those that it shall infer.
  std::vector<Oid> prepare(const std::string& name, const std::string& text, std::span<const Oid> declared);
  // `sql` is for messages.
  Result execute(const std::string& name, const Values& values, std::string_view sql);
  // Executes once for each of 0..count-1 in one round trip. `fill` sets the values of one.
  void execute_each(const std::string& name, std::size_t count,
                    const std::function<void(std::size_t, Values&)>& fill, std::string_view sql);

  // Statements of this transaction may take this long, and so may waiting for a lock.
  void allow(Millis patience);
  // From here on in this transaction: one that cannot have a lock in that time is a conflict, so it runs again.
  void give_way(Millis lock);
  void allow_usual();

 private:
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  // The next result, null after the last one of a command; the caller raises its errors.
  Result next();
  Result last(std::string_view sql);
  void await(bool to_write);
  void sent(int ok);
  static void noticed(void* self, const PGresult* notice);
  [[noreturn]] void lost(std::string_view why);
  [[noreturn]] void raise(const PGresult* result, std::string_view sql);

  const Access access_;
  const Limits limits_;
  Millis patience_;  // for an answer
  bool usable_ = true;
  bool warned_ = false;
  bool gives_way_ = false;
  bool left_behind_ = false;
  std::string backend_;  // (process id, seconds when it began), in SQL; empty: not known yet
  std::unique_ptr<PGconn, Finish> connection_;
};

}  // namespace presetbridge::storage::postgres
