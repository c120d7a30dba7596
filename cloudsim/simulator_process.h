// For tests: the real cloudsim program on a free port of loopback, and a thread to await tasks on.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/json.hpp>
#include <future>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "net/curl_client.h"
#include "net/resolver.h"
#include "net/runtime.h"

namespace presetbridge::cloudsim {

class SimulatorProcess {
 public:
  // CLOUDSIM_PROGRAM is set by CMake.
  explicit SimulatorProcess(std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(), {"cloudsim", "--port", "0"});
    std::array<int, 2> out{};
    if (::pipe(out.data()) != 0) throw std::runtime_error("pipe");
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&files, 3);
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const int error = ::posix_spawn(&pid_, CLOUDSIM_PROGRAM, &files, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    ::close(out[1]);
    if (error != 0) throw std::runtime_error("cloudsim cannot be started");
    std::string line;
    for (char c = 0; ::read(out[0], &c, 1) == 1 && c != '\n';) line += c;
    ::close(out[0]);
    url_ = std::string(boost::json::parse(line).at("listening").as_string());
  }
  SimulatorProcess(const SimulatorProcess&) = delete;
  ~SimulatorProcess() {
    ::kill(pid_, SIGTERM);
    int status = -1;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    EXPECT_EQ(status, 0) << "cloudsim did not end as it should";
  }
  const std::string& url() const { return url_; }

 private:
  pid_t pid_ = 0;
  std::string url_;
};

// A core, a client on it, and the simulator.
class SimulatorTest : public ::testing::Test {
 protected:
  SimulatorTest() { runtime.start(); }
  ~SimulatorTest() override {
    http.stop();
    runtime.stop();
  }

  Scheduler& scheduler() { return runtime.scheduler(0); }

  // Runs the task on the core and waits for its end, a minute at most.
  template <class T>
  T await(Task<T> task) {
    std::promise<T> promise;
    auto future = promise.get_future();
    scheduler().post([owned = std::move(task), &promise]() mutable {
      spawn(std::move(owned), [&promise](Outcome<T> outcome) {
        if (outcome.exception) {
          promise.set_exception(outcome.exception);
        } else {
          promise.set_value(std::move(*outcome.value));
        }
      });
    });
    if (future.wait_for(std::chrono::minutes(1)) != std::future_status::ready) std::abort();
    return future.get();
  }

  // One call of the simulator's own API; its answer must be a success.
  boost::json::value sim(const std::string& method, const std::string& path,
                         const boost::json::value& body = boost::json::object()) {
    net::OutgoingRequest request;
    request.method = method;
    request.url = simulator.url() + path;
    if (method != "GET") request.body = boost::json::serialize(body);
    request.policy = net::AddressPolicy::configured;
    request.max_answer_bytes = 16 * 1024 * 1024;
    const auto result = await(http.send(scheduler(), std::move(request)));
    const auto* answer = result.answer();
    if (!answer || answer->status >= 300) throw std::runtime_error("the simulator refused " + path);
    return boost::json::parse(answer->body);
  }
  void script(const std::string& endpoint, const boost::json::value& step) {
    sim("POST", "/sim/faults/script", {{"endpoint", endpoint}, {"steps", boost::json::array{step}}});
  }

  net::Runtime runtime{1};
  net::SystemResolver resolver;
  net::CurlClient http{runtime, 0, resolver};
  net::SystemClock clock;
  SimulatorProcess simulator;
};

}  // namespace presetbridge::cloudsim
