// The log port: structured lines (spec 12.3). Implemented once in app/ over spdlog; faked in tests. A field
// never holds a secret: types that hold one have no conversion to a field value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace presetbridge {

enum class Severity { debug, info, warn, error };

struct LogField {
  std::string_view name;  // a word of the code, without quotes
  std::variant<std::string_view, std::int64_t> value;
  LogField(std::string_view n, std::string_view v) : name(n), value(v) {}
  LogField(std::string_view n, const std::string& v) : name(n), value(std::string_view(v)) {}
  LogField(std::string_view n, const char* v) : name(n), value(std::string_view(v)) {}
  LogField(std::string_view n, std::int64_t v) : name(n), value(v) {}
};

// Thread-safe; never throws, never blocks for long.
class Log {
 public:
  virtual ~Log() = default;
  virtual void write(Severity severity, std::string_view message,
                     std::span<const LogField> fields) noexcept = 0;
  // A line for each `width` fields of `flat`, all with the same message: cheaper than one by one.
  virtual void write_each(Severity severity, std::string_view message, std::size_t width,
                          std::span<const LogField> flat) noexcept {
    for (; !flat.empty(); flat = flat.subspan(width)) write(severity, message, flat.first(width));
  }

  void debug(std::string_view m, std::initializer_list<LogField> f = {}) noexcept {
    write(Severity::debug, m, std::span(f.begin(), f.size()));
  }
  void info(std::string_view m, std::initializer_list<LogField> f = {}) noexcept {
    write(Severity::info, m, std::span(f.begin(), f.size()));
  }
  void warn(std::string_view m, std::initializer_list<LogField> f = {}) noexcept {
    write(Severity::warn, m, std::span(f.begin(), f.size()));
  }
  void error(std::string_view m, std::initializer_list<LogField> f = {}) noexcept {
    write(Severity::error, m, std::span(f.begin(), f.size()));
  }
};

// Drops everything.
class NullLog final : public Log {
 public:
  void write(Severity, std::string_view, std::span<const LogField>) noexcept override {}
};

}  // namespace presetbridge
