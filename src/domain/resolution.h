// The meaning of a resolution code to a merchant, and the event that resumes the stopped work (spec 3.6).
#pragma once

#include <string_view>

#include "domain/delivery.h"

namespace presetbridge::domain {

struct ResolutionText {
  std::string_view title;
  std::string_view what_happened;
  std::string_view what_to_do;
};
// All empty for `none`.
const ResolutionText& describe(ResolutionCode code);

// The text of `credentials_missing` for a merchant where there is a login, but it cannot be opened (spec
// 5.4).
inline constexpr std::string_view kUnreadableLogin =
    "The stored cloud login cannot be opened any more. Save it again: on the Cloud account page of the "
    "dashboard, or with PUT /api/credentials.";

// Something that happened to one delivery, or to its order, and that may fix a cause. An account task fixes the
// failures of a whole account (spec 3.6).
enum class Remedy { username_arrived, mapping_saved };
// Whether deliveries that failed with `code` go back to queued by themselves then.
bool resumes(ResolutionCode code, Remedy remedy);

}  // namespace presetbridge::domain
