// Reads the JSON of REST bodies. Whole numbers become integers however they are written (spec 8.1).
#pragma once

#include <boost/json.hpp>
#include <cstddef>
#include <span>
#include <string_view>

namespace presetbridge::api {

struct JsonRead {
  boost::json::value value;  // null after an error
  std::error_code error;     // boost::json::error::too_deep beyond `max_depth`
  std::size_t at = 0;        // the bytes of `text` that were read, up to the error if there is one
};

// Reads all of `text`, RFC 8259. A whole number ("278.0", "2.78e2") becomes an integer, exactly, if it fits
// into 64 bits; any other number becomes a double. If a key is given twice, the last one counts. The reader
// uses `scratch` before it allocates memory, and leaves parts of `text` there.
JsonRead read_json(std::string_view text, std::size_t max_depth, std::span<unsigned char> scratch);

}  // namespace presetbridge::api
