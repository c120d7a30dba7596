#include "rules.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace presetbridge::structure {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

auto finding(int line, const std::string& problem) {
  return AllOf(Field(&Finding::line, line), Field(&Finding::problem, HasSubstr(problem)),
               Field(&Finding::instead, ::testing::Not(IsEmpty())));
}

std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "int x;\n";
  return text;
}

TEST(LayerPicture, LeavesOutWhatFollowsAndWhatTestsInclude) {
  const auto edges = layer_edges({{"src/api/a.cpp", "#include \"services/b.h\"\n#include \"base/c.h\"\n"},
                                  {"src/services/b.h", "#include \"base/c.h\"\n"},
                                  {"src/services/b_test.cpp", "#include \"net/d.h\"\n"}});
  EXPECT_EQ(edges.size(), 3U);
  EXPECT_EQ(layer_picture(edges), "flowchart TD\n  services --> base\n  api --> services\n");
}

TEST(LayerEdges, AHigherLayerIsRefusedWithItsLine) {
  EXPECT_THAT(check_layer_edges({"src/domain/credits.h", "#pragma once\n\n#include \"services/intake.h\"\n"}),
              ElementsAre(finding(3, "domain must not include \"services/intake.h\"")));
  EXPECT_THAT(check_layer_edges({"src/storage/sqlite/sqlite_database.cpp", "# include <net/http.h>\n"}),
              ElementsAre(finding(1, "net is a higher layer")));
}

TEST(LayerEdges, EachLayerMayIncludeItselfAndWhatStandsBelow) {
  const auto all = layers();
  for (std::size_t own = 0; own < all.size(); ++own) {
    for (std::size_t other = 0; other < all.size(); ++other) {
      const SourceFile file{fmt::format("src/{}/a.cpp", all[own]),
                            fmt::format("#include \"{}/b.h\"\n", all[other])};
      EXPECT_EQ(check_layer_edges(file).empty(), other <= own) << file.path << " " << file.text;
    }
  }
}

TEST(LayerEdges, TestsAreHeldToThemToo) {
  EXPECT_THAT(check_layer_edges({"src/base/time_test.cpp", "#include \"app/main.h\"\n"}),
              ElementsAre(finding(1, "base must not include")));
}

TEST(LayerEdges, APureLayerDoesNotReachTheWorldThroughALowerOne) {
  EXPECT_THAT(check_layer_edges({"src/providers/profile.h", "#include \"base/log.h\"\n"}),
              ElementsAre(finding(1, "providers is pure")));
  EXPECT_THAT(check_layer_edges({"src/storage/orders.h", "#include \"base/log.h\"\n"}), IsEmpty());
}

TEST(LayerEdges, ANewFolderOrAPathThatClimbsIsRefused) {
  EXPECT_THAT(check_layer_edges({"src/plugins/a.cpp", ""}),
              ElementsAre(finding(1, "this folder is no layer")));
  EXPECT_THAT(check_layer_edges({"src/main.cpp", ""}), ElementsAre(finding(1, "this folder is no layer")));
  EXPECT_THAT(check_layer_edges({"src/base/a.cpp", "#include \"../app/b.h\"\n"}),
              ElementsAre(finding(1, "climbs out of its folder")));
}

TEST(LayerEdges, FilesOutsideSrcHaveNone) {
  EXPECT_THAT(check_layer_edges({"cloudsim/main.cpp", "#include \"app/b.h\"\n"}), IsEmpty());
}

TEST(RoomCircles, AreReportedWithEachIncludeThatClosesThem) {
  const std::vector<SourceFile> files = {
      {"src/services/stores/a.h", "#pragma once\n#include \"services/intake/b.h\"\n"},
      {"src/services/intake/b.h", "#include \"services/keys/c.h\"\n"},
      {"src/services/keys/c.cpp", "#include \"services/stores/a.h\"\n#include \"base/d.h\"\n"},
      {"src/services/orders/e.h", "#include \"services/stores/a.h\"\n"}};
  EXPECT_THAT(check_room_circles(files),
              ElementsAre(finding(2, "\"services/intake/b.h\" closes a circle of folders"),
                          finding(1, "\"services/keys/c.h\" closes a circle of folders"),
                          finding(1, "\"services/stores/a.h\" closes a circle of folders")));
  EXPECT_THAT(check_room_circles({files[0], files[1], files[3]}), IsEmpty());
}

TEST(RoomCircles, AFolderAndOneInsideItAreNoCircleAndTestsCloseNone) {
  EXPECT_THAT(check_room_circles({{"src/storage/a.h", "#include \"storage/stores/b.h\"\n"},
                                  {"src/storage/stores/b.h", "#include \"storage/a.h\"\n"},
                                  {"src/services/keys/c.h", "#include \"services/mail/d.h\"\n"},
                                  {"src/services/mail/d_test.cpp", "#include \"services/keys/c.h\"\n"}}),
              IsEmpty());
}

struct Home {
  const char* header;
  const char* inside;
  const char* outside;
};
class LibraryHomes : public ::testing::TestWithParam<Home> {};

TEST_P(LibraryHomes, AreWhereALibraryMayBeIncluded) {
  const auto& [header, inside, outside] = GetParam();
  const auto text = fmt::format("#include <vector>\n#include <{}>\n", header);
  EXPECT_THAT(check_library_homes({inside, text}), IsEmpty());
  EXPECT_THAT(check_library_homes({outside, text}), ElementsAre(finding(2, "is allowed only in")));
}

INSTANTIATE_TEST_SUITE_P(
    All, LibraryHomes,
    ::testing::Values(Home{"sqlite3.h", "src/storage/sqlite/sqlite_database.cpp", "src/storage/orders.cpp"},
                      Home{"libpq-fe.h", "src/storage/postgres/postgres_database.cpp",
                           "src/storage/sqlite/sqlite_database.cpp"},
                      Home{"curl/curl.h", "src/net/curl_client.cpp", "src/cloud/http_cloud.cpp"},
                      Home{"boost/asio/ip/tcp.hpp", "src/net/http_server.cpp", "src/api/router.cpp"},
                      Home{"boost/beast/core.hpp", "src/net/http_server.cpp", "src/app/main.cpp"},
                      Home{"openssl/evp.h", "src/crypto/digest.cpp", "src/net/http_server.cpp"},
                      Home{"sodium.h", "src/crypto/random.cpp", "src/identity/issuer.cpp"},
                      Home{"cjose/jws.h", "src/crypto/jws.cpp", "src/identity/id_token.cpp"},
                      Home{"jansson.h", "src/crypto/jws.cpp", "src/identity/id_token.cpp"},
                      Home{"spdlog/spdlog.h", "src/app/spdlog_log.cpp", "src/services/intake.cpp"},
                      Home{"CLI/CLI.hpp", "src/app/main.cpp", "src/services/intake.cpp"},
                      Home{"toml++/toml.h", "src/app/configuration.cpp", "src/base/json.cpp"},
                      Home{"prometheus/registry.h", "src/app/metrics.cpp", "src/api/metrics.cpp"}));

class WorldlyCall : public ::testing::TestWithParam<const char*> {};

TEST_P(WorldlyCall, IsRefusedWhereThingsAreInjected) {
  const auto text = fmt::format("void f() {{\n  {};\n}}\n", GetParam());
  EXPECT_EQ(check_injection({"src/services/intake.cpp", text}).size(), 1U);
  EXPECT_EQ(check_injection({"src/base/clock.h", text}).size(), 1U);
  EXPECT_THAT(check_injection({"src/net/runtime.cpp", text}), IsEmpty());
  EXPECT_THAT(check_injection({"src/app/main.cpp", text}), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, WorldlyCall,
                         ::testing::Values("auto t = std::chrono::system_clock::now()",
                                           "auto t = steady_clock :: now ( )", "auto t = Wall::now()",
                                           "auto t = time(nullptr)", "clock_gettime(CLOCK_REALTIME, &ts)",
                                           "std::random_device device", "int n = rand()", "srand(1)",
                                           "getrandom(p, 8, 0)", "auto* home = std::getenv(\"HOME\")",
                                           "std::this_thread::sleep_for(1s)", "usleep(5)", "::sleep(1)"));

TEST(Injection, TheFindingNamesLineAndReplacement) {
  const auto findings =
      check_injection({"src/api/keys.cpp", "\n\nauto t = std::chrono::system_clock::now();\n"});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(
      to_string(findings.front()),
      "src/api/keys.cpp:3: the machine's time; take base/clock.h's Clock, or a Timestamp as a parameter");
}

TEST(Injection, InjectedClocksAndTheirDefinitionsAreFine) {
  EXPECT_THAT(
      check_injection(
          {"src/services/a.cpp",
           "auto t = clock_.now();\nauto u = tx->now();\nTimestamp Fixed::now() const { return t; }\n"
           "auto wait_time(int) {}\nint brand();\nauto n = runtime(0);\n"
           "auto at = row.time(0);\nco_await sleep_for(scheduler, "
           "delay);\nstart(sleep(Millis{50}));\nTask<void> sleep(Millis delay);\nn = dice->rand();\n"}),
      IsEmpty());
}

TEST(Injection, WordsInCommentsAndStringsAreNoCalls) {
  EXPECT_THAT(
      check_injection(
          {"src/services/a.cpp",
           "// system_clock::now() is banned\n/* getenv\n rand() */\nauto s = \"getenv \\\" rand()\";\n"
           "auto r = R\"x(sleep_for \" )\" getenv)x\";\n"}),
      IsEmpty());
}

TEST(Injection, ALiteralHidesNothingBehindIt) {
  EXPECT_THAT(check_injection({"src/services/a.cpp", "auto s = \"\\\\\"; auto h = getenv(s); // \"\n"}),
              ElementsAre(finding(1, "the environment")));
  EXPECT_THAT(check_injection({"src/services/a.cpp", "char c = '\"'; auto h = getenv(s); char d = '\"';\n"}),
              ElementsAre(finding(1, "the environment")));
  EXPECT_THAT(check_injection({"src/services/a.cpp", "int n = 1'000; int m = rand() + 1'0;\n"}),
              ElementsAre(finding(1, "chance")));
  EXPECT_THAT(check_injection({"src/services/a.cpp", "auto r = R\"(\n)\"; auto h = getenv(s);\n"}),
              ElementsAre(finding(2, "the environment")));
}

TEST(Injection, CryptoMayImplementChanceButReadsNoClock) {
  EXPECT_THAT(check_injection({"src/crypto/random.cpp", "getrandom(p, n, 0);\n"}), IsEmpty());
  EXPECT_THAT(check_injection({"src/crypto/random.cpp", "auto t = steady_clock::now();\n"}),
              ElementsAre(finding(1, "time")));
}

TEST(Injection, AClockOfTheDatabaseReadsTheMachinesAndNothingBesideItDoes) {
  EXPECT_THAT(check_injection({"src/storage/postgres/server_clock.cpp", "auto t = steady_clock::now();\n"}),
              IsEmpty());
  EXPECT_THAT(check_injection({"src/storage/postgres/session.cpp", "auto t = steady_clock::now();\n"}),
              ElementsAre(finding(1, "time")));
}

TEST(Injection, TestsMayReadTheWorldButNeverSleep) {
  EXPECT_THAT(check_injection({"src/storage/testing.h", "auto h = getenv(\"X\");\n"}), IsEmpty());
  EXPECT_THAT(check_injection({"src/identity/a_testing.h", "usleep(1);\n"}),
              ElementsAre(finding(1, "sleeping")));
  EXPECT_THAT(check_injection({"src/storage/a_test.cpp", "auto h = getenv(\"X\");\n"}), IsEmpty());
  EXPECT_THAT(check_injection({"src/net/a_test.cpp", "std::this_thread::sleep_for(1ms);\n"}),
              ElementsAre(finding(1, "sleeping")));
  EXPECT_THAT(check_injection({"tests/conformance/a.cpp", "usleep(1);\n"}),
              ElementsAre(finding(1, "sleeping")));
}

TEST(Length, FiveHundredLinesAreTheMost) {
  EXPECT_THAT(check_length({"src/api/a.cpp", lines(500)}), IsEmpty());
  EXPECT_THAT(check_length({"src/api/a.cpp", lines(501)}), ElementsAre(finding(501, "501 lines")));
  EXPECT_THAT(check_length({"cloudsim/a.cpp", lines(501)}), ElementsAre(finding(501, "501 lines")));
  EXPECT_THAT(check_length({"paysim/a.cpp", lines(501)}), ElementsAre(finding(501, "501 lines")));
  EXPECT_THAT(check_length({"simulator_parts/a.h", lines(501)}), ElementsAre(finding(501, "501 lines")));
  EXPECT_THAT(check_length({"src/api/a_test.cpp", lines(501)}), ElementsAre(finding(501, "501 lines")));
  EXPECT_THAT(check_length({"tests/structure/a_test.cpp", lines(501)}), IsEmpty());
}

TEST(Constants, AreNamedAsConstants) {
  for (const auto* line :
       {"constexpr int most_rows = 3;", "inline constexpr Millis rest{3};", "constexpr Range special[] = {",
        "constexpr std::array<int, 2> both{1, 2};", "constexpr const char* text = \"\";"}) {
    EXPECT_THAT(check_constants({"src/net/a.cpp", line}), ElementsAre(finding(1, "as a variable"))) << line;
    EXPECT_THAT(check_constants({"tests/structure/a.cpp", line}), IsEmpty()) << line;
  }
  for (const auto* line :
       {"constexpr int kMostRows = 3;", "constexpr auto read_node = read_row<Node>;",
        "  constexpr int most = 3;", "template <int n>\nconstexpr int twice = 2 * n;",
        "constexpr int twice(int n) { return 2 * n; }", "// constexpr int most_rows = 3;"}) {
    EXPECT_THAT(check_constants({"src/net/a.cpp", line}), IsEmpty()) << line;
  }
}

TEST(Name, EmptyWordsAreRefusedInFilesAndFolders) {
  for (const auto* path :
       {"src/base/utils.h", "src/base/string_util.h", "src/api/helpers.cpp", "src/app/session_manager.cpp",
        "src/common/a.h", "tests/e2e/test-helpers.mjs", "tests/misc/a.cpp"}) {
    EXPECT_THAT(check_name({path, ""}), ElementsAre(finding(1, "names nothing"))) << path;
  }
  for (const auto* path : {"src/base/time.h", "src/domain/commonplace.h", "src/services/utilisation.cpp"}) {
    EXPECT_THAT(check_name({path, ""}), IsEmpty()) << path;
  }
}

TEST(Wholeness, UnfinishedWorkAndSkippedTestsAreRefused) {
  for (const auto* text : {"// TO"
                           "DO later",
                           "// FIX"
                           "ME",
                           "/* XX"
                           "X */",
                           "GTEST_"
                           "SKIP();",
                           "TEST(A, DISABLED"
                           "_B) {}",
                           "test.sk"
                           "ip('a')",
                           "describe.to"
                           "do('a')"}) {
    EXPECT_EQ(check_wholeness({"tests/e2e/a.test.mjs", std::string("first\n") + text + "\n"}).size(), 1U)
        << text;
  }
  EXPECT_THAT(check_wholeness({"src/net/a.cpp", "char name[] = \"/tmp/a.XXXXXX\"; list.skip(3);\n"}),
              IsEmpty());
}

TEST(LockFile, NamesNoHost) {
  const std::string text = "{\n  \"resolved\": \"https://example.test/a.tgz\"\n}\n";
  EXPECT_THAT(check_lock_file({"tests/e2e/package-lock.json", text}),
              ElementsAre(finding(2, "names a registry's host")));
  EXPECT_THAT(check_lock_file({"tests/e2e/package-lock.json", "{\n  \"integrity\": \"sha512-x\"\n}\n"}),
              IsEmpty());
}

TEST(PlainWords, ARetiredWordInACommentOrANameIsRefused) {
  EXPECT_THAT(check_plain_words({"src/app/config/a.h", "// Starts the chores.\n"}),
              ElementsAre(finding(1, "'chores' is a retired word")));
  EXPECT_THAT(check_plain_words({"src/app/config/a.cpp", "int n;\nint login_tries = 0;\nbool wasTold();\n"}),
              ElementsAre(finding(2, "'tries' is a retired word"), finding(3, "'told' is a retired word")));
  EXPECT_THAT(check_plain_words({"docs/development.md", "It puts the job aside.\n"}),
              ElementsAre(finding(1, "'aside' is a retired word")));
}

TEST(PlainWords, ARetiredNameIsRefused) {
  for (const auto* text :
       {"void look_at_past();", "int kLookedThrough = 1;", "class Look {};", "bool looksUpwards();",
        "void tell_others();", "bool tells_the_order();", "int kErasePiece = 20;", "int pieces_ = 0;"}) {
    EXPECT_EQ(check_plain_words({"src/app/config/a.cpp", text}).size(), 1U) << text;
  }
  EXPECT_THAT(check_plain_words({"src/app/config/a.cpp",
                                 "void look_up();\nbool looked_up;\nTEST(A, LooksItUp) { lookUp(); }\n"
                                 "bool looks_like_email();\nauto text = \"look_at\";\n"}),
              IsEmpty());
}

TEST(PlainWords, ARetiredPhraseIsRefused) {
  for (const auto* text :
       {"// What a job needs.", "/* Whoever waits. */", "// It ends. Those that wait go on.",
        "int n;  // Of the rows found.", "// The same for many.", "// The last look.", "// Tells the store.",
        "// Leases the due sends."}) {
    EXPECT_EQ(check_plain_words({"src/app/config/a.cpp", text}).size(), 1U) << text;
  }
}

TEST(PlainWords, ASentenceOfTheProgramIsHeld) {
  const std::string text = "int n;\nauto help = \"What a webhook is answered with\";\n";
  EXPECT_THAT(check_plain_words({"src/app/verbs/a.cpp", text}),
              ElementsAre(finding(2, "a sentence that begins with a clause")));
  EXPECT_THAT(check_plain_words({"src/app/verbs/a_test.cpp", text}), IsEmpty());
  EXPECT_THAT(
      check_plain_words({"src/domain/a.cpp", "row[\"told\"] = fail(\"A_B\", \"Nobody is told.\");\n"}),
      ElementsAre(finding(1, "'told' is a retired word")));
}

TEST(PlainWords, TheDescriptionsOfTheContractAreHeld) {
  const auto check = [](std::string text) {
    return check_plain_words({"api/openapi.yaml", std::move(text)});
  };
  for (const auto* text : {"summary: What changes", "  a: { type: string, description: Of the newest one. }",
                           "  a: { description: \"Empty: \\\"none\\\" was told.\", enum: [b] }",
                           "description: Now, and tells more."}) {
    EXPECT_EQ(check(text).size(), 1U) << text;
  }
  EXPECT_THAT(check("a:\n  description: |\n    One.\n\n    It tells two.\n  enum: [event_told]\n"),
              ElementsAre(finding(5, "'tell'")));
  EXPECT_THAT(check("a:\n  description: { type: string, enum: [told] }\n  b: { description: \"`told`\", "
                    "enum: [told] }\n"),
              IsEmpty());
}

TEST(PlainWords, OtherWordsStringsAndOtherFoldersAreFree) {
  for (const auto* text :
       {"// Looks it up, and tells the two apart.", "// A lookup of the same row sends it; foretold.",
        "auto sql = \"UPDATE account_chores SET tries = 1\";", "auto sql = R\"(told)\";"}) {
    EXPECT_THAT(check_plain_words({"src/storage/stores/a.cpp", text}), IsEmpty()) << text;
  }
  EXPECT_THAT(check_plain_words({"docs/development.md", "The table `account_chores`.\n"}), IsEmpty());
  EXPECT_THAT(check_plain_words(
                  {"docs/development.md", "[Decision 19](decisions/0019-looks-begin-where-work-is.md).\n"}),
              IsEmpty());
  EXPECT_THAT(
      check_plain_words({"src/storage/postgres/retention_test.cpp", "int tries = 0;  // in `tries`\n"}),
      IsEmpty());
  EXPECT_THAT(check_plain_words({"tests/structure/a.cpp", "// What the chore told.\n"}), IsEmpty());
}

TEST(AllRules, AreRunByCheck) {
  const SourceFile file{"src/domain/utils.cpp",
                        "#include \"app/main.h\"\n#include <sqlite3.h>\nint n = rand();\n// TO"
                        "DO\n" +
                            lines(500)};
  EXPECT_EQ(check(file).size(), 6U);
  EXPECT_EQ(check({"tests/e2e/package-lock.json", "\"resolved\": 1\n"}).size(), 1U);
  EXPECT_EQ(check({"src/app/config/a.h", "// The desk.\n"}).size(), 1U);
}

}  // namespace
}  // namespace presetbridge::structure
