#include "app/logging.h"

#include <spdlog/async.h>
#include <spdlog/async_logger.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <utf8proc.h>

#include <fmt/format.h>

namespace presetbridge::app {
namespace {

constexpr std::size_t kLongestText = 4 * 1024;
constexpr std::size_t kQueuedLines = 8'192;

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::debug:
      return "debug";
    case Severity::info:
      return "info";
    case Severity::warn:
      return "warn";
    case Severity::error:
      return "error";
  }
  return "error";
}

void append_text(std::string& line, std::string_view text) {
  line += '"';
  const bool cut = text.size() > kLongestText;
  if (cut) text = text.substr(0, kLongestText);
  while (!text.empty()) {
    utf8proc_int32_t point = 0;
    const auto width = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                        static_cast<utf8proc_ssize_t>(text.size()), &point);
    if (width <= 0) {
      line += "\\ufffd";
      text.remove_prefix(1);
      continue;
    }
    const auto bytes = text.substr(0, static_cast<std::size_t>(width));
    text.remove_prefix(bytes.size());
    // Line separators and C1 controls too: a terminal that shows the log must not obey what somebody sent.
    if (point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x2028 || point == 0x2029) {
      fmt::format_to(std::back_inserter(line), "\\u{:04x}", point);
    } else {
      if (point == '"' || point == '\\') line += '\\';
      line += bytes;
    }
  }
  line += cut ? "…\"" : "\"";
}

}  // namespace

Severity parse_severity(std::string_view text) {
  for (const auto severity : {Severity::debug, Severity::info, Severity::warn, Severity::error}) {
    if (name_of(severity) == text) return severity;
  }
  return Severity::info;
}

std::string log_line(Timestamp at, Severity severity, std::string_view message,
                     std::initializer_list<LogField> fields) {
  std::string line =
      fmt::format(R"({{"time":"{}","level":"{}","message":)", to_iso8601(at), name_of(severity));
  append_text(line, message);
  for (const auto& field : fields) {
    line += ',';
    append_text(line, field.name);
    line += ':';
    if (const auto* number = std::get_if<std::int64_t>(&field.value)) {
      line += std::to_string(*number);
    } else {
      append_text(line, std::get<std::string_view>(field.value));
    }
  }
  line += '}';
  return line;
}

JsonLog::JsonLog(const Clock& clock, Severity least) : clock_(clock), least_(least) {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  direct_ = std::make_shared<spdlog::logger>("presetbridge", sink);
  direct_->set_pattern("%v");
  direct_->set_level(spdlog::level::trace);
  current_ = direct_.get();
}

JsonLog::~JsonLog() {
  stop_thread();
}

void JsonLog::start_thread() {
  thread_ = std::make_shared<spdlog::details::thread_pool>(kQueuedLines, 1);
  queued_ = std::make_shared<spdlog::async_logger>("presetbridge", direct_->sinks().front(), thread_,
                                                   spdlog::async_overflow_policy::overrun_oldest);
  queued_->set_level(spdlog::level::trace);
  current_ = queued_.get();
}

void JsonLog::stop_thread() noexcept {
  current_ = direct_.get();
  thread_.reset();  // joins; `queued_` stays, for a thread that has just read current_
  direct_->flush();
}

void JsonLog::write(Severity severity, std::string_view message,
                    std::initializer_list<LogField> fields) noexcept {
  if (severity < least_) return;
  try {
    current_.load()->log(spdlog::level::info, log_line(clock_.now(), severity, message, fields));
  } catch (...) {  // NOLINT(bugprone-empty-catch)
    // Out of memory: the line is lost, the caller is not.
  }
}

}  // namespace presetbridge::app
