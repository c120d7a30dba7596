#include "domain/username.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "domain/html_text.h"
#include "domain/mapping.h"

#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace presetbridge::domain;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto name = normalise_username(text);
  REQUIRE(text.contains(name) || text.contains('%'));
  REQUIRE(normalise_username(name) == name);
  REQUIRE(name.size() <= 4 * kMaxUsernameCharacters);
  REQUIRE(trim_unicode(name) == name);

  static constexpr std::array<std::string_view, 3> labels{"vendor_username", "cloud_username", "username"};
  const auto value = labelled_value(text, labels);
  REQUIRE(value.empty() ||
          (value.data() >= text.data() && value.data() + value.size() <= text.data() + text.size()));
  REQUIRE(value.find_first_of("\r\n") == std::string_view::npos);

  const auto middle = size / 2;
  REQUIRE(same_field_name(text.substr(0, middle), text.substr(middle)) ==
          same_field_name(text.substr(middle), text.substr(0, middle)));
  const std::array<std::string_view, 2> names{text.substr(middle), "vendor_username"};
  REQUIRE(FieldNames(names).contains(text.substr(0, middle)) ==
          std::ranges::any_of(names, [&](auto one) { return same_field_name(text.substr(0, middle), one); }));
  REQUIRE(text.starts_with(presetbridge::cut_utf8(text, middle)));

  const auto decoded = decode_html(text);
  REQUIRE(decoded.size() <= size && decode_html(decoded) == decoded);
  REQUIRE(std::ranges::count(decoded, '\0') <= std::ranges::count(text, '\0'));
  if (!text.contains('&')) REQUIRE(decoded == text);
  // Either form of a title finds the other.
  REQUIRE(normalise_match_value(MatchType::title, text) == normalise_match_value(MatchType::title, decoded));
  return 0;
}
