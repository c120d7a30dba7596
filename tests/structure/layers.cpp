// The rules of layers and rooms.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <map>
#include <optional>
#include <span>

#include "includes.h"
#include "rules.h"

namespace presetbridge::structure {
namespace {

constexpr std::array<std::string_view, 12> kLayers = {"base",     "crypto",   "domain", "providers",
                                                      "storage",  "net",      "cloud",  "identity",
                                                      "payments", "services", "api",    "app"};

// Headers of a lower layer that a pure layer must not include all the same: they reach the world.
constexpr std::array<std::string_view, 2> kPureLayers = {"domain", "providers"};
constexpr std::array<std::string_view, 5> kImpureHeaders = {"base/executor.h", "base/log.h", "base/metrics.h",
                                                            "base/task.h", "crypto/random.h"};

// libstdc++ 12 has neither ranges::contains nor append_range.
bool contains(std::span<const std::string_view> all, std::string_view one) {
  return std::ranges::find(all, one) != all.end();
}
// The layer that a path counted from src/ belongs to, as its place in the order.
std::optional<std::size_t> layer_of(std::string_view path) {
  const auto folder = path.substr(0, path.find('/'));
  if (folder.size() == path.size()) return std::nullopt;
  const auto found = std::ranges::find(kLayers, folder);
  if (found == kLayers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kLayers.begin());
}

// The folder of a path counted from src/.
std::string_view room_of(std::string_view path) {
  const auto end = path.rfind('/');
  return end == std::string_view::npos ? std::string_view() : path.substr(0, end);
}
// A folder knows its sub-folders, and they use its files.
bool is_inside(std::string_view room, std::string_view other) {
  return room.size() > other.size() && room.starts_with(other) && room[other.size()] == '/';
}

}  // namespace

std::vector<std::string_view> layers() {
  return {kLayers.begin(), kLayers.end()};
}

std::set<std::pair<std::string_view, std::string_view>> layer_edges(const std::vector<SourceFile>& files) {
  std::set<std::pair<std::string_view, std::string_view>> edges;
  for (const auto& file : files) {
    const auto path = below_src(file.path);
    if (!path || !is_cpp(file.path) || is_test(file.path)) continue;
    const auto from = layer_of(*path);
    if (!from) continue;
    for (const auto& include : includes_of(file)) {
      const auto to = layer_of(include.header);
      if (to && *to != *from) edges.insert({kLayers[*from], kLayers[*to]});
    }
  }
  return edges;
}

std::string layer_picture(const std::set<std::pair<std::string_view, std::string_view>>& edges) {
  // Edges go down the list of layers, so those of lower layers are closed first.
  std::set<std::pair<std::string_view, std::string_view>> reached;
  std::string picture = "flowchart TD\n";
  for (const auto from : kLayers) {
    for (auto to = kLayers.rbegin(); to != kLayers.rend(); ++to) {
      if (!edges.contains({from, *to}) || reached.contains({from, *to})) continue;
      picture += fmt::format("  {} --> {}\n", from, *to);
      reached.insert({from, *to});
      for (const auto below : kLayers) {
        if (reached.contains({*to, below})) reached.insert({from, below});
      }
    }
  }
  return picture;
}

std::vector<Finding> check_layer_edges(const SourceFile& file) {
  const auto inside = below_src(file.path);
  if (!inside) return {};
  std::vector<Finding> findings;
  const auto own = layer_of(*inside);
  if (!own) {
    return {{file.path, 1, "this folder is no layer",
             fmt::format("put the file into one of: {}", fmt::join(kLayers, ", "))}};
  }
  const auto own_name = kLayers[*own];
  for (const auto& [line, header] : includes_of(file)) {
    if (header.starts_with("..") || header.contains("/../")) {
      findings.push_back({file.path, line, fmt::format("\"{}\" climbs out of its folder", header),
                          "name the path from src/"});
      continue;
    }
    const auto target = layer_of(header);
    if (!target) continue;
    if (*target > *own) {
      findings.push_back(
          {file.path, line,
           fmt::format("{} must not include \"{}\": {} is a higher layer", own_name, header,
                       kLayers[*target]),
           fmt::format("declare a port in {} and let app/ pass the implementation in, or move the code up",
                       own_name)});
    }
    if (contains(kPureLayers, own_name) && contains(kImpureHeaders, header)) {
      findings.push_back({file.path, line,
                          fmt::format("{} is pure and must not include \"{}\"", own_name, header),
                          "take the value that it would give as a parameter"});
    }
  }
  return findings;
}

std::vector<Finding> check_room_circles(const std::vector<SourceFile>& files) {
  struct Use {
    std::string_view from;
    std::string to;
    Finding finding;
  };
  std::vector<Use> uses;
  std::map<std::string, int, std::less<>> rooms;
  const auto number = [&](std::string_view room) {
    return rooms.try_emplace(std::string(room), static_cast<int>(rooms.size())).first->second;
  };
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> graph;
  for (const auto& file : files) {
    const auto path = below_src(file.path);
    if (!path || !is_cpp(file.path) || is_test(file.path)) continue;
    const auto from = room_of(*path);
    for (const auto& [line, header] : includes_of(file)) {
      const auto to = room_of(header);
      if (!layer_of(header) || to == from || is_inside(to, from) || is_inside(from, to)) continue;
      boost::add_edge(number(from), number(to), graph);
      uses.push_back({from,
                      std::string(to),
                      {file.path, line, fmt::format("\"{}\" closes a circle of folders", header),
                       "move the file to a folder below both, or pass in what it gives"}});
    }
  }
  std::vector<int> circle(boost::num_vertices(graph));
  if (!circle.empty()) boost::strong_components(graph, circle.data());
  std::vector<Finding> findings;
  for (auto& use : uses) {
    if (circle[number(use.from)] == circle[number(use.to)]) findings.push_back(std::move(use.finding));
  }
  return findings;
}

}  // namespace presetbridge::structure
