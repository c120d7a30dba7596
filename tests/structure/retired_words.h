// The words and phrases that this project has retired, with their replacements, and the paths that are held
// to plain words. docs/development.md explains them in its glossary.
#pragma once

#include <array>
#include <string_view>

namespace presetbridge::structure {

struct RetiredWord {
  std::string_view word;  // in lower case, as a part of a name too: "told" is in wasTold and was_told
  std::string_view instead;
};

// In comments and in Markdown.
inline constexpr std::array kRetiredWords = {
    RetiredWord{"aside", "postponed, or: set apart"},
    RetiredWord{"chore", "account task"},
    RetiredWord{"chores", "account tasks"},
    RetiredWord{"desk", "the name of the class"},
    RetiredWord{"told", "logged, reported, returned or notified"},
    RetiredWord{"tries", "attempts (noun), attempts or retries (verb)"},
};

// In the names of code.
inline constexpr std::array kRetiredNames = {
    RetiredWord{"aside", "postponed"},
    RetiredWord{"chore", "account task"},
    RetiredWord{"chores", "account tasks"},
    RetiredWord{"desk", "the name of the class"},
    RetiredWord{"told", "logged, reported, returned or notified"},
    RetiredWord{"tries", "attempts"},
};

struct RetiredPhrase {
  const char* pattern;  // of ECMAScript, on one line
  std::string_view problem;
  std::string_view instead;
};

// In comments and in Markdown.
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
  bool names;  // the names of its code too, not only comments
};
inline constexpr auto kPlainPaths = std::to_array<PlainPath>({
    {.path = "CHANGELOG.md", .names = false},
    {.path = "README.md", .names = false},
    {.path = "docs/", .names = false},
    {.path = "src/api/", .names = false},
    {.path = "src/app/admin/", .names = true},
    {.path = "src/app/config/", .names = true},
    {.path = "src/app/metrics/", .names = true},
    {.path = "src/app/process/", .names = true},
    {.path = "src/app/service/", .names = false},
    {.path = "src/app/verbs/", .names = true},
    {.path = "src/base/", .names = true},
    {.path = "src/cloud/", .names = true},
    {.path = "src/crypto/", .names = true},
    {.path = "src/domain/", .names = false},
    {.path = "src/identity/", .names = false},
    {.path = "src/net/", .names = true},
    {.path = "src/payments/", .names = true},
    {.path = "src/providers/", .names = true},
    {.path = "src/services/accounts/", .names = true},
    {.path = "src/services/bulk/", .names = false},
    {.path = "src/services/buyers/", .names = true},
    {.path = "src/services/credits/", .names = true},
    {.path = "src/services/delivery/", .names = true},
    {.path = "src/services/dispatcher/", .names = false},
    {.path = "src/services/figures/", .names = true},
    {.path = "src/services/intake/", .names = false},
    {.path = "src/services/keys/", .names = false},
    {.path = "src/services/leases/", .names = true},
    {.path = "src/services/live/", .names = false},
    {.path = "src/services/operation/", .names = false},
    {.path = "src/services/orders/", .names = true},
    {.path = "src/services/payments/", .names = false},
    {.path = "src/services/presets/", .names = true},
    {.path = "src/services/stores/", .names = true},
    {.path = "src/services/testing.h", .names = true},
    {.path = "src/services/vault/", .names = false},
    {.path = "src/services/webhooks/", .names = false},
    {.path = "src/services/worker/", .names = false},
    {.path = "src/storage/changes.h", .names = true},
    {.path = "src/storage/columns.h", .names = true},
    {.path = "src/storage/commit/", .names = true},
    {.path = "src/storage/copy/", .names = true},
    {.path = "src/storage/database.", .names = true},
    {.path = "src/storage/file_lock.", .names = true},
    {.path = "src/storage/news.h", .names = true},
    {.path = "src/storage/page.h", .names = true},
    {.path = "src/storage/postgres/retention_test.cpp", .names = false},
    {.path = "src/storage/postgres/", .names = true},
    {.path = "src/storage/query_plans_test.cpp", .names = true},
    {.path = "src/storage/row_columns.h", .names = true},
    {.path = "src/storage/schema/", .names = true},
    {.path = "src/storage/sql_text.", .names = true},
    {.path = "src/storage/sqlite/", .names = true},
    {.path = "src/storage/statement_cache.h", .names = true},
    {.path = "src/storage/testing", .names = true},
    {.path = "src/storage/stores/", .names = true},
    {.path = "src/storage/tx_driver.h", .names = true},
    {.path = "web/src/", .names = false},
});

}  // namespace presetbridge::structure
