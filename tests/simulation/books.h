// The service's rows as merchants see them, and what must add up in them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model.h"
#include "service.h"

namespace presetbridge::simulation {

// `erased`: the name that the buyer had, who has none any more.
Seen see(const storage::DeliveryRow& row, const std::vector<storage::ItemRow>& items,
         const std::optional<std::string>& erased);
// A buyer's name or address in the text, with what is around it; empty: there is none.
std::string name_in(const std::string& text);
// spec 3.9, 11.1: what was shared was charged once, and nothing is held. Empty: it is so.
std::string compare_books(Service& service, const Model& model, const std::vector<DeliveryId>& ids);

}  // namespace presetbridge::simulation
