// Every setting of the service (spec 12.1): its default, its limits, and where its value comes from. Sources
// in rising order: a TOML file, the environment, flags of the command line. The setting
// `delivery.jobs_per_minute` is the key `jobs_per_minute` of the table `[delivery]`,
// PRESETBRIDGE_DELIVERY_JOBS_PER_MINUTE, and --delivery-jobs-per-minute.
//
// No setting is a secret: keys are files of the data directory, and URLs with a password in them are refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"

namespace presetbridge::app {

// The range of retention_usage_days; retention_options.h has the reasons.
inline constexpr std::int64_t kFewestUsageDays = 29;
inline constexpr std::int64_t kMostUsageDays = 98;

struct Config {
  std::string listen = "127.0.0.1:8080";
  std::string base_url;  // empty: http:// and what it listens on
  std::string data_dir = "presetbridge-data";
  std::string database_url;  // postgresql://…; empty: SQLite in data_dir
  std::vector<std::string> roles = {"api", "worker", "dispatcher"};  // of this node (spec 12.1)
  std::int64_t threads = 0;                                          // 0: one a core of the machine
  bool sandbox = false;
  std::string log_level = "info";
  std::string support_url;  // where merchants find help; empty: nowhere

  std::int64_t http_connections = 10'000;
  bool http_metrics = true;
  std::vector<std::string> http_trusted_proxies;  // addresses and networks
  std::int64_t http_failures_per_address = 300;   // spec 8.6

  std::int64_t limits_body_bytes = 1024 * 1024;  // spec 2.14
  std::int64_t limits_line_items = 250;
  std::int64_t limits_refund_lines = 2'000;
  std::int64_t limits_username_characters = 200;
  std::int64_t limits_json_depth = 64;
  std::int64_t limits_mappings = 5'000;
  std::int64_t limits_mappings_per_key = 100;

  std::int64_t live_readers = 2'500;  // spec 8.6
  std::int64_t live_readers_per_account = 60;
  std::int64_t live_retention_minutes = 15;
  std::int64_t live_write_seconds = 15;
  std::int64_t live_poll_ms = 200;

  std::string cloud_url;
  std::int64_t cloud_timeout_seconds = 15;
  std::int64_t cloud_concurrency = 256;
  std::string cloud_login_path = "/sessions";
  std::string cloud_user_path = "/users/by-name/{username}";
  std::string cloud_friendships_path = "/friendships";
  std::string cloud_friendship_path = "/friendships/{userId}";
  std::string cloud_files_path = "/files";
  std::string cloud_share_path = "/files/{fileId}/shares/{userId}";
  std::string cloud_name = "the cloud platform";  // as people know it
  std::string cloud_friend_requests_url;          // for buyers; empty: there is no such page
  std::string cloud_app_url;

  std::int64_t delivery_jobs_per_minute = 5;  // spec 3.4
  std::int64_t delivery_jobs_per_minute_total = 0;
  std::int64_t delivery_max_jobs = 256;
  std::int64_t delivery_lease_seconds = 40;
  std::int64_t delivery_poll_ms = 1'000;
  std::int64_t delivery_maintenance_ms = 5'000;
  std::int64_t delivery_sweep_page = 200;
  std::int64_t delivery_first_sweep_seconds = 60;

  std::int64_t outbound_concurrency = 1'024;  // spec 10.6
  std::int64_t outbound_concurrency_per_host = 64;

  std::string identity_signup = "open";
  std::int64_t identity_signups_per_hour = 100;  // spec 7.2
  std::int64_t identity_signups_per_address = 10;
  std::int64_t credits_low_threshold = 10;           // spec 10.1
  std::int64_t credits_signup_credits = 0;           // spec 11.1
  std::vector<std::string> credits_packs;            // domain/credit_pack.h
  std::int64_t identity_failures_per_address = 100;  // spec 8.6
  std::string identity_issuer;                       // empty: base_url
  std::vector<std::string> identity_trusted;         // "ISSUER AUDIENCE"
  std::vector<std::string> identity_external;        // external_issuers.h
  bool identity_passwords = true;                    // whether people sign in by password

  std::string payments_url = "https://api.stripe.com";  // spec 11.3
  std::int64_t payments_timeout_seconds = 10;

  std::string mail_url;  // smtp://…, smtps://…; empty: no mail is sent (spec 7.2)
  std::string mail_user;
  std::string mail_from;  // the sender's address
  std::string mail_from_name;
  std::string mail_ca_file;

  std::int64_t api_key_requests_per_hour = 100;  // spec 6.3

  std::string storage_path;  // empty: presetbridge.db in data_dir
  std::int64_t storage_readers = 2;
  std::int64_t storage_writers = 4;  // with PostgreSQL; SQLite has one
  std::int64_t storage_cache_mib = 16;
  std::int64_t storage_checkpoint_pages = 12'000;

  std::int64_t retention_payload_days = 30;  // spec 9.6
  std::int64_t retention_outbound_days = 90;
  std::int64_t retention_timeline_days = 90;
  std::int64_t retention_usage_days = 90;
  std::int64_t retention_audit_days = 730;  // spec 7.4

  std::int64_t shutdown_drain_seconds = 8;  // spec 12.3: ten in all
};

using SettingMember = std::variant<std::string Config::*, std::int64_t Config::*, bool Config::*,
                                   std::vector<std::string> Config::*>;

struct Setting {
  std::string_view key;  // "listen", "delivery.jobs_per_minute"
  SettingMember member;
  std::string_view help;
  std::int64_t min = 0;  // of whole numbers
  std::int64_t max = 0;
  std::string_view choices = {};       // of texts: "open closed"; empty: any
  std::string_view placeholders = {};  // of paths: "{fileId} {userId}", each needed once
};
std::span<const Setting> settings();
std::string environment_name(const Setting& setting);
std::string flag_name(const Setting& setting);  // without the two hyphens
// The setting's value in `config`, as its flag and its environment variable take it.
std::string flag_value(const Setting& setting, const Config& config);

struct ConfigSources {
  std::optional<std::filesystem::path> file;
  // All of the environment: names without our prefix are ignored.
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::pair<std::string, std::string>> flags;  // setting key and value
};

struct LoadedConfig {
  Config config;
  std::vector<FieldProblem> problems;  // empty: the configuration can be used
  bool file_read = true;               // else `problems` is about the file alone: its settings are unknown
};
// Reads the file and nothing else of the world. A file that cannot be read is a problem too.
LoadedConfig load_config(const ConfigSources& sources);

// The problems of single values and of values that contradict each other.
std::vector<FieldProblem> check_config(const Config& config);

bool has_role(const Config& config, std::string_view role);
// Threads that serve: `threads`, or one a core of this machine; 1 to 256.
int thread_count(const Config& config);
// Whether this node opens stored logins itself: always with SQLite, else with the role `worker`. Other nodes
// ask the workers, and need no key for it (docs/decisions/0016-database-roles.md).
bool opens_logins(const Config& config);

// All settings, as a TOML file that would set them. A comment gives the default that an empty one stands for.
std::string to_toml(const Config& config);

struct ListenAddress {
  std::string address;
  std::uint16_t port = 0;
};
// "127.0.0.1:8080", "[::1]:0": a numeric address, never a name.
std::optional<ListenAddress> parse_listen(std::string_view text);

}  // namespace presetbridge::app
