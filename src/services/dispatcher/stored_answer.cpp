#include "services/dispatcher/stored_answer.h"

#include "base/utf8.h"

namespace presetbridge::services {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace

std::string stored_answer(std::string_view body) {
  std::string stored;
  while (!body.empty()) {
    const std::size_t length = body.front() == '\0' ? 0 : character_size(body);
    const std::string_view next = length > 0 ? body.substr(0, length) : kReplacement;
    if (stored.size() + next.size() > kStoredAnswerBytes) break;
    stored += next;
    body.remove_prefix(length > 0 ? length : 1);
  }
  return stored;
}

}  // namespace presetbridge::services
