#include "app/verbs/terminal_password.h"

#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

namespace presetbridge::app {
namespace {

constexpr std::size_t kLongest = 4 * 1024;
constexpr std::array kInterrupting = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};

volatile sig_atomic_t came = 0;
void note(int signal) {
  came = signal;
}

// While this object lives, the terminal shows no typed characters, and a signal only interrupts the read.
class Hidden {
 public:
  Hidden() {
    came = 0;
    struct sigaction noting{};
    noting.sa_handler = note;  // without SA_RESTART
    for (std::size_t i = 0; i < kInterrupting.size(); ++i)
      ::sigaction(kInterrupting[i], &noting, &before_[i]);
    if (::tcgetattr(STDIN_FILENO, &shown_) != 0) return;
    changed_ = true;
    termios hidden = shown_;
    hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
  }
  Hidden(const Hidden&) = delete;
  Hidden& operator=(const Hidden&) = delete;
  ~Hidden() {
    if (changed_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown_);
    for (std::size_t i = 0; i < kInterrupting.size(); ++i)
      ::sigaction(kInterrupting[i], &before_[i], nullptr);
  }

 private:
  termios shown_{};
  bool changed_ = false;
  std::array<struct sigaction, kInterrupting.size()> before_{};
};

// Reads one byte at a time, so that the bytes after the line stay for the next reader.
std::optional<std::string> read_line() {
  std::string line;
  for (char c = 0;;) {
    const auto got = ::read(STDIN_FILENO, &c, 1);
    if (got < 0 && errno == EINTR && came == 0) continue;
    if (got < 0) return std::nullopt;
    if (got == 0 || c == '\n') return line;
    if (line.size() < kLongest) line += c;
  }
}

std::optional<std::string> ask_hidden(const std::string& what) {
  std::optional<std::string> line;
  {
    const Hidden hidden;
    std::fprintf(stderr, "%s: ", what.c_str());
    line = read_line();
    std::fputc('\n', stderr);
  }
  if (came != 0) ::raise(came);  // now with the handler of before
  return line;
}

}  // namespace

std::optional<std::string> ask_password(const std::string& what, bool again) {
  std::optional<std::string> password;
  if (::isatty(STDIN_FILENO) == 0) {
    came = 0;
    password = read_line();
  } else {
    password = ask_hidden(what);
    if (password && !password->empty() && again && ask_hidden(what + ", again") != password) {
      std::fprintf(stderr, "presetbridge: the two are not the same; nothing was done\n");
      return std::nullopt;
    }
  }
  if (!password || password->empty()) {
    std::fprintf(
        stderr,
        "presetbridge: a password is needed: type it, or give it as the first line of standard input\n");
    return std::nullopt;
  }
  return password;
}

}  // namespace presetbridge::app
