// Entries of the audit log (spec 7.4) for what somebody asked for: who, from where, and what changed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "identity/membership.h"
#include "identity/principal.h"
#include "storage/database.h"

namespace presetbridge::identity {

// A changed field with its old and new value; never a secret. Empty: none.
struct ChangedField {
  std::string_view field;  // as the API names it
  std::string from;
  std::string to;
};

// As audit entries hold them; empty: nothing has changed.
std::string json_of(const std::vector<ChangedField>& changes);

struct Deed {
  std::string_view action;                 // "api_key.created": resource and past participle
  std::string target = {};                 // an id in text form; empty: the account itself
  std::string detail = {};                 // a few words: what became of it
  std::vector<ChangedField> changes = {};  // those that are the same are left out
};
void audit(storage::Tx& tx, IdSource& ids, const Principal& by, const Deed& deed);
// Writes an entry for a person who signs in and is no principal yet.
void audit(storage::Tx& tx, IdSource& ids, const Membership& member, const Origin& origin, const Deed& deed);

}  // namespace presetbridge::identity
