// A JSON document read once, from front to back, of which only the named fields are kept: an order of 10 KB
// holds some forty that matter here. All of the document is checked to be JSON; what is not kept costs no
// memory.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace presetbridge::providers {

struct Shape;

struct ShapeMember {
  std::string_view key;
  const Shape* shape;
};

// The values to keep: a scalar, named members of an object, or all elements of an array. An object in the
// place of an array keeps its kind and the values of its members: PHP writes a list with a gap as
// {"0":x,"2":y}. Any other value of another kind than its shape keeps its kind, and a scalar its text, but
// nothing inside it.
struct Shape {
  std::span<const ShapeMember> members = {};
  const Shape* element = nullptr;
};

inline constexpr Shape kScalar{};

class PickedValue {
 public:
  enum class Kind {
    absent,
    null,
    boolean,
    number,
    string,
    unusable,
    object,
    array
  };  // unusable: a string with U+0000

  Kind kind = Kind::absent;
  std::string text;  // of a string, its characters; of a number, exactly as written; "true", "false"
  std::vector<PickedValue>
      children;  // of a list, its elements; of an object, one for each member of the shape
  const Shape* shape = &kScalar;

  bool is(Kind k) const { return kind == k; }
  bool given() const { return kind != Kind::absent && kind != Kind::null; }
  // Whether this is an array, or an object in the place of one that is not empty.
  bool is_list() const { return kind == Kind::array || !elements().empty(); }
  // The member of that name; an absent value if it is not there, or if this is a list or no object.
  const PickedValue& operator[](std::string_view key) const;
  // The elements, or the values of an object in the place of an array, in their order; none if this is no
  // list.
  std::span<const PickedValue> elements() const;
};

struct PickedJson {
  PickedValue root;
  std::unique_ptr<const std::string> repaired;  // in place of the body, if that had lone surrogates
  std::deque<std::string> unescaped;  // what the texts view that do not stand in the body as they are
  // Problems for a strict reader, among the picked fields: keys given twice (the last one counts), strings
  // with U+0000.
  std::vector<FieldProblem> problems;
  bool truncated = false;  // there were more values than were to be picked: what came after is missing
};

inline constexpr std::size_t kMaxPickedValues = 50'000;
inline constexpr std::size_t kMaxProblems = 50;  // reported of one document

// `body` and `shape` outlive the result. A lone surrogate escape reads as U+FFFD (spec 2.11). INVALID_PAYLOAD
// with the problem of the field "body" when it is no JSON (RFC 8259, with valid UTF-8 throughout), is nested
// more deeply than `max_depth`, or is no object.
// Picks `most` values at most.
Expected<PickedJson> pick_json(std::string_view body, const Shape& shape, std::size_t max_depth,
                               std::size_t most = kMaxPickedValues);

}  // namespace presetbridge::providers
