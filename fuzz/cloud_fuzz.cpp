#include "cloud/contract.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/utf8.h"
#include "require.h"

namespace {

using namespace presetbridge;
using namespace presetbridge::cloud;
namespace json = boost::json;

void require_text(std::string_view text, std::size_t min = 1) {
  REQUIRE(text.size() >= min && characters(text) <= kMaxText);
  REQUIRE(std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }));
}

std::string_view name_of(FriendshipState state) {
  static constexpr std::array<std::string_view, 5> names{"none", "requested", "friends", "declined",
                                                         "blocked"};
  return names[static_cast<std::size_t>(state)];
}

// Each value that was read is within its limits, and written again reads the same.

void try_session(std::string_view body) {
  const auto session = read_session(body);
  if (!session) return;
  REQUIRE(!session->token.empty() && session->token.size() <= kMaxToken);
  REQUIRE(std::ranges::all_of(session->token, [](char c) { return c > 0x20 && c < 0x7f; }));
  require_text(session->user_id);
  require_text(session->username);
  const auto again = read_session(
      json::serialize(json::object{{"token", session->token},
                                   {"expiresAt", to_iso8601(session->expires_at)},
                                   {"user", {{"id", session->user_id}, {"username", session->username}}}}));
  REQUIRE(again && again->token == session->token && again->expires_at == session->expires_at &&
          again->user_id == session->user_id && again->username == session->username);
}

void try_user(std::string_view body) {
  const auto user = read_user(body);
  if (!user) return;
  require_text(user->id);
  require_text(user->username);
  const auto again = read_user(json::serialize(json::object{{"id", user->id}, {"username", user->username}}));
  REQUIRE(again && again->id == user->id && again->username == user->username);
}

void try_friendship(std::string_view body) {
  const auto friendship = read_friendship(body);
  if (!friendship) return;
  require_text(friendship->user_id);
  const auto again = read_friendship(
      json::serialize(json::object{{"userId", friendship->user_id}, {"state", name_of(friendship->state)}}));
  REQUIRE(again && again->user_id == friendship->user_id && again->state == friendship->state);
}

void try_friendship_page(std::string_view body) {
  const auto page = read_friendship_page(body);
  if (!page) return;
  require_text(page->next_cursor, 0);
  json::array changes;
  for (const auto& change : page->changes) {
    require_text(change.user_id);
    changes.push_back({{"userId", change.user_id},
                       {"state", name_of(change.state)},
                       {"changedAt", to_iso8601(change.changed_at)}});
  }
  const auto again = read_friendship_page(json::serialize(json::object{
      {"changes", std::move(changes)}, {"nextCursor", page->next_cursor}, {"more", page->more}}));
  REQUIRE(again && again->next_cursor == page->next_cursor && again->more == page->more);
  REQUIRE(std::ranges::equal(again->changes, page->changes, [](const auto& a, const auto& b) {
    return a.user_id == b.user_id && a.state == b.state && a.changed_at == b.changed_at;
  }));
}

void try_file_page(std::string_view body) {
  const auto page = read_file_page(body);
  if (!page) return;
  require_text(page->next_cursor, 0);
  json::array files;
  for (const auto& file : page->files) {
    require_text(file.id);
    require_text(file.kind);
    require_text(file.name, 0);
    files.push_back({{"id", file.id}, {"kind", file.kind}, {"name", file.name}});
  }
  const auto again = read_file_page(json::serialize(
      json::object{{"files", std::move(files)}, {"nextCursor", page->next_cursor}, {"more", page->more}}));
  REQUIRE(again && again->next_cursor == page->next_cursor && again->more == page->more);
  REQUIRE(std::ranges::equal(again->files, page->files, [](const auto& a, const auto& b) {
    return a.id == b.id && a.kind == b.kind && a.name == b.name;
  }));
}

void try_share(std::string_view body) {
  const auto share = read_share(body);
  if (!share) return;
  REQUIRE(!share->existed);
  require_text(share->id);
  require_text(share->idempotency_key, 0);
  const auto again = read_share(json::serialize(json::object{{"id", share->id},
                                                             {"idempotencyKey", share->idempotency_key},
                                                             {"sharedAt", to_iso8601(share->shared_at)}}));
  REQUIRE(again && again->id == share->id && again->idempotency_key == share->idempotency_key &&
          again->shared_at == share->shared_at);
}

void try_error(std::string_view body) {
  const auto error = read_error(body);
  if (!error) return;
  require_text(error->code);
  require_text(error->message, 0);
  const auto again = read_error(
      json::serialize(json::object{{"error", {{"code", error->code}, {"message", error->message}}}}));
  REQUIRE(again && again->code == error->code && again->message == error->message);
  REQUIRE(kind_of(error->code) != CloudError::Kind::malformed);
}

void try_retry_after(std::string_view value) {
  constexpr Timestamp now = from_unix_ms(1'790'000'000'000);
  const auto wait = read_retry_after(value, now);
  REQUIRE(!wait || (*wait >= Millis{0} && *wait <= kMaxRetryAfter));
  const bool digits = std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
  REQUIRE(wait.has_value() || value.empty() || !digits);
}

void try_path_segment(std::string_view text) {
  const auto segment = path_segment(text);
  if (!segment) return;
  REQUIRE(*segment != "." && *segment != "..");
  std::string decoded;
  for (std::size_t i = 0; i < segment->size(); ++i) {
    const char c = (*segment)[i];
    if (c == '%') {
      decoded += static_cast<char>(std::stoi(segment->substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      REQUIRE((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
              std::string_view("-_.~").contains(c));
      decoded += c;
    }
  }
  REQUIRE(decoded == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try_session(text);
  try_user(text);
  try_friendship(text);
  try_friendship_page(text);
  try_file_page(text);
  try_share(text);
  try_error(text);
  try_retry_after(text);
  try_path_segment(text);
  return 0;
}
