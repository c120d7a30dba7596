#include "api/json_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "api/errors.h"
#include "api/json_reader.h"
#include "api/sent_search.h"
#include "api/sent_time.h"
#include "api/unknown_name.h"
#include "base/ascii.h"
#include "base/utf8.h"
#include "crypto/secret.h"

namespace presetbridge::api {

namespace json = boost::json;

namespace {

constexpr std::size_t kMaxDepth = 32;

bool is_json(std::string_view content_type) {
  const auto end = content_type.find(';');
  auto type = content_type.substr(0, end);
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  while (!type.empty() && (type.front() == ' ' || type.front() == '\t')) type.remove_prefix(1);
  return equal_ignoring_case(type, "application/json");
}

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

const json::object kNoFields;

// Finds fields of a body that no read has asked for.
struct UnknownFields {
  const std::map<std::string, JsonReading::Names, std::less<>>& names;
  std::vector<FieldProblem>& problems;
  std::size_t reported = 0;

  void scan(const std::string& place, const std::string& prefix, const json::object& object) {
    const auto known = names.find(place);
    if (known == names.end()) return;  // not read as fields
    for (const auto& [key, value] : object) {
      if (reported == kMostUnknownNames) return;
      const std::string name = key;
      if (!known->second.contain(name)) {
        problems.push_back(unknown_field(prefix, name, known->second.taken));
        ++reported;
      } else if (value.is_object()) {
        scan(place + name + '.', prefix + name + '.', value.get_object());
      } else if (value.is_array() && names.contains(place + name + "[].")) {
        const auto& array = value.get_array();
        for (std::size_t i = 0; i < array.size(); ++i) {
          if (array[i].is_object())
            scan(place + name + "[].", fmt::format("{}{}[{}].", prefix, name, i), array[i].get_object());
        }
      }
    }
  }
};

void wipe_texts(json::value& value) {
  if (auto* text = value.if_string()) {
    crypto::wipe(std::as_writable_bytes(std::span(text->data(), text->size())));
  } else if (auto* object = value.if_object()) {
    for (auto& member : *object) wipe_texts(member.value());
  } else if (auto* array = value.if_array()) {
    for (auto& element : *array) wipe_texts(element);
  }
}

}  // namespace

// ---------------------------------------------------------------- fields

bool JsonReading::Names::contain(std::string_view name) const {
  return std::ranges::find(taken, name) != taken.end() || std::ranges::find(others, name) != others.end();
}

const json::value* JsonFields::ask(std::string_view field) const {
  auto& [taken, others] = place_->second;
  if (std::ranges::find(taken, field) == taken.end()) taken.emplace_back(field);
  return object_->if_contains(field);
}

const json::value* JsonFields::pass(std::string_view field) const {
  auto& names = place_->second;
  if (!names.contain(field)) names.others.emplace_back(field);
  return object_->if_contains(field);
}

const json::value* JsonFields::find(std::string_view field) const {
  const auto* value = ask(field);
  return value == nullptr || value->is_null() ? nullptr : value;
}

bool JsonFields::has(std::string_view field) const {
  return find(field) != nullptr;
}

bool JsonFields::is_null(std::string_view field) const {
  const auto* value = ask(field);
  return value != nullptr && value->is_null();
}

bool JsonFields::is(std::string_view field, std::string_view text) const {
  const auto* value = pass(field);
  return value != nullptr && value->is_string() && std::string_view(value->get_string()) == text;
}

void JsonFields::refuse_null(std::initializer_list<std::string_view> fields, std::string_view why) {
  for (const auto field : fields) {
    if (is_null(field)) problem(field, fmt::format("must not be null: {}", why));
  }
}

void JsonFields::refuse_change(std::string_view field, const json::object& current, std::string_view why) {
  const auto* value = pass(field);
  if (value == nullptr) return;
  const auto* now = current.if_contains(field);
  if (now != nullptr && *value == *now) return;
  problem(field, why.empty() ? "cannot be changed" : fmt::format("cannot be changed: {}", why));
}

void JsonFields::skip(std::initializer_list<std::string_view> fields) {
  for (const auto field : fields) pass(field);
}

void JsonFields::refuse_changes(const json::object& shown, std::initializer_list<std::string_view> moving) {
  skip(moving);
  for (const auto& member : shown) {
    if (!place_->second.contain(member.key())) refuse_change(member.key(), shown, "");
  }
}

bool JsonFields::names_others() const {
  return std::ranges::any_of(*object_,
                             [this](const auto& member) { return !place_->second.contain(member.key()); });
}

void JsonFields::refuse(std::string_view field, std::string_view why) {
  if (pass(field) != nullptr) problem(field, fmt::format("cannot be set: {}", why));
}

void JsonFields::problem(std::string_view field, std::string problem) {
  reading_->problems.push_back({prefix_ + std::string(field), std::move(problem)});
}

std::string JsonFields::element(std::string_view field, std::size_t index) {
  return fmt::format("{}[{}]", field, index);
}

std::optional<std::string> JsonFields::read_text(std::string_view field, const json::value& value,
                                                 TextRule rule) {
  if (!value.is_string()) {
    problem(field, "must be a string");
    return std::nullopt;
  }
  const std::string_view sent = value.get_string();
  const auto text = rule.exact ? sent : trim(sent);
  if (characters(text) < rule.min) {
    problem(field,
            rule.min == 1 ? "must not be empty" : fmt::format("must have at least {} characters", rule.min));
  } else if (characters(sent) > rule.max) {
    problem(field, fmt::format("must have at most {} characters", rule.max));
  } else if (std::ranges::any_of(sent, [&](char c) {
               const bool line = c == '\n' || c == '\r' || c == '\t';
               return (static_cast<unsigned char>(c) < 0x20 && !(line && rule.lines)) || c == 0x7f;
             })) {
    problem(field, "must not have control characters");
  } else {
    return std::string(text);
  }
  return std::nullopt;
}

std::optional<std::string> JsonFields::optional_text(std::string_view field, TextRule rule) {
  const auto* value = find(field);
  if (value == nullptr) return std::nullopt;
  return read_text(field, *value, rule);
}

std::string JsonFields::text(std::string_view field, TextRule rule) {
  if (!has(field)) {
    problem(field, "is required");
    return {};
  }
  return optional_text(field, rule).value_or(std::string());
}

std::optional<std::int64_t> JsonFields::optional_integer(std::string_view field, std::int64_t min,
                                                         std::int64_t max) {
  const auto* value = find(field);
  if (value == nullptr) return std::nullopt;
  std::optional<std::int64_t> number;
  if (value->is_int64()) number = value->get_int64();
  if (!number || *number < min || *number > max) {
    problem(field, fmt::format("must be a whole number from {} to {}", min, max));
    return std::nullopt;
  }
  return number;
}

std::int64_t JsonFields::integer(std::string_view field, std::int64_t min, std::int64_t max) {
  if (!has(field)) {
    problem(field, "is required");
    return min;
  }
  return optional_integer(field, min, max).value_or(min);
}

std::optional<bool> JsonFields::optional_flag(std::string_view field) {
  const auto* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_bool()) {
    problem(field, "must be true or false");
    return std::nullopt;
  }
  return value->get_bool();
}

std::optional<Timestamp> JsonFields::optional_time(std::string_view field) {
  const auto* value = find(field);
  if (value == nullptr) return std::nullopt;
  const auto time = value->is_string() ? parse_sent_time(value->get_string()) : std::nullopt;
  if (!time) problem(field, std::string(kNoSentTime));
  return time;
}

std::optional<std::string> JsonFields::optional_search(std::string_view field, std::size_t longest) {
  const auto text = optional_text(field, {.min = 0, .max = longest, .exact = true});
  if (!text) return std::nullopt;
  auto search = parse_sent_search(*text);
  if (!search) problem(field, std::string(kNoSentSearch));
  return search;
}

std::optional<std::string> JsonFields::optional_choice(std::string_view field,
                                                       std::vector<std::string_view> allowed) {
  const auto* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) {
    const std::string_view text = value->get_string();
    if (std::ranges::find(allowed, text) != allowed.end()) return std::string(text);
  }
  problem(field, fmt::format("must be one of {}", fmt::join(allowed, ", ")));
  return std::nullopt;
}

std::string JsonFields::choice(std::string_view field, std::vector<std::string_view> allowed) {
  if (!has(field)) {
    problem(field, "is required");
    return {};
  }
  return optional_choice(field, std::move(allowed)).value_or(std::string());
}

std::optional<std::vector<std::string>> JsonFields::optional_texts(std::string_view field,
                                                                   std::size_t max_items, TextRule rule) {
  const auto* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) {
    problem(field, "must be an array of strings");
    return std::nullopt;
  }
  const auto& array = value->get_array();
  if (array.size() > max_items) {
    problem(field, fmt::format("must have at most {} elements", max_items));
    return std::nullopt;
  }
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (auto text = read_text(element(field, i), array[i], rule)) texts.push_back(std::move(*text));
  }
  return texts;
}

JsonFields JsonFields::object(std::string_view field) {
  const auto prefix = prefix_ + std::string(field) + ".";
  const auto place = place_->first + std::string(field) + ".";
  const auto* value = find(field);
  if (value != nullptr && value->is_object()) return {value->get_object(), prefix, place, *reading_};
  problem(field, value == nullptr ? "is required" : "must be an object");
  return {kNoFields, prefix, place, *reading_};
}

std::vector<JsonFields> JsonFields::objects(std::string_view field, std::size_t max_items) {
  const auto* value = find(field);
  if (value == nullptr) return {};
  if (!value->is_array()) {
    problem(field, "must be an array of objects");
    return {};
  }
  const auto& array = value->get_array();
  if (array.size() > max_items) {
    problem(field, fmt::format("must have at most {} elements", max_items));
    return {};
  }
  std::vector<JsonFields> objects;
  const auto place = place_->first + std::string(field) + "[].";
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (array[i].is_object()) {
      objects.push_back({array[i].get_object(), prefix_ + element(field, i) + ".", place, *reading_});
    } else {
      problem(element(field, i), "must be an object");
    }
  }
  return objects;
}

// ---------------------------------------------------------------- body

JsonBody::JsonBody(json::object object)
    : content_(std::make_unique<Content>(Content{std::move(object), {}})),
      fields_(content_->object, "", "", content_->reading) {}

Expected<JsonBody> JsonBody::parse(const net::HttpRequest& request) {
  if (request.body_too_large) return std::unexpected(payload_too_large(request));
  if (!is_json(request.headers.get("Content-Type").value_or(""))) {
    return fail("UNSUPPORTED_MEDIA_TYPE",
                request.body.empty() ? "A body is needed: a JSON object, with Content-Type: application/json."
                                     : "The body must be JSON, with Content-Type: application/json.");
  }
  const auto unreadable = [](std::string problem) {
    return std::unexpected(invalid_fields({{"body", std::move(problem)}}));
  };
  if (request.body.empty()) return unreadable("is empty: a JSON object is needed");
  // The parser's first memory, which still holds its data afterwards.
  struct Scratch {
    std::array<unsigned char, 4'096> bytes;
    ~Scratch() { crypto::wipe(std::as_writable_bytes(std::span(bytes))); }
  } scratch;
  auto [value, error, at] = read_json(request.body, kMaxDepth, scratch.bytes);
  if (error == json::error::too_deep)
    return unreadable(fmt::format("must not be nested more than {} deep", kMaxDepth));
  if (error) return unreadable(fmt::format("is not JSON: syntax error at byte {}", at));
  if (!value.is_object()) return unreadable("must be a JSON object");
  return JsonBody(std::move(value.as_object()));
}

Expected<JsonBody> JsonBody::parse_optional(const net::HttpRequest& request) {
  if (request.body.empty() && !request.body_too_large) return JsonBody(json::object());
  return parse(request);
}

void JsonBody::wipe() {
  for (auto& member : content_->object) wipe_texts(member.value());
}

std::optional<Error> JsonBody::problems() const {
  auto problems = content_->reading.problems;
  UnknownFields{content_->reading.names, problems}.scan("", "", content_->object);
  if (problems.empty()) return std::nullopt;
  return invalid_fields(std::move(problems));
}

std::optional<Error> JsonBody::problems_of_known() const {
  if (content_->reading.problems.empty()) return std::nullopt;
  return invalid_fields(content_->reading.problems);
}

}  // namespace presetbridge::api
