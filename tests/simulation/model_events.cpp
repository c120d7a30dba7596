#include "model_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <utility>

namespace presetbridge::simulation {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr std::array<Millis, 6> kRetries{1min, 5min, 15min, 1h, 6h, 24h};  // spec 10.4

bool succeeded(const Attempt& a) {
  return a.status && *a.status >= 200 && *a.status < 300;
}
bool is_retried(const Attempt& a) {
  return !a.status || *a.status == 408 || *a.status == 429 || *a.status >= 500;
}

const json::value* find(const json::value& value, std::string_view name) {
  return value.is_object() ? value.as_object().if_contains(name) : nullptr;
}
std::string text_of(const json::value& value, std::string_view name) {
  const auto* const found = find(value, name);
  return found != nullptr && found->is_string() ? std::string(found->as_string()) : std::string();
}

// The statuses that an event of the type can come with.
std::set<std::string> statuses_of(const std::string& type) {
  if (type == "delivery.reopened") return {"in_review"};
  return {type.substr(type.find('.') + 1)};
}

}  // namespace

std::string EventModel::event(const Event& event, const std::string& delivery) {
  if (!events_.emplace(event.uuid, event).second) return "two events have one id";
  boost::system::error_code error;
  const auto body = json::parse(event.body, error);
  if (error) return "an event's body is no JSON";
  if (text_of(body, "id") != event.uuid || text_of(body, "type") != event.type)
    return "an event's body has another id or type";
  if (event.type == "order.unmapped") {
    const auto* const order = find(body, "order");
    if (order == nullptr) return "order.unmapped says no order";
    ++unmapped_[text_of(*order, "orderId")];
    return {};
  }
  if (!event.of_delivery) return event.type == "credits.low" ? "" : "an event of no delivery: " + event.type;
  if (delivery.empty()) return "an event of an unknown delivery";

  auto& history = histories_[delivery];
  const auto wrong = [&](const std::string& why) { return fmt::format("{} ({})", why, event.type); };
  if (event.sequence != history.sequence + 1)
    return wrong(fmt::format("its sequence goes from {} to {}", history.sequence, event.sequence));
  history.sequence = event.sequence;
  const auto* const told = find(body, "delivery");
  if (told == nullptr) return wrong("an event of a delivery has none");
  const auto* const number = find(*told, "sequence");
  if (number == nullptr || !number->is_int64() || number->as_int64() != event.sequence)
    return wrong("the body has another sequence");
  const auto order_event = text_of(*told, "eventId");
  if (!history.order_event.empty() && order_event != history.order_event)
    return wrong("the order's eventId changed");
  history.order_event = order_event;
  if (text_of(*told, "orderId") != delivery) return wrong("the body has another order");
  history.tests += find(*told, "dryRun") != nullptr ? 1 : 0;
  const auto created = text_of(body, "createdAt");
  if (created < history.created_at) return wrong("it is older than the event before it");
  history.created_at = created;

  const auto status = text_of(*told, "status");
  if (!statuses_of(event.type).contains(status)) return wrong("the status in the body is " + status);
  const auto code = text_of(*told, "resolutionCode");
  const auto reason = text_of(*told, "reason");
  if (event.type == "delivery.failed" && code.empty()) return wrong("it has no resolutionCode");
  if (event.type != "delivery.failed" && event.type != "delivery.reopened" && !code.empty())
    return wrong("it has the resolutionCode " + code);
  if ((event.type == "delivery.invalidated") == reason.empty())
    return wrong("its reason is '" + reason + "'");
  bool owes = false;
  bool has = false;
  bool read = false;  // an order too large to be read has no items, and may be completed by hand
  if (const auto* const items = find(*told, "items"); items != nullptr && items->is_array()) {
    for (const auto& item : items->as_array()) {
      read = true;
      if (find(item, "former") != nullptr) continue;
      const auto state = text_of(item, "status");
      owes = owes || state == "owed" || state == "sharing";
      has = has || (state != "owed" && state != "sharing" && state != "dropped");
    }
  }
  if (event.type == "delivery.completed" && (owes || (read && !has && !history.without_files)))
    return wrong(owes ? "it is completed and owes something" : "it is completed and gave nothing");
  if (event.type == "delivery.completed") history.without_files = false;

  // spec 3.1, without the moves that are no events.
  Stage to = Stage::open;
  std::set<Stage> from{Stage::none,   Stage::open,   Stage::completed,
                       Stage::failed, Stage::review, Stage::invalidated};
  if (event.type == "delivery.waiting_for_friendship") {
    from = {Stage::open};
    ++history.waiting;
  } else if (event.type == "delivery.completed") {
    to = Stage::completed;
    from = {Stage::open, Stage::failed, Stage::review};
  } else if (event.type == "delivery.failed") {
    to = Stage::failed;
    from = {Stage::none, Stage::open};
  } else if (event.type == "delivery.invalidated") {
    to = Stage::invalidated;
    from = {Stage::open, Stage::completed, Stage::failed, Stage::review};
  } else if (event.type == "delivery.reopened") {
    to = Stage::review;
    from = {Stage::open, Stage::completed, Stage::failed, Stage::invalidated};
  } else if (event.type != "delivery.queued") {
    return wrong("there is no such event");
  }
  if (!from.contains(history.stage)) return wrong(fmt::format("it cannot follow '{}'", history.last_type));
  history.stage = to;
  history.last_type = event.type;
  return {};
}

std::string EventModel::seen(const std::string& delivery, const Seen& seen, std::int64_t sequence, bool test,
                             std::optional<int> asked) {
  auto& history = histories_[delivery];
  if (sequence != history.sequence)
    return fmt::format("its sequence is {}, and there are {} events", sequence, history.sequence);
  if (history.tests != (test ? sequence : 0)) return "its events are wrong about whether it is a test";
  Stage stage = Stage::open;
  switch (seen.status) {
    case DeliveryStatus::completed:
      stage = Stage::completed;
      break;
    case DeliveryStatus::failed:
      stage = Stage::failed;
      break;
    case DeliveryStatus::invalidated:
      stage = Stage::invalidated;
      break;
    case DeliveryStatus::in_review:
      // Only a reopening is an event; it is held, or stopped by its risk, its payment or its size, without one.
      stage = Stage::review;
      if (history.stage != stage) history.last_type = "in review";
      history.stage = stage;
      break;
    default:
      break;
  }
  if (stage != history.stage)
    return fmt::format("it is {}, and its last event is '{}'", to_string(seen.status), history.last_type);
  if (seen.status == DeliveryStatus::waiting_for_friendship && history.waiting == 0)
    return "it waits, and no event says so";
  if (asked && history.waiting > *asked)
    return fmt::format("{} events say that it waits, after {} friend requests", history.waiting, *asked);
  return {};
}

int EventModel::unmapped(const std::string& order) const {
  const auto found = unmapped_.find(order);
  return found == unmapped_.end() ? 0 : found->second;
}

std::string EventModel::erased(const std::string& uuid, const std::string& body, Timestamp at) {
  auto& event = events_.at(uuid);
  if (body == event.body) return {};
  boost::system::error_code error;
  auto before = json::parse(event.body, error);
  if (auto* const told = before.as_object().if_contains("delivery")) {
    if (auto* const items = told->as_object().if_contains("items")) {
      for (auto& item : items->as_array()) item.as_object()["username"] = nullptr;
    }
  }
  if (json::parse(body, error) != before)
    return fmt::format("an erasure changed more than names ({})", event.type);
  event.body_before = std::exchange(event.body, body);
  event.erased_at = at;
  return {};
}

std::string EventModel::attempt(const Attempt& attempt) {
  auto& [attempts] = sent_[{attempt.uuid, attempt.receiver}];
  if (const auto known = std::ranges::find(attempts, attempt.begun, &Attempt::begun);
      known != attempts.end()) {
    if (known->over) return {};
    *known = attempt;  // it was under way
  } else {
    const auto event = events_.find(attempt.uuid);
    const auto wrong = [&](const std::string& why) {
      return fmt::format("receiver {} got {}: {}", attempt.receiver + 1, attempt.type, why);
    };
    if (event == events_.end()) return wrong("there is no such event");
    const bool early = attempt.begun <= event->second.erased_at;
    if (event->second.body != attempt.body && !(early && event->second.body_before == attempt.body))
      return wrong("with other bytes than the event's");
    if (event->second.type != attempt.type) return wrong("with another type in its header");
    if (!event->second.receivers.contains(attempt.receiver)) return wrong("it is not for this receiver");
    if (const auto gone = gone_.find(attempt.receiver); gone != gone_.end() && gone->second < attempt.begun)
      return wrong("it answered 410 before");
    int failures = 0;
    const Attempt* last = nullptr;
    for (const auto& before : attempts) {
      if (!before.over && before.begun + 40s > attempt.begun) return wrong("while an attempt is under way");
      if (!before.heard || before.uncertain) continue;
      if (!is_retried(before)) return wrong("though its answer was final");
      ++failures;
      last = &before;
    }
    if (failures > static_cast<int>(kRetries.size())) return wrong("after six retries");
    if (last != nullptr) {
      const auto due = last->ended + kRetries[static_cast<std::size_t>(failures - 1)];
      if (attempt.begun < due)
        return wrong(
            fmt::format("retry {} came {} s too early", failures,
                        std::chrono::duration_cast<std::chrono::seconds>(due - attempt.begun).count()));
    }
    attempts.push_back(attempt);
  }
  if (!attempt.heard || attempt.status != 410) return {};
  // Where the power failed as it was recorded nobody may know of it.
  if (attempt.uncertain) {
    perhaps_gone_.insert(attempt.receiver);
  } else {
    gone_.try_emplace(attempt.receiver, attempt.ended);
  }
  return {};
}

void EventModel::power_failed(Timestamp at) {
  std::erase_if(gone_, [&](const auto& gone) {
    if (gone.second == at) perhaps_gone_.insert(gone.first);
    return gone.second == at;
  });
  for (auto& [to, sent] : sent_) {
    for (auto& attempt : sent.attempts)
      attempt.uncertain = attempt.uncertain || (attempt.heard && attempt.ended == at);
  }
}

std::string EventModel::outcome(const Sent& sent, bool recorded) {
  int failures = 0;
  for (const auto& attempt : sent.attempts) {
    if (!attempt.heard || (attempt.uncertain && !recorded)) continue;
    if (succeeded(attempt)) return "succeeded";
    if (!is_retried(attempt)) return "failed";
    ++failures;
  }
  return failures > static_cast<int>(kRetries.size()) ? "exhausted" : "pending";
}

std::int64_t EventModel::heard(const Sent& sent, bool recorded) {
  return std::ranges::count_if(sent.attempts, [&](const Attempt& attempt) {
    return attempt.heard && (recorded || !attempt.uncertain);
  });
}

std::string EventModel::dispatched(const std::string& uuid, std::size_t receiver, const Dispatch& dispatch,
                                   bool active, bool all_over) const {
  const auto event = events_.find(uuid);
  if (event == events_.end()) return "an attempt to deliver is of no event";
  const auto wrong = [&](const std::string& why) {
    return fmt::format("{} for receiver {} is {} after {} attempts: {}", event->second.type, receiver + 1,
                       dispatch.status, dispatch.attempts, why);
  };
  const auto found = sent_.find({uuid, receiver});
  const Sent sent = found == sent_.end() ? Sent{} : found->second;
  // Each power failure may have lost the record of an attempt, or not.
  const auto least = heard(sent, false);
  const auto most = heard(sent, true);
  const auto expected = outcome(sent, dispatch.attempts == most);
  if (dispatch.status == "leased") return all_over ? wrong("it never ends") : std::string();
  const bool between = dispatch.attempts > least && dispatch.attempts < most;
  if (dispatch.status != expected && !(between && dispatch.status == outcome(sent, true)))
    return wrong("it should be " + std::string(expected));
  if (dispatch.attempts < least || dispatch.attempts > most)
    return wrong(fmt::format("its receiver answered, or not, {} times", least));
  if (all_over && active && dispatch.status == "pending") return wrong("it is not sent again");
  if (!perhaps_gone_.contains(receiver) && active == gone_.contains(receiver))
    return wrong(active ? "it answered 410, and is active" : "nobody turned the subscription off");
  return {};
}

}  // namespace presetbridge::simulation
