// The audit log (spec 7.4): every change by a person or key. An entry is written in the transaction of the
// change, and never holds a secret or a customer's data.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"
#include "storage/database.h"
#include "storage/page.h"

namespace presetbridge::storage {

struct AuditEntry {
  AccountId account;
  std::string_view actor;   // domain::to_string(Actor)
  std::string_view action;  // "api_key.created": resource and past participle
  std::string_view target;  // an id in text form; empty for the account itself
  std::string_view detail;  // the outcome, in a few words
  // JSON, [{"field","from","to"}], of values that are no secret; empty: nothing changed, or nothing to
  // show.
  std::string_view changes = {};
  std::string_view network = {};     // of the client; empty: nobody's request
  std::string_view request_id = {};  // likewise
  std::string_view actor_name = {};  // of the operator: the user of the machine
};
// Returns the entry's id.
std::int64_t insert_audit(Tx& tx, IdSource& ids, const AuditEntry& entry);

struct AuditRow {
  std::int64_t id = 0;
  Timestamp at;
  std::string actor;
  std::string action;
  std::string target;
  std::string detail;
  std::string changes;
  std::string network;
  std::string request_id;
  // The operator's as the entry has it; the present name of any other person or key. Empty: there is none
  // any more.
  std::string actor_name;
};
struct AuditFilter {
  std::string actor;   // exactly; empty: all, as of the others
  std::string action;  // exactly, or all that begin with it where it ends with a dot
  std::string target;  // exactly
  // Half open: at or after `from`, before `to`.
  std::optional<Timestamp> from;
  std::optional<Timestamp> to;
};
// Newest first. A page searches so many entries at most: it may be short and still have a next one.
inline constexpr int kAuditScanLimit = 5'000;
Page<AuditRow> list_audit(Tx& tx, AccountId account, const PageRequest& page, const AuditFilter& filter = {});
// Retention (spec 7.4): deletes at most `limit` rows older than `before`; returns how many.
std::int64_t delete_audit(Tx& tx, Timestamp before, int limit);

}  // namespace presetbridge::storage
