#include "app/process/child_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <system_error>

namespace presetbridge::app {
namespace {

constexpr int kNotStarted = 127;
constexpr std::size_t kLongestLine = 64 * 1024;

using Steady = std::chrono::steady_clock;

int milliseconds_to(Steady::time_point end) {
  const auto left = std::chrono::duration_cast<Millis>(end - Steady::now()).count();
  return static_cast<int>(std::max<std::int64_t>(left, 0));
}

std::vector<std::string> environment_of(const ChildProgram::Command& command) {
  std::vector<std::string> variables;
  const auto& own = command.environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const auto name = text.substr(0, text.find('='));
    if (name.starts_with("PRESETBRIDGE_")) continue;
    if (std::ranges::none_of(own, [&](const auto& one) { return one.first == name; }))
      variables.emplace_back(text);
  }
  for (const auto& [name, value] : own) variables.push_back(name + "=" + value);
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Expected<ChildProgram> ChildProgram::start(Command command) {
  const auto cannot = [&](const std::string& what) {
    return fail("PROGRAM_FAILED", command.name + " cannot be started: " + what + ": " +
                                      std::generic_category().message(errno) + ".");
  };
  if (::access(command.binary.c_str(), X_OK) != 0) {
    return fail("PROGRAM_MISSING", "There is no program " + command.binary.string() + ".");
  }
  // Everything that is allocated is made before the fork.
  std::vector<std::string> arguments = command.arguments;
  arguments.insert(arguments.begin(), command.binary.string());
  auto environment = environment_of(command);
  const auto argv = pointers_to(arguments);
  const auto envp = pointers_to(environment);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return cannot("no pipe");
  FileDescriptor output(ends[0]);
  const FileDescriptor theirs(ends[1]);
  const FileDescriptor log(::open(command.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!log.is_open()) return cannot(command.log.string());
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(kNotStarted);  // it died before it could be asked for
    ::setpgid(0, 0);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (nothing < 0 || ::dup2(nothing, STDIN_FILENO) < 0 || ::dup2(theirs.get(), STDOUT_FILENO) < 0 ||
        ::dup2(log.get(), STDERR_FILENO) < 0)
      ::_exit(kNotStarted);
    ::execve(argv.front(), argv.data(), envp.data());
    ::_exit(kNotStarted);
  }
  if (pid < 0) return cannot("no process");
  FileDescriptor end(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  ChildProgram child(std::move(command), pid, std::move(output), std::move(end));
  if (!child.end_.is_open()) {
    return fail("PROGRAM_FAILED", child.name() + " cannot be watched: this needs Linux 5.3 or newer.");
  }
  return child;
}

ChildProgram::ChildProgram(ChildProgram&& other) noexcept
    : command_(std::move(other.command_)),
      pid_(std::exchange(other.pid_, -1)),
      killed_by_(other.killed_by_),
      output_(std::move(other.output_)),
      end_(std::move(other.end_)),
      read_(std::move(other.read_)) {}

ChildProgram::~ChildProgram() {
  stop(Millis{0});
}

std::optional<std::string> ChildProgram::next_line(Millis wait) {
  const auto until = Steady::now() + wait;
  for (;;) {
    if (const auto end = read_.find('\n'); end != std::string::npos) {
      auto line = read_.substr(0, end);
      read_.erase(0, end + 1);
      return line;
    }
    if (read_.size() > kLongestLine) read_.clear();
    pollfd one{.fd = output(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&one, 1, milliseconds_to(until));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    char chunk[4096];
    const auto got = ::read(output(), chunk, sizeof chunk);
    if (got <= 0) return std::nullopt;
    read_.append(chunk, static_cast<std::size_t>(got));
  }
}

Expected<std::string> ChildProgram::listening(Millis wait) {
  const auto until = Steady::now() + wait;
  while (const auto line = next_line(Millis{milliseconds_to(until)})) {
    boost::system::error_code error;
    const auto value = boost::json::parse(*line, error);
    const auto* object = error ? nullptr : value.if_object();
    const auto* url = object ? object->if_contains("listening") : nullptr;
    if (url && url->is_string()) return std::string(url->get_string());
  }
  const auto words = how_it_ended();
  return fail("PROGRAM_FAILED", command_.name + " does not serve" + (words.empty() ? "." : ": " + words));
}

bool ChildProgram::ended() {
  if (pid_ < 0) return true;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
  pid_ = -1;
  if (WIFSIGNALED(status)) killed_by_ = WTERMSIG(status);
  return true;
}

std::string ChildProgram::how_it_ended() const {
  return killed_by_ != 0 ? "killed by signal " + std::to_string(killed_by_) : last_words();
}

std::string ChildProgram::last_words() const {
  std::ifstream log(command_.log);
  std::string last;
  for (std::string line; std::getline(log, line);) {
    if (!line.empty()) last = line;
  }
  boost::system::error_code error;
  const auto value = boost::json::parse(last, error);
  const auto* object = error ? nullptr : value.if_object();
  const auto* message = object ? object->if_contains("message") : nullptr;
  return message && message->is_string() ? std::string(message->get_string()) : last;
}

bool ChildProgram::wait_for_end(Millis wait) {
  for (const auto until = Steady::now() + wait; !ended();) {
    pollfd one{.fd = end(), .events = POLLIN, .revents = 0};
    if (::poll(&one, 1, milliseconds_to(until)) == 0) return ended();
  }
  return true;
}

bool ChildProgram::stop(Millis wait) {
  if (ended()) return true;
  if (wait > Millis{0}) {
    ::kill(pid_, SIGTERM);
    if (wait_for_end(wait)) return true;
  }
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
  return false;
}

}  // namespace presetbridge::app
