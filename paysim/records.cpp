#include "records.h"

#include <array>

namespace presetbridge::paysim {

std::string_view to_string(SessionStatus status) {
  constexpr std::array<std::string_view, 3> names{"open", "complete", "expired"};
  return names[static_cast<std::size_t>(status)];
}
std::string_view to_string(ChargeStatus status) {
  constexpr std::array<std::string_view, 3> names{"pending", "succeeded", "failed"};
  return names[static_cast<std::size_t>(status)];
}
std::string_view to_string(RefundStatus status) {
  constexpr std::array<std::string_view, 3> names{"pending", "succeeded", "failed"};
  return names[static_cast<std::size_t>(status)];
}
std::string_view to_string(DisputeStatus status) {
  constexpr std::array<std::string_view, 7> names{
      "needs_response",         "under_review",         "won",           "lost",
      "warning_needs_response", "warning_under_review", "warning_closed"};
  return names[static_cast<std::size_t>(status)];
}

}  // namespace presetbridge::paysim
