// The contract (api/cloud-platform.openapi.yaml) over the simulated world.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "faults.h"
#include "net/http.h"
#include "world.h"

namespace presetbridge::cloudsim {

struct PlatformCall {
  Endpoint endpoint;
  std::string first;   // username, user id or file id, percent-decoded
  std::string second;  // user id, after a file id
};

// Nothing for a method and path that the contract does not have.
std::optional<PlatformCall> route(std::string_view method, std::string_view path);

struct PlatformAnswer {
  net::HttpResponse response;
  std::string merchant;  // its user id, where the call was authenticated (or logged in)
};
PlatformAnswer answer(World& world, const PlatformCall& call, const net::HttpRequest& request, Timestamp now);

net::HttpResponse error_answer(int status, std::string_view code, std::string_view message);

}  // namespace presetbridge::cloudsim
