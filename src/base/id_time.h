// Ids as times: what makes "older than" a range of the primary key.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace presetbridge {

// The least id that IdSource makes of `at`: every id that was made before is smaller. Not negative; 0 for
// times before 2024.
std::int64_t first_id_at(Timestamp at);
// When IdSource made it.
Timestamp made_at(std::int64_t id);

}  // namespace presetbridge
