#include "books.h"

#include <fmt/format.h>

#include <cctype>
#include <map>
#include <utility>

namespace presetbridge::simulation {

Seen see(const storage::DeliveryRow& row, const std::vector<storage::ItemRow>& items,
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
    // The id of the item's user names its buyer: "u-ann".
    const auto name = !erased ? item.username : item.user_id.empty() ? "" : item.user_id.substr(2);
    seen.items.push_back(
        {item.file_id, name, item.status, item.former, item.spent, item.revoked_by == "order"});
  }
  return seen;
}

std::string name_in(const std::string& text) {
  const auto is_letter = [&](std::size_t at) {
    return at < text.size() && std::isalpha(static_cast<unsigned char>(text[at])) != 0;
  };
  const auto around = [&](std::size_t at) { return text.substr(at < 40 ? 0 : at - 40, 80); };
  for (const std::string name : kNames) {
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
      if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + name.size())) return around(at);
    }
  }
  const auto address = text.find("@example.com");
  return address == std::string::npos ? "" : around(address);
}

std::string compare_books(Service& service, const Model& model, const std::vector<DeliveryId>& ids) {
  auto wrong = model.compare_shares(service.facts());
  if (!wrong.empty()) return wrong;
  const auto balance = service.balance();
  std::int64_t spent = 0;
  std::map<std::pair<std::string, std::string>, int> charged;
  for (const auto& item : service.read(ids).items) {
    if (item.held) wrong = fmt::format("a credit is held for {} of {}", item.file_id, item.username);
    if (!item.spent) continue;
    ++spent;
    ++charged[{item.user_id, item.file_id}];
  }
  if (balance.held != 0) wrong = fmt::format("{} credits are held", balance.held);
  if (balance.spent != spent)
    wrong = fmt::format("{} credits are spent, and {} items charged", balance.spent, spent);
  for (const auto& [what, times] : service.cloud().share_effects) {
    const auto found = charged.find(what);
    const int paid = found == charged.end() ? 0 : found->second;
    if ((paid < 1 && !model.perhaps_free(what)) || paid > times)
      wrong = fmt::format("{} got {} {} times, and {} credits were spent on it", what.first, what.second,
                          times, paid);
  }
  return wrong;
}

}  // namespace presetbridge::simulation
