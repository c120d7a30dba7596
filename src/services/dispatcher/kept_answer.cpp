#include "services/dispatcher/kept_answer.h"

namespace presetbridge::services {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// The length of the character that `text` begins with; 0 if it begins with none that may be kept.
std::size_t character_at(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first == 0 ? 0 : 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what is beyond U+10FFFF.
  const unsigned char second = byte(1);
  if (first == 0xE0 && second < 0xA0) return 0;
  if (first == 0xED && second > 0x9F) return 0;
  if (first == 0xF0 && second < 0x90) return 0;
  if (first == 0xF4 && second > 0x8F) return 0;
  return length;
}

}  // namespace

std::string kept_answer(std::string_view body) {
  std::string kept;
  while (!body.empty()) {
    const std::size_t length = character_at(body);
    const std::string_view next = length > 0 ? body.substr(0, length) : kReplacement;
    if (kept.size() + next.size() > kKeptAnswerBytes) break;
    kept += next;
    body.remove_prefix(length > 0 ? length : 1);
  }
  return kept;
}

}  // namespace presetbridge::services
