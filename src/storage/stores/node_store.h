// The numbers of nodes that share a database. A node writes its number into the ids that it makes
// (base/ids.h), so no two nodes may have one number at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "storage/database.h"

namespace presetbridge::storage {

inline constexpr int kMostNodes = 1'024;

// Takes a free number for `owner` until `until`: one that was never taken while there are any, then the one
// that has been free for longest. Nothing if all are taken.
std::optional<int> take_node_number(Tx& tx, std::string_view owner, Timestamp until);
// Extends the owner's hold to `until`. False: the number is another's by now, and no id may be made with it
// any more. `roles`, which the node plays, comma-separated, are stored with the time, for the count of
// nodes.
bool keep_node_number(Tx& tx, int number, std::string_view owner, Timestamp until,
                      std::string_view roles = {});
// Others may take the number from now on.
void give_node_number_back(Tx& tx, int number, std::string_view owner);

// Notes the keys that the node holds, in its own notation, and the machine and folder of their files.
// Nothing happens where these keys are noted already, or the number is another's.
void note_node_keys(Tx& tx, int number, std::string_view owner, std::string_view keys,
                    std::string_view place);
struct SeenNode {
  int number = 0;
  std::string roles;
  std::string keys;  // empty: its process has noted none, or not yet
  Timestamp keys_at;
  std::string place;
};
// Nodes that were seen at `since` or later, by number. At most kMostNodes.
std::vector<SeenNode> seen_nodes(Tx& tx, Timestamp since);

}  // namespace presetbridge::storage
