#include "app/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <span>

#include "app/config/cloud_options.h"
#include "app/config/worker_options.h"
#include "cloud/credential_agent.h"

namespace presetbridge::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ConfigTest : public ::testing::Test {
 protected:
  ConfigTest() { std::filesystem::create_directories(folder_); }
  ~ConfigTest() override { std::filesystem::remove_all(folder_); }

  ConfigSources with_file(const std::string& text) {
    const auto file = folder_ / "presetbridge.toml";
    std::ofstream(file) << text;
    ConfigSources sources;
    sources.file = file;
    return sources;
  }
  static LoadedConfig load(ConfigSources sources) {
    sources.environment.emplace_back("PRESETBRIDGE_CLOUD_URL", "https://cloud.example");
    return load_config(sources);
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) /
      ("config-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
};

std::vector<std::string> fields(const LoadedConfig& loaded) {
  std::vector<std::string> names;
  for (const auto& problem : loaded.problems) names.push_back(problem.field);
  return names;
}

TEST_F(ConfigTest, TheDefaultsNeedNothingButThePlatformsAddress) {
  EXPECT_THAT(fields(load_config({})), ElementsAre("cloud.url"));
  const auto loaded = load({});
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_EQ(loaded.config.delivery_jobs_per_minute, 5);
  EXPECT_EQ(loaded.config.limits_body_bytes, 1024 * 1024);
}

TEST_F(ConfigTest, TheFlagValueOfASettingIsAcceptedByItsFlag) {
  Config other;
  other.listen = "127.0.0.1:9";
  other.cloud_url = "https://cloud.example";
  other.http_metrics = !other.http_metrics;
  other.delivery_jobs_per_minute = 7;
  other.http_trusted_proxies = {"10.0.0.1", "10.1.0.0/16"};
  ConfigSources sources;
  for (const auto& setting : settings())
    sources.flags.emplace_back(std::string(setting.key), flag_value(setting, other));
  const auto loaded = load_config(sources);
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_EQ(to_toml(loaded.config), to_toml(other));
}

TEST_F(ConfigTest, InSandboxModeThePlatformIsTheSimulatorsUsualPlace) {
  const auto loaded = load_config({.flags = {{"sandbox", "true"}}});
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_EQ(loaded.config.cloud_url, "http://127.0.0.1:8090");
}

TEST_F(ConfigTest, InSandboxModeNoPublicAddressIsListenedOn) {
  for (const std::string listen : {"0.0.0.0:1", "[::]:1", "8.8.8.8:1", "[2606:4700::1]:1"})
    EXPECT_THAT(fields(load_config({.flags = {{"sandbox", "true"}, {"listen", listen}}})),
                ElementsAre("sandbox"))
        << listen;
  for (const std::string listen : {"127.0.0.1:1", "[::1]:1", "192.168.1.2:1"})
    EXPECT_THAT(fields(load_config({.flags = {{"sandbox", "true"}, {"listen", listen}}})), IsEmpty())
        << listen;
}

TEST_F(ConfigTest, AFileSetsEveryKindOfValue) {
  const auto loaded = load(with_file(R"(
listen = "[::1]:9000"
sandbox = true
[delivery]
jobs_per_minute = 7
[identity]
trusted = ["https://issuer.example client-1", "https://other.example client-2"]
)"));
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_EQ(loaded.config.listen, "[::1]:9000");
  EXPECT_TRUE(loaded.config.sandbox);
  EXPECT_EQ(loaded.config.delivery_jobs_per_minute, 7);
  EXPECT_THAT(loaded.config.identity_trusted,
              ElementsAre("https://issuer.example client-1", "https://other.example client-2"));
}

TEST_F(ConfigTest, TheEnvironmentOverrulesTheFileAndFlagsOverruleBoth) {
  auto sources = with_file("threads = 1\n[delivery]\njobs_per_minute = 1\nsweep_page = 1\n");
  sources.environment = {{"PRESETBRIDGE_DELIVERY_JOBS_PER_MINUTE", "2"},
                         {"PRESETBRIDGE_DELIVERY_SWEEP_PAGE", "2"}};
  sources.flags = {{"delivery.sweep_page", "3"}};
  const auto loaded = load(sources);
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_EQ(loaded.config.threads, 1);
  EXPECT_EQ(loaded.config.delivery_jobs_per_minute, 2);
  EXPECT_EQ(loaded.config.delivery_sweep_page, 3);
}

TEST_F(ConfigTest, WhatIsNoSettingIsNamedWhereverItStands) {
  auto sources = with_file("threds = 1\n[delivery]\njobs = 1\n[delivry]\nsweep_page = 1\n");
  sources.environment = {{"PRESETBRIDGE_THREDS", "1"}, {"OTHER_THREDS", "1"}};
  const auto problem_of = [loaded = load(sources)](std::string_view field) {
    return std::ranges::find(loaded.problems, field, &FieldProblem::field)->problem;
  };
  EXPECT_EQ(problem_of("threds"), "is not a setting; is threads meant?");
  EXPECT_EQ(problem_of("delivry.sweep_page"), "is not a setting; is delivery.sweep_page meant?");
  EXPECT_EQ(problem_of("PRESETBRIDGE_THREDS"), "is not a setting; is PRESETBRIDGE_THREADS meant?");
  EXPECT_EQ(problem_of("delivery.jobs"), "is not a setting; is delivery.max_jobs meant?");
  EXPECT_THAT(fields(load(sources)),
              ::testing::UnorderedElementsAre("threds", "delivery.jobs", "delivry.sweep_page",
                                              "PRESETBRIDGE_THREDS"));
}

TEST_F(ConfigTest, VariablesOfOtherVerbsAreNoProblem) {
  EXPECT_THAT(
      load({.environment = {{"PRESETBRIDGE_CONFIG", "x"}, {"PRESETBRIDGE_LISTEN_SECRET", "x"}}}).problems,
      IsEmpty());
}

TEST_F(ConfigTest, EveryProblemIsReportedAtOnce) {
  auto sources = with_file("sandbox = \"yes\"\nthreads = 257\n[storage]\nreaders = \"2\"\n");
  sources.environment = {{"PRESETBRIDGE_LISTEN", "localhost"}, {"PRESETBRIDGE_DELIVERY_POLL_MS", "10s"}};
  sources.flags = {{"identity.signup", "ask"}, {"log.level", "loud"}};
  EXPECT_THAT(fields(load(sources)), ::testing::UnorderedElementsAre(
                                         "sandbox", "threads", "storage.readers", "listen",
                                         "PRESETBRIDGE_DELIVERY_POLL_MS", "identity.signup", "log.level"));
}

TEST_F(ConfigTest, TheRoleThatIsNoneIsNamed) {
  const auto problem_of = [](const std::string& roles) {
    const auto loaded = load({.flags = {{"roles", roles}}});
    return loaded.problems.empty() ? "" : loaded.problems.front().problem;
  };
  EXPECT_EQ(problem_of("worker,api"), "");
  EXPECT_EQ(problem_of(","), "must be one or more of: api, worker, dispatcher");
  EXPECT_EQ(problem_of("api,workers"), "must be one or more of: api, worker, dispatcher; not workers");
}

TEST_F(ConfigTest, AFileThatCannotBeUsedIsReportedWithItsLine) {
  const auto broken = load(with_file("listen = \n"));
  ASSERT_EQ(broken.problems.size(), 1U);
  EXPECT_THAT(broken.problems[0].field, ::testing::EndsWith("presetbridge.toml:1"));
  EXPECT_THAT(fields(load({.file = folder_ / "absent.toml"})),
              ElementsAre((folder_ / "absent.toml").string()));
  EXPECT_THAT(fields(load({.file = folder_})), ElementsAre(folder_.string()));
  EXPECT_THAT(fields(load_config({.file = folder_ / "absent.toml"})),
              ElementsAre((folder_ / "absent.toml").string()))
      << "what it would have said is not missed as well";
}

TEST_F(ConfigTest, NumbersAreHeldToTheirLimits) {
  for (const auto& setting : settings()) {
    if (!std::holds_alternative<std::int64_t Config::*>(setting.member)) continue;
    const auto with = [&](const std::string& value) {
      const auto loaded = load({.flags = {{std::string(setting.key), value}}});
      return std::ranges::count(fields(loaded), "--" + flag_name(setting)) == 0;
    };
    EXPECT_TRUE(with(std::to_string(setting.min))) << setting.key;
    EXPECT_TRUE(with(std::to_string(setting.max))) << setting.key;
    EXPECT_FALSE(with(std::to_string(setting.min - 1))) << setting.key;
    EXPECT_FALSE(with(std::to_string(setting.max + 1))) << setting.key;
    EXPECT_FALSE(with("")) << setting.key;
    EXPECT_FALSE(with("1 ")) << setting.key;
    EXPECT_FALSE(with("99999999999999999999")) << setting.key;
  }
}

TEST_F(ConfigTest, UsageByTheHourIsStoredAsLongAsTheOverviewReadsItAndNoLongerThanItIsFound) {
  const auto problems = [](const std::string& value) {
    return load({.flags = {{"retention.usage_days", value}}}).problems;
  };
  EXPECT_THAT(problems("29"), IsEmpty());
  EXPECT_THAT(problems("98"), IsEmpty());
  for (const char* value : {"28", "99"}) {
    ASSERT_THAT(problems(value), ::testing::SizeIs(1)) << value;
    EXPECT_EQ(problems(value)[0].field, "--retention-usage-days");
    EXPECT_EQ(problems(value)[0].problem, "must be a whole number from 29 to 98");
  }
}

TEST_F(ConfigTest, TheWorkerMakesNoMoreJobsAtOnceThanCallsOfThePlatformAreAllowed) {
  const auto jobs = [](const std::string& jobs, const std::string& calls) {
    const auto loaded = load({.flags = {{"delivery.max_jobs", jobs}, {"cloud.concurrency", calls}}});
    EXPECT_THAT(loaded.problems, IsEmpty());
    return worker_options(loaded.config, "node").max_jobs;
  };
  EXPECT_EQ(jobs("256", "8"), 8);
  EXPECT_EQ(jobs("8", "256"), 8);
}

TEST_F(ConfigTest, TheAgentIsAskedForNoMoreLoginsAtOnceThanItTakes) {
  const auto logins = [](const std::string& calls) {
    const auto loaded = load({.flags = {{"cloud.concurrency", calls}}});
    const auto options = agent_options(loaded.config, data_directory(loaded.config));
    const auto parsed = cloud::parse_agent_arguments(std::span(options.arguments).subspan(2));
    EXPECT_EQ(parsed.value().max_concurrent, options.max_in_flight);
    return options.max_in_flight;
  };
  EXPECT_EQ(logins("8"), 8U);
  EXPECT_EQ(logins("256"), 64U);
}

TEST_F(ConfigTest, ALoginWaitsForAPlaceNoLongerThanAJobsLeaseAllows) {
  const auto wait = [](const std::string& call, const std::string& lease) {
    const auto loaded = load({.flags = {{"cloud.timeout_seconds", call}, {"delivery.lease_seconds", lease}}});
    EXPECT_THAT(loaded.problems, IsEmpty());
    return agent_options(loaded.config, data_directory(loaded.config)).max_wait;
  };
  EXPECT_EQ(wait("15", "40"), Millis{10'000});
  EXPECT_EQ(wait("1", "600"), Millis{10'000});
  EXPECT_EQ(wait("15", "28"), Millis{6'500});
  EXPECT_EQ(wait("30", "40"), Millis{5'000}) << "the smallest lease";
}

TEST_F(ConfigTest, AnAccountHasAnEighthOfTheAgentsPlacesAndOneAtLeast) {
  const auto at_once = [](const std::string& calls) {
    return login_limits(load({.flags = {{"cloud.concurrency", calls}}}).config).account_at_once;
  };
  EXPECT_EQ(at_once("256"), 7) << "and one for the stored login";
  EXPECT_EQ(at_once("32"), 3);
  EXPECT_EQ(at_once("1"), 1);
}

TEST_F(ConfigTest, NoTwoSettingsShareAName) {
  std::set<std::string> names;
  for (const auto& setting : settings()) {
    EXPECT_TRUE(names.insert(environment_name(setting)).second) << setting.key;
    EXPECT_TRUE(names.insert(flag_name(setting)).second) << setting.key;
  }
}

TEST_F(ConfigTest, AnAddressWithAPasswordInItIsRefused) {
  for (const char* url :
       {"https://user:secret@cloud.example", "ftp://cloud.example", "https://", "https://cloud.example/",
        "https://cloud.example?x", "https://cloud example", "cloud.example", "localhost:80", "http://:80",
        "http://localhost:", "http://localhost:0", "http://localhost:65536", "http://localhost:8o",
        "http://[::1"}) {
    const auto loaded = load({.flags = {{"cloud.url", url}}});
    ASSERT_THAT(fields(loaded), ElementsAre("cloud.url")) << url;
    EXPECT_THAT(loaded.problems[0].problem, ::testing::Not(::testing::HasSubstr("secret")));
  }
}

TEST_F(ConfigTest, AnAddressMayHaveAPortAndAPath) {
  for (const char* url :
       {"http://localhost:80", "https://cloud.example:8443/v1", "http://[::1]:8090", "http://[::1]"})
    EXPECT_THAT(load({.flags = {{"cloud.url", url}}}).problems, IsEmpty()) << url;
}

TEST_F(ConfigTest, APathOfThePlatformHasItsPlaceholdersOnceAndNoOthers) {
  const auto refused = [](const char* key, const char* path) {
    return fields(load({.flags = {{key, path}}})) == std::vector<std::string>{key};
  };
  for (const char* path : {"/users", "users/{username}", "/users/{name}", "/{username}/{username}",
                           "/{username}/{id}", "/users/{username"})
    EXPECT_TRUE(refused("cloud.user_path", path)) << path;
  EXPECT_TRUE(refused("cloud.share_path", "/shares/{fileId}"));
  EXPECT_TRUE(refused("cloud.files_path", "/files/{fileId}"));
  EXPECT_THAT(load({.flags = {{"cloud.user_path", "/users?"}}}).problems.at(0).problem,
              ::testing::HasSubstr("{username}"));
  EXPECT_THAT(load({.flags = {{"cloud.share_path", "/u/{userId}/{fileId}"}}}).problems, IsEmpty());
}

TEST_F(ConfigTest, ALeaseMustOutlastACallAndALogin) {
  EXPECT_THAT(fields(load({.flags = {{"cloud.timeout_seconds", "31"}}})),
              ElementsAre("delivery.lease_seconds"));
  EXPECT_THAT(load({.flags = {{"cloud.timeout_seconds", "30"}}}).problems, IsEmpty());
}

TEST_F(ConfigTest, TrustedProxiesAreAddressesOrNetworks) {
  EXPECT_THAT(load({.flags = {{"http.trusted_proxies", "127.0.0.1,10.0.0.0/8,fd00::/8"}}}).problems,
              IsEmpty());
  for (const char* bad : {"proxy.example", "10.0.0.1/8", "127.0.0.1:80"})
    EXPECT_THAT(fields(load({.flags = {{"http.trusted_proxies", bad}}})), ElementsAre("http.trusted_proxies"))
        << bad;
}

TEST_F(ConfigTest, WhatIsPrintedLoadsToTheSameSettings) {
  Config config;
  config.listen = "10.0.0.1:1";
  config.cloud_url = "https://cloud.example";
  config.identity_trusted = {"https://issuer.example \"quoted\""};
  config.delivery_jobs_per_minute = 9;
  config.sandbox = true;
  config.data_dir = "a\\b\"c\n";
  const auto printed = to_toml(config);
  EXPECT_THAT(printed, ::testing::HasSubstr("\nbase_url = ''  # not set: \"http://10.0.0.1:1\"\n"));
  EXPECT_THAT(printed, ::testing::HasSubstr("# not set: \"a\\\\b\\\"c\\n/presetbridge.db\"\n"));
  auto sources = with_file(printed);
  const auto loaded = load_config(sources);
  EXPECT_THAT(fields(loaded), IsEmpty());
  EXPECT_EQ(to_toml(loaded.config), printed);
}

TEST_F(ConfigTest, TextsThatNoFileCanHoldAreRefused) {
  EXPECT_THAT(fields(load({.environment = {{"PRESETBRIDGE_DATA_DIR", "a\xff"}}})), ElementsAre("data_dir"));
  EXPECT_THAT(fields(load({.flags = {{"cloud.share_path", "/\xc3"}}})), ElementsAre("cloud.share_path"));
  EXPECT_THAT(load({.flags = {{"data_dir", "donn\u00e9es"}}}).problems, IsEmpty());
}

TEST(ParseListen, TakesAnAddressAndAPort) {
  EXPECT_EQ(parse_listen("127.0.0.1:0")->port, 0);
  EXPECT_EQ(parse_listen("[::1]:65535")->address, "::1");
  for (const char* text : {"", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "::1:80",
                           "127.0.0.1:8o", "localhost:80", "here:80", "[localhost]:80", "[127.0.0.1]:80"})
    EXPECT_FALSE(parse_listen(text)) << text;
}

}  // namespace
}  // namespace presetbridge::app
