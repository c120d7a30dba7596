// A customer's name on the cloud platform, as buyers type and paste it: normalised, and found in free text
// (spec 2.8). The functions accept any bytes: each byte that is not UTF-8 counts as one character. They
// throw only for lack of memory.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace presetbridge::domain {

inline constexpr std::size_t kMaxUsernameCharacters = 200;  // spec 2.14

// The username that `raw` means, or "" if it means none. Trims Unicode white space and zero-width
// characters, removes one leading '@' ("@@x" is no handle and stays as it is), and reduces a pasted profile
// URL (with a scheme, or `host.tld/...`) to its last path segment, whose percent escapes are read, unless one
// is malformed, or they encode bytes that are no UTF-8, control characters, slashes or an '@'. A name of more
// than `max_characters` Unicode characters means none: if it were cut, it could be somebody else's.
// Idempotent.
std::string normalise_username(std::string_view raw, std::size_t max_characters = kMaxUsernameCharacters);

// Whether two field names are the same but for ASCII case and white space, '_' and '-' ("Vendor Username",
// "vendor_username"). A name that consists of these characters alone equals no name.
bool same_field_name(std::string_view a, std::string_view b);

// A set of field names, which are compared as in same_field_name(). The time of a search grows with the
// length of the name, and hardly with the number of names.
class FieldNames {
 public:
  explicit FieldNames(std::span<const std::string_view> names);
  bool contains(std::string_view name) const;
  bool empty() const { return names_.empty(); }

 private:
  std::vector<std::string> names_;  // the significant part of each, sorted
  std::size_t longest_ = 0;
};

// The value in the first line of `note` that consists of one of `labels` (compared as in
// same_field_name()), one of : = - (or their typographic forms), and a value that normalises to a username;
// "" if there is no such line. The value is the whole rest of the line, trimmed: half a name could be
// somebody else's.
std::string_view labelled_value(std::string_view note, std::span<const std::string_view> labels);

// `text` without Unicode white space and zero-width characters at both ends.
std::string_view trim_unicode(std::string_view text);

}  // namespace presetbridge::domain
