// How sample orders are written as JSON: what is empty is left out.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

namespace presetbridge::providers {

// The number that the text is, or the text.
boost::json::value number_if_possible(const std::string& text);
void put(boost::json::object& to, std::string_view name, const std::string& text);
void put_id(boost::json::object& to, std::string_view name, const std::string& text);

}  // namespace presetbridge::providers
