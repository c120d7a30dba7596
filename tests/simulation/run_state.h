// One history on the service and beside the model.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "books.h"
#include "model.h"
#include "run.h"
#include "service.h"
#include "shop.h"

namespace presetbridge::simulation {

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
    service_.advance(std::chrono::seconds{1});
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
    service_.advance(std::chrono::seconds{1});
    check(false);
  }

  template <class Accept>
  void hand_over(const domain::OrderEvent& event, Accept accept) {
    // The model takes the event the moment before: the service may act on it at once.
    std::optional<Model> before;
    Expected<services::Accepted> accepted;
    // spec 2.6: the event that came last changes nothing when it comes again.
    const auto last = last_told_.find(event.order_id);
    const auto content = [](const domain::OrderEvent& e) {
      return std::tie(e.kind, e.payment, e.updated_at, e.lines, e.too_large, e.refunds, e.username, e.trashed,
                      e.restored);
    };
    const bool again = last != last_told_.end() && (event.provider == domain::Provider::generic ||
                                                    content(last->second) == content(event));
    for (;;) {
      if (service_.may_fail()) before = model_;
      begun_.clear();
      if (!again) model_.told(event, service_.now());
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
    if (last == last_told_.end() && accepted->duplicate) wrong_ = "it is new, and called a duplicate";
    if (again && !accepted->duplicate) wrong_ = "it came again, and is called news";
    last_told_[event.order_id] = event;
    made_ = accepted->made_delivery;
    check_made(event.order_id);
  }
  void hand_over(const domain::OrderEvent& event) {
    hand_over(event, [this](const domain::OrderEvent& e) { return service_.accept(e); });
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
    // The service may begin what an action allows before the action's answer comes.
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
                  const std::function<void(const std::string&)>& effect,
                  const std::function<void(const std::string&)>& perhaps = {}) {
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
        if (perhaps) perhaps(order);
      }
    }
    const auto done = service_.bulk(std::move(action), std::move(filter));
    if (done < least || done > most)
      wrong_ = fmt::format("a job did {} deliveries, and should have done {} to {}", done, least, most);
  }

  void step(const Command& c);

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
    hand_over(event, [this](const domain::OrderEvent& e) { return service_.place(e); });
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
    const auto left = name_in(text);
    return left.empty() ? "" : fmt::format("order {}: its buyer was erased, and is named: {}", order, left);
  }

  void reprocess_all() {
    std::int64_t least = 0;
    std::int64_t most = 0;
    for (const auto& [order, id] : orders_) {
      const auto answer = model_.may_reprocess(order);
      if (answer == Model::Answer::no) continue;
      ++most;
      if (answer == Model::Answer::yes) {
        ++least;
        model_.reprocess(order);
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

  void rest(bool at_the_end);

  void check(bool quiet);
  // Friend requests that were made to whom the delivery was for.
  std::optional<int> asked(const std::string& order, const Seen& seen) {
    // Another login asks anew, and the platform of tests holds one friendship of a buyer.
    if (moved_) return std::nullopt;
    auto& buyers = buyers_[order];
    // To a buyer of before, whose request is still open, that request is reported again.
    const auto now = user_of(seen.username);
    if (now != std::exchange(buyers.last, now) && !buyers.all.insert(now).second) ++buyers.returns;
    int times = buyers.returns;
    for (const auto& user : buyers.all) {
      const auto found = service_.cloud().requests.find(user);
      times += found == service_.cloud().requests.end() ? 0 : found->second;
    }
    return times;
  }

  // How often the buyer was asked whose answer the delivery awaits; nothing: the platform has no open request.
  std::optional<int> kept_request(const std::string& order) {
    const auto facts = service_.facts();
    const auto user = user_of(model_.delivery(order)->username);
    const auto state = facts.friends.find(user);
    if (moved_ || state == facts.friends.end() || state->second != Friend::requested) return std::nullopt;
    const auto times = service_.cloud().requests.find(user);
    return times == service_.cloud().requests.end() ? 0 : times->second;
  }

  const bool with_story_;
  std::string story_;
  std::optional<int> kept_;  // during a command that keeps a friend request
  std::string wrong_;
  std::map<std::string, std::string> last_said_;
  Model model_;
  Shop shop_;
  Service service_;
  std::map<std::string, std::vector<std::string>> mapped_;
  std::map<std::string, OrderId> orders_;
  std::map<std::string, DeliveryId> deliveries_;
  std::map<std::string, storage::DeliveryRow> rows_;  // as they were seen last
  // Whom each order's delivery was for.
  struct Buyers {
    std::set<std::string> all;
    std::string last;
    int returns = 0;  // to one of before
  };
  std::map<std::string, Buyers> buyers_;
  std::map<std::string, domain::OrderEvent> last_told_;
  std::vector<std::pair<std::string, std::string>> begun_;  // shares, during the command
  std::int64_t tried_ = 0;                                  // shares, since the last look
  std::int64_t held_ = 0;                                   // credits, at the last look
  bool moved_ = false;
  bool made_ = false;  // the event that was told last made a delivery
};

}  // namespace presetbridge::simulation
