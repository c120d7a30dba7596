#include "services/keys/key_rotation.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/id_time.h"
#include "domain/names.h"
#include "storage/stores/identity_store.h"
#include "storage/stores/link_key_store.h"

namespace presetbridge::services {
namespace {

using storage::KeyUse;
using storage::Tx;

constexpr std::array<std::string_view, 4> kKindNames{"vault", "service", "issuer", "links"};
constexpr std::array<std::string_view, 4> kPhaseNames{"waiting", "sealing", "settling", "done"};

bool of_files(KeyKind kind) {
  return kind == KeyKind::vault || kind == KeyKind::service;
}
KeyUse use_of(KeyKind kind) {
  return kind == KeyKind::vault ? KeyUse::vault : KeyUse::service;
}
const KeysOfOneUse& keys_of(KeyKind kind, const NodeKeys& keys) {
  return kind == KeyKind::vault ? keys.vault : keys.service;
}
const std::vector<std::string>& used_of(KeyKind kind, const KeyState& state) {
  return kind == KeyKind::vault ? state.used_vault : state.used_service;
}

bool is_used(KeyKind kind, const KeyState& state, const std::string& id) {
  return std::ranges::find(used_of(kind, state), id) != used_of(kind, state).end();
}

// The kinds of these that have an old key in use.
KeyKinds turning(const KeyKinds& kinds, const KeyState& state) {
  KeyKinds found;
  for (const auto kind : kinds) {
    if (of_files(kind) && used_of(kind, state).size() > 1) found.insert(kind);
  }
  return found;
}

std::string name_of(const KeysOfNode& node) {
  if (!node.place.empty()) return node.place;
  return fmt::format("node {}{}", node.number, node.roles.empty() ? "" : " (" + node.roles + ")");
}

// The nodes that lack some of the new keys, and which keys each lacks.
std::vector<TurnStep::Node> lacking(const std::vector<KeysOfNode>& nodes, const KeyKinds& kinds,
                                    const NodeKeys& own) {
  std::vector<TurnStep::Node> found;
  for (const auto& node : nodes) {
    TurnStep::Node one{name_of(node), {}};
    for (const auto kind : kinds | std::views::filter(of_files)) {
      const auto& newest = keys_of(kind, own).held.front();
      if (!keys_of(kind, node.keys).holds(newest))
        one.lacks.push_back(fmt::format("{}:{}", to_string(kind), newest));
    }
    if (!one.lacks.empty()) found.push_back(std::move(one));
  }
  return found;
}

// Whether all nodes seal with this node's key of the kind, and have done so for long enough that all that they
// sealed before is written.
bool settled(KeyKind kind, const std::vector<KeysOfNode>& nodes, const NodeKeys& own, Timestamp now) {
  return std::ranges::all_of(nodes, [&](const auto& node) {
    return keys_of(kind, node.keys).sealing == keys_of(kind, own).sealing &&
           node.since + KeyRotation::kSettled <= now;
  });
}
bool settled(const KeyKinds& kinds, const KeyState& state) {
  return std::ranges::all_of(kinds,
                             [&](KeyKind kind) { return settled(kind, state.nodes, state.own, state.now); });
}

// Longer than any node takes to read a new link key, with which it then makes links, and than the clocks of
// nodes, from which ids come, differ.
constexpr Millis kLinkKeyRead = std::chrono::minutes{10};

std::unexpected<Error> in_use(std::string what) {
  return fail("KEYS_IN_USE", std::move(what) + " No key was dropped.");
}

}  // namespace

std::string_view to_string(KeyKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

std::optional<KeyKind> parse_key_kind(std::string_view name) {
  return domain::parse_name<KeyKind>(kKindNames, name);
}

std::string_view to_string(TurnStep::Phase phase) {
  return kPhaseNames[static_cast<std::size_t>(phase)];
}

// While a claim that was granted lives, all others are refused.
class KeyRotation::Claim {
 public:
  explicit Claim(KeyRotation& all) : all_(all) {
    const std::scoped_lock lock(all_.mutex_);
    granted_ = !std::exchange(all_.busy_, true);
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  ~Claim() {
    if (!granted_) return;
    const std::scoped_lock lock(all_.mutex_);
    all_.busy_ = false;
  }
  // Why the call may not work on the keys.
  Expected<void> check() const {
    if (!granted_) return fail("OVERLOADED", "Another command works on the keys at this node.");
    if (!all_.options_.opens_logins)
      return fail("NO_VAULT_KEY",
                  "This node opens no stored logins: run the command on a node with the role worker.");
    return {};
  }

 private:
  KeyRotation& all_;
  bool granted_;
};

Task<Expected<std::vector<KeyStanding>>> KeyRotation::standing(Executor& executor) {
  const auto state = co_await ports_.watch.poll(executor);
  if (!state) co_return std::unexpected(state.error());
  struct Stored {
    std::vector<storage::IssuerKeyRow> issuer;
    std::vector<storage::LinkKeyRow> links;
  };
  const auto stored = co_await ports_.sealing.async_db.read(
      executor, [](Tx& tx) { return Stored{storage::issuer_keys(tx), storage::find_link_keys(tx)}; });
  if (!stored) co_return std::unexpected(stored.error());
  std::vector<KeyStanding> all;
  for (const auto kind : kAllKeyKinds) {
    KeyStanding one{.kind = kind};
    std::vector<std::string> ids;
    if (kind == KeyKind::issuer) {
      for (const auto& row : stored->issuer) ids.push_back(row.kid);
    } else if (kind == KeyKind::links) {
      for (const auto& row : stored->links) ids.push_back(std::to_string(row.id));
    } else {
      const auto& keys = keys_of(kind, state->own);
      ids = {keys.sealing};
      for (const auto& id : used_of(kind, *state)) {
        if (id != keys.sealing) ids.push_back(id);
      }
      if (!is_used(kind, *state, keys.held.front())) one.waiting = keys.held.front();
    }
    one.newest = ids.front();
    one.old.assign(ids.begin() + 1, ids.end());
    all.push_back(std::move(one));
  }
  co_return all;
}

Task<Expected<TurnStep>> KeyRotation::turn(Executor& executor, KeyKinds kinds, bool begin) {
  const Claim claim(*this);
  if (auto allowed = claim.check(); !allowed) co_return std::unexpected(allowed.error());
  co_return co_await turn_once(executor, kinds, begin);
}

Task<Expected<DropStep>> KeyRotation::drop(Executor& executor, KeyKinds kinds, bool begin, bool now) {
  const Claim claim(*this);
  if (auto allowed = claim.check(); !allowed) co_return std::unexpected(allowed.error());
  co_return co_await drop_once(executor, kinds, begin, now);
}

Task<Expected<std::vector<TurnStep::Node>>> KeyRotation::activate(Executor& executor, const KeyKinds& kinds,
                                                                  const KeyState& state) {
  using Nodes = std::vector<TurnStep::Node>;
  KeyKinds fresh;
  for (const auto kind : kinds | std::views::filter(of_files)) {
    if (!is_used(kind, state, keys_of(kind, state.own).held.front())) fresh.insert(kind);
  }
  if (fresh.empty()) co_return Nodes();
  if (auto nodes = lacking(state.nodes, fresh, state.own); !nodes.empty()) co_return std::move(nodes);
  // A node that starts at this moment reads the keys under this lock too.
  auto refused = co_await ports_.sealing.async_db.write(executor, [&](Tx& tx) {
    tx.lock_schema();
    auto nodes = lacking(nodes_at_work(tx), fresh, state.own);
    if (nodes.empty()) {
      for (const auto kind : fresh) note_used_key(tx, use_of(kind), keys_of(kind, state.own).held.front());
    }
    return nodes;
  });
  if (!refused) co_return std::unexpected(refused.error());
  if (!refused->empty()) co_return std::move(*refused);
  for (const auto kind : fresh) {
    ports_.sealing.log.info("a new key is used",
                            {{"use", to_string(kind)}, {"key", keys_of(kind, state.own).held.front()}});
  }
  co_return Nodes();
}

void KeyRotation::begin_pass(const KeyKinds& kinds, const KeyState& state, bool reseals, bool settled) {
  pass_.emplace(ports_.sealing,
                SealingPass::Options{.vault = kinds.contains(KeyKind::vault),
                                     .service = kinds.contains(KeyKind::service),
                                     .reseals = reseals,
                                     .batch = options_.batch},
                state.own);
  pass_reseals_ = reseals;
  pass_settled_ = settled;
}

Task<Expected<TurnStep>> KeyRotation::turn_once(Executor& executor, const KeyKinds& kinds, bool begin) {
  auto state = co_await ports_.watch.poll(executor);
  if (!state) co_return std::unexpected(state.error());
  auto waited_for = co_await activate(executor, kinds, *state);
  if (!waited_for) co_return std::unexpected(waited_for.error());
  if (!waited_for->empty())
    co_return TurnStep{.phase = TurnStep::Phase::waiting, .nodes = std::move(*waited_for), .counts = {}};
  if (begin) {
    pass_.reset();
    if (kinds.contains(KeyKind::issuer)) {
      if (auto made = co_await ports_.issuer.add_key(executor); !made)
        co_return std::unexpected(made.error());
    }
    if (kinds.contains(KeyKind::links)) {
      if (auto made = co_await ports_.links.add_key(executor); !made) co_return std::unexpected(made.error());
    }
    if (auto read = co_await ports_.links.reload(executor); !read) co_return std::unexpected(read.error());
    state = co_await ports_.watch.poll(executor);
    if (!state) co_return std::unexpected(state.error());
  }
  const auto old = turning(kinds, *state);
  if (old.empty()) co_return TurnStep{};
  const bool all_settled = settled(old, *state);
  const bool clean = pass_ && pass_settled_ && pass_->counts().left() == 0;
  if (!pass_ || !pass_reseals_ || (pass_->over() && all_settled && !clean))
    begin_pass(old, *state, true, all_settled);
  if (!pass_->over()) {
    if (auto gone = co_await pass_->go_on(executor, options_.step); !gone)
      co_return std::unexpected(gone.error());
  }
  TurnStep step{.phase = TurnStep::Phase::sealing, .nodes = {}, .counts = pass_->counts()};
  if (!pass_->over()) co_return step;
  const auto show = [&](KeyKind kind, std::int64_t left) {
    if (old.contains(kind))
      ports_.sealing.metrics.set("presetbridge_keys_left", static_cast<double>(left),
                                 {{"key", to_string(kind)}});
  };
  show(KeyKind::vault, step.counts.left_vault);
  show(KeyKind::service, step.counts.left_service);
  step.phase = !pass_settled_ ? TurnStep::Phase::settling : TurnStep::Phase::done;
  co_return step;
}

Task<Expected<std::vector<DropStep::Kind>>> KeyRotation::give_up_used(Executor& executor,
                                                                      const KeyKinds& kinds) {
  const auto state = co_await ports_.watch.poll(executor);
  if (!state) co_return std::unexpected(state.error());
  co_return co_await ports_.sealing.async_db.write(
      executor, [&](Tx& tx) -> Expected<std::vector<DropStep::Kind>> {
        tx.lock_schema();
        std::vector<DropStep::Kind> all;
        auto nodes = nodes_at_work(tx);
        if (nodes.empty()) nodes = state->nodes;
        for (const auto kind : kinds) {
          const auto& sealing = keys_of(kind, state->own).sealing;
          if (!settled(kind, nodes, state->own, tx.now()))
            throw in_use("A node has come that may still seal with an old key.").error();
          DropStep::Kind one{.kind = kind};
          for (const auto& id : storage::used_keys(tx, use_of(kind))) {
            if (id == sealing) continue;
            storage::forget_used_key(tx, use_of(kind), id);
            one.dropped.push_back(id);
          }
          all.push_back(std::move(one));
        }
        return all;
      });
}

Task<Expected<DropStep::Kind>> KeyRotation::give_up_issuer(Executor& executor, bool now) {
  auto kind = co_await ports_.sealing.async_db.write(executor, [now](Tx& tx) {
    tx.lock_schema();
    DropStep::Kind one{.kind = KeyKind::issuer};
    const auto rows = storage::issuer_keys(tx);
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const auto until = rows[i - 1].created_at + identity::kSigningKeyKnown + kTokensLive;
      if (tx.now() < until && !now) {
        one.reason = fmt::format("ID tokens that it signed are valid until {}", to_iso8601(until));
        break;
      }
      storage::delete_issuer_key(tx, rows[i].kid);
      one.dropped.push_back(rows[i].kid);
    }
    return one;
  });
  if (!kind) co_return std::unexpected(kind.error());
  if (auto read = co_await ports_.issuer.reload_keys(executor); !read)
    co_return std::unexpected(read.error());
  co_return std::move(*kind);
}

Task<Expected<void>> KeyRotation::scan_links(Executor& executor) {
  constexpr int kBatch = 1'000;
  const Stopwatch watch(ports_.sealing.clock);
  while (!links_.over) {
    auto scan = co_await ports_.sealing.async_db.read(executor, [before = links_](Tx& tx) {
      auto scan = before;
      if (scan.end == 0) {
        const auto keys = storage::find_link_keys(tx);
        // Nothing is scanned where there is one key alone, or while the newer one is too young to end the older.
        scan.over = keys.size() < 2 || tx.now() < keys.front().created_at + kBuyerLinkLife;
        if (!scan.over) scan.end = first_id_at(keys.front().created_at + kLinkKeyRead);
      }
      if (scan.over) return scan;
      const auto rows = storage::list_linked_deliveries(tx, scan.to, scan.end, kBatch);
      for (const auto& row : rows) {
        if (!is_link_over(row.status, row.ended, tx.now())) scan.open = row.id;
        if (scan.open) break;
      }
      if (!rows.empty()) scan.to = rows.back().id.value;
      scan.over = scan.open || std::ssize(rows) < kBatch;
      return scan;
    });
    if (!scan) co_return std::unexpected(scan.error());
    links_ = *scan;
    if (watch.elapsed() >= options_.step) break;
  }
  co_return Expected<void>{};
}

Task<Expected<DropStep::Kind>> KeyRotation::give_up_links(Executor& executor, bool now) {
  const auto open = links_.open;
  const bool searched = now || links_.end > 0;
  auto kind = co_await ports_.sealing.async_db.write(executor, [now, open, searched](Tx& tx) {
    tx.lock_schema();
    DropStep::Kind one{.kind = KeyKind::links};
    const auto rows = storage::find_link_keys(tx);
    if (rows.size() < 2) return one;
    const auto until = rows.front().created_at + kBuyerLinkLife;
    if (!searched || (tx.now() < until && !now)) {
      one.reason = fmt::format("links that it made open until {}", to_iso8601(until));
      return one;
    }
    if (open && !now) {
      one.reason = fmt::format("a link that it made still opens {}; --now ends such links", to_string(*open));
      return one;
    }
    storage::delete_link_key(tx, rows[1].id);
    one.dropped.push_back(std::to_string(rows[1].id));
    return one;
  });
  if (!kind) co_return std::unexpected(kind.error());
  if (auto read = co_await ports_.links.reload(executor); !read) co_return std::unexpected(read.error());
  co_return std::move(*kind);
}

void KeyRotation::add_to(DropStep& step, DropStep::Kind one) const {
  for (const auto& id : one.dropped)
    ports_.sealing.log.info("an old key was dropped", {{"use", to_string(one.kind)}, {"key", id}});
  step.kinds.push_back(std::move(one));
}

Task<Expected<DropStep>> KeyRotation::drop_once(Executor& executor, const KeyKinds& kinds, bool begin,
                                                bool now) {
  const auto state = co_await ports_.watch.poll(executor);
  if (!state) co_return std::unexpected(state.error());
  if (begin) {
    pass_.reset();
    links_ = {};
  }
  const auto old = turning(kinds, *state);
  DropStep step;
  if (kinds.contains(KeyKind::links) && !now) {
    if (auto scanned = co_await scan_links(executor); !scanned) co_return std::unexpected(scanned.error());
    if (!links_.over) co_return step;
  }
  if (!old.empty()) {
    if (!settled(old, *state))
      co_return in_use(
          "Not all nodes have sealed with the new keys alone for the last 20 seconds: run "
          "`presetbridge vault rotate` until it is done.");
    if (old.contains(KeyKind::service)) {
      const auto since = co_await ports_.sealing.async_db.read(executor, [&](Tx& tx) {
        return storage::key_used_since(tx, KeyUse::service, state->own.service.sealing);
      });
      if (!since) co_return std::unexpected(since.error());
      if (*since && state->now < **since + options_.client_retention)
        co_return in_use(
            fmt::format("Sign-ins by identity providers that were begun under the service's old "
                        "key last until {}.",
                        to_iso8601(**since + options_.client_retention)));
    }
    if (!pass_ || pass_reseals_) begin_pass(old, *state, false, true);
    if (auto gone = co_await pass_->go_on(executor, options_.step); !gone)
      co_return std::unexpected(gone.error());
    step.counts = pass_->counts();
    if (!pass_->over()) co_return step;
    pass_.reset();
    if (step.counts.left() > 0)
      co_return in_use(fmt::format(
          "{} of {} records are still under an old key (vault {}, service {}): run "
          "`presetbridge vault rotate` until it is done.",
          step.counts.left(), step.counts.read, step.counts.left_vault, step.counts.left_service));
    auto given_up = co_await give_up_used(executor, old);
    if (!given_up) co_return std::unexpected(given_up.error());
    for (auto& one : *given_up) add_to(step, std::move(one));
  }
  if (kinds.contains(KeyKind::issuer)) {
    auto one = co_await give_up_issuer(executor, now);
    if (!one) co_return std::unexpected(one.error());
    add_to(step, std::move(*one));
  }
  if (kinds.contains(KeyKind::links)) {
    auto one = co_await give_up_links(executor, now);
    if (!one) co_return std::unexpected(one.error());
    add_to(step, std::move(*one));
  }
  step.done = true;
  co_return step;
}

}  // namespace presetbridge::services
