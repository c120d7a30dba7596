#include "app/config/cloud_options.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "cloud/credential_agent.h"

namespace presetbridge::app {
namespace {

std::size_t places_in_agent(const Config& config) {
  return std::min(cloud::AgentOptions{}.max_concurrent, static_cast<std::size_t>(config.cloud_concurrency));
}

}  // namespace

cloud::HttpCloudOptions cloud_options(const Config& config) {
  cloud::HttpCloudOptions options;
  options.base_url = config.cloud_url;
  options.timeout = std::chrono::seconds(config.cloud_timeout_seconds);
  options.paths = {.login = config.cloud_login_path,
                   .user_by_name = config.cloud_user_path,
                   .friendships = config.cloud_friendships_path,
                   .friendship = config.cloud_friendship_path,
                   .files = config.cloud_files_path,
                   .share = config.cloud_share_path};
  return options;
}

cloud::AgentProcessOptions agent_options(const Config& config, const DataDirectory& directory) {
  cloud::AgentOptions agent;
  agent.cloud = cloud_options(config);
  agent.max_concurrent = places_in_agent(config);
  if (opens_logins(config)) agent.key_file = std::filesystem::absolute(directory.vault_private_key).string();
  cloud::AgentProcessOptions options;
  options.arguments = {"presetbridge", "credential-agent"};
  for (auto& argument : cloud::agent_arguments(agent)) options.arguments.push_back(std::move(argument));
  options.answer_deadline = agent.cloud.timeout + Millis{5'000};
  // A job waits here under its lease, and then logs in and makes a call (spec 3.4). The wait may take half of
  // what the lease has beyond the call.
  const Millis lease = std::chrono::seconds(config.delivery_lease_seconds);
  options.max_wait = std::min(options.max_wait, (lease - agent.cloud.timeout) / 2);
  options.max_in_flight = agent.max_concurrent;
  return options;
}

services::LoginLimits login_limits(const Config& config) {
  return {.account_at_once = std::max(static_cast<int>(places_in_agent(config)) / 8 - 1, 1)};
}

}  // namespace presetbridge::app
