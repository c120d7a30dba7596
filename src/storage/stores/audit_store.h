// The audit log (spec 7.4): every change by a person or key. Written in the transaction of the change; never
// holds a secret or a customer's data.
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
  std::string_view detail;  // a few words: what became of it
  // JSON, [{"field","from","to"}], of values that are no secret; empty: it is no change, or not one to tell.
  std::string_view changes = {};
  std::string_view network = {};     // of the client; empty: nobody's request
  std::string_view request_id = {};  // likewise
  std::string_view actor_name = {};  // of the operator: who it was at the machine
};
// Its id.
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
  // Of the operator as it was told; of others what the person or the key is called now. Empty: nobody is
  // left.
  std::string actor_name;
};
struct AuditFilter {
  std::string actor;   // exactly; empty: all, as of the others
  std::string action;  // exactly, or all that begin with it where it ends with a dot
  std::string target;  // exactly
  // From there on, and to before there.
  std::optional<Timestamp> from;
  std::optional<Timestamp> to;
};
// Newest first. So many entries are looked through for a page, which may be short and have a next one.
inline constexpr int kAuditLookedThrough = 5'000;
Page<AuditRow> list_audit(Tx& tx, AccountId account, const PageRequest& page, const AuditFilter& filter = {});
// Retention (spec 7.4): at most `limit` rows older than `before`; returns how many went.
std::int64_t delete_audit(Tx& tx, Timestamp before, int limit);

}  // namespace presetbridge::storage
