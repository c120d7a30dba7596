#include "app/verbs/demo.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <fmt/format.h>
#include <boost/json/parse.hpp>

#include <array>
#include <filesystem>
#include <optional>
#include <ostream>
#include <vector>

#include "app/process/child_program.h"
#include "app/verbs/calls.h"
#include "app/verbs/listen.h"
#include "app/verbs/outcome.h"
#include "base/file_descriptor.h"
#include "crypto/encoding.h"
#include "crypto/random.h"
#include "crypto/webhook_signature.h"
#include "storage/file_lock.h"

namespace presetbridge::app {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr Millis kStart{20'000};
constexpr Millis kStop{12'000};  // the service promises ten seconds
constexpr const char* kEmail = "demo@shop.example";
constexpr const char* kMarker = "presetbridge-demo.lock";
constexpr int kCredits = 100;

std::string text_at(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

// The folder, ready and ours as long as the lock lives.
Expected<storage::FileLock> take_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return fail("FOLDER_UNUSABLE",
                "The folder " + folder.string() + " cannot be made: " + error.message() + ".");
  if (!fs::exists(folder / kMarker, error) && !fs::is_empty(folder, error)) {
    return fail("FOLDER_UNUSABLE",
                "The folder " + folder.string() +
                    " has something in it that is not of a demonstration: name another one with "
                    "--folder.");
  }
  auto lock = storage::FileLock::take((folder / kMarker).string());
  if (!lock && lock.error().code == "STORAGE_LOCKED") {
    return fail("FOLDER_UNUSABLE", "Another demonstration is at work in " + folder.string() +
                                       ": stop it first (Ctrl-C where it runs), or name another --folder.");
  }
  if (!lock) return lock;
  fs::remove_all(folder / "data", error);
  if (error)
    return fail("FOLDER_UNUSABLE",
                (folder / "data").string() + " cannot be removed: " + error.message() + ".");
  return lock;
}

struct Store {
  std::string provider;
  std::string sku;
  std::string url;
  std::string secret;
};

// The merchant of the demonstration, made as a person would make them.
class Merchant {
 public:
  Merchant(std::string url, std::string password)
      : api_(calls_, std::move(url)), password_(std::move(password)) {}

  Expected<void> set_up(const std::string& webhook_url, const std::string& webhook_secret) {
    auto tokens = api_.call("POST", "/api/auth/sign-up",
                            {{"email", kEmail}, {"password", password_}, {"accountName", "Demo Presets"}});
    if (!tokens) return std::unexpected(tokens.error());
    api_.sign_in_as("Authorization", "Bearer " + text_at(*tokens, "idToken"));
    auto login = api_.call("PUT", "/api/credentials",
                           {{"email", "merchant-1@cloudsim.test"}, {"password", "password-1"}});
    if (!login) return std::unexpected(login.error());
    auto subscribed =
        api_.call("POST", "/api/webhook-subscriptions",
                  {{"url", webhook_url}, {"name", "The demonstration"}, {"secret", webhook_secret}});
    if (!subscribed) return std::unexpected(subscribed.error());
    for (const auto& [number, provider] : {std::pair{1, "generic"}, {2, "provider_a"}, {3, "provider_b"}}) {
      if (auto added = add_store(number, provider); !added) return added;
    }
    return {};
  }
  const std::vector<Store>& stores() const { return stores_; }

 private:
  Expected<void> add_store(int number, const char* provider) {
    auto made = api_.call("POST", "/api/integrations",
                          {{"provider", provider}, {"name", fmt::format("Demo store ({})", provider)}});
    if (!made) return std::unexpected(made.error());
    Store store{.provider = provider,
                .sku = fmt::format("TONE-{}", number),
                .url = text_at(*made, "webhookUrl"),
                .secret = text_at(*made, "secret")};
    const json::object mapping{{"matchType", "sku"},
                               {"matchValue", store.sku},
                               {"fileId", fmt::format("m-1-f{}", number)},
                               {"kind", "preset"},
                               {"fileName", fmt::format("Preset {}", number)}};
    auto mapped = api_.call("PUT", "/api/integrations/" + text_at(*made, "id") + "/mappings",
                            {{"mappings", json::array{mapping}}});
    if (!mapped) return std::unexpected(mapped.error());
    stores_.push_back(std::move(store));
    return {};
  }

  Calls calls_{"presetbridge-demo"};
  ServiceApi api_;
  const std::string password_;
  std::vector<Store> stores_;
};

// For a shell.
std::string quoted(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:=@";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string out = "'";
  for (const char c : text) c == '\'' ? out += "'\\''" : out += c;
  return out + "'";
}

std::string send_order_line(const fs::path& program, const Store& store, const char* buyer) {
  return fmt::format("{} send-order --url {} --secret {} --sku {} --username {}", quoted(program.string()),
                     quoted(store.url), quoted(store.secret), quoted(store.sku), buyer);
}

// The signals that end the demonstration, from now on as something to be read.
class Endings {
 public:
  Endings() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
    fd_.reset(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  int fd() const { return fd_.get(); }

 private:
  FileDescriptor fd_;
};

class Demo {
 public:
  Demo(const DemoOptions& options, std::ostream& out) : options_(options), out_(out) {}

  Expected<void> start() {
    std::error_code error;
    program_ = fs::read_symlink("/proc/self/exe", error);
    folder_ = fs::absolute(options_.folder, error);
    const fs::path cloudsim = options_.cloudsim.empty() ? program_.parent_path() / "cloudsim"
                                                        : fs::absolute(options_.cloudsim, error);
    if (!fs::exists(cloudsim, error)) {
      return fail("PROGRAM_MISSING",
                  "There is no " + cloudsim.string() +
                      ", the simulated cloud platform: put it beside presetbridge, or name it with "
                      "--cloudsim.");
    }
    auto lock = take_folder(folder_);
    if (!lock) return std::unexpected(lock.error());
    lock_.emplace(std::move(*lock));

    out_ << "Preset Delivery Bridge: a demonstration. The cloud platform here is a SIMULATOR; nothing leaves "
            "this "
            "machine."
         << std::endl;
    const auto cloud_url =
        run({.name = "cloudsim",
             .binary = cloudsim,
             .arguments = {"--port", std::to_string(options_.cloud_port), "--users", "1", "--files", "5",
                           "--create-unknown-users", "--accept-delay-ms", "4000"},
             .log = folder_ / "cloudsim.log"});
    if (!cloud_url) return std::unexpected(cloud_url.error());
    const auto url =
        run({.name = "presetbridge serve",
             .binary = program_,
             .arguments = {"serve", "--sandbox", "--data-dir", (folder_ / "data").string(), "--listen",
                           fmt::format("127.0.0.1:{}", options_.port), "--cloud-url", *cloud_url,
                           "--credits-signup-credits", std::to_string(kCredits),
                           // The defaults are 5 jobs a minute, and a minute until the first check whether
                           // a friend request was accepted (spec 3.4, 3.5).
                           "--delivery-jobs-per-minute", "120", "--delivery-first-sweep-seconds", "5"},
             .log = folder_ / "serve.log"});
    if (!url) return std::unexpected(url.error());
    crypto::SystemRandom random;
    const auto webhook_secret = crypto::generate_webhook_secret(random);
    const auto webhook_url = run({.name = "presetbridge listen",
                                  .binary = program_,
                                  .arguments = {"listen", "--json"},
                                  .environment = {{"PRESETBRIDGE_LISTEN_SECRET", webhook_secret}},
                                  .log = folder_ / "listen.log"});
    if (!webhook_url) return std::unexpected(webhook_url.error());

    std::array<std::byte, 9> bytes{};
    random.fill(bytes);
    const std::string password = "demo-" + crypto::hex_encode(bytes);
    Merchant merchant(*url, password);
    if (auto ready = merchant.set_up(*webhook_url + "/", webhook_secret); !ready)
      return std::unexpected(ready.error());
    print_guide(*cloud_url, *url, password, merchant.stores());
    return {};
  }

  // Prints the events that `listen` receives, until a signal. False: a program ended by itself, which is
  // reported to `err`.
  bool attend(const Endings& endings, std::ostream& err) {
    auto& listener = programs_.back();
    for (;;) {
      std::vector<pollfd> fds = {{.fd = endings.fd(), .events = POLLIN, .revents = 0},
                                 {.fd = listener.output(), .events = POLLIN, .revents = 0}};
      for (const auto& program : programs_)
        fds.push_back({.fd = program.end(), .events = POLLIN, .revents = 0});
      if (::poll(fds.data(), fds.size(), -1) < 0) continue;
      if (fds[0].revents != 0) return true;
      while (const auto line = listener.next_line(Millis{0})) print_event(*line);
      for (auto& program : programs_) {
        if (!program.ended()) continue;
        err << "demo: " << program.name() << " ended by itself: " << printable(program.how_it_ended())
            << std::endl;
        return false;
      }
    }
  }

  // False: a program had to be killed, which is reported to `err`.
  bool stop(std::ostream& err) {
    bool well = true;
    for (; !programs_.empty(); programs_.pop_back()) {
      if (programs_.back().stop(kStop)) continue;
      err << "demo: " << programs_.back().name() << " did not stop, and was killed" << std::endl;
      well = false;
    }
    return well;
  }

 private:
  Expected<std::string> run(ChildProgram::Command command) {
    auto started = ChildProgram::start(std::move(command));
    if (!started) return std::unexpected(started.error());
    return programs_.emplace_back(std::move(*started)).listening(kStart);
  }

  void print_guide(const std::string& cloud_url, const std::string& url, const std::string& password,
                   const std::vector<Store>& stores) {
    out_ << fmt::format(
                "\n  The dashboard           {}\n"
                "                          sign in as {}, password {}\n"
                "  The API                 {}/docs\n"
                "  The SIMULATED platform  {}   (what it did: {}/sim/effects)\n"
                "  Data and logs           {}\n"
                "  The operator's verbs    {} admin list-accounts --data-dir {}\n\n"
                "Send an order from another terminal, and follow it here. Buyers accept friend "
                "requests "
                "after 4 seconds:\n\n"
                "  {}\n\n"
                "The same order, as a hosted shop and a plugin-based shop would send it:\n\n  {}\n  {}\n\n"
                "Ctrl-C ends the demonstration.\n",
                url, kEmail, password, url, cloud_url, cloud_url, folder_.string(), quoted(program_.string()),
                quoted((folder_ / "data").string()), send_order_line(program_, stores[0], "ana_tones"),
                send_order_line(program_, stores[1], "ben_riffs"),
                send_order_line(program_, stores[2], "cleo_amps"))
         << std::endl;
  }

  void print_event(const std::string& line) {
    boost::system::error_code error;
    const auto value = json::parse(line, error);
    const auto* event = error ? nullptr : value.if_object();
    if (!event) return;
    const auto* verified = event->if_contains("verified");
    out_ << webhook_line({.type = text_at(*event, "type"),
                          .delivery = text_at(*event, "delivery"),
                          .status = text_at(*event, "status"),
                          .verified = verified && verified->is_bool() && verified->get_bool(),
                          .problem = text_at(*event, "problem")},
                         false)
         << std::endl;
  }

  const DemoOptions& options_;
  std::ostream& out_;
  fs::path program_;
  fs::path folder_;
  std::optional<storage::FileLock> lock_;
  std::vector<ChildProgram> programs_;  // `listen` is the last
};

}  // namespace

int run_demo(const DemoOptions& options, std::ostream& out, std::ostream& err) {
  const Endings endings;
  Demo demo(options, out);
  auto started = demo.start();
  if (!started) {
    err << "demo: " << printable(started.error().message) << std::endl;
    for (const auto& [field, problem] : started.error().details)
      err << "demo: " << printable(field) << ' ' << printable(problem) << std::endl;
  }
  const bool went_well = started && demo.attend(endings, err);
  if (went_well) out << "\nStopping." << std::endl;
  return demo.stop(err) && went_well ? 0 : kFailed;
}

}  // namespace presetbridge::app
