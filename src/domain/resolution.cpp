#include "domain/resolution.h"

#include <array>

namespace presetbridge::domain {
namespace {

// In the order of ResolutionCode.
constexpr std::array<ResolutionText, 15> kTexts = {{
    {"", "", ""},
    {"Username missing", "The order does not say which cloud user gets the files.",
     "Ask the customer for the username, then retry the delivery with it. It also resumes by itself when the "
     "store sends "
     "the order again with a username."},
    {"Username not found", "The cloud platform has no user of that name.",
     "Check the spelling with the customer, then retry the delivery with the right username."},
    {"Friend request declined", "The customer declined the friend request, so nothing can be shared.",
     "Ask the customer to accept the next request or to befriend you on the cloud platform, then retry."},
    {"Friend request not answered", "The customer did not accept the friend request within 14 days.",
     "Remind the customer of the request. If it is accepted within 90 days of when the delivery began to "
     "wait, "
     "it resumes by itself. A retry withdraws the request and sends a new one."},
    {"Blocked by the customer", "The customer's cloud user blocks yours, so no request can be sent.",
     "Ask the customer to unblock your cloud user, then retry. Or deliver by hand and mark it so."},
    {"No cloud login", "There is no stored cloud login that the files could be shared from.",
     "Save your cloud login: on the Cloud account page of the dashboard, or with PUT /api/credentials. "
     "Deliveries that wait for it resume by themselves."},
    {"Cloud login refused", "The cloud platform refused the stored login.",
     "Save the current e-mail and password: on the Cloud account page of the dashboard, or with PUT "
     "/api/credentials. Deliveries that wait for it resume by themselves."},
    {"Preset not found", "A mapped file is not, or no longer, in your cloud account.",
     "Map the item to an existing file. Saving the mapping resumes the delivery."},
    {"Preset cannot be shared", "The cloud platform does not let this file be shared.",
     "Make the file shareable on the cloud platform, or map the item to another one, then retry."},
    {"Not enough credits", "Each shared file costs one credit, and none was left.",
     "Get more credits: whoever runs the service grants them to your account. Deliveries that wait for them "
     "resume by themselves, oldest first."},
    {"Cloud platform not available", "The cloud platform could not be reached for 72 hours.",
     "Nothing to do: it is tried about once an hour for 30 days, and the delivery resumes by itself once the "
     "platform answers. You can also retry now."},
    {"Refused by the cloud platform",
     "The cloud platform refused the request for a reason that it does not name.",
     "Try the share by hand in your cloud account to see why, then retry, or mark the delivery as done by "
     "hand."},
    {"Order too large", "The order has more lines than are delivered automatically.",
     "Deliver the order by hand and mark the delivery as done, or invalidate it."},
    {"Internal error", "The service met a fault of its own.",
     "Retry the delivery. If it fails again, pass its id on to whoever runs the service."},
}};

}  // namespace

const ResolutionText& describe(ResolutionCode code) {
  return kTexts[static_cast<std::size_t>(code)];
}

bool resumes(ResolutionCode code, Remedy remedy) {
  switch (remedy) {
    case Remedy::username_arrived:
      // The new username is another customer's, who has not declined or ignored a request yet.
      return code == ResolutionCode::username_missing || code == ResolutionCode::username_not_found ||
             code == ResolutionCode::friend_request_declined || code == ResolutionCode::friendship_timeout ||
             code == ResolutionCode::blocked_by_customer;
    case Remedy::mapping_saved:
      return code == ResolutionCode::preset_not_found;
  }
  return false;
}

}  // namespace presetbridge::domain
