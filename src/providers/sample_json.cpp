#include "providers/sample_json.h"

#include <charconv>

namespace presetbridge::providers {

namespace json = boost::json;

json::value number_if_possible(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && std::to_string(number) == text)
    return number;
  return json::value(text);
}

void put(json::object& to, std::string_view name, const std::string& text) {
  if (!text.empty()) to.emplace(name, text);
}
void put_id(json::object& to, std::string_view name, const std::string& text) {
  if (!text.empty()) to.emplace(name, number_if_possible(text));
}

}  // namespace presetbridge::providers
