// How the cloud platform and the credential agent are reached, by the settings.
#pragma once

#include "app/config/config.h"
#include "app/config/data_directory.h"
#include "cloud/agent_client.h"
#include "cloud/http_cloud.h"
#include "services/vault/login_guard.h"

namespace presetbridge::app {

cloud::HttpCloudOptions cloud_options(const Config& config);
cloud::AgentProcessOptions agent_options(const Config& config, const DataDirectory& directory);
// An account has an eighth of the agent's places (spec 8.6). One of them is left for its stored login.
services::LoginLimits login_limits(const Config& config);

}  // namespace presetbridge::app
