#include "identity/principal.h"

#include <algorithm>
#include <charconv>

namespace presetbridge::identity {
namespace {

// Calls `each` with the parts between commas; not at all for the empty text.
template <class Each>
void split(std::string_view text, Each each) {
  while (!text.empty()) {
    const auto comma = text.find(',');
    each(text.substr(0, comma));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
}

}  // namespace

std::optional<Permission> parse_permission(std::string_view name) {
  const auto* found = std::find(kPermissionNames.begin(), kPermissionNames.end(), name);
  if (found == kPermissionNames.end()) return std::nullopt;
  return static_cast<Permission>(found - kPermissionNames.begin());
}

std::vector<std::string_view> PermissionSet::names() const {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kPermissionNames.size(); ++i) {
    if (has(static_cast<Permission>(i))) names.push_back(kPermissionNames[i]);
  }
  return names;
}

std::string PermissionSet::to_text() const {
  std::string text;
  for (const auto name : names()) text.append(text.empty() ? "" : ",").append(name);
  return text;
}

PermissionSet PermissionSet::from_text(std::string_view comma_separated) {
  PermissionSet set;
  split(comma_separated, [&](std::string_view name) {
    if (const auto permission = parse_permission(name)) set.add(*permission);
  });
  return set;
}

IntegrationScope::IntegrationScope(std::vector<IntegrationId> ids) : ids_(std::move(ids)) {
  std::ranges::sort(ids_);
  ids_.erase(std::ranges::unique(ids_).begin(), ids_.end());
}

bool IntegrationScope::includes(IntegrationId id) const {
  return all() || std::ranges::binary_search(ids_, id);
}

bool IntegrationScope::includes(const IntegrationScope& other) const {
  return all() || (!other.all() && std::ranges::includes(ids_, other.ids_));
}

std::string IntegrationScope::to_text() const {
  std::string text;
  for (const auto id : ids_) text.append(text.empty() ? "" : ",").append(std::to_string(id.value));
  return text;
}

IntegrationScope IntegrationScope::from_text(std::string_view text) {
  std::vector<IntegrationId> ids;
  split(text, [&](std::string_view part) {
    // A part that cannot be read keeps its place, as an id that matches nothing: dropping it could leave the
    // list empty, which would open every integration.
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    ids.push_back(IntegrationId{error == std::errc() && end == part.data() + part.size() ? value : 0});
  });
  return IntegrationScope(std::move(ids));
}

std::string_view to_string(Role role) {
  return role == Role::owner ? "owner" : "member";
}

Role parse_role(std::string_view name) {
  return name == "owner" ? Role::owner : Role::member;
}

bool Principal::signed_in_lately(Timestamp now) const {
  if (!person || !person->session || !person->session->browser) return true;
  const auto& at = person->session->authenticated_at;
  return at && now - *at <= kStepUpAfter;
}

domain::Actor Principal::actor() const {
  if (person) return domain::Actor::user(person->id);
  if (key) return domain::Actor::api_key(*key);
  return domain::Actor::system();
}

}  // namespace presetbridge::identity
