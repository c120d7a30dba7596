// Who asks, and what they may do: made by api/authentication from what the request carries, handed to every
// use case.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "domain/delivery.h"

namespace presetbridge::identity {

// The rights that a route requires and a key has (spec 6.1, 7.3). `account` stands for what only a signed-in
// person may do: credentials, keys, usage, credits, billing; `owner` for what changes these, or whom the
// account knows, which of the people only owners may. No key can be given either.
enum class Permission : std::uint8_t {
  deliveries_read,
  deliveries_write,
  deliveries_any_file,
  presets_read,
  integrations,
  subscriptions,
  login,
  account,
  owner,
};
// The names of what a key can be given; indexed by Permission.
inline constexpr std::array<std::string_view, 7> kPermissionNames = {"deliveries:read",
                                                                     "deliveries:write",
                                                                     "deliveries:any_file",
                                                                     "presets:read",
                                                                     "integrations",
                                                                     "subscriptions",
                                                                     "login"};
// Nothing for `account`, `owner` and any other text.
std::optional<Permission> parse_permission(std::string_view name);

class PermissionSet {
 public:
  constexpr PermissionSet() = default;
  constexpr PermissionSet(std::initializer_list<Permission> list) {
    for (auto p : list) add(p);
  }
  // An owner's.
  static constexpr PermissionSet all() {
    PermissionSet set;
    set.bits_ = (bit(Permission::owner) << 1U) - 1U;
    return set;
  }
  // A member's.
  static constexpr PermissionSet all_but_owners() {
    PermissionSet set;
    set.bits_ = bit(Permission::owner) - 1U;
    return set;
  }
  constexpr void add(Permission p) { bits_ |= bit(p); }
  constexpr bool has(Permission p) const { return (bits_ & bit(p)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr PermissionSet operator&(PermissionSet other) const {
    PermissionSet both;
    both.bits_ = bits_ & other.bits_;
    return both;
  }
  bool operator==(const PermissionSet&) const = default;

  // The names in the order of the enum (without `account` and `owner`, which have none); comma-separated as
  // stored.
  std::vector<std::string_view> names() const;
  std::string to_text() const;
  // Unknown words are left out: a later version's permission opens nothing here.
  static PermissionSet from_text(std::string_view comma_separated);

 private:
  static constexpr unsigned bit(Permission p) { return 1U << static_cast<unsigned>(p); }
  unsigned bits_ = 0;
};

// The default rights of a new key: all but `login` and `deliveries:any_file`.
inline constexpr PermissionSet kDefaultPermissions = {Permission::deliveries_read,
                                                      Permission::deliveries_write, Permission::presets_read,
                                                      Permission::integrations, Permission::subscriptions};

// The integrations that a key is limited to; all of the account's when it names none (spec 6.2).
class IntegrationScope {
 public:
  IntegrationScope() = default;
  explicit IntegrationScope(std::vector<IntegrationId> ids);  // sorted and made unique here; empty: all

  bool all() const { return ids_.empty(); }
  bool includes(IntegrationId id) const;
  // Whether every integration of `other` is in this scope too.
  bool includes(const IntegrationScope& other) const;
  const std::vector<IntegrationId>& ids() const { return ids_; }
  bool operator==(const IntegrationScope&) const = default;

  std::string to_text() const;  // decimal, comma-separated, as stored
  static IntegrationScope from_text(std::string_view text);

 private:
  std::vector<IntegrationId> ids_;
};

enum class Role : std::uint8_t { owner, member };
std::string_view to_string(Role role);
Role parse_role(std::string_view name);  // each name but "owner" is a member's

// The session that an ID token is of (sessions.h).
struct PersonSession {
  SessionId id;
  bool browser = false;
  std::optional<Timestamp> authenticated_at;  // as the token says; nothing: not known
};

// How long a sign-in opens what asks for one that is fresh (spec 7.2).
inline constexpr Millis kStepUpAfter = std::chrono::minutes{10};

// A signed-in person, by a verified ID token (spec 7.1).
struct Person {
  UserId id;
  Role role = Role::member;
  std::string iss;
  std::string sub;
  std::string email;       // as the issuer says; may be empty; never a key to anything
  Timestamp expires_at{};  // of the token
  // None: the token is another issuer's, or of before sessions.
  std::optional<PersonSession> session = std::nullopt;
};

// Where a request came from, as the audit log keeps it (spec 7.4). Empty: it is none, or it is not known.
struct Origin {
  std::string network;  // of the client (net::Caller)
  std::string request_id;
};

struct Principal {
  AccountId account;
  std::optional<Person> person;
  std::optional<ApiKeyId> key;
  PermissionSet permissions;
  IntegrationScope integrations;
  Origin origin = {};

  bool may(Permission p) const { return permissions.has(p); }
  bool sees(IntegrationId id) const { return integrations.includes(id); }
  // False: a browser's session whose person proved more than kStepUpAfter ago, or at no known time, who they
  // are. Programs are not asked: they cannot be.
  bool signed_in_lately(Timestamp now) const;
  // The error for a browser's session then.
  static Error step_up_required() {
    return {"STEP_UP_REQUIRED", "Confirm that it is you: this needs a sign-in of the last 10 minutes.", {}};
  }
  // Whom timelines and the audit log name: the person where there is one, else the key.
  domain::Actor actor() const;
};

}  // namespace presetbridge::identity
