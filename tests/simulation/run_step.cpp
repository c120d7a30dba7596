// One command of a history.
#include <fmt/format.h>

#include <algorithm>

#include "run_state.h"

namespace presetbridge::simulation {
namespace {

using namespace std::chrono_literals;

constexpr Millis kCheckEach = 6h;

constexpr domain::ReviewReason kReviews[] = {
    domain::ReviewReason::held, domain::ReviewReason::reopened, domain::ReviewReason::payment_withdrawn,
    domain::ReviewReason::high_risk, domain::ReviewReason::too_large};
constexpr DeliveryStatus kInvalidated[] = {DeliveryStatus::failed, DeliveryStatus::in_review,
                                           DeliveryStatus::waiting_for_friendship};

}  // namespace

void Run::step(const Command& c) {
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
      const bool keeps = keeps_request(c);
      const std::string name = named ? kNames[c.n % std::size(kNames)] : "";
      if (keeps) kept_ = kept_request(order);
      act(
          order, keeps ? model_.may_keep_waiting(order) : model_.may_retry(order, name),
          [&](DeliveryId id) {
            return actions.retry(s, by, id, named ? std::optional(name) : std::nullopt,
                                 keeps ? services::FriendRequest::keep : services::FriendRequest::renew);
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
          c, &Model::may_invalidate, [&](DeliveryId id) { return actions.invalidate(s, by, id, "mistaken"); },
          [&](const std::string& o) { model_.invalidate(o); });
      break;
    case Act::complete:
      act(
          c, &Model::may_complete, [&](DeliveryId id) { return actions.complete(s, by, id); },
          [&](const std::string& o) {
            // Until another name of the same user is resolved nobody knows that they have the files.
            const bool unknown = model_.delivery(o)->renamed;
            model_.complete(o);
            if (!model_.pays_for_files(o) || unknown) service_.outbound().completed_without_files(o);
          });
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
          [&](const std::string& o) { model_.reprocess(o); });
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
      if (c.act == Act::auto_revoke && !model_.auto_revoke && c.n % 3 != 0) model_.want_back();
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
          [&](const std::string& o) { model_.approve(o); },
          [&](const std::string& o) { model_.perhaps_approved(o); });
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
      if (event && !(c.late && c.act != Act::place && c.act != Act::repeat)) hand_over(*event);
    }
  }
  if (!wrong_.empty()) return;
  if (service_.failed()) restart();
  check(false);
  // Long waits are looked at now and then.
  for (Millis left = c.wait; wrong_.empty() && left > Millis{0}; left -= kCheckEach) {
    pass(std::min(left, kCheckEach));
    check(false);
  }
  if (!wrong_.empty()) return;
  pass(1s);
  check(false);
  const auto kept = std::exchange(kept_, std::nullopt);
  if (kept && wrong_.empty() && kept_request(order) != kept)
    wrong_ = fmt::format("order {}: its friend request was to be kept", order);
}

}  // namespace presetbridge::simulation
