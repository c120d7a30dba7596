// How the cloud platform and the credential agent are reached, by the settings.
#pragma once

#include "app/config/config.h"
#include "app/service/data_directory.h"
#include "cloud/agent_client.h"
#include "cloud/http_cloud.h"

namespace presetbridge::app {

cloud::HttpCloudOptions cloud_options(const Config& config);
cloud::AgentProcessOptions agent_options(const Config& config, const DataDirectory& directory);

}  // namespace presetbridge::app
