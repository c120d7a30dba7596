// Event identifiers: the seed asks for a UUID.
#pragma once

#include <array>
#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <span>
#include <string>

#include "base/clock.h"

namespace presetbridge::services {

// A version 4 UUID in lower-case text, from the injected source of chance.
inline std::string random_uuid(Random& random) {
  // The system is asked once for all bits.
  struct Generator {
    using result_type = std::uint32_t;
    Random& source;
    std::array<std::uint32_t, 4> words{};
    std::size_t used = 4;
    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return 0xffffffff; }
    result_type operator()() {
      if (used == words.size()) {
        source.fill(std::as_writable_bytes(std::span(words)));
        used = 0;
      }
      return words[used++];
    }
  } generator{random};
  return boost::uuids::to_string(boost::uuids::basic_random_generator<Generator>(generator)());
}

}  // namespace presetbridge::services
