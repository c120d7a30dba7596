// Which keys of the vault and of the service a node has, as it reports them to the others, and the rule by
// which all nodes come to seal with the same one (spec 5.4). Pure. Keys are named by their ids, in
// hexadecimal.
//
// A key file has the newest key first. One that nobody has sealed with yet stands in front and waits: the
// database says which keys are used (storage/stores/key_store.h), and the first of the file that is used
// seals. So a new key reaches all nodes before any of them seals with it, and all turn at one word.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/split.h"

namespace presetbridge::services {

struct KeysOfOneUse {
  std::vector<std::string> held;  // newest first
  std::string sealing;            // empty: not known yet
  bool operator==(const KeysOfOneUse&) const = default;

  bool holds(std::string_view id) const { return std::ranges::find(held, id) != held.end(); }
};

struct NodeKeys {
  KeysOfOneUse vault;  // that it can seal to and, where it opens logins, open with
  KeysOfOneUse service;
  bool operator==(const NodeKeys&) const = default;
};

// The key of the files to seal with. `present` is the one that seals now: it is not left for one
// behind it, as a late answer of the database would have it. Empty: none of them is used.
inline std::string sealing_key(const std::vector<std::string>& held, const std::vector<std::string>& used,
                               std::string_view present = {}) {
  for (const auto& id : held) {
    if (id == present || std::ranges::find(used, id) != used.end()) return id;
  }
  return {};
}

// Those used that the files have not.
inline std::vector<std::string> lacking_keys(const std::vector<std::string>& held,
                                             const std::vector<std::string>& used) {
  std::vector<std::string> lacking;
  for (const auto& id : used) {
    if (std::ranges::find(held, id) == held.end()) lacking.push_back(id);
  }
  return lacking;
}

// "vault:ID* vault:ID service:ID*", the one that seals marked; and back. Words of another form are passed
// over.
inline std::string to_text(const NodeKeys& keys) {
  std::string text;
  const auto add = [&](std::string_view use, const KeysOfOneUse& all) {
    for (const auto& id : all.held) {
      text.append(text.empty() ? "" : " ").append(use).append(":").append(id);
      if (id == all.sealing) text.append("*");
    }
  };
  add("vault", keys.vault);
  add("service", keys.service);
  return text;
}

inline NodeKeys parse_node_keys(std::string_view text) {
  NodeKeys keys;
  for (const auto& one : split(text, ' ')) {
    std::string_view word(one);
    const bool seals = word.ends_with('*');
    if (seals) word.remove_suffix(1);
    const auto colon = word.find(':');
    if (colon == std::string_view::npos) continue;
    auto* const use = word.substr(0, colon) == "vault"     ? &keys.vault
                      : word.substr(0, colon) == "service" ? &keys.service
                                                           : nullptr;
    if (use == nullptr) continue;
    use->held.emplace_back(word.substr(colon + 1));
    if (seals) use->sealing = use->held.back();
  }
  return keys;
}

}  // namespace presetbridge::services
