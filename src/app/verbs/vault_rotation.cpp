#include "app/verbs/vault_rotation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <ostream>
#include <thread>
#include <utility>

#include "app/admin/admin_channel.h"
#include "app/admin/admin_request.h"
#include "app/config/data_directory.h"
#include "app/process/hardening.h"
#include "app/verbs/outcome.h"
#include "crypto/encoding.h"
#include "crypto/random.h"
#include "crypto/service_cipher.h"
#include "crypto/vault_keys.h"
#include "services/keys/key_rotation.h"

namespace presetbridge::app {
namespace {

namespace json = boost::json;
using Asked = Expected<json::object>;

constexpr int kOthersLack = 3;
// The pause between two requests while nothing is left to do but wait, and between two lines of progress.
constexpr std::chrono::milliseconds kPause{250};
constexpr std::chrono::milliseconds kReportEach{1'000};
// Records that change while they are sealed anew are read once more.
constexpr int kMostPolls = 5;
constexpr int kMostAttempts = 40;

std::vector<std::string> texts_of(const json::object& object, std::string_view name) {
  std::vector<std::string> texts;
  for (const auto& one : object.at(name).as_array()) texts.emplace_back(one.as_string());
  return texts;
}

struct Standing {
  std::string kind;
  std::string newest;
  std::vector<std::string> old;
};

class Verb {
 public:
  Verb(const Config& config, std::vector<std::string> kinds, std::ostream& out, std::ostream& err)
      : config_(config),
        directory_(data_directory(config)),
        kinds_(std::move(kinds)),
        out_(out),
        err_(err),
        last_report_(std::chrono::steady_clock::now() - kReportEach) {
    if (kinds_.empty()) {
      for (const auto kind : services::kAllKeyKinds) kinds_.emplace_back(to_string(kind));
    }
  }

  int rotate();
  int drop(bool now);
  int show();

 private:
  bool wanted(std::string_view kind) const { return std::ranges::find(kinds_, kind) != kinds_.end(); }
  int failed(const Error& error) {
    err_ << "presetbridge: " << error.message << '\n';
    return kFailed;
  }
  Asked ask(std::string_view command, bool begin = false, bool now = false) const {
    const json::object request{{"command", command},
                               {"kinds", fmt::format("{}", fmt::join(kinds_, ","))},
                               {"begin", begin ? 1 : 0},
                               {"now", now ? 1 : 0}};
    // OVERLOADED: the service may still do the work of a command that was killed.
    for (int attempt = 1;; ++attempt) {
      auto answer = ask_running_service(config_, request);
      if (answer || answer.error().code != "OVERLOADED" || attempt == kMostAttempts) return answer;
      std::this_thread::sleep_for(kPause);
    }
  }
  Expected<std::vector<Standing>> standing() const;
  // Puts a new key in front of each key file whose first key is in use already.
  Expected<void> add_keys(const std::vector<Standing>& all);
  // Removes keys that no node uses any more from this node's files.
  Expected<void> remove_keys(const std::vector<Standing>& all);
  void report_progress(const std::string& line);
  int report_nodes(const json::object& step);
  void print(const Standing& one) {
    out_ << fmt::format("{}: {}{}\n", one.kind, one.newest,
                        one.old.empty() ? "" : fmt::format(", old: {}", fmt::join(one.old, " ")));
  }

  const Config& config_;
  const DataDirectory directory_;
  std::vector<std::string> kinds_;
  std::ostream& out_;
  std::ostream& err_;
  std::chrono::steady_clock::time_point last_report_;
};

Expected<std::vector<Standing>> Verb::standing() const {
  const auto answer = ask("keys");
  if (!answer) return std::unexpected(answer.error());
  std::vector<Standing> all;
  for (const auto& one : answer->at("keys").as_array()) {
    const auto& key = one.as_object();
    all.push_back({text_of(key, "kind"), text_of(key, "newest"), texts_of(key, "old")});
  }
  return all;
}

Expected<void> Verb::add_keys(const std::vector<Standing>& all) {
  crypto::SystemRandom random;
  for (const auto& one : all) {
    if (!wanted(one.kind) || !one.old.empty()) continue;
    if (one.kind == "vault") {
      if (auto whole = crypto::publish_vault_keys(directory_.vault_private_key, directory_.vault_public_key);
          !whole)
        return whole;
      const auto keys = crypto::read_vault_public_keys(directory_.vault_public_key);
      if (!keys) return std::unexpected(keys.error());
      if (crypto::hex_encode(keys->front().id()) != one.newest) continue;  // one waits already
      const auto made =
          crypto::add_vault_key(directory_.vault_private_key, directory_.vault_public_key, random);
      if (!made) return std::unexpected(made.error());
    } else if (one.kind == "service") {
      const auto keys = crypto::read_service_keys(directory_.service_key);
      if (!keys) return std::unexpected(keys.error());
      if (crypto::hex_encode(keys->front().id) != one.newest) continue;
      if (auto made = crypto::add_service_key(directory_.service_key, random); !made) return made;
    }
  }
  return {};
}

Expected<void> Verb::remove_keys(const std::vector<Standing>& all) {
  for (const auto& one : all) {
    if (!wanted(one.kind) || !one.old.empty()) continue;
    Expected<int> removed = 0;
    if (one.kind == "vault") {
      crypto::VaultKeyId kept{};
      crypto::hex_decode_exactly(one.newest, kept);
      removed =
          crypto::drop_vault_keys_behind(directory_.vault_private_key, directory_.vault_public_key, kept);
    } else if (one.kind == "service") {
      crypto::ServiceKeyId kept{};
      crypto::hex_decode_exactly(one.newest, kept);
      removed = crypto::drop_service_keys_behind(directory_.service_key, kept);
    }
    if (!removed) return std::unexpected(removed.error());
    if (*removed > 0)
      out_ << fmt::format("{}: {} removed from the files in {}\n", one.kind,
                          *removed == 1 ? "the old key was" : "old keys were", directory_.folder.string());
  }
  return {};
}

void Verb::report_progress(const std::string& line) {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_report_ < kReportEach) return;
  last_report_ = now;
  err_ << line << '\n' << std::flush;
}

int Verb::report_nodes(const json::object& step) {
  err_ << "presetbridge: The new keys are made, and nobody uses them yet, since not all nodes have them:\n";
  for (const auto& one : step.at("nodes").as_array()) {
    const auto& node = one.as_object();
    err_ << fmt::format("  {} lacks {}\n", text_of(node, "name"), fmt::join(texts_of(node, "lacks"), ", "));
  }
  err_ << fmt::format(
      "Copy service.key, vault.key and vault.pub from {} to each of them (without vault.key where a node "
      "needs "
      "none), then run the same command again. Running nodes take them up within some seconds.\n",
      directory_.folder.string());
  return kOthersLack;
}

int Verb::rotate() {
  const auto before = standing();
  if (!before) return failed(before.error());
  if (auto made = add_keys(*before); !made) return failed(made.error());
  json::object step;
  int polls = 0;
  for (bool begin = true;;) {
    auto answer = ask("turn-keys", begin);
    if (!answer) return failed(answer.error());
    step = std::move(*answer);
    begin = false;
    const auto phase = text_of(step, "phase");
    if (phase == "waiting") return report_nodes(step);
    const auto left = integer_of(step, "left");
    if (phase == "done" && (left == 0 || ++polls == kMostPolls)) break;
    report_progress(fmt::format("{}: {} records read, {} sealed anew, {} left on an old key", phase,
                                integer_of(step, "lookedAt"), integer_of(step, "resealed"), left));
    if (phase == "settling") std::this_thread::sleep_for(kPause);
  }
  const auto after = standing();
  if (!after) return failed(after.error());
  for (const auto& one : *after) {
    if (wanted(one.kind)) print(one);
  }
  const auto left = integer_of(step, "left");
  out_ << fmt::format("{} records left on an old key, {} that no key opens\n", left,
                      integer_of(step, "unreadable"));
  if (left == 0) return 0;
  err_ << "presetbridge: The service's log names records that could not be sealed anew. Save those logins or "
          "secrets again, then run the same command.\n";
  return kFailed;
}

int Verb::drop(bool now) {
  json::object step;
  for (bool begin = true;; begin = false) {
    auto answer = ask("drop-keys", begin, now);
    if (!answer) return failed(answer.error());
    step = std::move(*answer);
    if (step.at("done").as_bool()) break;
    report_progress(fmt::format("{} records read", integer_of(step, "lookedAt")));
  }
  for (const auto& one : step.at("kinds").as_array()) {
    const auto& kind = one.as_object();
    for (const auto& id : texts_of(kind, "dropped"))
      out_ << fmt::format("{}: {} is not used any more\n", text_of(kind, "kind"), id);
    if (const auto why = text_of(kind, "kept"); !why.empty())
      out_ << fmt::format("{}: the old key is retained: {}\n", text_of(kind, "kind"), why);
  }
  const auto after = standing();
  if (!after) return failed(after.error());
  if (auto removed = remove_keys(*after); !removed) return failed(removed.error());
  for (const auto& one : *after) {
    if (wanted(one.kind)) print(one);
  }
  return 0;
}

int Verb::show() {
  const auto all = standing();
  if (!all) return failed(all.error());
  for (const auto& one : *all) print(one);
  return 0;
}

// Runs `run` with the process protected, as it holds the vault's private keys in its memory.
int guarded(std::ostream& err, const std::function<int()>& run) {
  crypto::initialise();
  if (harden_process()) return run();
  err << "presetbridge: The process cannot be protected from inspection.\n";
  return kFailed;
}

}  // namespace

int run_vault_rotate(const Config& config, const std::vector<std::string>& kinds, std::ostream& out,
                     std::ostream& err) {
  return guarded(err, [&] { return Verb(config, kinds, out, err).rotate(); });
}

int run_vault_drop(const Config& config, const std::vector<std::string>& kinds, bool now, std::ostream& out,
                   std::ostream& err) {
  return guarded(err, [&] { return Verb(config, kinds, out, err).drop(now); });
}

int run_vault_keys(const Config& config, std::ostream& out, std::ostream& err) {
  return guarded(err, [&] { return Verb(config, {}, out, err).show(); });
}

}  // namespace presetbridge::app
