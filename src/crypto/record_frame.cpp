#include "crypto/record_frame.h"

#include <algorithm>

#include "crypto/digest.h"

namespace presetbridge::crypto {
namespace {

constexpr std::byte kFrameVersion{1};
constexpr std::size_t kHeaderSize = 1 + sizeof(RecordKeyId);
constexpr std::size_t kChecksumSize = 8;
static_assert(kHeaderSize + kChecksumSize == kRecordFrameOverhead);

void append(Bytes& out, ByteView bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void append_big_endian(Bytes& out, std::int64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) {
    out.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> shift));
  }
}

}  // namespace

Bytes make_record_frame(const RecordKeyId& key_id, ByteView body) {
  Bytes record;
  record.reserve(body.size() + kRecordFrameOverhead);
  record.push_back(kFrameVersion);
  append(record, key_id);
  append(record, body);
  append(record, ByteView(sha256(record)).first(kChecksumSize));
  return record;
}

std::optional<RecordFrame> parse_record_frame(ByteView record) {
  if (record.size() < kRecordFrameOverhead || record[0] != kFrameVersion) return std::nullopt;
  const ByteView covered = record.first(record.size() - kChecksumSize);
  if (!std::ranges::equal(record.last(kChecksumSize), ByteView(sha256(covered)).first(kChecksumSize))) {
    return std::nullopt;
  }
  RecordFrame frame{{}, covered.subspan(kHeaderSize)};
  std::ranges::copy(covered.subspan(1, sizeof(RecordKeyId)), frame.key_id.begin());
  return frame;
}

Bytes authenticated_data(std::string_view domain, const RecordKeyId& key_id, std::int64_t first,
                         std::int64_t second, std::string_view text) {
  Bytes data;
  append(data, domain);
  data.push_back(std::byte{0});
  append(data, key_id);
  append_big_endian(data, first);
  append_big_endian(data, second);
  append(data, text);
  return data;
}

std::unexpected<Error> record_corrupt() {
  return fail("RECORD_CORRUPT", "An encrypted record was changed, or stands where it does not belong.");
}

}  // namespace presetbridge::crypto
