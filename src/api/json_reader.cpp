#include "api/json_reader.h"

#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>

#include "base/whole_number.h"

namespace presetbridge::api {
namespace {

namespace json = boost::json;

template <class Integer>
bool is(std::string_view digits, Integer& value) {
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc{};
}

// As Boost.JSON's own parser, but for numbers.
class ValueBuilder {
 public:
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  explicit ValueBuilder(std::span<unsigned char> scratch) : stack_({}, scratch.data(), scratch.size()) {
    stack_.reset();
  }

  json::value release() { return stack_.release(); }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code&) { return true; }
  bool on_object_end(std::size_t members, json::error_code&) {
    stack_.push_object(members);
    return true;
  }
  bool on_array_begin(json::error_code&) { return true; }
  bool on_array_end(std::size_t elements, json::error_code&) {
    stack_.push_array(elements);
    return true;
  }
  bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
    stack_.push_chars(part);
    return true;
  }
  bool on_key(json::string_view part, std::size_t, json::error_code&) {
    stack_.push_key(part);
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, json::error_code&) {
    stack_.push_chars(part);
    return true;
  }
  bool on_string(json::string_view part, std::size_t, json::error_code&) {
    stack_.push_string(part);
    return true;
  }
  bool on_number_part(json::string_view part, json::error_code&) {
    number_.append(part);
    return true;
  }
  bool on_int64(std::int64_t value, json::string_view, json::error_code&) {
    number_.clear();
    stack_.push_int64(value);
    return true;
  }
  bool on_uint64(std::uint64_t value, json::string_view, json::error_code&) {
    number_.clear();
    stack_.push_uint64(value);
    return true;
  }
  bool on_double(double value, json::string_view part, json::error_code&) {
    number_.append(part);
    const auto digits = whole_number(number_, std::numeric_limits<std::uint64_t>::digits10 + 1);
    number_.clear();
    std::int64_t whole = 0;
    std::uint64_t large = 0;
    if (digits && is(*digits, whole)) {
      stack_.push_int64(whole);
    } else if (digits && is(*digits, large)) {
      stack_.push_uint64(large);
    } else {
      stack_.push_double(value);
    }
    return true;
  }
  bool on_bool(bool value, json::error_code&) {
    stack_.push_bool(value);
    return true;
  }
  bool on_null(json::error_code&) {
    stack_.push_null();
    return true;
  }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  json::value_stack stack_;
  std::string number_;
};

}  // namespace

JsonRead read_json(std::string_view text, std::size_t max_depth, std::span<unsigned char> scratch) {
  json::parse_options options;
  options.max_depth = max_depth;
  json::basic_parser<ValueBuilder> parser(options, scratch);
  json::error_code error;
  JsonRead read;
  read.at = parser.write_some(false, text.data(), text.size(), error);
  if (!error && read.at < text.size()) error = json::error::extra_data;
  read.error = error;
  if (!error) read.value = parser.handler().release();
  return read;
}

}  // namespace presetbridge::api
