#include "rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <optional>
#include <regex>
#include <span>
#include <utility>

#include "includes.h"
#include "retired_words.h"

namespace presetbridge::structure {
namespace {

constexpr int kLongestFile = 500;

struct LibraryHome {
  std::string_view header;  // prefix of what stands between the brackets
  std::string_view home;    // prefix of the paths that may include it
};
constexpr std::array kLibraryHomes = {
    LibraryHome{"sqlite3.h", "src/storage/sqlite"},
    LibraryHome{"libpq-fe.h", "src/storage/postgres"},
    LibraryHome{"curl/", "src/net/"},
    LibraryHome{"boost/asio", "src/net/"},
    LibraryHome{"boost/beast", "src/net/"},
    LibraryHome{"openssl/", "src/crypto/"},
    LibraryHome{"sodium", "src/crypto/"},
    LibraryHome{"cjose/", "src/crypto/"},
    LibraryHome{"jansson.h", "src/crypto/"},
    LibraryHome{"spdlog/", "src/app/"},
    LibraryHome{"CLI/", "src/app/"},
    LibraryHome{"toml++/", "src/app/"},
    LibraryHome{"prometheus/", "src/app/"},
};

struct Ban {
  std::regex pattern;
  std::string problem;
  std::string instead;
};

// libstdc++ 12 has no append_range.
void append(std::vector<Finding>& to, std::vector<Finding> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// The implementation of a Clock that is a database's, so where the driver is.
constexpr std::string_view kOtherClock = "storage/postgres/server_clock.cpp";

bool is_product(const SourceFile& file) {
  constexpr std::array<std::string_view, 5> kProduct = {"src/", "cloudsim/", "paysim/", "simulator_parts/",
                                                        "tools/"};
  return std::ranges::any_of(kProduct,
                             [&](std::string_view folder) { return file.path.starts_with(folder); });
}

std::vector<Finding> find_banned(const std::string& path, std::string_view text, std::span<const Ban> bans) {
  std::vector<Finding> findings;
  int number = 0;
  for (const auto line : lines_of(text)) {
    ++number;
    if (line.find_first_not_of(' ') == std::string_view::npos) continue;
    for (const auto& ban : bans) {
      if (std::regex_search(line.data(), line.data() + line.size(), ban.pattern)) {
        findings.push_back({path, number, ban.problem, ban.instead});
      }
    }
  }
  return findings;
}

// Where the literal or comment that begins at `at` ends (one past it), and how much at either end is kept.
struct Span {
  std::size_t end;
  std::size_t kept;
};
std::size_t end_of_quoted(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (std::size_t i = at + 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  return std::min(text.size(), text.find('\n', at));
}
std::size_t after(std::string_view text, std::string_view what, std::size_t from) {
  const auto found = text.find(what, from);
  return found == std::string_view::npos ? text.size() : found + what.size();
}
bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::optional<Span> opaque_at(std::string_view text, std::size_t at) {
  const auto rest = text.substr(at);
  if (rest.starts_with("//")) return Span{std::min(text.size(), text.find('\n', at)), 0};
  if (rest.starts_with("/*")) return Span{after(text, "*/", at + 2), 0};
  if (rest.starts_with("R\"") && (at == 0 || !is_word(text[at - 1]))) {
    const auto open = text.find('(', at);
    if (open == std::string_view::npos) return Span{text.size(), 0};
    const auto closing = fmt::format("){}\"", text.substr(at + 2, open - at - 2));
    return Span{after(text, closing, open), 0};
  }
  if (rest.front() == '"') return Span{end_of_quoted(text, at), 1};
  // A quote inside a number (1'000) is no literal.
  if (rest.front() == '\'' && (at == 0 || !is_word(text[at - 1]))) return Span{end_of_quoted(text, at), 1};
  return std::nullopt;
}

// Text with inline code, between backticks, and the targets of Markdown's links blanked out.
std::string prose_only(std::string text) {
  static const std::regex code(R"(`[^`\n]*`|\]\([^)\n]*\))");
  for (std::sregex_iterator match(text.begin(), text.end(), code), end; match != end; ++match) {
    for (auto i = match->position(); i < match->position() + match->length(); ++i) {
      text[static_cast<std::size_t>(i)] = ' ';
    }
  }
  return text;
}

// C++ text with everything but its sentences blanked out: the string literals that hold a space.
std::string sentences_only(std::string_view text) {
  std::string sentences(text);
  for (std::size_t at = 0; at < text.size();) {
    const auto opaque = opaque_at(text, at);
    const auto end = opaque ? std::max(opaque->end, at + 1) : at + 1;
    const auto part = text.substr(at, end - at);
    const bool sentence = part.front() == '"' && part.find(' ') != std::string_view::npos;
    for (; at < end; ++at) {
      if (!sentence && sentences[at] != '\n') sentences[at] = ' ';
    }
  }
  return sentences;
}

// An OpenAPI document in YAML with everything but its summaries and descriptions blanked out.
std::string descriptions_only(std::string_view text) {
  static const std::regex block(R"(^ *(summary|description): [|>]-?$)");
  static const std::regex inside(R"(^ *(summary|description): [^"{|>].*)"
                                 R"(|\b(summary|description): ("([^"\\]|\\.)*"|[^"{|>][^,}]*))");
  std::string descriptions(text);
  std::optional<std::size_t> block_indent;
  for (const auto line : lines_of(text)) {
    const auto begin = static_cast<std::size_t>(line.data() - text.data());
    const auto indent = line.find_first_not_of(' ');
    if (block_indent && indent > *block_indent) continue;  // npos, too: an empty line
    block_indent.reset();
    descriptions.replace(begin, line.size(), line.size(), ' ');
    const auto* const end = line.data() + line.size();
    if (std::regex_search(line.data(), end, block)) block_indent = indent;
    for (std::cregex_iterator match(line.data(), end, inside), none; match != none; ++match) {
      descriptions.replace(begin + static_cast<std::size_t>(match->position()), match->str().size(),
                           match->str());
    }
  }
  return descriptions;
}

// Names are taken apart at '_' and at capitals.
std::vector<Finding> find_retired(const std::string& path, std::string_view text,
                                  std::span<const RetiredWord> retired) {
  std::vector<Finding> findings;
  int number = 0;
  for (const auto line : lines_of(text)) {
    ++number;
    for (std::size_t at = 0, end = 0; at < line.size(); at = end) {
      end = at + 1;
      if (std::isalpha(static_cast<unsigned char>(line[at])) == 0) continue;
      while (end < line.size() && line[end] >= 'a' && line[end] <= 'z') ++end;
      std::string word(line.substr(at, end - at));
      word.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(word.front())));
      const auto found = std::ranges::find(retired, word, &RetiredWord::word);
      if (found == retired.end()) continue;
      if (found->but_before != nullptr &&
          std::regex_search(line.data() + end, line.data() + line.size(), std::regex(found->but_before),
                            std::regex_constants::match_continuous))
        continue;
      findings.push_back({path, number, fmt::format("'{}' is a retired word", word),
                          fmt::format("write: {}", found->instead)});
    }
  }
  return findings;
}

}  // namespace

std::string to_string(const Finding& f) {
  return fmt::format("{}:{}: {}; {}", f.path, f.line, f.problem, f.instead);
}

std::string code_only(std::string_view text) {
  std::string code(text);
  for (std::size_t at = 0; at < text.size();) {
    const auto opaque = opaque_at(text, at);
    if (!opaque) {
      ++at;
      continue;
    }
    for (std::size_t i = at + opaque->kept; i + opaque->kept < opaque->end; ++i) {
      if (code[i] != '\n') code[i] = ' ';
    }
    at = std::max(opaque->end, at + 1);
  }
  return code;
}

std::string comments_only(std::string_view text) {
  std::string comments(text);
  for (std::size_t at = 0; at < text.size();) {
    const auto opaque = opaque_at(text, at);
    const auto end = opaque ? std::max(opaque->end, at + 1) : at + 1;
    const auto start = text.substr(at, 2);
    for (; at < end; ++at) {
      if (start != "//" && start != "/*" && comments[at] != '\n') comments[at] = ' ';
    }
  }
  return comments;
}

std::vector<Finding> check_library_homes(const SourceFile& file) {
  if (!below_src(file.path)) return {};
  std::vector<Finding> findings;
  for (const auto& [line, header] : includes_of(file)) {
    for (const auto& [prefix, home] : kLibraryHomes) {
      if (!header.starts_with(prefix) || file.path.starts_with(home)) continue;
      findings.push_back({file.path, line, fmt::format("<{}> is allowed only in {}", header, home),
                          fmt::format("use what {} offers, or add it there", home)});
    }
  }
  return findings;
}

std::vector<Finding> check_injection(const SourceFile& file) {
  // A name after '.' or '->' is a member: somebody else's rows and schedulers have a time() and a sleep() of
  // their own.
  static const std::array sleeps = {
      Ban{std::regex(R"(\bthis_thread\s*::\s*sleep_|\b(u|nano)sleep\s*\(|(^|[^.>\w])sleep\s*\(\s*\d)"),
          "sleeping", "wait on a signal, or let the virtual clock advance (base/testing.h)"},
  };
  static const std::array world = {
      // `const` and its like after it: the definition of a Clock, not a call.
      Ban{std::regex(R"(::\s*now\s*\(\s*\)(?!\s*(const|override|noexcept)))"
                     R"(|\b(clock_gettime|gettimeofday)\s*\(|(^|[^.>\w])time\s*\(\s*(nullptr|NULL|0|&))"),
          "the machine's time", "take base/clock.h's Clock, or a Timestamp as a parameter"},
      Ban{std::regex(R"(\bgetenv\b|\benviron\b)"), "the environment",
          "let app/ read it and pass the value in"},
  };
  static const std::array chance = {
      Ban{std::regex(
              R"(\brandom_device\b|(^|[^.>\w])s?rand\s*\(|\b(getrandom|getentropy|arc4random\w*)\s*\()"),
          "the machine's chance", "take base/clock.h's Random"},
  };
  if (!is_cpp(file.path)) return {};
  const auto code = code_only(file.text);
  const auto inside = below_src(file.path);
  const bool test = is_test(file.path);
  const bool may_touch_the_world =
      !inside || inside->starts_with("net/") || inside->starts_with("app/") || *inside == kOtherClock;

  std::vector<Finding> findings;
  const auto add = [&](std::span<const Ban> bans) { append(findings, find_banned(file.path, code, bans)); };
  if (test || file.path.starts_with("tests/") || !may_touch_the_world) add(sleeps);
  if (test || may_touch_the_world) return findings;
  add(world);
  if (!inside->starts_with("crypto/")) add(chance);
  return findings;
}

std::vector<Finding> check_length(const SourceFile& file) {
  if (!is_product(file)) return {};
  const auto count = static_cast<int>(lines_of(file.text).size());
  if (count <= kLongestFile) return {};
  return {{file.path, kLongestFile + 1, fmt::format("{} lines, more than {}", count, kLongestFile),
           "split off the second thing that it holds"}};
}

std::vector<Finding> check_constants(const SourceFile& file) {
  if (!is_product(file) || !is_cpp(file.path)) return {};
  static const std::regex pattern(
      R"(^(?:inline |static )*constexpr (?!auto )[\w:<>, *]+?[ *]([a-z]\w*)(?:\[\w*\])? ?[={])");
  std::vector<Finding> findings;
  const std::string code = code_only(file.text);
  std::string_view before;
  int number = 0;
  for (const auto line : lines_of(code)) {
    ++number;
    std::cmatch match;
    const bool free = std::exchange(before, line).starts_with("template");
    if (free || !std::regex_search(line.data(), line.data() + line.size(), match, pattern)) continue;
    const std::string name = match[1].str();
    if (name.size() > 1 && name[0] == 'k' && std::isupper(static_cast<unsigned char>(name[1])) != 0) continue;
    findings.push_back({file.path, number, fmt::format("the constant '{}' is named as a variable", name),
                        "begin its name with k: kLikeThis"});
  }
  return findings;
}

std::vector<Finding> check_name(const SourceFile& file) {
  static const std::regex pattern(R"((^|[/_.-])(utils?|helpers?|manager|common|misc)($|[/_.-]))",
                                  std::regex::icase);
  std::smatch match;
  if (!std::regex_search(file.path, match, pattern)) return {};
  return {{file.path, 1, fmt::format("'{}' names nothing", match[2].str()),
           "name the file for the one thing that it holds"}};
}

std::vector<Finding> check_wholeness(const SourceFile& file) {
  // Written in pieces, so that this file does not find itself.
  static const std::array bans = {
      Ban{std::regex("\\b(TO"
                     "DO|FIX"
                     "ME|XX"
                     "X)\\b"),
          "a mark of unfinished work", "finish it, or say in docs/ what is not there"},
      Ban{std::regex("\\bGTEST_"
                     "SKIP\\b|\\bDISABLED"
                     "_\\w|\\b(test|it|describe)\\.(sk"
                     "ip|to"
                     "do)\\b"),
          "a skipped test", "make it pass, or remove it and say what is untested"},
  };
  return find_banned(file.path, file.text, bans);
}

std::vector<Finding> check_lock_file(const SourceFile& file) {
  static const std::array bans = {
      Ban{std::regex(R"("resolved"\s*:)"), "a lock file that names a registry's host",
          "keep omit-lockfile-registry-resolved=true in .npmrc and write the lock anew"},
  };
  if (!file.path.ends_with("package-lock.json")) return {};
  return find_banned(file.path, file.text, bans);
}

std::vector<Finding> check_plain_words(const SourceFile& file) {
  static const auto phrases = [] {
    std::vector<Ban> bans;
    for (const auto& [pattern, problem, instead] : kRetiredPhrases) {
      bans.push_back({std::regex(pattern), std::string(problem), std::string(instead)});
    }
    return bans;
  }();
  const auto* const held = std::ranges::find_if(
      kPlainPaths, [&](const PlainPath& plain) { return file.path.starts_with(plain.path); });
  const bool markdown = file.path.ends_with(".md");
  const bool yaml = file.path.ends_with(".yaml");
  const bool script = file.path.ends_with(".ts") || file.path.ends_with(".tsx");
  if (held == kPlainPaths.end() || (!markdown && !yaml && !script && !is_cpp(file.path))) return {};
  std::vector<Finding> findings;
  const auto find = [&](std::string text) {
    const auto prose = prose_only(std::move(text));
    append(findings, find_retired(file.path, prose, kRetiredWords));
    append(findings, find_banned(file.path, prose, phrases));
  };
  find(markdown ? file.text : yaml ? descriptions_only(file.text) : comments_only(file.text));
  if (held->sentences && !is_test(file.path)) find(sentences_only(file.text));
  if (held->names) append(findings, find_retired(file.path, code_only(file.text), kRetiredNames));
  return findings;
}

std::vector<Finding> check(const SourceFile& file) {
  std::vector<Finding> findings;
  for (const auto rule : {check_layer_edges, check_library_homes, check_injection, check_length,
                          check_constants, check_name, check_wholeness, check_lock_file, check_plain_words}) {
    append(findings, rule(file));
  }
  return findings;
}

}  // namespace presetbridge::structure
