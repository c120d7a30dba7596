// The rules that every source file of this repository keeps, as pure functions from a file's path and text to
// findings. repository_test.cpp runs them over the work tree; rules_test.cpp shows that each one catches a
// planted fault.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace presetbridge::structure {

// `path` counts from the repository's root, with '/' between its parts.
struct SourceFile {
  std::string path;
  std::string text;
};

// `problem` says what is wrong, `instead` what to write in its place. `line` counts from 1.
struct Finding {
  std::string path;
  int line;
  std::string problem;
  std::string instead;
};
std::string to_string(const Finding& finding);  // path:line: problem; instead

// The folders of src/, lowest first: each may include itself and those before it.
std::vector<std::string_view> layers();

// The layers that the files of each layer include, as pairs of names; tests are not counted.
std::set<std::pair<std::string_view, std::string_view>> layer_edges(const std::vector<SourceFile>& files);
// A Mermaid diagram of them. An edge that follows from two others is left out.
std::string layer_picture(const std::set<std::pair<std::string_view, std::string_view>>& edges);

// C++ text with the insides of comments, strings and character literals blanked out; lines stay where they
// are.
std::string code_only(std::string_view text);
// C++ text with everything but its comments blanked out.
std::string comments_only(std::string_view text);

std::vector<Finding> check_layer_edges(
    const SourceFile& file);  // a layer includes only itself and what stands below it
// The folders of src/ include one another in no circle, tests apart. An include between a folder and one inside it closes none.
// Reports each include within a circle.
std::vector<Finding> check_room_circles(const std::vector<SourceFile>& files);
std::vector<Finding> check_library_homes(const SourceFile& file);  // a third-party header only where it lives
std::vector<Finding> check_injection(
    const SourceFile& file);  // no clock, chance, waiting or environment of one's own
std::vector<Finding> check_length(const SourceFile& file);  // at most 500 lines, in tests of the product too
std::vector<Finding> check_name(const SourceFile& file);    // a file is named for the one thing it holds
// A constant at namespace scope is named kLikeThis. Constants that are called as functions (auto), and templates, are free.
std::vector<Finding> check_constants(const SourceFile& file);
std::vector<Finding> check_wholeness(const SourceFile& file);  // no marks of unfinished work, no skipped test
std::vector<Finding> check_lock_file(const SourceFile& file);  // a package lock names no registry's host
// Comments, names, sentences, Markdown and OpenAPI descriptions of the paths in retired_words.h use none of the
// words retired there. A sentence is a string literal that holds a space. Raw strings, other literals and text
// between backticks are free: they are SQL, stored or sent data, or names.
std::vector<Finding> check_plain_words(const SourceFile& file);

// All rules of a single file, each on the files it is about.
std::vector<Finding> check(const SourceFile& file);

}  // namespace presetbridge::structure
