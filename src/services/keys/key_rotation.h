// Rotates keys at rest (spec 5.4), one bounded step a call: the caller or the node may end at any moment, and
// repeated calls go on. A step acts on the state that it finds, so nothing is stored of a rotation but the
// keys themselves.
//
// The vault's and the service's key: the new one stands in front of the key files of all nodes; then it is
// noted as used, and all nodes seal with it (node_keys.h); then every record under an old key is sealed anew;
// then, as a call of its own, the old key is given up. The issuer's and the links' keys lie in the database,
// and what they made is not stored: the new one makes, and the old one verifies until it is given up.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "identity/built_in_issuer.h"
#include "services/keys/key_watch.h"
#include "services/keys/link_keys.h"
#include "services/keys/sealing_pass.h"
#include "storage/stores/key_store.h"

namespace presetbridge::services {

enum class KeyKind { vault, service, issuer, links };
inline constexpr std::array kAllKeyKinds{KeyKind::vault, KeyKind::service, KeyKind::issuer, KeyKind::links};
std::string_view to_string(KeyKind kind);
std::optional<KeyKind> parse_key_kind(std::string_view name);
using KeyKinds = std::set<KeyKind>;

struct KeyStanding {
  KeyKind kind = KeyKind::vault;
  std::string newest;            // id of what seals or makes now
  std::vector<std::string> old;  // in use beside it
  std::string waiting;           // in front of this node's files, and not used yet; empty: none
};

struct TurnStep {
  enum class Phase {
    waiting,   // for nodes that have not the new keys
    sealing,   // records anew, or checking whether all are
    settling,  // until what was sealed with an old key just before is written
    done,      // all records were scanned; `counts` says how many could not be sealed anew
  };
  struct Node {
    std::string name;
    std::vector<std::string> lacks;  // "vault:ID"
  };
  Phase phase = Phase::done;
  std::vector<Node> nodes;     // waited for
  SealingPass::Counts counts;  // of the present scan, or the last one
};
std::string_view to_string(TurnStep::Phase phase);

struct DropStep {
  struct Kind {
    KeyKind kind = KeyKind::vault;
    std::vector<std::string> dropped;
    std::string reason;  // why an old one is kept; empty: none is
  };
  bool done = false;
  SealingPass::Counts counts;
  std::vector<Kind> kinds;  // when it is done
};

// Thread-safe. One call at a time: others get OVERLOADED. Other errors: those of KeyWatch and of
// SealingPass; NO_VAULT_KEY: this node opens no stored logins, so cannot seal them anew.
class KeyRotation {
 public:
  // Longer than any transaction waits and runs: afterwards nobody writes what was sealed before.
  static constexpr Millis kSettled{20'000};
  // ID tokens live an hour, with a minute of leeway (spec 7.1), from when another key signs.
  static constexpr Millis kTokensLive = std::chrono::hours{1} + std::chrono::minutes{2};

  struct Ports {
    SealingPass::Ports sealing;
    KeyWatch& watch;
    identity::BuiltInIssuer& issuer;
    LinkKeys& links;
  };
  struct Options {
    bool opens_logins = true;
    // How long clients keep what the service key sealed for them.
    Millis client_retention{0};
    Millis step{500};  // about how long a call lasts
    int batch = 100;   // SealingPass
  };
  KeyRotation(Ports ports, Options options) : ports_(ports), options_(options) {}

  Task<Expected<std::vector<KeyStanding>>> standing(Executor& executor);
  // `begin`: keys of the issuer and the links are made, where there is one alone, once all nodes have the new
  // keys of the files; and the scan of all records begins anew.
  Task<Expected<TurnStep>> turn(Executor& executor, KeyKinds kinds, bool begin);
  // Gives up old keys by which nothing is sealed. KEYS_IN_USE: something is, or may be yet; then none is
  // given up. `begin`: the scan of all records begins anew. `now`: gives up the issuer's and the links' keys
  // too, although their tokens and links are still valid.
  Task<Expected<DropStep>> drop(Executor& executor, KeyKinds kinds, bool begin, bool now);

 private:
  class Claim;  // of the call that works
  Task<Expected<TurnStep>> turn_once(Executor& executor, const KeyKinds& kinds, bool begin);
  Task<Expected<DropStep>> drop_once(Executor& executor, const KeyKinds& kinds, bool begin, bool now);
  // Notes new keys of the files as used. Returns the nodes that lack some; where there are any, none is noted.
  Task<Expected<std::vector<TurnStep::Node>>> activate(Executor& executor, const KeyKinds& kinds,
                                                       const KeyState& state);
  // Begins a new scan of the records of these kinds. `settled`: nobody seals with an old key any more.
  void begin_pass(const KeyKinds& kinds, const KeyState& state, bool reseals, bool settled);
  // Gives up the old keys of the files, once a scan found nothing under them.
  Task<Expected<std::vector<DropStep::Kind>>> give_up_used(Executor& executor, const KeyKinds& kinds);
  Task<Expected<DropStep::Kind>> give_up_issuer(Executor& executor, bool now);
  Task<Expected<DropStep::Kind>> give_up_links(Executor& executor, bool now);
  // Adds what is dropped by now to the step, and logs it.
  void add_to(DropStep& step, DropStep::Kind one) const;
  // Searches for a link that the older link key made and that is still valid; for about options_.step.
  Task<Expected<void>> scan_links(Executor& executor);

  const Ports ports_;
  const Options options_;
  std::mutex mutex_;  // guards busy_: whoever set it has all below for themselves
  bool busy_ = false;
  std::optional<SealingPass> pass_;
  bool pass_reseals_ = false;  // else it only counts, for drop()
  bool pass_settled_ = false;  // the pass began when nobody sealed with an old key any more
  // The scan of deliveries that are older than the newest link key.
  struct LinkScan {
    std::int64_t to = 0;   // the last id that was scanned
    std::int64_t end = 0;  // the first id that is not to be; 0: not known yet
    bool over = false;
    std::optional<DeliveryId> open;  // its link still opens it
  };
  LinkScan links_;
};

}  // namespace presetbridge::services
