// The numbers of nodes that share a database: each writes one into the ids that it makes (base/ids.h), so no
// two may have the same at one time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "storage/database.h"

namespace presetbridge::storage {

inline constexpr int kMostNodes = 1'024;

// A number that nobody has, for `owner`, until `until`: one never taken while there are any, then the one
// that has been free for longest. Nothing if all are taken.
std::optional<int> take_node_number(Tx& tx, std::string_view owner, Timestamp until);
// False: the number is another's by now, and no id may be made with it any more.
// `roles`, what the node does, comma-separated, is kept beside it with the time, for those who count nodes.
bool keep_node_number(Tx& tx, int number, std::string_view owner, Timestamp until,
                      std::string_view roles = {});
// Others may take it from now on.
void give_node_number_back(Tx& tx, int number, std::string_view owner);

// Which keys the node holds, as it writes them, and where its files are. Nothing happens where that is known,
// or the number is another's.
void note_node_keys(Tx& tx, int number, std::string_view owner, std::string_view keys,
                    std::string_view place);
struct SeenNode {
  int number = 0;
  std::string roles;
  std::string keys;  // empty: of a program that tells none, or not yet
  Timestamp keys_at;
  std::string place;
};
// Nodes that were there at `since` or later, by number. At most kMostNodes.
std::vector<SeenNode> seen_nodes(Tx& tx, Timestamp since);

}  // namespace presetbridge::storage
