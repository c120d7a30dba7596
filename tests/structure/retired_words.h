// The words and phrases that this project has retired, with their replacements, and the paths that are held
// to plain words. docs/development.md explains them in its glossary.
#pragma once

#include <array>
#include <string_view>

namespace presetbridge::structure {

struct RetiredWord {
  std::string_view word;  // in lower case, as a part of a name too: "told" is in wasTold and was_told
  std::string_view instead;
  const char* but_before = nullptr;  // of ECMAScript: followed by this it is another word, and stays
};

// In comments, in Markdown and in texts for people.
inline constexpr std::array kRetiredWords = {
    RetiredWord{"aside", "postponed, or: set apart"},
    RetiredWord{"chore", "account task"},
    RetiredWord{"chores", "account tasks"},
    RetiredWord{"desk", "the name of the class"},
    RetiredWord{"told", "logged, reported, returned or notified"},
    RetiredWord{"tries", "attempts (noun), attempts or retries (verb)"},
};

// As in look_up, looksUp, LookItUp and looks_like.
inline constexpr const char* kUpOrLike = "_?([Ii]t_?)?([Uu]ps?|[Ll]ike)(?![a-z])";

// In the names of code.
inline constexpr std::array kRetiredNames = {
    RetiredWord{"aside", "postponed"},
    RetiredWord{"chore", "account task"},
    RetiredWord{"chores", "account tasks"},
    RetiredWord{"desk", "the name of the class"},
    RetiredWord{"look", "poll, scan, search, read or check", kUpOrLike},
    RetiredWord{"looked", "polled, scanned, searched, read or checked", kUpOrLike},
    RetiredWord{"looks", "polls, scans, reads or checks", kUpOrLike},
    RetiredWord{"piece", "batch or chunk"},
    RetiredWord{"pieces", "batches or chunks"},
    RetiredWord{"tell", "log, print, report, return or notify"},
    RetiredWord{"tells", "logs, prints, reports, returns or notifies"},
    RetiredWord{"told", "logged, reported, returned or notified"},
    RetiredWord{"tries", "attempts"},
};

struct RetiredPhrase {
  const char* pattern;  // of ECMAScript, on one line
  std::string_view problem;
  std::string_view instead;
};

// In comments, in Markdown and in texts for people.
inline constexpr std::array kRetiredPhrases = {
    RetiredPhrase{R"(\b(What|Whoever|Those (that|who|which|whose)|Of (an?|the|all|these|those))\b)",
                  "a sentence that begins with a clause", "begin with the name of the thing"},
    RetiredPhrase{R"(\bThe same( (as|but|by|for|in|of|with|without)\b|[,.:;]))",
                  "a contract that refers to another one", "say what it does"},
    RetiredPhrase{R"(\b[Ll]ooks?\b(?!([- ](it|them))?[- ](ups?|like)\b))", "'look'",
                  "poll, scan, search or read"},
    RetiredPhrase{R"(\b[Tt]ells?\b(?!.* apart\b))", "'tell'", "log, report, return, notify or say"},
    RetiredPhrase{R"(\b(an?|the|each|one|due|its|their|all|such) sends?\b)", "'send' as a noun",
                  "delivery attempt, or dispatch"},
};

// A file is held to plain words by the first of these that its path begins with.
struct PlainPath {
  std::string_view path;
  bool names;              // the names of its code too, not only comments
  bool sentences = false;  // its string literals that hold a space too, except in tests
};
inline constexpr auto kPlainPaths = std::to_array<PlainPath>({
    {.path = "api/openapi.yaml", .names = false},  // its summaries and descriptions
    {.path = "CHANGELOG.md", .names = false},
    {.path = "README.md", .names = false},
    {.path = "docs/", .names = false},
    {.path = "src/storage/postgres/retention_test.cpp", .names = false},
    {.path = "src/storage/", .names = true},  // its strings are SQL
    {.path = "src/", .names = true, .sentences = true},
    {.path = "web/src/", .names = false},
});

}  // namespace presetbridge::structure
