// How encrypted records lie in storage, for this folder only: version (1), key id (8), body, checksum (8: the
// start of the SHA-256 of all before it). The body's own encryption is what resists an attacker; the checksum
// finds accidental damage without a key, and distinguishes a damaged key id from an unknown key.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/error.h"
#include "crypto/bytes.h"

namespace presetbridge::crypto {

using RecordKeyId = std::array<std::byte, 8>;

inline constexpr std::size_t kRecordFrameOverhead = 17;

struct RecordFrame {
  RecordKeyId key_id;
  ByteView body;  // of the record that was parsed
};

Bytes make_record_frame(const RecordKeyId& key_id, ByteView body);
std::optional<RecordFrame> parse_record_frame(ByteView record);

// The authenticated data that binds a record: the domain, which has no zero byte; the key id; two
// numbers; a text.
Bytes authenticated_data(std::string_view domain, const RecordKeyId& key_id, std::int64_t first,
                         std::int64_t second, std::string_view text);

std::unexpected<Error> record_corrupt();

}  // namespace presetbridge::crypto
