#include "shared_tables.h"

#include <algorithm>
#include <cctype>

namespace presetbridge::interleavings {
namespace {

std::vector<std::string> words_of(std::string_view sql) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : std::string(sql) + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '<' || c == '>') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  return words;
}

bool meet(const std::set<std::string>& one, const std::set<std::string>& other) {
  return std::ranges::any_of(one, [&](const auto& table) { return other.contains(table); });
}

}  // namespace

const SharedTables::Access& SharedTables::access_of(const std::string& what) {
  const auto known = known_.find(what);
  if (known != known_.end()) return known->second;
  Access access;
  bool locks = false;
  std::set<std::string>* into = &access.read;  // where the next table belongs
  for (const auto& word : words_of(what)) {
    locks = locks || word == "<for_update>" || word == "<lock>";
    if (word == "INSERT") into = &access.inserted;
    if (word == "UPDATE" || word == "DELETE") into = &access.changed;
    if (std::ranges::find(tables_, word) == tables_.end()) continue;
    into->insert(word);
    into = &access.read;
  }
  if (locks) access.changed.insert(access.read.begin(), access.read.end());
  // A key that is taken is told.
  if (what.find("ON CONFLICT") != std::string::npos)
    access.changed.insert(access.inserted.begin(), access.inserted.end());
  return known_.emplace(what, std::move(access)).first->second;
}

void SharedTables::learn(const Course& course) {
  for (const auto& step : course.steps) {
    const auto& access = access_of(step.what);
    auto& all = all_[static_cast<std::size_t>(step.actor)];
    all.read.insert(access.read.begin(), access.read.end());
    all.inserted.insert(access.inserted.begin(), access.inserted.end());
    all.changed.insert(access.changed.begin(), access.changed.end());
  }
}

// The end of a transaction frees what it has locked, and shows what it has written.
bool SharedTables::is_point(int actor, const std::string& what) {
  if (what == "COMMIT") return true;
  const auto& access = access_of(what);
  const auto& others = all_[static_cast<std::size_t>(1 - actor)];
  const auto disturbs = [](const Access& one, const Access& other) {
    return meet(one.changed, other.read) || meet(one.changed, other.inserted) ||
           meet(one.changed, other.changed) || meet(one.inserted, other.read);
  };
  return disturbs(access, others) || disturbs(others, access);
}

}  // namespace presetbridge::interleavings
