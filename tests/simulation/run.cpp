#include "run.h"

#include <fmt/format.h>

#include <tuple>

#include "model.h"
#include "services/stores/integrations.h"
#include "services/testing.h"
#include "services/vault/vault_testing.h"
#include "shop.h"
#include "storage/stores/integration_store.h"
#include "storage/stores/item_store.h"

namespace presetbridge::simulation {
namespace {

using services::WorkerOptions;
using services::testing::World;
using Fate = services::testing::FakeCloud::Fate;
using namespace std::chrono_literals;

constexpr Millis kQuiet = 5h;
constexpr Millis kLook = 6h;

// Days in which little happens.
WorkerOptions slow() {
  return {.jobs_per_minute = 0, .poll = 30min, .maintenance = 30min};
}

class Run {
 public:
  explicit Run(bool with_story) : with_story_(with_story), world_(slow(), 4) {
    integrations_.emplace(world_.async_db, world_.ids, world_.random, world_.cipher, world_.directory,
                          [this] {
                            if (world_.worker) world_.worker->wake();
                          });
    world_.cloud.auto_accept = false;
    world_.cloud.unknown_users = {"Nobody"};
    world_.cloud.before = [this](const std::string& call, const std::string&) { return fate(call); };
    world_.cloud.sharing = [this](const std::string& user, const std::string& file) {
      if (auto problem = model_.share_begins(user, file, weather_ == Weather::fair);
          !problem.empty() && wrong_.empty())
        wrong_ = problem;
      note(fmt::format("    a call shares {} with {}", file, user));
    };
    for (std::uint32_t sku = 0; sku < kSkus; ++sku) {
      if (sku < kFiles) mapped_[fmt::format("sku-{}", sku + 1)] = {fmt::format("file-{}", sku + 1)};
    }
    mapped_["sku-2"] = {"file-2", "file-1"};
    save_mappings();
    tick();
  }
  ~Run() { world_.cloud.before = nullptr; }

  std::optional<Finding> go(const History& history) {
    for (std::size_t i = 0; i < history.size(); ++i) {
      note(fmt::format("{:3} {}", i + 1, describe(history[i])));
      step(history[i]);
      if (!wrong_.empty()) return Finding{i, wrong_, story_};
    }
    note("    the end");
    rest();
    if (!wrong_.empty()) return Finding{history.size(), wrong_, story_};
    return std::nullopt;
  }

 private:
  void note(const std::string& line) {
    if (with_story_) story_ += line + "\n";
  }
  void tick() { advance(1s); }
  void advance(Millis by) { world_.scheduler.advance(by); }

  Fate fate(const std::string& call) {
    const bool write = call == "request" || call == "share" || call == "withdraw" || call == "revoke";
    switch (weather_) {
      case Weather::fair:
        return Fate::answer;
      case Weather::slow:
        // Answered a second later, whatever the weather is then.
        answers_.push_back(world_.scheduler.schedule(1s, [this] { world_.cloud.release(); }));
        return Fate::hold;
      case Weather::all_fail:
        return Fate::fail;
      case Weather::writes_fail:
        return write ? Fate::fail : Fate::answer;
      case Weather::reads_fail:
        return write ? Fate::answer : Fate::fail;
      case Weather::answers_lost:
        return write ? Fate::lose_answer : Fate::answer;
      case Weather::requests_lost:
        return write ? Fate::lose_request : Fate::answer;
      case Weather::too_many:
        return Fate::rate_limit;
    }
    return Fate::answer;
  }
  static bool stops_writes(Weather weather) {
    return weather == Weather::all_fail || weather == Weather::writes_fail ||
           weather == Weather::requests_lost;
  }

  void set_weather(Weather weather) {
    const Timestamp now = world_.database.clock.now();
    if (weather != Weather::slow) {
      world_.cloud.release();
    }
    if (weather != Weather::fair && weather != Weather::slow && !trouble_since_) trouble_since_ = now;
    const auto reads_fail = [](Weather w) {
      return w == Weather::all_fail || w == Weather::reads_fail || w == Weather::too_many;
    };
    if (reads_fail(weather_) && !reads_fail(weather)) reads_well_since_ = now;
    if (reads_fail(weather)) reads_well_since_ = Timestamp::max();
    weather_ = weather;
    if (!stops_writes(weather)) writes_fail_since_.reset();
    if (stops_writes(weather) && !writes_fail_since_) writes_fail_since_ = now;
  }

  void save_mappings() {
    std::vector<services::WantedMapping> wanted;
    for (const auto& [sku, files] : mapped_) {
      if (files.empty()) wanted.push_back({.match_value = sku, .action = domain::MappingAction::ignore});
      for (const auto& file : files)
        wanted.push_back({.match_value = sku, .file_id = file, .kind = "preset", .file_name = file});
    }
    world_
        .await(integrations_->replace_mappings(world_.scheduler, world_.merchant(), world_.integration,
                                               std::nullopt, wanted))
        .value();
    model_.mappings = mapped_;
  }
  void save_settings() {
    services::IntegrationChange change;
    change.hold_all = model_.hold_all;
    change.auto_revoke = model_.auto_revoke;
    world_.await(integrations_->change(world_.scheduler, world_.merchant(), world_.integration, change))
        .value();
  }

  DeliveryId id_of(const std::string& order) {
    const auto found = deliveries_.find(order);
    return found == deliveries_.end() ? DeliveryId{} : found->second;
  }

  void tell(const domain::OrderEvent& event) {
    // What the model says is said of the moment before: the service may act on it at once.
    model_.told(event, world_.database.clock.now());
    const auto accepted = world_.accept(event);
    if (accepted.delivery) deliveries_[event.order_id] = *accepted.delivery;
    // spec 2.6: what was told last, told again, changes nothing.
    const auto last = last_told_.find(event.order_id);
    const auto content = [](const domain::OrderEvent& e) {
      return std::tie(e.kind, e.payment, e.updated_at, e.lines, e.too_large, e.refunds, e.username, e.trashed,
                      e.restored);
    };
    if (last == last_told_.end() && accepted.duplicate) wrong_ = "it is new, and called a duplicate";
    if (last != last_told_.end() && content(last->second) == content(event) && !accepted.duplicate)
      wrong_ = "it was told again, and is called news";
    last_told_[event.order_id] = event;
    const bool made = model_.delivery(event.order_id) != nullptr;
    if (made != deliveries_.contains(event.order_id))
      wrong_ = made ? "the order has no delivery, and should have one"
                    : "the order has a delivery, and should have none";
  }

  // The merchant's actions: what the model allows and what the service answered.
  template <class Action, class Effect>
  void act(const Command& c, Model::Answer (Model::*may)(const std::string&) const, Action action,
           Effect effect) {
    const std::string order = std::to_string(c.order + 1);
    if (!model_.delivery(order)) return;
    const auto expected = (model_.*may)(order);
    act(order, expected, action, effect);
  }
  template <class Action, class Effect>
  void act(const std::string& order, Model::Answer expected, Action action, Effect effect) {
    // What an action allows may begin before its answer comes.
    const Model before = model_;
    if (expected != Model::Answer::no) effect(order);
    const auto answer = world_.await(action(id_of(order)));
    if (!answer) {
      note("    refused: " + answer.error().message);
      model_ = before;
    }
    if (answer && expected == Model::Answer::no) wrong_ = "it was taken, and should have been refused";
    if (!answer && expected == Model::Answer::yes) wrong_ = "it was refused: " + answer.error().message;
  }

  void step(const Command& c) {
    auto& s = world_.scheduler;
    auto& actions = world_.actions;
    const auto by = world_.merchant();
    const std::string order = std::to_string(c.order + 1);
    const std::string user = user_of(kNames[c.n % 3]);
    const Timestamp now = world_.database.clock.now();
    switch (c.act) {
      case Act::retry:
      case Act::retry_as: {
        if (!model_.delivery(order)) break;
        const bool named = c.act == Act::retry_as;
        const std::string name = named ? kNames[c.n % std::size(kNames)] : "";
        const auto expected = model_.may_retry(order, name);
        act(
            order, expected,
            [&](DeliveryId id) {
              return actions.retry(s, by, id, named ? std::optional(name) : std::nullopt);
            },
            [&](const std::string& o) { model_.retry(o, name, now); });
        break;
      }
      case Act::reopen:
        act(
            c, &Model::may_reopen, [&](DeliveryId id) { return actions.reopen(s, by, id); },
            [&](const std::string& o) { model_.reopen(o); });
        break;
      case Act::approve:
        act(
            c, &Model::may_approve, [&](DeliveryId id) { return actions.approve(s, by, id); },
            [&](const std::string& o) { model_.approve(o); });
        break;
      case Act::invalidate:
        act(
            c, &Model::may_invalidate,
            [&](DeliveryId id) { return actions.invalidate(s, by, id, "mistaken"); },
            [&](const std::string& o) { model_.invalidate(o); });
        break;
      case Act::complete:
        act(
            c, &Model::may_complete, [&](DeliveryId id) { return actions.complete(s, by, id); },
            [&](const std::string& o) { model_.complete(o); });
        break;
      case Act::revoke:
        act(
            c, &Model::may_revoke, [&](DeliveryId id) { return actions.revoke(s, by, id); },
            [&](const std::string& o) { model_.revoke(o); });
        break;
      case Act::hold:
        model_.hold_all = !model_.hold_all;
        save_settings();
        break;
      case Act::auto_revoke:
        model_.auto_revoke = !model_.auto_revoke;
        save_settings();
        break;
      case Act::map: {
        const std::string sku = fmt::format("sku-{}", c.n % kSkus + 1);
        if (c.m % 6 < kFiles) {
          mapped_[sku] = {fmt::format("file-{}", c.m % 6 + 1)};
        } else if (c.m % 6 == kFiles) {
          mapped_[sku] = {};
        } else {
          mapped_.erase(sku);
        }
        save_mappings();
        break;
      }
      case Act::login: {
        const std::string merchant = c.n % 3 == 0 ? "m-2" : "m-1";
        if (merchant != world_.agent.user_id) model_.moved();
        services::testing::VaultOfWorld(world_).save(merchant);
        save_mappings();
        break;
      }
      case Act::grant:
        world_.grant(c.n % 5 + 1);
        break;
      case Act::accept:
        if (world_.cloud.friendships[user] != cloud::FriendshipState::blocked) world_.cloud.accept(user);
        break;
      case Act::decline:
        if (world_.cloud.friendships[user] == cloud::FriendshipState::requested)
          world_.cloud.change(user, cloud::FriendshipState::declined);
        break;
      case Act::block:
        if (world_.cloud.friendships[user] == cloud::FriendshipState::requested)
          world_.cloud.change(user, cloud::FriendshipState::blocked);
        break;
      case Act::platform:
        set_weather(static_cast<Weather>(c.n % 8));
        break;
      case Act::crash:
        world_.crash(slow());
        break;
      case Act::rest:
        rest();
        break;
      default: {
        const auto event = shop_.happens(c, now);
        if (event && !(c.late && c.act != Act::place && c.act != Act::repeat)) tell(*event);
      }
    }
    if (!wrong_.empty()) return;
    look(false);
    // Long waits are looked at now and then.
    for (Millis left = c.wait; wrong_.empty() && left > Millis{0}; left -= kLook) {
      advance(std::min(left, kLook));
      look(false);
    }
    if (!wrong_.empty()) return;
    tick();
    look(false);
  }

  void rest() {
    set_weather(Weather::fair);
    advance(kQuiet);
    // All orders are seen as they are now before any is judged.
    look(false);
    if (!wrong_.empty()) return;
    look(true);
    if (!wrong_.empty()) return;
    compare_books();
    model_.quiet();
    trouble_since_.reset();
  }

  Facts facts() {
    Facts facts{.now = world_.database.clock.now()};
    for (const auto& [user, state] : world_.cloud.friendships) facts.friends[user] = friend_of(state);
    for (const auto& [what, share] : world_.cloud.shares) facts.has.insert(what);
    facts.credits = world_.balance().available();
    facts.trouble_since = trouble_since_;
    facts.writes_fail_since = writes_fail_since_;
    facts.reads_well_since = reads_well_since_;
    return facts;
  }
  static Friend friend_of(cloud::FriendshipState state) {
    switch (state) {
      case cloud::FriendshipState::requested:
        return Friend::requested;
      case cloud::FriendshipState::friends:
        return Friend::friends;
      case cloud::FriendshipState::declined:
        return Friend::declined;
      case cloud::FriendshipState::blocked:
        return Friend::blocked;
      default:
        return Friend::none;
    }
  }
  static Seen see(const storage::DeliveryRow& row, const std::vector<storage::ItemRow>& items) {
    Seen seen{.status = row.status,
              .code = row.resolution,
              .reviews = row.review_reasons,
              .by = row.invalidated_by,
              .reason = row.reason,
              .username = row.username,
              .refunded = row.refunded,
              .cancelled = row.cancelled,
              .action_waits =
                  row.pending.kind != domain::PendingActionKind::none || !row.pending.name.username.empty()};
    for (const auto& item : items) {
      if (item.delivery == row.id)
        seen.items.push_back(
            {item.file_id, item.username, item.status, item.former, item.spent, item.revoked_by == "order"});
    }
    return seen;
  }

  void look(bool quiet) {
    const auto known = facts();
    std::vector<DeliveryId> ids;
    for (const auto& [order, id] : deliveries_) ids.push_back(id);
    std::vector<storage::DeliveryRow> rows;
    std::vector<storage::ItemRow> items;
    world_.database->read([&](storage::Tx& tx) {
      rows = find_deliveries(tx, ids);
      items = find_items(tx, ids);
    });
    for (const auto& [order, id] : deliveries_) {
      const auto seen = see(*std::ranges::find(rows, id, &storage::DeliveryRow::id), items);
      auto wrong = quiet ? model_.finish(order, seen, known) : model_.seen(order, seen, known);
      if (with_story_) {
        auto text = fmt::format("    order {}: {}", order, to_text(seen));
        if (std::exchange(last_said_[order], text) != text) note(text);
      }
      if (wrong.empty()) continue;
      wrong_ = fmt::format("order {}: {}\n  the service: {}\n  the model:   {}", order, wrong, to_text(seen),
                           to_text(*model_.delivery(order)));
      return;
    }
  }

  // spec 3.9, 11.1: what was shared was charged once, and nothing is held.
  void compare_books() {
    wrong_ = model_.compare_shares(facts());
    if (!wrong_.empty()) return;
    const auto balance = world_.balance();
    std::int64_t spent = 0;
    std::map<std::pair<std::string, std::string>, int> charged;
    for (const auto& [order, id] : deliveries_) {
      for (const auto& item : world_.items(id)) {
        if (item.held) wrong_ = fmt::format("order {}: a credit is held for {}", order, item.file_id);
        if (!item.spent) continue;
        ++spent;
        ++charged[{item.user_id, item.file_id}];
      }
    }
    if (balance.held != 0) wrong_ = fmt::format("{} credits are held", balance.held);
    if (balance.spent != spent)
      wrong_ = fmt::format("{} credits are spent, and {} items charged", balance.spent, spent);
    for (const auto& [what, times] : world_.cloud.share_effects) {
      const auto found = charged.find(what);
      const int paid = found == charged.end() ? 0 : found->second;
      if ((paid < 1 && !model_.perhaps_free(what)) || paid > times)
        wrong_ = fmt::format("{} got {} {} times, and {} credits were spent on it", what.first, what.second,
                             times, paid);
    }
  }

  const bool with_story_;
  std::string story_;
  std::string wrong_;
  std::map<std::string, std::string> last_said_;
  Model model_;
  Shop shop_;
  World world_;
  std::optional<services::Integrations> integrations_;
  std::vector<std::unique_ptr<Timer>> answers_;
  std::map<std::string, std::vector<std::string>> mapped_;
  std::map<std::string, DeliveryId> deliveries_;
  std::map<std::string, domain::OrderEvent> last_told_;
  Weather weather_ = Weather::fair;
  Timestamp reads_well_since_{};
  std::optional<Timestamp> trouble_since_, writes_fail_since_;
};

}  // namespace

std::optional<Finding> run(const History& history, bool with_story) {
  try {
    return Run(with_story).go(history);
  } catch (const std::exception& e) {
    return Finding{0, fmt::format("it threw: {}", e.what()), {}};
  }
}

// What is wrong, whatever the order's number.
static std::string kind_of(const Finding& finding) {
  const auto line = finding.what.substr(0, finding.what.find('\n'));
  const auto colon = line.find(": ");
  return colon == std::string::npos ? line : line.substr(colon + 2);
}

History shrink(History history) {
  const auto finding = run(history);
  if (!finding) return history;
  const auto kind = kind_of(*finding);
  const auto shows = [&](const History& shorter) {
    const auto found = run(shorter);
    return found && kind_of(*found) == kind;
  };
  if (finding->at + 1 < history.size()) history.resize(finding->at + 1);
  // Delta debugging: ever smaller pieces are left out as long as the same is still wrong; then the waits.
  for (std::size_t piece = std::max<std::size_t>(history.size() / 2, 1);;) {
    bool less = false;
    for (std::size_t at = 0; at < history.size();) {
      History shorter = history;
      const auto from = shorter.begin() + static_cast<std::ptrdiff_t>(at);
      shorter.erase(from, from + static_cast<std::ptrdiff_t>(std::min(piece, history.size() - at)));
      if (shows(shorter)) {
        history = std::move(shorter);
        less = true;
      } else {
        at += piece;
      }
    }
    if (piece > 1) {
      piece /= 2;
    } else if (!less) {
      break;
    }
  }
  for (auto& command : history) {
    if (command.wait == Millis{0}) continue;
    const auto wait = std::exchange(command.wait, Millis{0});
    if (!shows(history)) command.wait = wait;
  }
  return history;
}

}  // namespace presetbridge::simulation
