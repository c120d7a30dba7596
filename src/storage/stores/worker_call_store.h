// Calls of nodes to worker nodes through the database, and the answers (services/vault/worker_calls.h).
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
  AccountId account;                    // not of files_of_session
  std::int64_t login_version = 0;       // not of files_of_session
  std::vector<std::byte> session_hash;  // of files_of_session: the hash of its token
  Timestamp expires_at;                 // from then on nobody waits for the answer
};

void insert_worker_call(Tx& tx, const WorkerCall& call);
// Whether take_worker_calls() has anything to do.
bool any_worker_calls(Tx& tx, Timestamp now);
// Takes at most `limit` calls that nobody has taken, oldest first; nobody else gets them. Deletes calls
// that have expired, taken or not.
std::vector<WorkerCall> take_worker_calls(Tx& tx, Timestamp now, int limit);
// Nothing happens where the call was deleted.
void answer_worker_call(Tx& tx, std::int64_t id, std::string_view answer);
// Nothing: not answered yet.
std::optional<std::string> find_worker_answer(Tx& tx, std::int64_t id);
void delete_worker_call(Tx& tx, std::int64_t id);

}  // namespace presetbridge::storage
