// Parameters of a query, read one by one as the fields of a body are (json_body.h): each read checks its
// value and records its problems, and problems() returns all of them, also those of parameters that the
// operation does not have. So the handler of every operation that has parameters uses this class and calls
// problems(). A parameter whose value is empty is a problem, except in text().
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/call.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/time.h"
#include "storage/page.h"

namespace presetbridge::api {

class QueryFields {
 public:
  // `call` outlives this.
  explicit QueryFields(const Call& call) : call_(call), problems_(call.unknown_parameters) {}

  // `limit` and `cursor` (page.h).
  storage::PageRequest page();

  // `longest`: in characters (code points).
  std::optional<std::string> optional_text(std::string_view name, std::size_t longest);
  std::optional<bool> optional_flag(std::string_view name);
  // For a parameter that may be empty; "" also where it was not sent.
  std::string text(std::string_view name, std::size_t longest);
  std::optional<std::string> optional_search(std::string_view name,
                                             std::size_t longest);  // as parse_sent_search
  std::optional<Timestamp> optional_time(std::string_view name);    // as parse_sent_time
  std::optional<std::string> optional_choice(std::string_view name,
                                             std::span<const std::string_view> allowed);
  template <class AnyId>
  std::optional<AnyId> optional_id(std::string_view name) {
    const auto text = call_.query_value(name);
    return text ? read_id(name, *text, AnyId{}) : std::nullopt;
  }
  // 1 to `most` values with commas between them, without repeats; `parse` returns std::optional<T>.
  template <class T, class Parse>
  std::vector<T> several(std::string_view name, std::size_t most, Parse parse, std::string_view what) {
    std::vector<T> values;
    for (const auto text : parts(name, most)) {
      const std::optional<T> value = parse(text);
      if (!value) {
        problem(name, "is not, or has one that is not, " + std::string(what));
        return {};
      }
      if (std::ranges::find(values, *value) == values.end()) values.push_back(*value);
    }
    return values;
  }

  void problem(std::string_view name, std::string problem);
  // VALIDATION_FAILED; nothing if all is well.
  std::optional<Error> problems() const;

 private:
  template <class Kind>
  std::optional<Id<Kind>> read_id(std::string_view name, std::string_view text, Id<Kind>) {
    const auto id = parse_id<Kind>(text);
    if (!id) problem(name, "is not a valid id " + std::string(Kind::prefix) + "_…");
    return id;
  }
  std::vector<std::string_view> parts(std::string_view name, std::size_t most);

  const Call& call_;
  std::vector<FieldProblem> problems_;
};

}  // namespace presetbridge::api
