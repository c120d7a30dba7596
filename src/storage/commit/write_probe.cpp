#include "storage/commit/write_probe.h"

#include <cstring>
#include <random>
#include <vector>

namespace presetbridge::storage {
namespace {

constexpr std::size_t kBytes = 256 * 1024;

constexpr Sql kWrite{
    "INSERT INTO write_probe (id, body) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET body = excluded.body"};

}  // namespace

void write_probe(Tx& tx) {
  std::mt19937_64 noise(static_cast<std::uint64_t>(to_unix_ms(tx.now())));
  std::vector<std::byte> body(kBytes);
  for (std::size_t at = 0; at < body.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = noise();
    std::memcpy(body.data() + at, &word, sizeof word);
  }
  tx.exec(kWrite, Blob(body));
}

}  // namespace presetbridge::storage
