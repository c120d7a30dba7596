// The log port: structured lines (spec 12.3). Implemented once in app/ over spdlog; faked in tests. A field
// never holds a secret: types that hold one have no conversion to a field value.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

namespace presetbridge {

enum class Severity { debug, info, warn, error };

struct LogField {
  std::string_view name;
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
                     std::initializer_list<LogField> fields) noexcept = 0;

  void debug(std::string_view m, std::initializer_list<LogField> f = {}) noexcept {
    write(Severity::debug, m, f);
  }
  void info(std::string_view m, std::initializer_list<LogField> f = {}) noexcept {
    write(Severity::info, m, f);
  }
  void warn(std::string_view m, std::initializer_list<LogField> f = {}) noexcept {
    write(Severity::warn, m, f);
  }
  void error(std::string_view m, std::initializer_list<LogField> f = {}) noexcept {
    write(Severity::error, m, f);
  }
};

// Drops everything.
class NullLog final : public Log {
 public:
  void write(Severity, std::string_view, std::initializer_list<LogField>) noexcept override {}
};

}  // namespace presetbridge
