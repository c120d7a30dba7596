#include "api/router.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <stdexcept>

#include "api/unknown_name.h"
#include "base/utf8.h"

namespace presetbridge::api {
namespace {

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> segments;
  while (!path.empty()) {
    path.remove_prefix(1);  // the '/'
    const auto slash = std::min(path.find('/'), path.size());
    segments.emplace_back(path.substr(0, slash));
    path.remove_prefix(slash);
  }
  return segments;
}

bool is_param(std::string_view segment) {
  return segment.starts_with('{');
}

// How well `pattern` fits: nothing, or a string that sorts literals before parameters, from the left.
std::optional<std::string> fit(std::span<const std::string> pattern, std::span<const std::string> path) {
  if (pattern.size() != path.size()) return std::nullopt;
  std::string rank;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (is_param(pattern[i])) {
      if (path[i].empty()) return std::nullopt;
      rank += 'p';
    } else if (pattern[i] == path[i]) {
      rank += 'l';
    } else {
      return std::nullopt;
    }
  }
  return rank;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c < 0x20; });
}

// A route of GET serves HEAD too: the server sends the header of its answer, and no body.
bool serves(std::string_view route_method, std::string_view method) {
  return route_method == method || (route_method == "GET" && method == "HEAD");
}

void add_allow(net::HttpResponse& response, std::ranges::input_range auto&& methods) {
  std::string allow;
  for (const auto& method : methods) allow.append(allow.empty() ? "" : ", ").append(method);
  response.headers.add("Allow", allow);
}

net::HttpResponse method_not_allowed(std::string message, const std::vector<std::string>& allowed) {
  auto response = error_response({"METHOD_NOT_ALLOWED", std::move(message), {}});
  add_allow(response, allowed);
  return response;
}

// Nothing for a broken escape.
std::optional<std::string> decoded_bytes(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

}  // namespace

std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  auto out = decoded_bytes(text, plus_is_space);
  if (out && (has_control(*out) || !is_utf8(*out))) return std::nullopt;
  return out;
}

std::expected<std::vector<std::pair<std::string, std::string>>, FieldProblem> parse_query(
    std::string_view query) {
  constexpr std::size_t kMaxParameters = 50;
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!query.empty()) {
    const auto part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(part.size() + 1, query.size()));
    if (part.empty()) continue;
    const auto equals = std::min(part.find('='), part.size());
    auto name = percent_decode(part.substr(0, equals), true);
    auto value = percent_decode(part.substr(std::min(equals + 1, part.size())), true);
    const auto refuse = [&](const char* problem) {
      return std::unexpected(FieldProblem{name && !name->empty() ? shortened_name(*name) : "query", problem});
    };
    if (!name || !value) {
      const auto bytes = decoded_bytes(part, true);
      return refuse(bytes && has_control(*bytes) ? "has a control character"
                                                 : "is not UTF-8 in percent-encoding");
    }
    for (const auto& [known, ignored] : pairs) {
      if (known == *name) return refuse("is given more than once");
    }
    if (pairs.size() == kMaxParameters) return refuse("is one parameter too many");
    pairs.emplace_back(std::move(*name), std::move(*value));
  }
  return pairs;
}

std::string operation_of(std::string_view method, std::string_view pattern) {
  std::string operation = std::string(method) + ' ';
  bool inside = false;
  for (const char c : pattern) {
    if (c == '}') inside = false;
    if (!inside) operation += c;
    if (c == '{') inside = true;
  }
  return operation;
}

void Router::add(std::string method, std::string pattern, Access access, Handler handler) {
  if (!pattern.starts_with('/')) throw std::logic_error("a route's pattern is an absolute path: " + pattern);
  for (const auto& route : routes_) {
    if (route.method == method && route.pattern == pattern) {
      throw std::logic_error(fmt::format("the route exists already: {} {}", method, pattern));
    }
  }
  auto segments = split_path(pattern);
  auto operation = operation_of(method, pattern);
  routes_.push_back({std::move(method), std::move(pattern), access, std::move(handler), std::move(segments),
                     std::move(operation)});
}

void Router::refuse(std::string method, std::string pattern, std::string message) {
  auto segments = split_path(pattern);
  refusals_.push_back({std::move(method), std::move(pattern), std::move(message), std::move(segments)});
}

bool Router::refuses(std::string_view operation) const {
  return std::ranges::any_of(refusals_, [operation](const Refusal& refusal) {
    return operation_of(refusal.method, refusal.pattern) == operation;
  });
}

net::HttpResponse Router::whole_server() const {
  std::set<std::string_view> methods{"OPTIONS"};
  for (const auto& route : routes_) {
    methods.insert(route.method);
    if (route.method == "GET") methods.insert("HEAD");
  }
  net::HttpResponse response;
  response.status = 204;
  add_allow(response, methods);
  return response;
}

std::expected<Router::Match, net::HttpResponse> Router::match(std::string_view method,
                                                              std::string_view path) const {
  const auto none = [] {
    return std::unexpected(error_response({"NOT_FOUND", "There is nothing at this path.", {}}));
  };
  if (method == "OPTIONS" && path == "*") return std::unexpected(whole_server());
  if (!path.starts_with('/')) return none();
  auto segments = split_path(path);
  for (auto& segment : segments) {
    auto decoded = percent_decode(segment);
    if (!decoded) return none();
    segment = std::move(*decoded);
  }

  // The best-fitting pattern first, whatever its methods: /keys/me never falls through to /keys/{key}.
  std::optional<std::string> best;
  for (const auto& route : routes_) {
    if (auto rank = fit(route.segments, segments); rank && (!best || *rank < *best)) best = std::move(rank);
  }
  if (!best) return none();

  std::vector<std::string> allowed;
  for (const auto& route : routes_) {
    if (fit(route.segments, segments) != best) continue;
    if (serves(route.method, method)) {
      Match match{&route, {}};
      for (std::size_t i = 0; i < segments.size(); ++i) {
        const std::string_view name = route.segments[i];
        if (is_param(name))
          match.params.emplace_back(name.substr(1, name.size() - 2), std::move(segments[i]));
      }
      return match;
    }
    allowed.push_back(route.method);
    if (route.method == "GET") allowed.emplace_back("HEAD");
  }
  std::string message = "This path does not take the method " + std::string(method.substr(0, 20)) + ".";
  for (const auto& refusal : refusals_) {
    if (refusal.method == method && fit(refusal.segments, segments)) message = refusal.message;
  }
  return std::unexpected(method_not_allowed(std::move(message), allowed));
}

}  // namespace presetbridge::api
