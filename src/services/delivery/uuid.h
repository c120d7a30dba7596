// Event identifiers: the seed asks for a UUID.
#pragma once

#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <string>

#include "base/clock.h"

namespace presetbridge::services {

// A version 4 UUID in lower-case text, from the injected source of chance.
inline std::string random_uuid(Random& random) {
  struct Generator {
    using result_type = std::uint32_t;
    Random& source;
    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return 0xffffffff; }
    result_type operator()() { return static_cast<result_type>(source.u64()); }
  } generator{random};
  return boost::uuids::to_string(boost::uuids::basic_random_generator<Generator>(generator)());
}

}  // namespace presetbridge::services
