// The write that shows whether trouble of the storage is over (AsyncDatabase::Options::probe, spec 12.3).
#pragma once

#include "storage/database.h"

namespace presetbridge::storage {

// Writes 256 KiB that nothing compresses into the one row of write_probe: more than an order of 10 KB with
// all its rows dirties (some 25 pages). The content is another one each time, so that no page stays as
// it was.
void write_probe(Tx& tx);

}  // namespace presetbridge::storage
