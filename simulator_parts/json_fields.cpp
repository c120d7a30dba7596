#include "simulator_parts/json_fields.h"

#include <boost/json.hpp>
#include <utility>

namespace presetbridge::simulator_parts {

JsonFields::JsonFields(const boost::json::value& value) : object_(value.if_object()) {
  if (!object_) throw Problem(400, "An object is wanted.");
}

std::string JsonFields::text(std::string_view name) const {
  const auto* value = find(name);
  if (!value || !value->is_string() || value->get_string().empty()) throw wrong(name, "a text");
  return std::string(value->get_string());
}

std::string JsonFields::text_or(std::string_view name, std::string otherwise) const {
  return find(name) ? text(name) : std::move(otherwise);
}

std::int64_t JsonFields::number_or(std::string_view name, std::int64_t otherwise, std::int64_t max) const {
  const auto* value = find(name);
  if (!value) return otherwise;
  if (!value->is_int64() || value->get_int64() < 0 || value->get_int64() > max) {
    throw wrong(name, "a whole number");
  }
  return value->get_int64();
}

double JsonFields::probability(std::string_view name) const {
  const auto* value = find(name);
  if (!value) return 0;
  boost::system::error_code error;
  const auto result = value->to_number<double>(error);
  const bool in_range = result >= 0 && result <= 1;
  if (error || !in_range) throw wrong(name, "a number from 0 to 1");
  return result;
}

bool JsonFields::flag_or(std::string_view name, bool otherwise) const {
  const auto* value = find(name);
  if (!value) return otherwise;
  if (!value->is_bool()) throw wrong(name, "true or false");
  return value->get_bool();
}

void JsonFields::each(std::string_view name, const std::function<void(const JsonFields&)>& visit) const {
  const auto* value = find(name);
  if (!value || !value->is_array()) throw wrong(name, "a list");
  for (const auto& element : value->get_array()) visit(JsonFields(element));
}

Problem JsonFields::wrong(std::string_view name, const char* wanted) {
  return {400, std::string(name) + ": " + wanted + " is wanted."};
}

}  // namespace presetbridge::simulator_parts
