// interleavings [--orders N] [--preemptions P] [--pair TEXT] [--order ORDER]: runs each pair of use cases
// (those whose name holds TEXT) in all orders with at most P (2) preemptions, and in N (100) that chance
// decides. The first order of a pair that shows something wrong is told; exit 1.
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <set>
#include <span>
#include <string_view>

#include "judge.h"
#include "pairs.h"
#include "shared_tables.h"

namespace presetbridge::interleavings {
namespace {

// Orders from which it is learnt what the two touch; their seeds are nobody else's.
constexpr std::uint64_t kMixed = 4;
constexpr std::uint64_t kMixedSeeds = 1'000'000'000;

struct Options {
  std::uint64_t orders = 100;
  std::uint64_t preemptions = 2;
  std::uint64_t stride = 1;
  std::string pair = {};
  std::string order = {};
};

struct Counts {
  int orders = 0;
  int waits = 0;
  int deadlocks = 0;
};

// "FIRST:RUNS,RUNS" or "FIRST:seed:SEED".
std::optional<Order> parse_order(std::string_view text) {
  Order order;
  if (text.size() < 2 || (text[0] != '0' && text[0] != '1') || text[1] != ':') return std::nullopt;
  order.first = text[0] - '0';
  text.remove_prefix(2);
  const bool seed = text.starts_with("seed:");
  if (seed) text.remove_prefix(5);
  while (!text.empty()) {
    std::uint64_t number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end.ec != std::errc{}) return std::nullopt;
    if (seed)
      order.seed = number;
    else
      order.runs.push_back(static_cast<int>(number));
    text.remove_prefix(static_cast<std::size_t>(end.ptr - text.data()));
    if (text.starts_with(',')) text.remove_prefix(1);
  }
  return order;
}

class Run {
 public:
  Run(Stage& stage, const Pair& pair) : stage_(stage), pair_(pair), shared_(stage.tables()) {}

  // Whether nothing is wrong.
  bool all(const Options& options) {
    stride_ = static_cast<int>(options.stride);
    if (!learn()) return false;
    if (!options.order.empty()) {
      const auto order = parse_order(options.order);
      if (!order) throw std::invalid_argument("no order: " + options.order);
      report_all_ = true;
      return one(*order).right;
    }
    for (int first = 0; first < kActors; ++first)
      if (!preempted({.first = first}, static_cast<int>(options.preemptions))) return false;
    for (std::uint64_t seed = 1; seed <= options.orders; ++seed)
      if (!one({.first = static_cast<int>(seed % kActors), .seed = seed}).right) return false;
    return true;
  }
  const Counts& counts() const { return counts_; }

 private:
  struct Seen {
    bool right = true;
    int preemptions = 0;
  };

  // What the two do one behind the other, and, so that what they touch of each other is known, mixed.
  bool learn() {
    for (int first = 0; first < kActors; ++first)
      if (!one({.first = first}, true).right) return false;
    for (std::uint64_t seed = 1; seed <= kMixed; ++seed)
      if (!one({.first = static_cast<int>(seed % kActors), .seed = kMixedSeeds + seed}).right) return false;
    return true;
  }

  // All orders that begin so and have so many more preemptions at most.
  bool preempted(const Order& beginning, int most) {
    if (most == 0) return true;
    for (int run = 1;; run += stride_) {
      Order order = beginning;
      order.runs.push_back(run);
      const auto seen = one(order);
      if (!seen.right) return false;
      if (seen.preemptions < static_cast<int>(order.runs.size())) return true;
      if (!preempted(order, most - 1)) return false;
    }
  }

  Seen one(const Order& order, bool alone = false) {
    stage_.clear();
    Scene scene(stage_, pair_.merchant);
    pair_.prepare(scene);
    auto course = stage_.stepper.run(
        order, [&](int actor, const std::string& what) { return shared_.is_point(actor, what); },
        {[&] { pair_.one.run(scene, scene.nodes[0]); }, [&] { pair_.two.run(scene, scene.nodes[1]); }});
    if (alone || order.seed) shared_.learn(course);
    ++counts_.orders;
    counts_.waits += course.waits;
    counts_.deadlocks += course.deadlocks;
    const auto jobs = scene.world.cloud.count("find_user");
    scene.rest();
    auto faults = judge(scene);
    if (!faults.empty()) {
      scene.rest(std::chrono::hours{2});
      faults = judge(scene);
    }
    for (const auto& thrown : course.thrown) {
      try {
        if (thrown) std::rethrow_exception(thrown);
      } catch (const std::exception& e) {
        faults.emplace_back(e.what());
      }
    }
    if (course.deadlocks > 0 && !pair_.may_meet) faults.emplace_back("they wait for each other's locks");
    if (const int limit = pair_.merchant.jobs_per_minute; limit > 0 && jobs > limit)
      faults.push_back(fmt::format("{} jobs have begun in a minute", jobs));
    const auto end = outcome(scene);
    if (alone) {
      ends_.insert(end);
    } else if (!pair_.may_mix && !ends_.contains(end)) {
      faults.push_back("it ends as neither order of the one behind the other does:\n" + end);
      for (const auto& known : ends_) faults.push_back("that ends as\n" + known);
    }
    if (!faults.empty() || report_all_) report(order, course, faults, end);
    return {faults.empty(), course.preemptions};
  }

  void report(const Order& order, const Course& course, const std::vector<std::string>& faults,
              const std::string& end) {
    fmt::print("{}, order {}:\n", pair_.name(), to_string(order));
    for (const auto& step : course.steps) {
      fmt::print("  {} {}{}{}\n", step.preempts ? "->" : "  ", step.actor == 0 ? "A " : "        B ",
                 shared_.is_point(step.actor, step.what) ? "* " : "  ", step.what.substr(0, 110));
    }
    fmt::print("{}", end);
    for (const auto& fault : faults) fmt::print("WRONG: {}\n", fault);
  }

  Stage& stage_;
  const Pair& pair_;
  SharedTables shared_;
  std::set<std::string> ends_;
  Counts counts_;
  int stride_ = 1;
  bool report_all_ = false;
};

std::optional<Options> read(std::span<char*> arguments) {
  Options options;
  for (std::size_t i = 1; i < arguments.size(); i += 2) {
    const std::string_view name = arguments[i];
    if (i + 1 == arguments.size()) return std::nullopt;
    const std::string_view text = arguments[i + 1];
    if (name == "--pair" || name == "--order") {
      (name == "--pair" ? options.pair : options.order) = text;
      continue;
    }
    std::uint64_t* const value = name == "--orders"        ? &options.orders
                                 : name == "--preemptions" ? &options.preemptions
                                 : name == "--stride"      ? &options.stride
                                                           : nullptr;
    if (value == nullptr || text.empty() || text.size() > 9 ||
        std::from_chars(text.data(), text.data() + text.size(), *value).ptr != text.data() + text.size())
      return std::nullopt;
  }
  if (options.stride == 0) return std::nullopt;
  return options;
}

int interleave(std::span<char*> arguments) {
  const auto options = read(arguments);
  if (!options) {
    fmt::print(
        stderr,
        "usage: interleavings [--orders N] [--preemptions P] [--stride S] [--pair TEXT] [--order ORDER]\n");
    return 2;
  }
  Stage stage;
  int wrong = 0;
  int orders = 0;
  for (const auto& pair : pairs()) {
    if (pair.name().find(options->pair) == std::string::npos) continue;
    const auto began = std::chrono::steady_clock::now();
    Run run(stage, pair);
    const bool right = run.all(*options);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    orders += run.counts().orders;
    wrong += right ? 0 : 1;
    fmt::print("{}: {} orders, {} waits, {} deadlocks, {:.1f} s{}\n", pair.name(), run.counts().orders,
               run.counts().waits, run.counts().deadlocks, took.count(), right ? "" : ", WRONG");
    std::fflush(stdout);
  }
  fmt::print("{} orders: {}\n", orders,
             wrong == 0 ? "nothing is wrong" : fmt::format("{} pairs are wrong", wrong));
  return orders > 0 && wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace presetbridge::interleavings

int main(int argc, char** argv) {
  return presetbridge::interleavings::interleave({argv, static_cast<std::size_t>(argc)});
}
