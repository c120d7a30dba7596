// The records as Stripe's API shows them. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "records.h"

namespace presetbridge::paysim {

// `page_url`: where the program's own pages begin, "http://127.0.0.1:8091".
boost::json::object session_object(const Session& session, std::string_view page_url);
boost::json::object line_items_object(const Session& session);
boost::json::object intent_object(const Intent& intent);
boost::json::object charge_object(const Charge& charge, std::string_view page_url);
boost::json::object refund_object(const Refund& refund);
boost::json::object dispute_object(const Dispute& dispute);

// The event as it is sent: its own fields around the object that it tells of.
boost::json::object event_object(const Event& event, boost::json::object object,
                                 std::string_view api_version);

// A page of a list. `url`: the path that was asked.
boost::json::object list_object(boost::json::array data, bool more, std::string_view url);

// Paths of the pages.
std::string pay_path(const Session& session);
std::string receipt_path(const Charge& charge);

// The charge that took the session's money, or is about to; nullptr: none did.
const Charge* charge_of(const Session& session);

}  // namespace presetbridge::paysim
