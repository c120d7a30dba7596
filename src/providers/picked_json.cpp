#include "providers/picked_json.h"

#include <fmt/format.h>

#include <boost/json/basic_parser_impl.hpp>
#include <functional>

#include "providers/lone_surrogates.h"

namespace presetbridge::providers {
namespace {

namespace json = boost::json;
using Kind = PickedValue::Kind;

// Builds the tree. Pointers into it are safe: an array grows only when its last element is complete.
class Picker {
 public:
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

  Picker(const Shape& shape, std::string_view body, std::size_t most)
      : shape_(shape), body_(body), budget_(most) {
    frames_.reserve(8);
  }

  PickedJson take() { return std::move(picked_); }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code&) {
    begin(Kind::object);
    return true;
  }
  bool on_object_end(std::size_t, json::error_code&) {
    end();
    return true;
  }
  bool on_array_begin(json::error_code&) {
    begin(Kind::array);
    return true;
  }
  bool on_array_end(std::size_t, json::error_code&) {
    end();
    return true;
  }

  bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
    if (skipped_ == 0) key_.append(part.data(), part.size());
    return true;
  }
  bool on_key(json::string_view part, std::size_t, json::error_code&) {
    if (skipped_ > 0) return true;
    if (key_.empty()) {
      select({part.data(), part.size()});
    } else {
      key_.append(part.data(), part.size());
      select(key_);
      key_.clear();
    }
    return true;
  }

  bool on_string_part(json::string_view part, std::size_t, json::error_code&) { return add(part); }
  bool on_string(json::string_view part, std::size_t, json::error_code&) {
    return finish(part, Kind::string);
  }
  bool on_number_part(json::string_view part, json::error_code&) { return add(part); }
  bool on_int64(std::int64_t, json::string_view part, json::error_code&) {
    return finish(part, Kind::number);
  }
  bool on_uint64(std::uint64_t, json::string_view part, json::error_code&) {
    return finish(part, Kind::number);
  }
  bool on_double(double, json::string_view part, json::error_code&) { return finish(part, Kind::number); }
  bool on_bool(bool value, json::error_code&) { return finish(value ? "true" : "false", Kind::boolean); }
  bool on_null(json::error_code&) { return finish("", Kind::null); }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  struct Frame {
    PickedValue* value;
    std::size_t member;  // of an object: the one that is being read, or kNone
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // Whether a value that is kept with all that is inside has elements, and not members.
  static bool is_list(const PickedValue& value) { return value.shape->element != nullptr; }

  // Where the value that starts now is kept; null if it is not.
  PickedValue* slot() {
    if (skipped_ > 0) return nullptr;
    if (frames_.empty()) {
      picked_.root.shape = &shape_;
      return &picked_.root;
    }
    auto& [parent, member] = frames_.back();
    if (is_list(*parent)) {
      if (!spend(1)) return nullptr;
      auto& element = parent->children.emplace_back();
      element.shape = parent->shape->element;
      return &element;
    }
    return member == kNone ? nullptr : &parent->children[member];
  }

  void begin(Kind kind) {
    PickedValue* const value = slot();
    if (value != nullptr) {
      value->kind = kind;
      const auto& shape = *value->shape;
      if (shape.element != nullptr) {
        value->children.reserve(8);
        frames_.push_back({value, kNone});
        return;
      }
      if (kind == Kind::object && !shape.members.empty() && spend(shape.members.size())) {
        value->children.resize(shape.members.size());
        for (std::size_t i = 0; i < shape.members.size(); ++i)
          value->children[i].shape = shape.members[i].shape;
        frames_.push_back({value, kNone});
        return;
      }
    }
    ++skipped_;
  }

  void end() {
    if (skipped_ > 0) {
      --skipped_;
    } else {
      frames_.pop_back();
    }
  }

  void select(std::string_view key) {
    auto& [object, member] = frames_.back();
    const auto& members = object->shape->members;
    member = kNone;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i].key != key) continue;
      member = i;
      auto& value = object->children[i];
      if (value.kind != Kind::absent) {
        report("is given more than once");
        value = PickedValue{};
        value.shape = members[i].shape;
      }
      return;
    }
  }

  // A part of a scalar that is not the last.
  bool add(std::string_view part) {
    if (!in_parts_) {
      in_parts_ = true;
      scalar_ = slot();
      if (scalar_ != nullptr) picked_.unescaped.emplace_back();
    }
    if (scalar_ != nullptr) picked_.unescaped.back().append(part);
    return true;
  }

  bool finish(std::string_view part, Kind kind) {
    PickedValue* value = nullptr;
    if (in_parts_) {
      add(part);
      in_parts_ = false;
      value = scalar_;
      if (value != nullptr) value->text = picked_.unescaped.back();
    } else {
      value = slot();
      if (value != nullptr) value->text = stored(part);
    }
    if (value == nullptr) return true;
    value->kind = kind;
    if (kind == Kind::string && value->text.contains('\0')) {
      value->kind = Kind::unusable;
      report("must not contain U+0000");
    }
    return true;
  }

  // `part` where it lasts as long as the body: what had escapes comes in a buffer of the parser.
  std::string_view stored(std::string_view part) {
    const std::less_equal<> before;
    if (before(body_.data(), part.data()) && before(part.data() + part.size(), body_.data() + body_.size()))
      return part;
    return part.empty() ? std::string_view{} : picked_.unescaped.emplace_back(part);
  }

  bool spend(std::size_t values) {
    if (values > budget_) {
      picked_.truncated = true;
      return false;
    }
    budget_ -= values;
    return true;
  }

  void report(std::string problem) {
    if (picked_.problems.size() < kMaxProblems) picked_.problems.push_back({path(), std::move(problem)});
  }

  std::string path() const {
    std::string text;
    for (const auto& [value, member] : frames_) {
      if (is_list(*value)) {
        text += fmt::format("[{}]", value->children.size() - 1);
      } else {
        if (!text.empty()) text += '.';
        text += value->shape->members[member].key;
      }
    }
    return text;
  }

  const Shape& shape_;
  const std::string_view body_;
  PickedJson picked_;
  std::vector<Frame> frames_;
  std::size_t skipped_ = 0;  // depth inside a container that is not kept
  std::string key_;          // the first parts of a key that comes in parts
  bool in_parts_ = false;    // inside a scalar that comes in parts
  PickedValue* scalar_ = nullptr;
  std::size_t budget_;  // of values
};

std::unexpected<Error> bad_body(std::string problem) {
  return fail("INVALID_PAYLOAD", "The payload cannot be read as a JSON object.",
              {{"body", std::move(problem)}});
}

}  // namespace

const PickedValue& PickedValue::operator[](std::string_view key) const {
  static const PickedValue absent;
  if (kind != Kind::object || shape->element != nullptr) return absent;
  for (std::size_t i = 0; i < children.size(); ++i) {
    if (shape->members[i].key == key) return children[i];
  }
  return absent;
}

std::span<const PickedValue> PickedValue::elements() const {
  return shape->element != nullptr ? std::span(children) : std::span<const PickedValue>{};
}

Expected<PickedJson> pick_json(std::string_view body, const Shape& shape, std::size_t max_depth,
                               std::size_t most) {
  if (body.empty()) return bad_body("is empty");
  std::unique_ptr<const std::string> repaired;
  if (auto text = without_lone_surrogates(body)) {
    repaired = std::make_unique<const std::string>(*std::move(text));
    body = *repaired;
  }
  json::parse_options options;
  options.max_depth = max_depth;
  json::basic_parser<Picker> parser(options, shape, body, most);
  json::error_code ec;
  const auto used = parser.write_some(false, body.data(), body.size(), ec);
  if (ec == json::error::too_deep) {
    return bad_body(fmt::format("is nested more deeply than {} levels", max_depth));
  }
  if (ec) return bad_body(fmt::format("is not valid JSON: {} at byte {}", ec.message(), used));
  if (used < body.size())
    return bad_body(fmt::format("goes on after the end of the JSON value, at byte {}", used));
  auto picked = parser.handler().take();
  if (!picked.root.is(Kind::object)) return bad_body("must be a JSON object");
  picked.repaired = std::move(repaired);
  return picked;
}

}  // namespace presetbridge::providers
