#include "storage/postgres/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace presetbridge::storage::postgres {
namespace {

// The server ends a statement that runs too long; this side gives up only when the server does not even do that.
Millis patience_for(Millis statement) {
  return statement + statement / 2;
}

// For libpq's messages, which have several lines.
std::string one_line(std::string_view message) {
  std::string line;
  for (const char c : message) {
    if (c != '\n' && c != '\t') {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (line.ends_with(' ') || line.ends_with('.')) line.pop_back();
  return line;
}

std::string_view field(const PGresult* result, int code) {
  const char* const text = PQresultErrorField(result, code);
  return text == nullptr ? std::string_view() : text;
}

// Whether the error ended the session.
bool fatal(const PGresult* result) {
  const std::string_view severity = field(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  return severity == "FATAL" || severity == "PANIC";
}

// Whether the columns of the plan have changed: a transaction that prepares the statement anew succeeds.
bool outdated_plan(std::string_view state, const PGresult* result) {
  return state == "26000" ||
         (state == "0A000" && field(result, PG_DIAG_SOURCE_FUNCTION) == "RevalidateCachedQuery");
}

constexpr std::string_view kLockTimeout = "55P03";

DbError::Kind kind_of(std::string_view state) {
  const std::string_view group = state.substr(0, 2);
  if (state == "40001" || state == "40P01") return DbError::Kind::conflict;
  if (state == kLockTimeout || state == "57014") return DbError::Kind::busy;
  if (group == "23") return DbError::Kind::constraint;
  constexpr std::array<std::string_view, 6> away{"08", "53", "57", "58", "F0", "XX"};
  constexpr std::array<std::string_view, 3> later{"25006", "25P03", "40003"};
  if (std::ranges::find(away, group) != away.end() || std::ranges::find(later, state) != later.end())
    return DbError::Kind::unavailable;
  return DbError::Kind::misuse;
}

PGconn* connect(const std::string& url, const Limits& limits) {
  char* fault = nullptr;
  PQconninfoOption* const parsed = PQconninfoParse(url.c_str(), &fault);
  PQfreemem(fault);  // unread: it may quote a part of the password
  if (parsed == nullptr)
    throw DbError(DbError::Kind::misuse, "the database's connection string is malformed");
  PQconninfoFree(parsed);

  const auto seconds =
      std::max<std::int64_t>(2, limits.connect.count() / 1000);  // libpq knows no less than 2
  const std::string connect_timeout = std::to_string(seconds);
  // A machine that is there acknowledges what it gets, however long its server works on it: one that has been
  // silent for nine seconds is gone. The connection string overrides settings before dbname, and not those after
  // it.
  const std::array<std::array<const char*, 2>, 9> settings{{{"connect_timeout", connect_timeout.c_str()},
                                                            {"keepalives_idle", "5"},
                                                            {"keepalives_interval", "2"},
                                                            {"keepalives_count", "2"},
                                                            {"tcp_user_timeout", "9000"},
                                                            {"fallback_application_name", "presetbridge"},
                                                            {"target_session_attrs", "read-write"},
                                                            {"dbname", url.c_str()},
                                                            {"client_encoding", "UTF8"}}};
  std::array<const char*, settings.size() + 1> keys{};
  std::array<const char*, settings.size() + 1> values{};
  for (std::size_t i = 0; i < settings.size(); ++i) {
    keys[i] = settings[i][0];
    values[i] = settings[i][1];
  }
  PGconn* const connection = PQconnectdbParams(keys.data(), values.data(), 1);
  if (connection == nullptr) throw DbError(DbError::Kind::unavailable, "out of memory");
  return connection;
}

}  // namespace

Session::Session(const std::string& url, Access access, const Limits& limits)
    : access_(access),
      limits_(limits),
      patience_(patience_for(limits.statement)),
      connection_(connect(url, limits)) {
  PGconn* const c = connection_.get();
  if (PQstatus(c) != CONNECTION_OK) {
    throw DbError(DbError::Kind::unavailable,
                  fmt::format("connecting to PostgreSQL failed: {}", one_line(PQerrorMessage(c))));
  }
  PQsetNoticeReceiver(c, &Session::noticed, this);
  if (PQsetnonblocking(c, 1) != 0) lost("it cannot be made non-blocking");
  const char* const encoding = PQparameterStatus(c, "server_encoding");
  if (encoding == nullptr || std::string_view(encoding) != "UTF8")
    throw DbError(DbError::Kind::misuse, "the database is not encoded in UTF8");
  // The queue's tables are tiny when plans are made and cached, and grow: plans that scan them must not be
  // chosen, nor those that read all of an index to join it. A commit that is answered is on disk (spec 2.5),
  // also where the server's default is another one.
  const Result began =
      run(fmt::format("SET synchronous_commit=on; SET enable_seqscan=off; SET enable_bitmapscan=off; "
                      "SET enable_hashjoin=off; SET enable_mergejoin=off; SET jit=off; "
                      "SET client_min_messages=warning; SET statement_timeout={}; SET lock_timeout={}; "
                      "SET idle_in_transaction_session_timeout={}; "
                      "SELECT '(' || pid || ', ' || extract(epoch FROM backend_start) || ')'"
                      " FROM pg_stat_activity WHERE pid = pg_backend_pid()",
                      limits.statement.count(), limits.lock.count(), limits.idle.count()));
  if (PQntuples(began.get()) == 1 && PQgetisnull(began.get(), 0, 0) == 0)
    backend_ = PQgetvalue(began.get(), 0, 0);
}

bool Session::alive() {
  pollfd ready{PQsocket(connection_.get()), POLLIN, 0};
  if (usable_ && poll(&ready, 1, 0) != 0) {  // all that a server sends here is that it ends
    usable_ = PQconsumeInput(connection_.get()) == 1 && PQstatus(connection_.get()) == CONNECTION_OK;
  }
  return usable_;
}

bool Session::in_transaction() const {
  return PQtransactionStatus(connection_.get()) != PQTRANS_IDLE;
}

int Session::socket() const {
  return PQsocket(connection_.get());
}

bool Session::notified() {
  PGconn* const c = connection_.get();
  if (PQconsumeInput(c) == 0) lost(one_line(PQerrorMessage(c)));
  bool by_another = false;
  while (PGnotify* const notification = PQnotifies(c)) {
    by_another = by_another || notification->be_pid != PQbackendPID(c);
    PQfreemem(notification);
  }
  return by_another;
}

void Session::noticed(void* self, const PGresult* /*notice*/) {
  static_cast<Session*>(self)->warned_ = true;
}

void Session::lost(std::string_view why) {
  usable_ = false;
  left_behind_ = !backend_.empty();
  throw DbError(DbError::Kind::unavailable, fmt::format("the connection to PostgreSQL is lost: {}", why));
}

void Session::raise(const PGresult* result, std::string_view sql) {
  const std::string_view state = field(result, PG_DIAG_SQLSTATE);
  if (state.empty()) lost(one_line(PQresultErrorMessage(result)));
  DbError::Kind kind = gives_way_ && state == kLockTimeout ? DbError::Kind::conflict : kind_of(state);
  if (fatal(result)) usable_ = false;
  if (outdated_plan(state, result)) {
    usable_ = false;
    kind = DbError::Kind::conflict;
  }
  if (state == "25006") {  // a write in read(), or a server that is no longer a primary
    if (access_ == Access::read_only)
      kind = DbError::Kind::misuse;
    else
      usable_ = false;
  }
  // The message without its details, which quote values.
  throw DbError(kind, fmt::format("PostgreSQL {}: {}, in: {}", state, field(result, PG_DIAG_MESSAGE_PRIMARY),
                                  sql.substr(0, 200)));
}

void Session::await(bool to_write) {
  pollfd ready{PQsocket(connection_.get()), static_cast<short>(to_write ? POLLIN | POLLOUT : POLLIN), 0};
  int found = 0;
  do {
    found = poll(&ready, 1, static_cast<int>(patience_.count()));
  } while (found < 0 && errno == EINTR);
  if (found <= 0) lost("no answer in time");
  if ((ready.revents & ~POLLOUT) != 0 && PQconsumeInput(connection_.get()) == 0)
    lost(one_line(PQerrorMessage(connection_.get())));
}

void Session::sent(int ok) {
  if (ok == 0) lost(one_line(PQerrorMessage(connection_.get())));
}

Result Session::next() {
  PGconn* const c = connection_.get();
  int left = PQflush(c);
  for (; left == 1; left = PQflush(c)) await(true);
  // Where sending failed, the server may have sent the reason before it ended: that is read below.
  while (PQisBusy(c) != 0) await(false);
  Result result(PQgetResult(c));
  if (!result && PQstatus(c) != CONNECTION_OK) lost(one_line(PQerrorMessage(c)));
  return result;
}

// The last result of the command that was sent: no other one follows an error.
Result Session::last(std::string_view sql) {
  Result latest;
  while (Result result = next()) {
    latest = std::move(result);
    if (fatal(latest.get())) break;
  }
  if (!latest) lost("no answer");
  const ExecStatusType status = PQresultStatus(latest.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY)
    raise(latest.get(), sql);
  return latest;
}

Result Session::run(const std::string& text) {
  sent(PQsendQuery(connection_.get(), text.c_str()));
  return last(text);
}

void Session::commit() {
  warned_ = false;
  const Result result = run("COMMIT");
  // "Canceled while waiting for the standby" is a warning beside success: the commit may be lost with this server.
  if (warned_) lost("the commit was not confirmed");
  if (std::string_view(PQcmdStatus(result.get())) != "COMMIT")
    throw DbError(DbError::Kind::misuse, "PostgreSQL rolled back instead of committing");
}

void Session::end(const std::vector<std::string>& backends) {
  run(
      fmt::format("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                  " WHERE pid <> pg_backend_pid() AND (pid, extract(epoch FROM backend_start)) IN ({})",
                  fmt::join(backends, ", ")));
}

std::vector<Oid> Session::prepare(const std::string& name, const std::string& text,
                                  std::span<const Oid> declared) {
  PGconn* const c = connection_.get();
  sent(PQsendPrepare(c, name.c_str(), text.c_str(), static_cast<int>(declared.size()), declared.data()));
  last(text);
  sent(PQsendDescribePrepared(c, name.c_str()));
  const Result described = last(text);
  std::vector<Oid> types;
  for (int i = 0; i < PQnparams(described.get()); ++i) types.push_back(PQparamtype(described.get(), i));
  return types;
}

Result Session::execute(const std::string& name, const Values& values, std::string_view sql) {
  sent(PQsendQueryPrepared(connection_.get(), name.c_str(), values.size(), values.data(), values.lengths(),
                           values.formats(), 1));
  return last(sql);
}

void Session::execute_each(const std::string& name, std::size_t count,
                           const std::function<void(std::size_t, Values&)>& fill, std::string_view sql) {
  PGconn* const c = connection_.get();
  sent(PQenterPipelineMode(c));
  Values values;
  std::exception_ptr refused;
  try {
    for (std::size_t i = 0; i < count; ++i) {
      fill(i, values);
      sent(PQsendQueryPrepared(c, name.c_str(), values.size(), values.data(), values.lengths(),
                               values.formats(), 1));
    }
  } catch (...) {
    refused = std::current_exception();
  }
  sent(PQpipelineSync(c));
  Result error;
  for (ExecStatusType status = PGRES_COMMAND_OK; status != PGRES_PIPELINE_SYNC;) {
    Result result = next();
    status = PQresultStatus(result.get());
    if (!error && result && status == PGRES_FATAL_ERROR) error = std::move(result);
    if (error && fatal(error.get())) raise(error.get(), sql);
  }
  sent(PQexitPipelineMode(c));
  if (refused) std::rethrow_exception(refused);
  if (error) raise(error.get(), sql);
}

void Session::allow(Millis patience) {
  run(fmt::format("SET LOCAL statement_timeout={0}; SET LOCAL lock_timeout={0}", patience.count()));
  patience_ = patience_for(patience);
}

void Session::give_way(Millis lock) {
  run(fmt::format("SET LOCAL lock_timeout={}", lock.count()));
  gives_way_ = true;
}

void Session::allow_usual() {
  gives_way_ = false;
  patience_ = patience_for(limits_.statement);
}

}  // namespace presetbridge::storage::postgres
