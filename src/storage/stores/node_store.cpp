#include "storage/stores/node_store.h"

#include <utility>

namespace presetbridge::storage {
namespace {

constexpr Sql kCount{"SELECT count(*) FROM nodes"};
constexpr Sql kTakeNew{
    "INSERT INTO nodes (number, owner, expires_at) VALUES ($1, $2, $3) ON CONFLICT (number) DO NOTHING"};
constexpr Sql kLongestFree{
    "SELECT number FROM nodes WHERE expires_at <= $1 ORDER BY expires_at, number LIMIT 1 <lock>"};
constexpr Sql kTakeFree{"UPDATE nodes SET owner = $2, expires_at = $3 WHERE number = $1"};
constexpr Sql kKeep{
    "UPDATE nodes SET expires_at = $3, seen_at = $4, roles = $5 WHERE number = $1 AND owner = $2"};
constexpr Sql kGiveBack{"UPDATE nodes SET expires_at = $3, seen_at = 0 WHERE number = $1 AND owner = $2"};
constexpr Sql kNoteKeys{
    "UPDATE nodes SET keys = $3, keys_at = $4, keys_by = $2, place = $5 WHERE number = $1 AND owner = $2 AND "
    "(keys <> $3 OR keys_by <> $2)"};
constexpr Sql kSeen{
    "SELECT number, roles, keys, keys_at, place, owner, keys_by FROM nodes WHERE seen_at >= $1 ORDER BY "
    "number"};

}  // namespace

std::optional<int> take_node_number(Tx& tx, std::string_view owner, Timestamp until) {
  auto number =
      static_cast<int>(tx.one(kCount, [](const Row& r) { return r.int64(0); }).value());  // none is deleted
  for (; number < kMostNodes; ++number) {
    // Where another node takes it at this moment, the next number may be free.
    if (tx.exec(kTakeNew, number, owner, until) == 1) return number;
  }
  const auto free = tx.one(kLongestFree, tx.now(), [](const Row& r) { return static_cast<int>(r.int64(0)); });
  if (free) tx.exec(kTakeFree, *free, owner, until);
  return free;
}

bool keep_node_number(Tx& tx, int number, std::string_view owner, Timestamp until, std::string_view roles) {
  return tx.exec(kKeep, number, owner, until, tx.now(), roles) == 1;
}

void give_node_number_back(Tx& tx, int number, std::string_view owner) {
  tx.exec(kGiveBack, number, owner, tx.now());
}

void note_node_keys(Tx& tx, int number, std::string_view owner, std::string_view keys,
                    std::string_view place) {
  tx.exec(kNoteKeys, number, owner, keys, tx.now(), place);
}

std::vector<SeenNode> seen_nodes(Tx& tx, Timestamp since) {
  std::vector<SeenNode> nodes;
  tx.query(kSeen, since, [&](const Row& r) {
    SeenNode node{.number = static_cast<int>(r.int64(0)), .roles = r.string(1)};
    if (r.text(5) == r.text(6)) {
      node.keys = r.string(2);
      node.keys_at = r.time(3);
      node.place = r.string(4);
    }
    nodes.push_back(std::move(node));
  });
  return nodes;
}

}  // namespace presetbridge::storage
