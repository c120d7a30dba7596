// The members of the object that a request to a simulator's own API (/sim) brings.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/time.h"

namespace presetbridge::simulator_parts {

// Leaves a handler as the status that it names; the message is for a person.
struct Problem : std::runtime_error {
  Problem(int s, const std::string& message) : std::runtime_error(message), status(s) {}
  int status;
};

// Throws Problem for a member that is not as wanted. The value outlives this.
class JsonFields {
 public:
  explicit JsonFields(const boost::json::value& value);
  const boost::json::value* find(std::string_view name) const { return object_->if_contains(name); }
  // Not empty.
  std::string text(std::string_view name) const;
  std::string text_or(std::string_view name, std::string otherwise) const;
  // From 0 to `max`.
  std::int64_t number_or(std::string_view name, std::int64_t otherwise,
                         std::int64_t max = 1'000'000'000) const;
  double probability(std::string_view name) const;  // 0 where it is absent
  bool flag_or(std::string_view name, bool otherwise) const;
  Millis millis(std::string_view name) const { return Millis{number_or(name, 0)}; }
  // Each element of a list, all of them objects.
  void each(std::string_view name, const std::function<void(const JsonFields&)>& visit) const;

  static Problem wrong(std::string_view name, const char* wanted);

 private:
  const boost::json::object* object_;
};

}  // namespace presetbridge::simulator_parts
