#include "form.h"

#include <algorithm>
#include <charconv>

#include "base/utf8.h"
#include "simulator_parts/percent.h"
#include "stripe_error.h"

namespace presetbridge::paysim {
namespace {

constexpr std::size_t kMostParameters = 1'000;
constexpr std::size_t kDeepest = 8;
constexpr std::size_t kLongestNameTold = 200;

std::string decoded(std::string_view text) {
  auto result = simulator_parts::percent_decoded(text, true);
  if (!result || !is_utf8(*result) || result->contains('\0')) {
    throw invalid("The parameters are not UTF-8 in percent-encoding.");
  }
  return std::move(*result);
}

std::string told(const std::string& name) {
  return name.size() <= kLongestNameTold ? name : "(a long name)";
}

// "a[b][0]" as a, b, 0; the empty step of "a[]" stands for the next of a list.
std::vector<std::string> steps_of(const std::string& name) {
  const auto wrong = [&] { return invalid("This is no name of a parameter: " + told(name)); };
  std::vector<std::string> steps;
  auto at = name.find('[');
  steps.push_back(name.substr(0, at));
  while (at < name.size()) {
    const auto end = name.find(']', at);
    if (name[at] != '[' || end == std::string::npos || steps.size() == kDeepest) throw wrong();
    steps.push_back(name.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  if (steps.front().empty()) throw wrong();
  return steps;
}

Parameter& member(Parameter& of, std::string name) {
  if (name.empty()) name = std::to_string(of.members.size());
  const auto found = std::ranges::find(of.members, name, &Parameter::name);
  if (found != of.members.end()) return *found;
  return of.members.emplace_back(Parameter{.name = std::move(name), .value = {}, .members = {}});
}

std::int64_t to_number(const std::string& text, std::int64_t least, std::int64_t most,
                       const std::string& path) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw invalid("Invalid integer for " + path + ".", path, "parameter_invalid_integer");
  }
  if (number < least || number > most) {
    throw invalid(path + " is from " + std::to_string(least) + " to " + std::to_string(most) + ".", path,
                  "parameter_invalid_integer");
  }
  return number;
}

}  // namespace

Parameter parse_form(std::string_view text) {
  Parameter root;
  std::size_t count = 0;
  while (!text.empty()) {
    const auto part = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    if (part.empty()) continue;
    if (++count > kMostParameters) throw invalid("There are more than 1,000 parameters.");
    const auto equals = std::min(part.find('='), part.size());
    const std::string name = decoded(part.substr(0, equals));
    Parameter* at = &root;
    for (auto& step : steps_of(name)) {
      if (at->value) throw invalid(told(name) + " has both a value and members.", told(name));
      at = &member(*at, std::move(step));
    }
    if (!at->members.empty()) throw invalid(told(name) + " has both a value and members.", told(name));
    at->value = decoded(part.substr(std::min(equals + 1, part.size())));
  }
  return root;
}

FormFields::FormFields(const Parameter& parameter, std::string path)
    : parameter_(&parameter), path_(std::move(path)) {}

std::string FormFields::path_of(std::string_view name) const {
  return path_.empty() ? std::string(name) : path_ + "[" + std::string(name) + "]";
}

const Parameter* FormFields::find(std::string_view name) {
  asked_.emplace_back(name);
  const auto found = std::ranges::find(parameter_->members, name, &Parameter::name);
  return found == parameter_->members.end() || found->value == "" ? nullptr : &*found;
}

bool FormFields::has(std::string_view name) {
  return find(name) != nullptr;
}

bool FormFields::has_members(std::string_view name) {
  const auto* found = find(name);
  return found && !found->members.empty();
}

std::optional<std::string> FormFields::text(std::string_view name, std::size_t longest) {
  const auto* found = find(name);
  if (!found) return std::nullopt;
  if (!found->value) throw invalid("Invalid string for " + path_of(name) + ".", path_of(name));
  if (characters(*found->value) > longest) {
    throw invalid(path_of(name) + " has at most " + std::to_string(longest) + " characters.", path_of(name));
  }
  return found->value;
}

std::string FormFields::required_text(std::string_view name, std::size_t longest) {
  auto value = text(name, longest);
  if (!value) {
    throw invalid("Missing required param: " + path_of(name) + ".", path_of(name), "parameter_missing");
  }
  return std::move(*value);
}

std::optional<std::string> FormFields::one_of(std::string_view name,
                                              std::initializer_list<std::string_view> allowed) {
  auto value = text(name);
  if (!value || std::ranges::find(allowed, *value) != allowed.end()) return value;
  std::string all;
  for (const auto one : allowed) all.append(all.empty() ? "" : ", ").append(one);
  throw invalid(path_of(name) + " is one of: " + all + " (as far as this simulator goes).", path_of(name));
}

std::optional<std::int64_t> FormFields::number(std::string_view name, std::int64_t least, std::int64_t most) {
  const auto value = text(name, 20);
  if (!value) return std::nullopt;
  return to_number(*value, least, most, path_of(name));
}

std::int64_t FormFields::required_number(std::string_view name, std::int64_t least, std::int64_t most) {
  return to_number(required_text(name, 20), least, most, path_of(name));
}

std::optional<bool> FormFields::flag(std::string_view name) {
  const auto value = one_of(name, {"true", "false"});
  if (!value) return std::nullopt;
  return *value == "true";
}

const std::vector<Parameter>& FormFields::members_of(std::string_view name, std::size_t most) {
  static const std::vector<Parameter> none;
  const auto* found = find(name);
  if (!found) return none;
  if (found->value) throw invalid("Invalid object or list for " + path_of(name) + ".", path_of(name));
  if (found->members.size() > most) {
    throw invalid(path_of(name) + " has at most " + std::to_string(most) + " members.", path_of(name));
  }
  return found->members;
}

Metadata FormFields::metadata(std::string_view name) {
  constexpr std::size_t most_keys = 50;
  constexpr std::size_t longest_key = 40;
  constexpr std::size_t longest_value = 500;
  Metadata result;
  for (const auto& parameter : members_of(name, most_keys)) {
    if (characters(parameter.name) > longest_key) {
      throw invalid("A key of metadata has at most 40 characters.", path_of(name));
    }
    if (!parameter.value || characters(*parameter.value) > longest_value) {
      throw invalid("A value of metadata is a text of at most 500 characters.",
                    path_of(name) + "[" + parameter.name + "]");
    }
    if (!parameter.value->empty()) result.emplace(parameter.name, *parameter.value);
  }
  return result;
}

std::vector<std::string> FormFields::texts(std::string_view name, std::size_t most) {
  std::vector<std::string> result;
  for (const auto& parameter : members_of(name, most)) {
    if (!parameter.value) throw invalid("Invalid list for " + path_of(name) + ".", path_of(name));
    result.push_back(*parameter.value);
  }
  return result;
}

std::optional<FormFields> FormFields::object(std::string_view name) {
  if (members_of(name, kMostParameters).empty()) return std::nullopt;
  return FormFields(*find(name), path_of(name));
}

std::vector<FormFields> FormFields::objects(std::string_view name, std::size_t most) {
  std::vector<FormFields> result;
  for (const auto& parameter : members_of(name, most)) {
    if (parameter.value) throw invalid("Invalid list for " + path_of(name) + ".", path_of(name));
    result.emplace_back(parameter, path_of(name) + "[" + parameter.name + "]");
  }
  return result;
}

void FormFields::done() const {
  for (const auto& parameter : parameter_->members) {
    if (std::ranges::find(asked_, parameter.name) != asked_.end()) continue;
    const std::string path = told(path_of(parameter.name));
    throw invalid("Received unknown parameter: " + path + " (this simulator has what a Checkout needs).",
                  path, "parameter_unknown");
  }
}

}  // namespace presetbridge::paysim
