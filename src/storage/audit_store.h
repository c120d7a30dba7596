// The audit log (spec 7.4): every change by a person or key. Written in the transaction of the change; never
// holds a secret or a customer's data.
#pragma once

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
};
void insert_audit(Tx& tx, IdSource& ids, const AuditEntry& entry);

struct AuditRow {
  std::int64_t id = 0;
  Timestamp at;
  std::string actor;
  std::string action;
  std::string target;
  std::string detail;
};
Page<AuditRow> list_audit(Tx& tx, AccountId account, const PageRequest& page);
// Retention (spec 7.4): at most `limit` rows older than `before`; returns how many went.
std::int64_t delete_audit(Tx& tx, Timestamp before, int limit);

}  // namespace presetbridge::storage
