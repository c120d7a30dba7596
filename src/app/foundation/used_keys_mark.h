// The mark in the data directory that its keys were used with a database: where that database is not there
// any more, an empty one would be served in its place without a notice (spec 12.3).
#pragma once

#include <vector>

#include "app/config/data_directory.h"
#include "base/error.h"
#include "crypto/service_cipher.h"

namespace presetbridge::app {

// Whether one of the service keys that are in the folder now is marked. Keys that are not there, or cannot be
// read, are not: the code that needs them reports the reason.
bool keys_are_marked(const DataDirectory& directory);

// Marks those keys, and no others; does nothing where that is so already. On disk when it returns. The errors
// of crypto/key_file.h.
Expected<void> mark_keys(const DataDirectory& directory, const std::vector<crypto::ServiceKey>& keys);

}  // namespace presetbridge::app
