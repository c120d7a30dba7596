// The pages that a buyer's browser sees: the hosted payment page, and receipts. Plain HTML without script.
#pragma once

#include <string>
#include <string_view>

#include "net/http.h"
#include "world.h"

namespace presetbridge::paysim {

// Whether `path` is a page's.
bool is_page(std::string_view path);

net::HttpResponse answer_page(World& world, const net::HttpRequest& request, Timestamp now);

// `text` as HTML shows it, also between double quotes.
std::string escaped(std::string_view text);

// "12.34 USD": minor units as people write them.
std::string money(std::int64_t amount, std::string_view currency);

}  // namespace presetbridge::paysim
