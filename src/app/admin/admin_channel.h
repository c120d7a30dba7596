// How a command-line verb reaches the service that is at work in the data directory: POST /internal/admin on
// the service's own address, with a token that only the owner of the data directory can read. Address and
// token are made anew at each start and stand in the file admin.channel, mode 0600, which goes when the
// service stops.
#pragma once

#include <boost/json/object.hpp>
#include <filesystem>
#include <string>

#include "api/router.h"
#include "app/admin/admin_commands.h"
#include "app/config/config.h"
#include "base/clock.h"
#include "base/error.h"
#include "crypto/opaque_token.h"

namespace presetbridge::app {

// The service's end.
class AdminChannel {
 public:
  // Writes the file; `url` is where the service listens. An error as of crypto/key_file.h.
  static Expected<AdminChannel> open(std::filesystem::path file, const std::string& url, Random& random);
  AdminChannel(AdminChannel&& other) noexcept;
  AdminChannel& operator=(AdminChannel&&) = delete;
  // Removes the file.
  ~AdminChannel();

  void add_route(api::Router& router, AdminCommands& admin_commands) const;

 private:
  AdminChannel(std::filesystem::path file, crypto::Sha256 token_hash);
  std::filesystem::path file_;
  crypto::Sha256 token_hash_;
};

// The verb's end, for what only the running service can do. SERVICE_NOT_RUNNING: none is at work in the data
// directory, or it does not answer.
Expected<boost::json::object> ask_running_service(const Config& config, const boost::json::object& request);
// The verb's end: asks the running service or, where none is at work, does it here. OUTCOME_UNKNOWN: the
// service was asked to grant credits, and its answer was lost; nothing is done here then. In a process
// without threads.
Expected<boost::json::object> administrate(const Config& config, const boost::json::object& request);

}  // namespace presetbridge::app
