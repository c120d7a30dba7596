// Reads bodies of REST requests field by field. Each read checks its field and gathers its problems.
// problems() returns all of them at once (422 VALIDATION_FAILED), and every field that no read has asked for:
// so ask for all fields, whatever the others hold. null counts as absent, unless it is refused.
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

// The state of reading a body.
struct JsonReading {
  std::vector<FieldProblem> problems;
  // Names that were asked for in one object.
  struct Names {
    std::vector<std::string> taken;   // they set something
    std::vector<std::string> others;  // they are refused, or count for nothing
    bool contain(std::string_view name) const;
  };
  // By where the object stands: "", "settings.", "items[].".
  std::map<std::string, Names, std::less<>> names;
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
  // Present and null: a PATCH clears the member.
  bool is_null(std::string_view field) const;
  bool is(std::string_view field, std::string_view text) const;  // exactly; sets nothing
  // Members that null does not clear: it is a mistake there. `why` goes into the answer.
  void refuse_null(std::initializer_list<std::string_view> fields,
                   std::string_view why = "leave it out to keep what it is");
  std::size_t size() const { return object_->size(); }  // members, whatever they are
  // Refuses another value of a member than it has in `current`, the resource as it is shown. `why` goes into
  // the answer; it may be empty.
  void refuse_change(std::string_view field, const boost::json::object& current, std::string_view why);
  // Takes members that count for nothing, whatever they are.
  void skip(std::initializer_list<std::string_view> fields);
  // Does one or the other with every member of `shown`, the resource as it is shown, that no read has asked
  // for: it skips those in `moving`, which change by themselves, and refuses a change of the others.
  void refuse_changes(const boost::json::object& shown, std::initializer_list<std::string_view> moving);
  // Whether there are members that no read has asked for.
  bool names_others() const;
  // Refuses a member that a POST does not take, not even as null; `why` goes into the answer.
  void refuse(std::string_view field, std::string_view why);

  std::string text(std::string_view field, TextRule rule = {});  // required
  std::optional<std::string> optional_text(std::string_view field, TextRule rule = {});
  // Whole numbers, however written ("278.0" is 278, spec 8.1).
  std::int64_t integer(std::string_view field, std::int64_t min, std::int64_t max);  // required
  std::optional<std::int64_t> optional_integer(std::string_view field, std::int64_t min, std::int64_t max);
  std::optional<bool> optional_flag(std::string_view field);
  std::optional<Timestamp> optional_time(std::string_view field);  // as parse_sent_time
  std::optional<std::string> optional_search(std::string_view field,
                                             std::size_t longest);  // as parse_sent_search
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
  // The member as it was sent, if it was; from now on it is one that is known. `pass`: it sets nothing.
  const boost::json::value* ask(std::string_view field) const;
  const boost::json::value* pass(std::string_view field) const;
  const boost::json::value* find(std::string_view field) const;
  std::optional<std::string> read_text(std::string_view field, const boost::json::value& value,
                                       TextRule rule);

  const boost::json::object* object_;
  std::string prefix_;
  std::pair<const std::string, JsonReading::Names>* place_;
  JsonReading* reading_;
};

// A body that is a JSON object.
class JsonBody {
 public:
  // PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE (not application/json), VALIDATION_FAILED (empty, not a JSON
  // object, or deeper than 32).
  static Expected<JsonBody> parse(const net::HttpRequest& request);
  // For a request that needs no body: none is an empty object, whatever the content type.
  static Expected<JsonBody> parse_optional(const net::HttpRequest& request);

  // Reads at the top level: body->text("name"). Valid as long as this body, also when it has moved.
  JsonFields* operator->() { return &fields_; }
  JsonFields& operator*() { return fields_; }
  // Overwrites every text in it, for a body that held a secret: what is read afterwards is not what was sent.
  void wipe();
  // The problems, with the fields that were not asked for so far (the first 20); nothing if there are none.
  std::optional<Error> problems() const;
  // The problems without the fields that were not asked for, where a body may hold any field.
  std::optional<Error> problems_of_known() const;

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
