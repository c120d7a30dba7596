#include "identity/audit.h"

#include <boost/json.hpp>

#include "domain/delivery.h"
#include "storage/stores/audit_store.h"

namespace presetbridge::identity {
namespace {

void write(storage::Tx& tx, IdSource& ids, AccountId account, const domain::Actor& actor,
           const Origin& origin, const Deed& deed) {
  const auto who = to_string(actor);
  const auto changes = json_of(deed.changes);
  storage::insert_audit(tx, ids,
                        {.account = account,
                         .actor = who,
                         .action = deed.action,
                         .target = deed.target,
                         .detail = deed.detail,
                         .changes = changes,
                         .network = origin.network,
                         .request_id = origin.request_id});
}

}  // namespace

std::string json_of(const std::vector<ChangedField>& changes) {
  boost::json::array out;
  for (const auto& [field, from, to] : changes) {
    if (from != to) out.push_back(boost::json::object{{"field", field}, {"from", from}, {"to", to}});
  }
  return out.empty() ? std::string() : boost::json::serialize(out);
}

void audit(storage::Tx& tx, IdSource& ids, const Principal& by, const Deed& deed) {
  write(tx, ids, by.account, by.actor(), by.origin, deed);
}

void audit(storage::Tx& tx, IdSource& ids, const Membership& member, const Origin& origin, const Deed& deed) {
  write(tx, ids, member.account, domain::Actor::user(member.user), origin, deed);
}

}  // namespace presetbridge::identity
