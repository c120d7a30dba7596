// A customer's name on the cloud platform, as buyers type and paste it: normalised, and found in free text
// (spec 2.8). Total functions of bytes: text that is not UTF-8 is taken byte for byte, nothing throws but for
// lack of memory.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace presetbridge::domain {

inline constexpr std::size_t kMaxUsernameCharacters = 200;  // spec 2.14

// The username that `raw` means, or "" if it means none. Trims Unicode white space and zero-width characters
// at both ends, takes one leading '@' away ("@@x" is no handle and stays as it is) and, of a pasted profile
// URL (with a scheme, or `host.tld/...`), keeps the last path segment. A name longer than `max_characters`
// (Unicode characters) is none: a cut name could be somebody else's. Idempotent.
std::string normalise_username(std::string_view raw, std::size_t max_characters = kMaxUsernameCharacters);

// Whether two field names are the same but for ASCII case and white space, '_' and '-' ("Vendor Username",
// "vendor_username"). A name of nothing but those equals no name.
bool same_field_name(std::string_view a, std::string_view b);

// Names of fields, to be found again as same_field_name compares them, in time that grows with the name asked
// for and not with how many there are.
class FieldNames {
 public:
  explicit FieldNames(std::span<const std::string_view> names);
  bool contains(std::string_view name) const;
  bool empty() const { return names_.empty(); }

 private:
  std::vector<std::string> names_;  // what counts of each, sorted
  std::size_t longest_ = 0;
};

// The value of the first line of `note` that starts with one of `labels` (compared as field names are), then
// one of : = - (or their typographic forms), then a value that normalises to a username. The value is the
// rest of the line, trimmed; "" if there is none. The rest of the line is never split further: half a name
// could be somebody else's.
std::string_view labelled_value(std::string_view note, std::span<const std::string_view> labels);

// `text` without Unicode white space and zero-width characters at both ends.
std::string_view trim_unicode(std::string_view text);

// At most `max_bytes` from the front of `text`, never splitting a UTF-8 sequence.
std::string_view cut_utf8(std::string_view text, std::size_t max_bytes);

}  // namespace presetbridge::domain
