#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "api/cloud_login_body.h"
#include "api/json_body.h"
#include "api/json_reader.h"
#include "api/page.h"
#include "api/router.h"
#include "require.h"
#include "services/dispatcher/stored_answer.h"

namespace {

using namespace presetbridge;
using namespace presetbridge::api;

std::string percent_encode(std::string_view text) {
  std::string out;
  for (const unsigned char c : text) out += fmt::format("%{:02X}", c);
  return out;
}

// By the other decoder of UTF-8 in this program.
bool is_plain_text(std::string_view text) {
  const bool control = std::ranges::any_of(text, [](unsigned char c) { return c < 0x20; });
  return !control && services::stored_answer(text) == text;
}

void try_decoding(std::string_view text) {
  for (const bool plus : {false, true}) {
    const auto decoded = percent_decode(text, plus);
    if (!decoded) continue;
    REQUIRE(decoded->size() <= text.size());
    if (decoded->size() <= services::kStoredAnswerBytes) REQUIRE(is_plain_text(*decoded));
    REQUIRE(percent_decode(percent_encode(*decoded), plus) == decoded);
  }
  if (text.size() <= services::kStoredAnswerBytes) {
    REQUIRE(percent_decode(percent_encode(text)).has_value() == is_plain_text(text));
  }
}

const Router& router() {
  static const Router made = [] {
    const Handler none = [](Call) -> Task<Reply> { co_return no_content(); };
    Router r;
    for (const auto* pattern :
         {"/", "/api/deliveries", "/api/deliveries/{delivery}", "/api/keys/me", "/api/keys/{key}",
          "/api/deliveries/{delivery}/items/{item}", "/webhooks/{provider}/{integration}"}) {
      r.add("GET", pattern, Access::open(), none);
      r.add("POST", pattern, Access::open(), none);
    }
    r.refuse("DELETE", "/api/deliveries/{delivery}", "Deliveries are kept.");
    return r;
  }();
  return made;
}

void try_route(std::string_view method, std::string_view path) {
  const auto match = router().match(method, path);
  if (!match) {
    const auto& response = match.error();
    REQUIRE(response.status == 404 || response.headers.has("Allow"));
    REQUIRE(response.status == 404 || response.status == 405 || (response.status == 204 && path == "*"));
    return;
  }
  // HEAD is answered as GET is, without the body.
  REQUIRE(match->route->method == (method == "HEAD" ? "GET" : method));
  std::string rebuilt = match->route->pattern;
  for (const auto& [name, value] : match->params) {
    REQUIRE(!value.empty());
    const auto braced = '{' + std::string(name) + '}';
    const auto at = rebuilt.find(braced);
    REQUIRE(at != rebuilt.npos);
    rebuilt.replace(at, braced.size(), percent_encode(value));
  }
  REQUIRE(!rebuilt.contains('{'));
  const auto again = router().match(method, rebuilt);
  REQUIRE(again && again->route == match->route && again->params == match->params);
}

void try_query(std::string_view query) {
  auto pairs = parse_query(query);
  if (!pairs) return;
  REQUIRE(pairs->size() <= 50);
  std::string rebuilt;
  for (const auto& [name, value] : *pairs) {
    REQUIRE(std::ranges::count(*pairs, name, &std::pair<std::string, std::string>::first) == 1);
    rebuilt += (rebuilt.empty() ? "" : "&") + percent_encode(name) + '=' + percent_encode(value);
  }
  REQUIRE(parse_query(rebuilt) == pairs);

  Call call;
  call.query = std::move(*pairs);
  const auto page = page_request(call);
  if (!page) {
    REQUIRE(page.error().code == "VALIDATION_FAILED" && !page.error().details.empty());
    return;
  }
  REQUIRE(page->limit >= 1 && page->limit <= 100 && page->before > 0);
  // A cursor that was taken is one that a list gives.
  if (const auto cursor = call.query_value("cursor")) {
    REQUIRE(page_response({}, page->before).body ==
            fmt::format(R"({{"data":[],"nextCursor":"{}"}})", *cursor));
  }
}

void require_text(std::string_view text, const TextRule& rule) {
  const auto characters = std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; });
  REQUIRE(static_cast<std::size_t>(characters) >= rule.min &&
          static_cast<std::size_t>(characters) <= rule.max);
  REQUIRE(std::ranges::none_of(text, [&](unsigned char c) {
    return c == 0x7f || (c < 0x20 && !(rule.lines && (c == '\n' || c == '\r' || c == '\t')));
  }));
  REQUIRE(rule.exact || (!text.starts_with(' ') && !text.ends_with(' ')));
}

// Of a field that nobody asked for.
bool is_unknown(const FieldProblem& one) {
  return one.problem.starts_with("is not a field of this request; ") ||
         one.problem == "has a field without a name";
}

// What is wrong with the fields that were asked for; the others are told last.
std::vector<FieldProblem> faults(const JsonBody& body) {
  const auto error = body.problems();
  if (!error) return {};
  REQUIRE(error->code == "VALIDATION_FAILED");
  auto details = error->details;
  const auto others = std::ranges::find_if(details, is_unknown);
  REQUIRE(details.end() - others <= 20);
  details.erase(others, details.end());
  return details;
}

bool unknown_at_the_top(const JsonBody& body) {
  const auto error = body.problems();
  return error && std::ranges::any_of(error->details, is_unknown);
}

// One field of each sort. Returns whether all were good.
bool read_fields(JsonFields& fields, const JsonBody& body, std::string_view prefix) {
  const auto problems = [&body] { return faults(body).size(); };
  const auto before = problems();
  constexpr TextRule name{.max = 20}, note{.min = 0, .max = 40, .lines = true},
      secret{.min = 3, .exact = true};
  const auto named = fields.text("name", name);
  if (problems() == before) require_text(named, name);
  if (const auto text = fields.optional_text("note", note)) require_text(*text, note);
  if (const auto text = fields.optional_text("secret", secret)) require_text(*text, secret);
  const auto count = fields.integer("count", 1, 9);
  REQUIRE(count >= 1 && count <= 9);
  const auto offset = fields.optional_integer("offset", INT64_MIN, INT64_MAX);
  REQUIRE(!offset || fields.has("offset"));
  (void)fields.optional_flag("active");
  if (const auto time = fields.optional_time("expiresAt")) REQUIRE(parse_iso8601(to_iso8601(*time)) == time);
  const auto kind = fields.choice("kind", {"preset", "capture"});
  REQUIRE(kind.empty() || kind == "preset" || kind == "capture");
  if (const auto id = fields.optional_id<IntegrationId>("integrationId")) {
    REQUIRE(parse_id<IntegrationKind>(to_string(*id)) == id);
  }
  if (const auto ids = fields.optional_ids<DeliveryId>("deliveryIds", 3)) REQUIRE(ids->size() <= 3);
  if (const auto texts = fields.optional_texts("fields", 3, name)) {
    REQUIRE(texts->size() <= 3);
    for (const auto& text : *texts) require_text(text, name);
  }
  const auto found = faults(body);
  for (std::size_t i = before; i < found.size(); ++i)
    REQUIRE(found[i].field.starts_with(prefix) && !found[i].problem.empty());
  return found.size() == before;
}

// Boost.JSON's own reader rounds what it makes of a number's digits and its exponent.
bool nearly(double a, double b) {
  return a == b || std::abs(a - b) <= 4 * std::numeric_limits<double>::epsilon() * std::abs(b);
}

// The same document, but that a number may be whole here and a double there.
bool same_document(const boost::json::value& a, const boost::json::value& b) {
  if (a.is_number() && b.is_number()) {
    // ... and no number at all of a zero with a great exponent ("0e400").
    if (std::isnan(b.to_number<double>())) return a.to_number<double>() == 0;
    return a.is_double() ? b.is_double() && a.get_double() == b.get_double()
                         : nearly(b.to_number<double>(), a.to_number<double>());
  }
  if (a.is_array() && b.is_array()) return std::ranges::equal(a.get_array(), b.get_array(), same_document);
  if (a.is_object() && b.is_object()) {
    return std::ranges::equal(a.get_object(), b.get_object(), [](const auto& one, const auto& other) {
      return one.key() == other.key() && same_document(one.value(), other.value());
    });
  }
  return a == b;
}

void try_json(std::string_view text) {
  std::array<unsigned char, 64> scratch;
  const auto read = read_json(text, 32, scratch);
  std::error_code error;
  boost::json::parse_options options;
  options.max_depth = 32;
  const auto plain = boost::json::parse(text, error, {}, options);
  REQUIRE(static_cast<bool>(error) == static_cast<bool>(read.error) && read.at <= text.size());
  REQUIRE(error || same_document(read.value, plain));
}

void try_body(const std::string& text) {
  try_json(text);
  net::HttpRequest request{.method = "POST", .body = text};
  REQUIRE(JsonBody::parse(request).error().code == "UNSUPPORTED_MEDIA_TYPE");
  request.headers.add("Content-Type", "application/json; charset=utf-8");
  auto body = JsonBody::parse(request);
  if (!body) {
    REQUIRE(body.error().code == "VALIDATION_FAILED" && body.error().details.size() == 1);
  } else {
    const bool good = read_fields(**body, *body, "");
    REQUIRE(good == faults(*body).empty());
    (*body)->skip({"cloud", "items"});
    REQUIRE((*body)->names_others() == unknown_at_the_top(*body));
    auto inner = (*body)->object("cloud");
    read_fields(inner, *body, "cloud.");
    const auto items = (*body)->objects("items", 4);
    REQUIRE(items.size() <= 4);
    for (auto item : items) read_fields(item, *body, "items[");
    body->wipe();
  }
  for (const auto* member : {"", "cloud"}) {
    auto copy = request;
    const auto login = read_cloud_login(copy, member);
    REQUIRE(copy.body.find_first_not_of('\0') == copy.body.npos);
    if (!login) continue;
    require_text(login->email, {.max = 254});
    require_text(login->password.reveal(), {.max = 256, .exact = true});
  }
}

}  // namespace

// "METHOD PATH?QUERY", and after the line's end a body.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  const auto line = input.substr(0, input.find('\n'));
  const auto body = input.substr(std::min(line.size() + 1, input.size()));
  const auto space = std::min(line.find(' '), line.size());
  const auto target = line.substr(std::min(space + 1, line.size()));
  const auto mark = std::min(target.find('?'), target.size());
  try_route(line.substr(0, space), target.substr(0, mark));
  try_query(target.substr(std::min(mark + 1, target.size())));
  try_decoding(target);
  try_body(std::string(body));
  return 0;
}
