// What nodes ask of worker nodes through the database, and the answers (services/vault/worker_calls.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "storage/database.h"

namespace presetbridge::storage {

enum class WorkerCallKind { files_of_login, files_of_session, check_login };

struct WorkerCall {
  std::int64_t id = 0;
  WorkerCallKind kind = WorkerCallKind::files_of_login;
  AccountId account;                    // but for files_of_session
  std::int64_t login_version = 0;       // likewise
  std::vector<std::byte> session_hash;  // of files_of_session: of its token
  Timestamp expires_at;                 // nobody waits for the answer any more
};

void insert_worker_call(Tx& tx, const WorkerCall& call);
// Whether take_worker_calls() has anything to do.
bool any_worker_calls(Tx& tx, Timestamp now);
// At most `limit` that nobody has taken, oldest first; nobody else gets them. Those that have expired are
// deleted, taken or not.
std::vector<WorkerCall> take_worker_calls(Tx& tx, Timestamp now, int limit);
// Nothing happens where nobody waits any more.
void answer_worker_call(Tx& tx, std::int64_t id, std::string_view answer);
// Nothing: not answered yet.
std::optional<std::string> find_worker_answer(Tx& tx, std::int64_t id);
void delete_worker_call(Tx& tx, std::int64_t id);

}  // namespace presetbridge::storage
