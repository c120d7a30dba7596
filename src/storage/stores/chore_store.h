// Chores: what has to be done to many deliveries of an account, in small transactions, surviving a crash
// (spec 3.5, 3.6, 3.11).
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "storage/database.h"

namespace presetbridge::storage {

enum class ChoreKind {
  reroute,                   // point queued and waiting deliveries at the account's cloud account
  fail_invalid_credentials,  // the platform refused the login
  fail_missing_credentials,  // the login was deleted
  fail_unavailable,          // the platform has been away for 72 h
  resume_credentials,
  resume_credits,
  resume_unavailable,
  resume_mappings,  // mappings were saved: what failed as preset_not_found may owe other files now
};

std::string_view to_string(ChoreKind kind);

struct Chore {
  AccountId account;
  ChoreKind kind = ChoreKind::reroute;
  DeliveryId done_to;
  std::int64_t generation = 0;  // another one each time that it begins from the beginning
};

// From the beginning, also if the chore was under way.
void add_chore(Tx& tx, AccountId account, ChoreKind kind);
// The same, but a chore under way goes on from where it is.
void continue_chore(Tx& tx, AccountId account, ChoreKind kind);
std::vector<Chore> find_chores(Tx& tx, int limit);
// Transactions under way, of whatever node, that have locked or written an order or a delivery: among them
// are all that have read an account's login or credits and not yet committed what deliveries they made of it,
// because they lock or write one before they read that. Each has another name. None with SQLite, where one
// writes at a time.
std::set<std::string> order_writers(Tx& tx);
// Locked; nothing if another node has finished it.
bool lock_chore(Tx& tx, Chore& chore);
void advance_chore(Tx& tx, const Chore& chore);
void end_chore(Tx& tx, const Chore& chore);

}  // namespace presetbridge::storage
