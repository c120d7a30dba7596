// Parameters as Stripe's clients write them, in a query or a body: line_items[0][price_data][currency]=usd.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace presetbridge::paysim {

using Metadata = std::map<std::string, std::string>;

// One parameter: a value, or members in the order received ("0", "1" and so on of a list).
struct Parameter {
  std::string name;  // within what it is a member of
  std::optional<std::string> value;
  std::vector<Parameter> members;
};

// Reads `text`, percent-encoded UTF-8. Throws StripeError: more than 1,000 parameters, names nested deeper
// than 8, what is no form, or a name that has both a value and members. A name given twice has the later
// value.
Parameter parse_form(std::string_view text);

// Reads the members of a parameter; what is absent or empty is nothing. Throws StripeError for what is not as
// wanted. done() at the end refuses what nobody asked for. The parameter outlives this.
class FormFields {
 public:
  explicit FormFields(const Parameter& parameter, std::string path = "");

  bool has(std::string_view name);
  bool has_members(std::string_view name);
  // Of at most `longest` characters.
  std::optional<std::string> text(std::string_view name, std::size_t longest = 5'000);
  std::string required_text(std::string_view name, std::size_t longest = 5'000);
  // One of `allowed`.
  std::optional<std::string> one_of(std::string_view name, std::initializer_list<std::string_view> allowed);
  std::optional<std::int64_t> number(std::string_view name, std::int64_t least, std::int64_t most);
  std::int64_t required_number(std::string_view name, std::int64_t least, std::int64_t most);
  std::optional<bool> flag(std::string_view name);
  // As Stripe limits it: 50 keys of 40 characters, values of 500.
  Metadata metadata(std::string_view name);
  // The values of a list; at most `most`.
  std::vector<std::string> texts(std::string_view name, std::size_t most);
  // The members of an object, or of each object of a list.
  std::optional<FormFields> object(std::string_view name);
  std::vector<FormFields> objects(std::string_view name, std::size_t most);
  // "parameter_unknown" if a member was not asked for.
  void done() const;
  // How a member is called in whole: "line_items[0][quantity]".
  std::string path_of(std::string_view name) const;

 private:
  const Parameter* find(std::string_view name);
  const std::vector<Parameter>& members_of(std::string_view name, std::size_t most);

  const Parameter* parameter_;
  std::string path_;
  std::vector<std::string> asked_;
};

}  // namespace presetbridge::paysim
