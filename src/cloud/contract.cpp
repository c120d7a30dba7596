#include "cloud/contract.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <chrono>
#include <ctime>
#include <iomanip>
#include <locale>
#include <sstream>
#include <utility>

#include "base/percent.h"
#include "base/utf8.h"

namespace presetbridge::cloud {
namespace {

namespace json = boost::json;

bool is_control(unsigned char c) {
  return c < 0x20 || c == 0x7f;
}
bool has_control(std::string_view text) {
  return std::ranges::any_of(text, is_control);
}

std::optional<json::object> read_object(std::string_view body) {
  json::parse_options options;
  options.max_depth = 8;
  boost::system::error_code error;
  json::value value = json::parse(body, error, {}, options);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.get_object());
}

// Reads the members of one object; `good` turns false at the first that is missing, of another type or
// outside its limits, so that a reader asks once at its end.
class Members {
 public:
  explicit Members(const json::object& object) : object_(object) {}

  std::string text(std::string_view name, std::size_t min = 1, std::size_t max = kMaxText) {
    const auto* value = object_.if_contains(name);
    if (!value || !value->is_string()) return refuse();
    const std::string_view found = value->get_string();
    if (found.size() < min || characters(found) > max || has_control(found)) return refuse();
    return std::string(found);
  }
  std::string optional_text(std::string_view name) {
    const auto* value = object_.if_contains(name);
    return !value || value->is_null() ? std::string() : text(name, 0);
  }
  bool flag(std::string_view name) {
    const auto* value = object_.if_contains(name);
    if (!value || !value->is_bool()) good_ = false;
    return good_ && value->get_bool();
  }
  Timestamp time(std::string_view name) {
    const auto parsed = parse_iso8601(text(name));
    if (!parsed) good_ = false;
    return parsed.value_or(Timestamp{});
  }
  FriendshipState state(std::string_view name) {
    static constexpr std::array<std::pair<std::string_view, FriendshipState>, 5> states{{
        {"none", FriendshipState::none},
        {"requested", FriendshipState::requested},
        {"friends", FriendshipState::friends},
        {"declined", FriendshipState::declined},
        {"blocked", FriendshipState::blocked},
    }};
    const auto* found =
        std::ranges::find(states, std::string_view(text(name)), &decltype(states)::value_type::first);
    if (found == states.end()) good_ = false;
    return good_ ? found->second : FriendshipState::none;
  }
  const json::object& object(std::string_view name) {
    static const json::object none;
    const auto* value = object_.if_contains(name);
    if (!value || !value->is_object()) good_ = false;
    return good_ ? value->get_object() : none;
  }
  // Every element as an object through `read`, which returns nothing for what it refuses.
  template <class T, class Read>
  std::vector<T> list(std::string_view name, Read read) {
    std::vector<T> result;
    const auto* value = object_.if_contains(name);
    if (!value || !value->is_array()) good_ = false;
    if (!good_) return result;
    for (const auto& element : value->get_array()) {
      std::optional<T> item;
      if (element.is_object()) item = read(element.get_object());
      if (!item) {
        good_ = false;
        return {};
      }
      result.push_back(std::move(*item));
    }
    return result;
  }
  void require(bool condition) { good_ = good_ && condition; }

  template <class T>
  std::optional<T> result(T value) const {
    if (!good_) return std::nullopt;
    return value;
  }

 private:
  std::string refuse() {
    good_ = false;
    return {};
  }
  const json::object& object_;
  bool good_ = true;
};

// The reader of one value applied to a whole body.
template <class Read>
auto from_body(std::string_view body, Read read) -> decltype(read(std::declval<const json::object&>())) {
  const auto object = read_object(body);
  if (!object) return std::nullopt;
  return read(*object);
}

std::optional<CloudUser> user_of(const json::object& object) {
  Members members(object);
  CloudUser user{members.text("id"), members.text("username")};
  return members.result(std::move(user));
}

std::optional<FriendshipChange> change_of(const json::object& object) {
  Members members(object);
  FriendshipChange change{members.text("userId"), members.state("state"), members.time("changedAt")};
  return members.result(std::move(change));
}

std::optional<CloudFile> file_of(const json::object& object) {
  Members members(object);
  CloudFile file{members.text("id"), members.text("kind"), members.text("name", 0)};
  return members.result(std::move(file));
}

bool is_token(std::string_view text) {
  return !text.empty() && text.size() <= kMaxToken &&
         std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

// The start of a text that a person may see: no control characters, whole UTF-8 characters.
std::string presentable(std::string_view text) {
  std::string result(first_characters(text, kMaxText));
  std::ranges::replace_if(result, is_control, ' ');
  return result;
}

}  // namespace

std::optional<Session> read_session(std::string_view body) {
  return from_body(body, [](const json::object& object) -> std::optional<Session> {
    Members members(object);
    Session session;
    session.token = members.text("token", 1, kMaxToken);
    members.require(is_token(session.token));
    session.expires_at = members.time("expiresAt");
    const auto user = user_of(members.object("user"));
    if (!user) return std::nullopt;
    session.user_id = user->id;
    session.username = user->username;
    return members.result(std::move(session));
  });
}

std::optional<CloudUser> read_user(std::string_view body) {
  return from_body(body, user_of);
}

std::optional<Friendship> read_friendship(std::string_view body) {
  return from_body(body, [](const json::object& object) {
    Members members(object);
    Friendship friendship{members.text("userId"), members.state("state")};
    return members.result(std::move(friendship));
  });
}

std::optional<FriendshipPage> read_friendship_page(std::string_view body) {
  return from_body(body, [](const json::object& object) {
    Members members(object);
    FriendshipPage page;
    page.changes = members.list<FriendshipChange>("changes", change_of);
    page.next_cursor = members.text("nextCursor", 0);
    page.more = members.flag("more");
    return members.result(std::move(page));
  });
}

std::optional<FilePage> read_file_page(std::string_view body) {
  return from_body(body, [](const json::object& object) {
    Members members(object);
    FilePage page;
    page.files = members.list<CloudFile>("files", file_of);
    page.next_cursor = members.text("nextCursor", 0);
    page.more = members.flag("more");
    return members.result(std::move(page));
  });
}

std::optional<Share> read_share(std::string_view body) {
  return from_body(body, [](const json::object& object) {
    Members members(object);
    Share share{members.text("id"), members.optional_text("idempotencyKey"), members.time("sharedAt")};
    return members.result(std::move(share));
  });
}

std::optional<PlatformError> read_error(std::string_view body) {
  return from_body(body, [](const json::object& object) -> std::optional<PlatformError> {
    const auto* error = object.if_contains("error");
    if (!error || !error->is_object()) return std::nullopt;
    Members members(error->get_object());
    PlatformError result;
    result.code = members.text("code");
    const auto* message = error->get_object().if_contains("message");
    members.require(message && message->is_string());
    if (message && message->is_string()) result.message = presentable(message->get_string());
    return members.result(std::move(result));
  });
}

CloudError::Kind kind_of(std::string_view code) {
  using Kind = CloudError::Kind;
  static constexpr std::array<std::pair<std::string_view, Kind>, 10> kinds{{
      {"unavailable", Kind::unavailable},
      {"rate_limited", Kind::rate_limited},
      {"session_refused", Kind::session_refused},
      {"login_refused", Kind::login_refused},
      {"user_not_found", Kind::user_not_found},
      {"file_not_found", Kind::file_not_found},
      {"not_shareable", Kind::not_shareable},
      {"blocked", Kind::blocked},
      {"not_friends", Kind::not_friends},
      {"rejected", Kind::rejected},
  }};
  const auto* found = std::ranges::find(kinds, code, &decltype(kinds)::value_type::first);
  return found == kinds.end() ? Kind::rejected : found->second;
}

std::optional<Millis> read_retry_after(std::string_view value, Timestamp now) {
  if (value.empty()) return std::nullopt;
  if (std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; })) {
    std::int64_t seconds = 0;
    const auto end = value.data() + value.size();
    if (std::from_chars(value.data(), end, seconds).ec != std::errc{}) return kMaxRetryAfter;
    return seconds > kMaxRetryAfter / std::chrono::seconds{1} ? kMaxRetryAfter : Millis{seconds * 1000};
  }
  if (value.size() != std::string_view("Sun, 06 Nov 1994 08:49:37 GMT").size()) return std::nullopt;
  std::istringstream text{std::string(value)};
  text.imbue(std::locale::classic());
  std::tm parts{};
  text >> std::get_time(&parts, "%a, %d %b %Y %H:%M:%S GMT");
  if (text.fail()) return std::nullopt;
  namespace chrono = std::chrono;
  const chrono::year_month_day day{chrono::year{parts.tm_year + 1900},
                                   chrono::month{static_cast<unsigned>(parts.tm_mon + 1)},
                                   chrono::day{static_cast<unsigned>(parts.tm_mday)}};
  if (!day.ok()) return std::nullopt;
  const Timestamp then = chrono::sys_days{day} + chrono::hours{parts.tm_hour} +
                         chrono::minutes{parts.tm_min} + chrono::seconds{parts.tm_sec};
  return std::clamp(then - now, Millis{0}, kMaxRetryAfter);
}

std::optional<std::string> path_segment(std::string_view text) {
  const bool dots = text == "." || text == "..";
  if (text.empty() || dots || characters(text) > kMaxText || has_control(text)) return std::nullopt;
  return percent_encoded(text);
}

}  // namespace presetbridge::cloud
