#include "run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <tuple>
#include <utility>

#include "model.h"
#include "service.h"
#include "shop.h"

namespace presetbridge::simulation {
namespace {

using namespace std::chrono_literals;

constexpr Millis kQuiet = 5h;
constexpr Millis kLook = 6h;
constexpr Millis kAllRetries = 34h;  // of an event, with what a receiver that does not answer holds up

constexpr domain::ReviewReason kReviews[] = {
    domain::ReviewReason::held, domain::ReviewReason::reopened, domain::ReviewReason::payment_withdrawn,
    domain::ReviewReason::high_risk, domain::ReviewReason::too_large};
constexpr DeliveryStatus kInvalidated[] = {DeliveryStatus::failed, DeliveryStatus::in_review,
                                           DeliveryStatus::waiting_for_friendship};

class Run {
 public:
  explicit Run(bool with_story)
      : with_story_(with_story),
        service_(
            [this](const std::string& user, const std::string& file, bool sure) {
              if (auto problem = model_.share_begins(user, file, sure); !problem.empty() && wrong_.empty())
                wrong_ = problem;
              begun_.emplace_back(user, file);
              ++tried_;
              note(fmt::format("    a call shares {} with {}", file, user));
            },
            [this](const std::string& user) {
              note(fmt::format("    a call asks {} to be a friend", user));
              if (auto problem = model_.request_begins(user); !problem.empty() && wrong_.empty())
                wrong_ = problem;
            }) {
    for (std::uint32_t sku = 0; sku < kSkus; ++sku) {
      if (sku < kFiles) mapped_[fmt::format("sku-{}", sku + 1)] = {fmt::format("file-{}", sku + 1)};
    }
    mapped_["sku-2"] = {"file-2", "file-1"};
    save_mappings();
    service_.advance(1s);
  }

  std::optional<Finding> go(const History& history) {
    for (std::size_t i = 0; i < history.size(); ++i) {
      note(fmt::format("{:3} {}", i + 1, describe(history[i])));
      step(history[i]);
      if (!wrong_.empty()) return Finding{i, wrong_, story_};
    }
    note("    the end");
    rest(true);
    if (!wrong_.empty()) return Finding{history.size(), wrong_, story_};
    return std::nullopt;
  }

 private:
  void note(const std::string& line) {
    if (with_story_) story_ += line + "\n";
  }

  void save_mappings() {
    service_.save_mappings(mapped_);
    model_.mapped(mapped_, service_.facts().missing);
  }

  DeliveryId id_of(const std::string& order) {
    const auto found = deliveries_.find(order);
    return found == deliveries_.end() ? DeliveryId{} : found->second;
  }

  // The power failed during what the model has taken as done: it was not. Another process begins.
  void fail(Model before) {
    note("    the power fails");
    model_ = std::move(before);
    for (const auto& [user, file] : begun_) model_.share_begins(user, file, false);
    service_.restart();
    service_.advance(1s);
    look(false);
  }

  template <class Accept>
  void tell(const domain::OrderEvent& event, Accept accept) {
    // The model takes the event the moment before: the service may act on it at once.
    std::optional<Model> before;
    Expected<services::Accepted> accepted;
    for (;;) {
      if (service_.may_fail()) before = model_;
      begun_.clear();
      model_.told(event, service_.now());
      accepted = accept(event);
      if (accepted) break;
      if (!service_.failed()) {
        wrong_ = "an order was refused: " + accepted.error().message;
        return;
      }
      // The store had no answer, and sends it again.
      fail(std::move(before.value()));
      if (!wrong_.empty()) return;
    }
    if (accepted->delivery) deliveries_[event.order_id] = *accepted->delivery;
    if (accepted->order) orders_[event.order_id] = accepted->order;
    // spec 2.6: the event that came last changes nothing when it comes again.
    const auto last = last_told_.find(event.order_id);
    const auto content = [](const domain::OrderEvent& e) {
      return std::tie(e.kind, e.payment, e.updated_at, e.lines, e.too_large, e.refunds, e.username, e.trashed,
                      e.restored);
    };
    if (last == last_told_.end() && accepted->duplicate) wrong_ = "it is new, and called a duplicate";
    const bool again = last != last_told_.end() && (event.provider == domain::Provider::generic ||
                                                    content(last->second) == content(event));
    if (again && !accepted->duplicate) wrong_ = "it came again, and is called news";
    last_told_[event.order_id] = event;
    made_ = accepted->made_delivery;
    check_made(event.order_id);
  }
  void tell(const domain::OrderEvent& event) {
    tell(event, [this](const domain::OrderEvent& e) { return service_.accept(e); });
  }
  void check_made(const std::string& order) {
    const bool made = model_.delivery(order) != nullptr;
    if (made != deliveries_.contains(order))
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
    begun_.clear();
    if (expected != Model::Answer::no) effect(order);
    const auto answer = service_.await(action(id_of(order)));
    if (!answer && service_.failed()) return fail(before);
    if (!answer) {
      note("    refused: " + answer.error().message);
      model_ = before;
    }
    if (answer && expected == Model::Answer::no) wrong_ = "it was taken, and should have been refused";
    if (!answer && expected == Model::Answer::yes) wrong_ = "it was refused: " + answer.error().message;
  }

  // A job on all deliveries that were seen last as `meant` says: each that `may` be asked for has the effect.
  void act_on_all(services::DeliveryActions::BulkAction action, storage::DeliveryFilter filter,
                  const std::function<bool(const storage::DeliveryRow&)>& meant,
                  const std::function<Model::Answer(const std::string&)>& may,
                  const std::function<void(const std::string&)>& effect) {
    std::int64_t least = 0;
    std::int64_t most = 0;
    for (const auto& [order, row] : rows_) {
      if (!meant(row)) continue;
      const auto answer = may(order);
      if (answer == Model::Answer::no) continue;
      ++most;
      if (answer == Model::Answer::yes) {
        ++least;
        effect(order);
      } else {
        model_.perhaps(order);
      }
    }
    const auto done = service_.bulk(std::move(action), std::move(filter));
    if (done < least || done > most)
      wrong_ = fmt::format("a job did {} deliveries, and should have done {} to {}", done, least, most);
  }

  void step(const Command& c) {
    auto& s = service_.scheduler();
    auto& actions = service_.actions();
    const auto by = service_.merchant();
    const std::string order = std::to_string(c.order + 1);
    const std::string user = user_of(kNames[c.n % 3]);
    const Timestamp now = service_.now();
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
      case Act::reprocess: {
        if (!orders_.contains(order)) break;
        act(
            order, model_.may_reprocess(order),
            [&](DeliveryId) { return service_.orders().reprocess(s, by, orders_.at(order)); },
            [&](const std::string& o) { model_.reprocess(o, now); });
        // A delivery has its order's id.
        if (model_.delivery(order)) deliveries_.try_emplace(order, DeliveryId{orders_.at(order).value});
        break;
      }
      case Act::erase:
        erase(order);
        break;
      case Act::order_by_key:
        if (const auto event = shop_.happens(c, now)) order_by_key(c.m / kSkus, *event);
        break;
      case Act::invalidate_by_key: {
        if (!model_.delivery(order) || !may_ask(c.m)) break;
        const auto with_key = *service_.keys().admitted();
        act(
            order, with_key.sees(service_.store()) ? model_.may_invalidate(order) : Model::Answer::no,
            [&](DeliveryId id) { return actions.invalidate(s, with_key, id, "mistaken"); },
            [&](const std::string& o) { model_.invalidate(o); });
        break;
      }
      case Act::key:
        wrong_ = service_.keys().change(c);
        break;
      case Act::hold:
      case Act::auto_revoke:
        (c.act == Act::hold ? model_.hold_all : model_.auto_revoke) = c.n % 3 != 0;
        service_.save_settings(model_.hold_all, model_.auto_revoke);
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
        if (!service_.is_logged_in_as(merchant)) {
          model_.moved();
          moved_ = true;
        }
        service_.save_login(merchant);
        save_mappings();
        break;
      }
      case Act::grant:
        service_.grant(c.n % 5 + 1);
        break;
      case Act::retry_all: {
        // A cause that stands would stop them again at once, and its end resumes them (spec 3.6).
        const auto meant = [](const storage::DeliveryRow& row) {
          return row.status == DeliveryStatus::failed && row.resolution != ResolutionCode::username_missing &&
                 row.resolution != ResolutionCode::insufficient_credits;
        };
        const auto may = [this](const std::string& o) { return model_.may_retry(o, ""); };
        storage::DeliveryFilter filter;
        filter.statuses = {DeliveryStatus::failed};
        act_on_all({domain::MerchantAction::retry, {}, {}}, filter, meant, may,
                   [&](const std::string& o) { model_.retry(o, "", now); });
        break;
      }
      case Act::approve_all: {
        const auto reason = kReviews[c.n % std::size(kReviews)];
        storage::DeliveryFilter filter;
        filter.statuses = {DeliveryStatus::in_review};
        filter.reviews = {reason};
        act_on_all(
            {domain::MerchantAction::approve, {}, {}}, filter,
            [&](const storage::DeliveryRow& row) {
              return row.status == DeliveryStatus::in_review && row.review_reasons.gravest() == reason;
            },
            [this](const std::string& o) { return model_.may_approve(o); },
            [&](const std::string& o) { model_.approve(o); });
        break;
      }
      case Act::invalidate_all: {
        const auto status = kInvalidated[c.n % std::size(kInvalidated)];
        storage::DeliveryFilter filter;
        filter.statuses = {status};
        act_on_all(
            {domain::MerchantAction::invalidate, "mistaken", {}}, filter,
            [&](const storage::DeliveryRow& row) { return row.status == status; },
            [this](const std::string& o) { return model_.may_invalidate(o); },
            [&](const std::string& o) { model_.invalidate(o); });
        break;
      }
      case Act::reprocess_all:
        reprocess_all();
        break;
      case Act::accept:
        service_.answer(user, Friend::friends);
        break;
      case Act::decline:
        service_.answer(user, Friend::declined);
        break;
      case Act::block:
        service_.answer(user, Friend::blocked);
        break;
      case Act::platform:
        service_.set_weather(static_cast<Weather>(c.n % 8));
        break;
      case Act::file:
        service_.set_file(fmt::format("file-{}", c.n % kFiles + 1), c.m % 2 != 0);
        break;
      case Act::receiver:
        service_.set_mood(c);
        break;
      case Act::crash:
        if (c.n % 3 == 0) {
          service_.crash();
        } else {
          service_.fail_at(static_cast<int>(c.n / 3 % 6 + 1));
        }
        break;
      case Act::rest:
        rest(false);
        break;
      default: {
        const auto event = shop_.happens(c, now);
        if (event && !(c.late && c.act != Act::place && c.act != Act::repeat)) tell(*event);
      }
    }
    if (!wrong_.empty()) return;
    if (service_.failed()) restart();
    look(false);
    // Long waits are looked at now and then.
    for (Millis left = c.wait; wrong_.empty() && left > Millis{0}; left -= kLook) {
      pass(std::min(left, kLook));
      look(false);
    }
    if (!wrong_.empty()) return;
    pass(1s);
    look(false);
  }

  // A program asks with a key: false if it is refused, or if that is wrong.
  bool may_ask(std::uint32_t which) {
    wrong_ = service_.keys().ask(which);
    return wrong_.empty() && service_.keys().admitted();
  }
  void order_by_key(std::uint32_t which, const domain::OrderEvent& event) {
    if (!may_ask(which)) return;
    if (!service_.keys().admitted()->sees(service_.store())) {
      if (service_.place(event)) wrong_ = "a key made an order of a store that it does not see";
      return;
    }
    tell(event, [this](const domain::OrderEvent& e) { return service_.place(e); });
    if (made_) service_.keys().made_delivery();
  }

  void erase(const std::string& order) {
    if (!orders_.contains(order)) return;
    // The request names an order, too, that nobody knows.
    model_.erase(order);
    service_.erase({order, "unknown"});
    if (deliveries_.contains(order)) wrong_ = service_.outbound().erased(id_of(order));
    if (wrong_.empty()) wrong_ = names_left(order);
  }
  std::string names_left(const std::string& order) {
    const auto text = service_.personal_texts(orders_.at(order));
    const auto is_letter = [&](std::size_t at) {
      return at < text.size() && std::isalpha(static_cast<unsigned char>(text[at])) != 0;
    };
    for (const std::string name : kNames) {
      for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
        if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + name.size()))
          return fmt::format("order {}: its buyer was erased, and is named: {}", order,
                             text.substr(at < 40 ? 0 : at - 40, 80));
      }
    }
    if (text.find("@example.com") != std::string::npos)
      return fmt::format("order {}: its buyer was erased, and their address is there", order);
    return {};
  }

  void reprocess_all() {
    std::int64_t least = 0;
    std::int64_t most = 0;
    const Timestamp now = service_.now();
    for (const auto& [order, id] : orders_) {
      const auto answer = model_.may_reprocess(order);
      if (answer == Model::Answer::no) continue;
      ++most;
      if (answer == Model::Answer::yes) {
        ++least;
        model_.reprocess(order, now);
        if (model_.delivery(order)) deliveries_.try_emplace(order, DeliveryId{id.value});
      } else if (model_.delivery(order)) {
        model_.perhaps(order);
      }
    }
    const auto done = service_.reprocess_all();
    if (done < least || done > most)
      wrong_ = fmt::format("a job reprocessed {} orders, and should have done {} to {}", done, least, most);
  }

  void restart() {
    note("    the power fails");
    service_.restart();
  }
  void pass(Millis time) {
    service_.outbound().wake();
    service_.advance(time);
  }

  void rest(bool at_the_end) {
    service_.set_weather(Weather::fair);
    pass(kQuiet);
    // All orders are seen as they are now before any is judged.
    look(false);
    if (!wrong_.empty()) return;
    look(true);
    if (!wrong_.empty()) return;
    compare_books();
    if (wrong_.empty()) wrong_ = service_.keys().judge();
    for (const auto& [order, state] : model_.orders()) {
      if (wrong_.empty() && state.erased) wrong_ = names_left(order);
    }
    model_.quiet();
    service_.forget_trouble();
    if (wrong_.empty()) wrong_ = service_.outbound().judge_all(false);
    if (!at_the_end || !wrong_.empty()) return;
    service_.outbound().all_well();
    pass(kAllRetries);
    look(false);
    if (wrong_.empty()) wrong_ = service_.outbound().judge_all(true);
  }

  // `erased`: the name that the buyer had, who has none any more.
  static Seen see(const storage::DeliveryRow& row, const std::vector<storage::ItemRow>& items,
                  const std::optional<std::string>& erased) {
    Seen seen{.status = row.status,
              .code = row.resolution,
              .reviews = row.review_reasons,
              .by = row.invalidated_by,
              .reason = row.reason,
              .username = erased.value_or(row.username),
              .refunded = row.refunded,
              .cancelled = row.cancelled,
              .action_waits =
                  row.pending.kind != domain::PendingActionKind::none || !row.pending.name.username.empty()};
    for (const auto& item : items) {
      if (item.delivery != row.id || (erased && item.former && item.user_id.empty())) continue;
      // Whose item it was its user's id says: "u-ann".
      const auto name = !erased ? item.username : item.user_id.empty() ? "" : item.user_id.substr(2);
      seen.items.push_back(
          {item.file_id, name, item.status, item.former, item.spent, item.revoked_by == "order"});
    }
    return seen;
  }

  void look(bool quiet) {
    if (!service_.wrong().empty()) wrong_ = service_.wrong();
    if (!wrong_.empty()) return;
    for (const auto& [user, file] : std::exchange(service_.lost_shares, {}))
      model_.share_begins(user, file, false);
    auto known = service_.facts();
    known.one_login = !moved_;
    known.tried = std::exchange(tried_, 0);
    std::vector<DeliveryId> ids;
    for (const auto& [order, id] : deliveries_) ids.push_back(id);
    const auto [rows, items] = service_.read(ids);
    const auto problem = service_.outbound().look([&](std::int64_t id) {
      const auto found =
          std::ranges::find(deliveries_, DeliveryId{id}, &std::pair<const std::string, DeliveryId>::second);
      return found == deliveries_.end() ? std::string() : found->first;
    });
    for (const auto& said : service_.outbound().said) note("    " + said);
    if (!problem.empty()) {
      wrong_ = problem;
      return;
    }
    for (const auto& [order, id] : deliveries_) {
      const auto& row = *std::ranges::find(rows, id, &storage::DeliveryRow::id);
      rows_[order] = row;
      const bool erased = model_.orders().at(order).erased;
      const auto seen =
          see(row, items, erased ? std::optional(model_.delivery(order)->username) : std::nullopt);
      if (with_story_) {
        auto text = fmt::format("    order {}: {}", order, to_text(seen));
        if (std::exchange(last_said_[order], text) != text) note(text);
      }
      auto wrong = quiet ? model_.finish(order, seen, known) : model_.seen(order, seen, known);
      if (wrong.empty())
        wrong =
            service_.outbound().judge(order, row, seen, model_.delivery(order)->dry_run, asked(order, seen));
      if (wrong.empty()) continue;
      wrong_ = fmt::format("order {}: {}\n  the service: {}\n  the model:   {}", order, wrong, to_text(seen),
                           to_text(*model_.delivery(order)));
      return;
    }
    for (const auto& [id, order] : model_.orders()) {
      const int times = service_.outbound().unmapped(id);
      if (times < order.unmapped_least || times > order.unmapped_most)
        wrong_ = fmt::format("order {}: {} times it was said to have unmapped lines, and should be {} to {}",
                             id, times, order.unmapped_least, order.unmapped_most);
    }
  }
  // Friend requests that were made to whom the delivery was for.
  std::optional<int> asked(const std::string& order, const Seen& seen) {
    // Another login asks anew, and the platform of tests holds one friendship of a buyer.
    if (moved_) return std::nullopt;
    users_[order].insert(user_of(seen.username));
    int times = 0;
    for (const auto& user : users_[order]) {
      const auto found = service_.cloud().requests.find(user);
      times += found == service_.cloud().requests.end() ? 0 : found->second;
    }
    return times;
  }

  // spec 3.9, 11.1: what was shared was charged once, and nothing is held.
  void compare_books() {
    wrong_ = model_.compare_shares(service_.facts());
    if (!wrong_.empty()) return;
    const auto balance = service_.balance();
    std::vector<DeliveryId> ids;
    for (const auto& [order, id] : deliveries_) ids.push_back(id);
    std::int64_t spent = 0;
    std::map<std::pair<std::string, std::string>, int> charged;
    for (const auto& item : service_.read(ids).items) {
      if (item.held) wrong_ = fmt::format("a credit is held for {} of {}", item.file_id, item.username);
      if (!item.spent) continue;
      ++spent;
      ++charged[{item.user_id, item.file_id}];
    }
    if (balance.held != 0) wrong_ = fmt::format("{} credits are held", balance.held);
    if (balance.spent != spent)
      wrong_ = fmt::format("{} credits are spent, and {} items charged", balance.spent, spent);
    for (const auto& [what, times] : service_.cloud().share_effects) {
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
  Service service_;
  std::map<std::string, std::vector<std::string>> mapped_;
  std::map<std::string, OrderId> orders_;
  std::map<std::string, DeliveryId> deliveries_;
  std::map<std::string, storage::DeliveryRow> rows_;  // as they were seen last
  std::map<std::string, std::set<std::string>> users_;
  std::map<std::string, domain::OrderEvent> last_told_;
  std::vector<std::pair<std::string, std::string>> begun_;  // shares, during the command
  std::int64_t tried_ = 0;                                  // shares, since the last look
  bool moved_ = false;
  bool made_ = false;  // the event that was told last made a delivery
};

}  // namespace

std::optional<Finding> run(const History& history, bool with_story) {
  try {
    return Run(with_story).go(history);
  } catch (const std::exception& e) {
    return Finding{0, fmt::format("it threw: {}", e.what()), {}};
  }
}

}  // namespace presetbridge::simulation
