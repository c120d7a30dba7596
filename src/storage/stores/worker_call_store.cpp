#include "storage/stores/worker_call_store.h"

#include <algorithm>
#include <array>

namespace presetbridge::storage {
namespace {

constexpr std::array<std::string_view, 3> kKinds = {"files_of_login", "files_of_session", "check_login"};

constexpr Sql kInsert{
    "INSERT INTO worker_calls (id, kind, account_id, login_version, session_hash, expires_at) VALUES ($1, "
    "$2, "
    "$3, $4, $5, $6)"};
constexpr Sql kAnyWaiting{"SELECT id FROM worker_calls WHERE taken = 0 LIMIT 1"};
constexpr Sql kAnyExpired{"SELECT id FROM worker_calls WHERE expires_at <= $1 LIMIT 1"};
constexpr Sql kExpired{"SELECT id FROM worker_calls WHERE expires_at <= $1 ORDER BY expires_at <lock>"};
constexpr Sql kWaiting{
    "SELECT id, kind, account_id, login_version, session_hash, expires_at FROM worker_calls WHERE taken = 0 "
    "ORDER BY id LIMIT $1 <lock>"};
constexpr Sql kTake{"UPDATE worker_calls SET taken = 1 WHERE id = $1"};
constexpr Sql kAnswer{"UPDATE worker_calls SET answer = $2 WHERE id = $1"};
constexpr Sql kFindAnswer{"SELECT answer FROM worker_calls WHERE id = $1 AND answer IS NOT NULL"};
constexpr Sql kDelete{"DELETE FROM worker_calls WHERE id = $1"};

// Returns nothing for a kind that only a newer program knows; that program answers it.
std::optional<WorkerCall> read_call(const Row& r) {
  const auto* const kind = std::ranges::find(kKinds, r.text(1));
  if (kind == kKinds.end()) return std::nullopt;
  WorkerCall call{.id = r.int64(0),
                  .kind = static_cast<WorkerCallKind>(kind - kKinds.begin()),
                  .account = r.id_or_none<AccountId>(2),
                  .login_version = r.opt_int64(3).value_or(0),
                  .expires_at = r.time(5)};
  if (!r.is_null(4)) {
    const Blob hash = r.bytes(4);
    call.session_hash.assign(hash.begin(), hash.end());
  }
  return call;
}

}  // namespace

void insert_worker_call(Tx& tx, const WorkerCall& call) {
  const bool of_session = call.kind == WorkerCallKind::files_of_session;
  tx.exec(kInsert, call.id, kKinds[static_cast<std::size_t>(call.kind)],
          of_session ? Param(nullptr) : Param(call.account),
          of_session ? Param(nullptr) : Param(call.login_version),
          of_session ? Param(Blob(call.session_hash)) : Param(nullptr), call.expires_at);
}

bool any_worker_calls(Tx& tx, Timestamp now) {
  const auto found = [](const Row&) { return true; };
  return tx.one(kAnyWaiting, found) || tx.one(kAnyExpired, now, found);
}

std::vector<WorkerCall> take_worker_calls(Tx& tx, Timestamp now, int limit) {
  std::vector<std::int64_t> expired;
  tx.query(kExpired, now, [&](const Row& r) { expired.push_back(r.int64(0)); });
  for (const auto id : expired) tx.exec(kDelete, id);
  std::vector<WorkerCall> calls;
  tx.query(kWaiting, limit, [&](const Row& r) {
    if (auto call = read_call(r)) calls.push_back(std::move(*call));
  });
  for (const auto& call : calls) tx.exec(kTake, call.id);
  return calls;
}

void answer_worker_call(Tx& tx, std::int64_t id, std::string_view answer) {
  tx.exec(kAnswer, id, answer);
}
std::optional<std::string> find_worker_answer(Tx& tx, std::int64_t id) {
  return tx.one(kFindAnswer, id, [](const Row& r) { return r.string(0); });
}
void delete_worker_call(Tx& tx, std::int64_t id) {
  tx.exec(kDelete, id);
}

}  // namespace presetbridge::storage
