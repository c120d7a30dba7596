// The Log port over spdlog (spec 12.3): one JSON object a line on standard error, {"time","level","message",
// then the fields}.
#pragma once

#include <atomic>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/log.h"

namespace spdlog {
class logger;
namespace details {
class thread_pool;
}
}  // namespace spdlog

namespace presetbridge::app {

// One line without its end. Bytes that are not UTF-8 become U+FFFD; texts are cut at 4 KiB, so that no line
// grows without bound.
std::string log_line(Timestamp at, Severity severity, std::string_view message,
                     std::span<const LogField> fields);
inline std::string log_line(Timestamp at, Severity severity, std::string_view message,
                            std::initializer_list<LogField> fields) {
  return log_line(at, severity, message, std::span(fields.begin(), fields.size()));
}

// Thread-safe. Writes at once, in the caller's thread, until start_thread(); from then on a thread of its own
// writes, and when standard error is slow the oldest lines are dropped rather than anybody held up.
class JsonLog final : public Log {
 public:
  // `clock` outlives this.
  JsonLog(const Clock& clock, Severity least);
  // Writes what waits.
  ~JsonLog() override;

  // Once, and not before the credential agent is started (spec 5.3).
  void start_thread();
  void write(Severity severity, std::string_view message, std::span<const LogField> fields) noexcept override;
  // Some lines at a time go to the thread, and to standard error, as one.
  void write_each(Severity severity, std::string_view message, std::size_t width,
                  std::span<const LogField> flat) noexcept override;
  // Hands what waits to standard error and ends the thread; later lines are written at once. For the end of
  // the program.
  void stop_thread() noexcept;

 private:
  const Clock& clock_;
  const Severity least_;
  std::shared_ptr<spdlog::logger> direct_;
  std::shared_ptr<spdlog::details::thread_pool> thread_;
  std::shared_ptr<spdlog::logger> queued_;
  std::atomic<spdlog::logger*> current_;
};

// "debug", "info", "warn", "error"; info for anything else.
Severity parse_severity(std::string_view text);

}  // namespace presetbridge::app
