// Bodies of REST requests, read field by field: each read checks and collects what is wrong, and all problems
// are told at once (422 VALIDATION_FAILED). A field that was not asked for before problems() is one of them:
// no matter what other fields hold, ask for all. null counts as absent, unless it is refused.
//
//   auto body = JsonBody::parse(call.request);  // 413, 415, 422
//   if (!body) co_return std::unexpected(body.error());
//   auto& fields = **body;
//   NewKey key;
//   key.name = fields.text("name", {.max = 100});
//   key.expires_at = fields.optional_time("expiresAt");
//   if (auto error = body->problems()) co_return std::unexpected(*error);
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "net/http.h"

namespace presetbridge::api {

// Lengths in characters (code points). ASCII white space at both ends is trimmed unless `exact`.
struct TextRule {
  std::size_t min = 1;    // of what is left after trimming
  std::size_t max = 200;  // of what was sent
  bool lines = false;     // line breaks and tabs are allowed; other control characters never are
  bool exact = false;     // not trimmed (passwords, secrets)
};

// What reading a body came to so far.
struct JsonReading {
  std::vector<FieldProblem> problems;
  // Which names were asked for in each object that was read, by where it stands: "", "settings.", "items[].".
  std::map<std::string, std::vector<std::string>, std::less<>> names;
};

// The fields of one JSON object. A read of a field with a problem returns an empty value.
class JsonFields {
 public:
  // `prefix` goes before the names in problems: "items[2]."; `place` is the same without numbers: "items[].".
  JsonFields(const boost::json::object& object, std::string prefix, const std::string& place,
             JsonReading& reading)
      : object_(&object),
        prefix_(std::move(prefix)),
        place_(&*reading.names.try_emplace(place).first),
        reading_(&reading) {}

  bool has(std::string_view field) const;  // present and not null
  // Present, and null: what a PATCH clears.
  bool is_null(std::string_view field) const;
  // Members that null does not clear: it is a mistake there.
  void refuse_null(std::initializer_list<std::string_view> fields);
  // A member that a PATCH does not change, and why: ignored, it would seem changed. What it is in `current`,
  // the resource as it is shown, may come back.
  void refuse_change(std::string_view field, const boost::json::object& current, std::string_view why);
  // Members that may come and count for nothing: what an answer shows beside the others, sent back.
  void skip(std::initializer_list<std::string_view> fields);
  // Likewise of a PATCH, all that the resource shows. It is to be asked for where names_others(): members
  // that nobody asked for yet.
  void skip_members_of(const boost::json::object& shown);
  bool names_others() const;
  // A member that a POST does not take, not even as null, and why.
  void refuse(std::string_view field, std::string_view why);

  std::string text(std::string_view field, TextRule rule = {});  // required
  std::optional<std::string> optional_text(std::string_view field, TextRule rule = {});
  // Whole numbers, however written ("278.0" is 278, spec 8.1).
  std::int64_t integer(std::string_view field, std::int64_t min, std::int64_t max);  // required
  std::optional<std::int64_t> optional_integer(std::string_view field, std::int64_t min, std::int64_t max);
  std::optional<bool> optional_flag(std::string_view field);
  std::optional<Timestamp> optional_time(std::string_view field);  // as parse_sent_time
  // One of `allowed`, exactly.
  std::optional<std::string> optional_choice(std::string_view field, std::vector<std::string_view> allowed);
  std::string choice(std::string_view field, std::vector<std::string_view> allowed);  // required
  std::optional<std::vector<std::string>> optional_texts(std::string_view field, std::size_t max_items,
                                                         TextRule rule = {});
  template <class AnyId>
  std::optional<AnyId> optional_id(std::string_view field) {
    auto text = optional_text(field, {.max = 40, .exact = true});
    if (!text) return std::nullopt;
    return read_id(field, *text, AnyId{});
  }
  template <class AnyId>
  std::optional<std::vector<AnyId>> optional_ids(std::string_view field, std::size_t max_items) {
    auto texts = optional_texts(field, max_items, {.max = 40, .exact = true});
    if (!texts) return std::nullopt;
    std::vector<AnyId> ids;
    for (std::size_t i = 0; i < texts->size(); ++i) {
      if (auto id = read_id(element(field, i), (*texts)[i], AnyId{})) ids.push_back(*id);
    }
    return ids;
  }
  // An object within; of a required one that is absent, an empty object (and a problem).
  JsonFields object(std::string_view field);
  // The elements, each an object.
  std::vector<JsonFields> objects(std::string_view field, std::size_t max_items);

  // For rules between fields.
  void problem(std::string_view field, std::string problem);

 private:
  static std::string element(std::string_view field, std::size_t index);
  template <class Kind>
  std::optional<Id<Kind>> read_id(std::string_view field, std::string_view text, Id<Kind>) {
    if (auto id = parse_id<Kind>(text)) return id;
    problem(field, "is not a valid id " + std::string(Kind::prefix) + "_…");
    return std::nullopt;
  }
  // The member as it was sent, if it was; from now on it is one that is known.
  const boost::json::value* ask(std::string_view field) const;
  const boost::json::value* find(std::string_view field) const;
  std::optional<std::string> read_text(std::string_view field, const boost::json::value& value,
                                       TextRule rule);

  const boost::json::object* object_;
  std::string prefix_;
  std::pair<const std::string, std::vector<std::string>>* place_;
  JsonReading* reading_;
};

// A body that is a JSON object.
class JsonBody {
 public:
  // PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE (not application/json), VALIDATION_FAILED (empty, not a JSON
  // object, or deeper than 32).
  static Expected<JsonBody> parse(const net::HttpRequest& request);
  // Of a request that needs none: no body is an empty object, whatever the content type.
  static Expected<JsonBody> parse_optional(const net::HttpRequest& request);

  // Reads at the top level: body->text("name"). Valid as long as this body, also when it has moved.
  JsonFields* operator->() { return &fields_; }
  JsonFields& operator*() { return fields_; }
  // Overwrites every text in it, for a body that held a secret: what is read afterwards is not what was sent.
  void wipe();
  // What is wrong, with the fields that were not asked for so far (the first 20); nothing if all is well.
  std::optional<Error> problems() const;

 private:
  struct Content {
    boost::json::object object;
    JsonReading reading;
  };
  explicit JsonBody(boost::json::object object);
  std::unique_ptr<Content> content_;
  JsonFields fields_;
};

}  // namespace presetbridge::api
