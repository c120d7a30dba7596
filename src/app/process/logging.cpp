#include "app/process/logging.h"

#include <spdlog/async.h>
#include <spdlog/async_logger.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <utf8proc.h>

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <iterator>

namespace presetbridge::app {
namespace {

constexpr std::size_t kLongestText = 4 * 1024;
// Queued lines take 64 MiB at most, where short lines come many at a time.
constexpr std::size_t kQueuedLines = 4'096;
constexpr std::size_t kLinesAtOnce = 16 * 1024;  // bytes of short lines that count as one of those

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

// Whether it may stand in JSON as it is.
constexpr bool is_plain(char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

// How many bytes from the first on may stand in JSON as they are. Eight at a time: a busy service logs its
// orders.
std::size_t plain_part(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighs = 0x8080808080808080;
  const auto has_zero = [](std::uint64_t v) { return (v - kOnes) & ~v & kHighs; };
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    const auto below_space = (word - kOnes * 0x20) & ~word & kHighs;
    if ((word & kHighs) != 0 || below_space != 0 || has_zero(word ^ (kOnes * '"')) != 0 ||
        has_zero(word ^ (kOnes * '\\')) != 0 || has_zero(word ^ (kOnes * 0x7f)) != 0)
      break;
  }
  while (at < text.size() && is_plain(text[at])) ++at;
  return at;
}

void append_text(std::string& line, std::string_view text) {
  line += '"';
  const bool cut = text.size() > kLongestText;
  if (cut) text = text.substr(0, kLongestText);
  while (!text.empty()) {
    // Most of what is logged is ids and words.
    const auto plain = plain_part(text);
    line += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
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

// The beginning of a line with that message.
std::string head_of(Timestamp at, Severity severity, std::string_view message) {
  std::string head =
      fmt::format(R"({{"time":"{}","level":"{}","message":)", to_iso8601(at), name_of(severity));
  append_text(head, message);
  return head;
}

void append_fields(std::string& line, std::span<const LogField> fields) {
  for (const auto& field : fields) {
    line += ",\"";
    line += field.name;
    line += "\":";
    if (const auto* number = std::get_if<std::int64_t>(&field.value)) {
      fmt::format_to(std::back_inserter(line), "{}", *number);
    } else {
      append_text(line, std::get<std::string_view>(field.value));
    }
  }
  line += '}';
}

}  // namespace

Severity parse_severity(std::string_view text) {
  for (const auto severity : {Severity::debug, Severity::info, Severity::warn, Severity::error}) {
    if (name_of(severity) == text) return severity;
  }
  return Severity::info;
}

std::string log_line(Timestamp at, Severity severity, std::string_view message,
                     std::span<const LogField> fields) {
  std::string line = head_of(at, severity, message);
  append_fields(line, fields);
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

void JsonLog::write(Severity severity, std::string_view message, std::span<const LogField> fields) noexcept {
  if (severity < least_) return;
  try {
    current_.load()->log(spdlog::level::info, log_line(clock_.now(), severity, message, fields));
  } catch (...) {  // NOLINT(bugprone-empty-catch)
    // Out of memory: the line is lost, the caller is not.
  }
}

void JsonLog::write_each(Severity severity, std::string_view message, std::size_t width,
                         std::span<const LogField> flat) noexcept {
  if (severity < least_) return;
  try {
    const std::string head = head_of(clock_.now(), severity, message);
    std::string lines;
    lines.reserve(kLinesAtOnce + 2 * kLongestText);
    for (; !flat.empty(); flat = flat.subspan(width)) {
      if (!lines.empty()) lines += '\n';
      lines += head;
      append_fields(lines, flat.first(width));
      if (lines.size() < kLinesAtOnce && flat.size() > width) continue;
      current_.load()->log(spdlog::level::info, lines);
      lines.clear();
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch)
    // Out of memory: lines are lost, the caller is not.
  }
}

}  // namespace presetbridge::app
