// Entries of the audit log (spec 7.4): who did something, from where, and what it changed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "identity/membership.h"
#include "identity/principal.h"
#include "storage/database.h"

namespace presetbridge::identity {

// A changed field with its old and new value; empty: none. No value is a secret.
struct ChangedField {
  std::string_view field;  // as the API names it
  std::string from;
  std::string to;
};

// The changes as JSON for an audit entry; empty: no value has changed.
std::string json_of(const std::vector<ChangedField>& changes);

struct Deed {
  std::string_view action;                 // "api_key.created": resource and past participle
  std::string target = {};                 // an id in text form; empty: the account itself
  std::string detail = {};                 // a few words on how, or with what result
  std::vector<ChangedField> changes = {};  // those with equal values are left out
};
void audit(storage::Tx& tx, IdSource& ids, const Principal& by, const Deed& deed);
// Writes an entry for a person who signs in and is no principal yet.
void audit(storage::Tx& tx, IdSource& ids, const Membership& member, const Origin& origin, const Deed& deed);

}  // namespace presetbridge::identity
